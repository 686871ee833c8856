"""What was measured, judged and as a table for a terminal."""

from tabulate import tabulate

OURS = "rulelab"
PEERS = ("autograd", "tangent", "PyTorch", "JAX", "mygrad")
TO_BEAT = ("autograd", "tangent", "PyTorch", "mygrad")  # those that run without a compiler
TIMES = ("P", "H", "G", "µs")  # the units of the time of a gradient
WITHIN = 1.05


def time_text(seconds):
    """A time with the unit that fits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.2g} ns"


def digits(value):
    """Three digits, and no powers of ten."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def reached(row):
    """Whether ours reaches the goal of a row; "" where there is none."""
    ours = row["entrants"][OURS]
    if row["goal"] is None:
        return ""
    return "yes" if "value" in ours and ours["value"] <= row["goal"] else "no"


def faster_peers(row):
    """Who of those to beat is faster than ours, by more than 5%; None where there is nobody to compare."""
    ours = row["entrants"][OURS]
    others = {name: row["entrants"].get(name, {}).get("value") for name in TO_BEAT}
    others = {name: value for name, value in others.items() if value is not None}
    if not others or row["unit"] not in TIMES:
        return None
    return [name for name, value in others.items() if "value" not in ours or ours["value"] > WITHIN * value]


def cell(entry):
    """A value, or why there is none."""
    if entry is None:
        return ""
    return entry["failure"][:24] if "failure" in entry else digits(entry["value"])


def entrants_in(record):
    """The entrants of any row: ours, the peers, and our further ones."""
    seen = {}
    for row in record["rows"]:
        seen |= dict.fromkeys(row["entrants"])
    first = [name for name in (OURS, *PEERS) if name in seen]
    return first + [name for name in seen if name not in (*first, "plain", "by hand")]


def line(row, columns):
    entrants, ours = row["entrants"], row["entrants"][OURS]
    faster = faster_peers(row)
    return [
        row["name"],
        time_text(entrants["plain"]["seconds"]) if "seconds" in entrants.get("plain", {}) else "",
        *(cell(entrants.get(name)) for name in columns),
        row["unit"],
        "" if row["goal"] is None else f"{row['goal']:g}",
        reached(row),
        "" if faster is None else ", ".join(faster) or "yes",
        time_text(ours["first_seconds"]) if "first_seconds" in ours else "",
        f"{ours['megabytes']:.0f}" if "megabytes" in ours else "",
    ]


def table(record):
    """The table, as text."""
    columns = entrants_in(record)
    heads = ["row", "plain", *columns, "unit", "goal", "reached", "ahead", "first call", "MB"]
    lines = [line(row, columns) for row in record["rows"]]
    return tabulate(lines, headers=heads, disable_numparse=True)


def missing(record):
    """The peers that were not run, and why."""
    peers = record["machine"]["peers"]
    return [f"{name}: {why}" for name, why in peers.items() if not why[:1].isdigit()]


def wrong(record):
    """The rows in which ours fails."""
    return [row["name"] for row in record["rows"] if "failure" in row["entrants"][OURS]]
