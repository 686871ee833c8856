"""What was measured as a table for a terminal."""

from tabulate import tabulate

OURS = "rulelab"


def time_text(seconds):
    """A time with the unit that fits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.2g} ns"


def cell(entry):
    """A value in three digits, or why there is none."""
    if entry is None:
        return ""
    return entry["failure"][:24] if "failure" in entry else f"{entry['value']:.3g}"


def systems_in(record):
    """The entrants of any row, in the order in which they first come."""
    found = {}
    for row in record["rows"]:
        found |= dict.fromkeys(row["entrants"])
    return [name for name in found if name not in ("plain", "by hand")]


def table(record):
    """The table, as text: ratios in the unit of the goal."""
    columns = systems_in(record)
    lines = []
    for row in record["rows"]:
        entrants, ours = row["entrants"], row["entrants"][OURS]
        lines.append(
            [
                row["name"],
                time_text(entrants["plain"]["seconds"]) if "seconds" in entrants.get("plain", {}) else "",
                *(cell(entrants.get(name)) for name in columns),
                row["unit"],
                f"{row['goal']:g}" if row["goal"] else "",
                reached(row),
                time_text(ours["first_seconds"]) if "first_seconds" in ours else "",
                f"{ours['megabytes']:.0f}" if "megabytes" in ours else "",
            ]
        )
    heads = ["row", "plain", *columns, "unit", "goal", "reached", "first call", "MB"]
    return tabulate(lines, headers=heads, disable_numparse=True)


def reached(row):
    """Whether ours reaches the goal of a row."""
    ours = row["entrants"][OURS]
    if not row["goal"] or "failure" in ours:
        return ""
    return "yes" if ours["value"] <= row["goal"] else "no"


def wrong(record):
    """The rows in which ours fails."""
    return [row["name"] for row in record["rows"] if "failure" in row["entrants"][OURS]]
