"""docs/reference/speed.md and its figure, made from a stored run: `make bench-page` writes them anew."""

import json
from pathlib import Path

import report
from tabulate import tabulate

ROOT = Path(__file__).resolve().parents[2]
STORED = Path(__file__).resolve().parent / "stored.json"
PAGE = ROOT / "docs" / "reference" / "speed.md"
FIGURE = ROOT / "docs" / "images" / "speed.png"
COLUMNS = ("rulelab", *report.PEERS)

TEXT = """# Speed

What gradients cost, ours and those of other systems, in times of what they are gradients of. Written by
`make bench-page` from a run of `make bench` on {date}:
{machine}.
The functions are written in plain Python and NumPy, as [their file]({workloads})
has them, and given to `rl.gradient` as they stand. The other systems get the same loops with their own
arrays and functions: {versions}.

Units: **P** is the time of the plain function, **H** that of a gradient by hand, **G** that of our
gradient. All systems of a row take turns in one process with one thread on one core; the least time
counts, in processor time. Each gradient is compared with one by hand, or with differences of the
function, before it is timed. *Goal* is what we want to reach, *aim* what code emitted by hand has shown
to be possible. *Ahead* says whether ours is at most 5 % slower than autograd, tangent, PyTorch and
mygrad, and else names who is faster.

![Times of the gradients, as ratios to the plain function, of each system]({figure})

{table}

{reached} of {goals} goals are reached; ours is ahead in {ahead} of {compared} rows.

## What the others need, and cannot do

JAX runs under `jit`, with loops as its users write them: {jax}.
Reprojection is all observations at once, by `vmap`. PyTorch runs eagerly. tangent has no variable number
of arguments and no functions of `math`: these rows are written for it without.

{failures}

## First calls and memory

The first call compiles. Memory is the most that a later call holds beyond what was held before it.

{first}

## Long computations

{long}
"""


def versions(machine):
    return ", ".join(f"{name} {version}" for name, version in machine["peers"].items())


def machine_text(machine):
    kind = f"{machine['processor']}, {machine['machine']}"
    load = f"{machine['cores']} cores with a load of {machine['load']:.0f}"
    return f"{kind}, {load}; Python {machine['python']}, NumPy {machine['numpy']}"


def value_text(entry):
    if entry is None:
        return ""
    return "fails" if "failure" in entry else report.digits(entry["value"])


def limit_text(limit):
    return "" if limit is None else f"{limit:g}"


def ahead_text(row):
    faster = report.faster_peers(row)
    return "" if faster is None else ", ".join(faster) or "yes"


def markdown(lines, heads, left=1):
    align = ["left"] * left + ["right"] * (len(heads) - left)
    return tabulate(lines, headers=heads, tablefmt="github", disable_numparse=True, colalign=align)


def main_table(record):
    lines = [
        [
            row["name"],
            row["unit"],
            *(value_text(row["entrants"].get(name)) for name in COLUMNS),
            limit_text(row["goal"]),
            limit_text(row["aim"]),
            report.reached(row),
            ahead_text(row),
        ]
        for row in record["rows"]
    ]
    return markdown(lines, ["", "unit", *COLUMNS, "goal", "aim", "reached", "ahead"], left=2)


def first_table(record):
    """First calls of each system, and memory."""
    lines = []
    for row in record["rows"]:
        entrants = row["entrants"]
        if "first_seconds" in entrants["rulelab"]:
            firsts = [
                report.time_text(entrants[name]["first_seconds"])
                if "first_seconds" in entrants.get(name, {})
                else ""
                for name in COLUMNS
            ]
            memory = entrants["rulelab"].get("megabytes")
            lines.append([row["name"], *firsts, "" if memory is None else f"{memory:.0f} MB"])
    return markdown(lines, ["first call", *COLUMNS, "memory, ours"])


def long_table(record):
    lines = [
        [one["name"], f"{one['seconds']:.2f} s", f"{one['megabytes']:.0f} MB", one["verdict"]]
        for one in record["long"]
        if "seconds" in one
    ]
    return markdown(lines, ["", "time", "memory above", "verdict"])


def failures(record):
    """What failed, and in which words."""
    told = {}
    for row in record["rows"]:
        for name, entry in row["entrants"].items():
            if "failure" in entry:
                told.setdefault((name, entry["failure"]), []).append(row["name"])
    lines = [f"- {name}, {', '.join(rows)}: `{why}`" for (name, why), rows in told.items()]
    return "\n".join(lines)


def looped():
    """The rows that JAX has in loops of its own, and which."""
    import peer_code

    told = {}
    for (system, name), make in peer_code.WRITTEN.items():
        if system == "jax" and make.__doc__.startswith("By"):
            told.setdefault(make.__doc__.splitlines()[0].strip("."), []).append(name)
    return "; ".join(f"{' and '.join(names)} b{text[1:]}" for text, names in told.items())


def page(record):
    goals = [row for row in record["rows"] if report.reached(row)]
    compared = [row for row in record["rows"] if report.faster_peers(row) is not None]
    return TEXT.format(
        date=record["date"],
        machine=machine_text(record["machine"]),
        versions=versions(record["machine"]),
        workloads="../../tests/benchmarks/workloads.py",
        figure="../images/speed.png",
        table=main_table(record),
        reached=sum(report.reached(row) == "yes" for row in goals),
        goals=len(goals),
        ahead=sum(not report.faster_peers(row) for row in compared),
        compared=len(compared),
        jax=looped(),
        failures=failures(record),
        first=first_table(record),
        long=long_table(record),
    )


def figure(record, file):
    """A mark for each system and row, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [row for row in record["rows"] if row["unit"] in ("P", "H")]
    marks = dict(zip(COLUMNS, "Dosv^x"))
    picture, axes = pyplot.subplots(figsize=(8, 0.26 * len(rows) + 1.2), layout="constrained")
    for name, mark in marks.items():
        there = [(k, row["entrants"][name]) for k, row in enumerate(rows) if name in row["entrants"]]
        points = [(entry["to_plain"], k) for k, entry in there if "to_plain" in entry]
        if points:
            style = {"zorder": 3, "s": 34} if name == "rulelab" else {"s": 22, "alpha": 0.8}
            axes.scatter(*zip(*points), marker=mark, label=name, **style)
    label = "time of the gradient, in times of the plain function"
    axes.set(xscale="log", xlabel=label, ylim=(len(rows), -1))
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=8)
    axes.axvline(1.0, color="grey", linewidth=0.8)
    axes.grid(axis="x", alpha=0.3)
    picture.legend(loc="outside upper center", ncols=len(marks), fontsize=8, frameon=False)
    picture.savefig(file, dpi=110, metadata={"Software": None})
    pyplot.close(picture)


def write(stored=STORED):
    record = json.loads(stored.read_text(encoding="utf-8"))
    PAGE.write_text(page(record), encoding="utf-8")
    figure(record, FIGURE)
    print(f"{PAGE.relative_to(ROOT)} and {FIGURE.relative_to(ROOT)} are written.")


if __name__ == "__main__":
    write()
