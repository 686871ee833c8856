"""What has moved between two runs: ratios beyond their noise, numbers of bytecodes at all."""

LEAST = 0.05  # a smaller move is none


def spread(entry):
    """How far the median of an entrant's rounds is from the least, a measure of the noise."""
    return entry["median_seconds"] / entry["seconds"] - 1.0


def moved(old, new):
    """The ratio of two entries' ratios to plain if it is beyond the noise of both, else None."""
    change = new["to_plain"] / old["to_plain"]
    noise = LEAST + min(0.5, spread(old)) + min(0.5, spread(new))
    return change if max(change, 1 / change) > 1 + noise else None


def ratios(old, new):
    """Lines for the entrants of both runs that have moved, and for those that fail in one of them only."""
    before = {row["name"]: row["entrants"] for row in old["rows"]}
    for row in new["rows"]:
        for name, entry in row["entrants"].items():
            earlier = before.get(row["name"], {}).get(name)
            if earlier is None or name == "plain":
                continue
            if ("failure" in entry) != ("failure" in earlier):
                now = entry.get("failure", "works")
                yield f"{row['name']}, {name}: {now}, before {earlier.get('failure', 'it worked')}"
            elif "to_plain" in entry and "to_plain" in earlier:
                change = moved(earlier, entry)
                if change is not None:
                    word = "slower" if change > 1 else "faster"
                    values = f"{earlier['to_plain']:.3g} then, {entry['to_plain']:.3g} now"
                    yield f"{row['name']}, {name}: {word}, {values} (in times of plain)"


def bytecodes(old, new):
    """Lines for the workloads whose gradient executes another number of bytecodes, of one Python version."""
    if minor(old) != minor(new):
        return
    for name, counts in new.get("bytecodes", {}).items():
        earlier = old.get("bytecodes", {}).get(name)
        if earlier and earlier["plain"] == counts["plain"] and earlier["gradient"] != counts["gradient"]:
            yield f"{name}: {counts['gradient']} bytecodes, before {earlier['gradient']}"


def minor(record):
    return record["machine"]["python"].split(".")[:2]


def told(old, new):
    """All that has moved, as text."""
    lines = [*ratios(old, new), *bytecodes(old, new)]
    return "\n".join(lines) if lines else "Nothing has moved beyond the noise."
