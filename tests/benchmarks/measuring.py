"""The rows of `make bench`, as plain data: what a page, a table and a comparison are made of."""

import sys

import right_gradients
import special
import start
import systems
from contest import HAND, PLAIN, Contest, run
from special import Problem
from systems import Missing
from workloads import WORKLOADS

import rulelab as rl
from rulelab.bench import environment

CACHE = rl.refresh.__kwdefaults__["cache"]
MEMORY = {"chain 1000000": 70.0}  # the rows of which the memory is a row, too, and its goal in MB
UNITS = {
    "P": lambda row, plain, hand: row.minimum / plain.minimum,
    "G": lambda row, plain, hand: row.minimum / plain.minimum,
    "H": lambda row, plain, hand: row.minimum / hand.minimum,
    "µs": lambda row, plain, hand: row.minimum * 1e6,
    "µs over H": lambda row, plain, hand: (row.minimum - hand.minimum) * 1e6,
}


def machine():
    """Versions and the kind of machine; of whom or where nothing."""
    stamp = environment()
    names = ("rulelab", "python", "numpy", "machine", "processor", "cores", "load")
    return {name: stamp[name] for name in names} | {"peers": versions()}


def versions():
    """{a system: its version, or why there is none}."""
    told = {}
    for peer in systems.PEERS:
        try:
            told[peer.name] = systems.version(systems.found(peer.module))
        except Missing as why:
            told[peer.name] = str(why)
    return told


def problem_of(workload):
    """A workload as a row."""
    goal, aim = workload.goal, workload.aim

    def contest(ours_only):
        entrants = {"rulelab": systems.OURS.entrant(workload)} | systems.OURS.others(workload)
        if not ours_only:
            peers = {peer.name: peer for peer in systems.PEERS}
            entrants |= systems.made(peers, lambda peer: peer.entrant(workload))
        names = workload.name, workload.plain(), workload.by_hand(), entrants
        return Contest(*names, right_gradients.tolerance(workload), right_gradients.gap(workload))

    return Problem(workload.name, goal.unit, goal.limit, aim and aim.limit, contest)


def problems(names=()):
    """The rows chosen by a part of their name; all without one."""
    for problem in (*map(problem_of, WORKLOADS), *special.problems()):
        if not names or any(name.lower() in problem.name.lower() for name in names):
            yield problem


def rows(names, ours_only, seconds, rounds):
    """The records of the chosen rows."""
    for problem in problems(names):
        CACHE.drop_passes()  # so that the first call compiles
        yield record(problem, run(problem.contest(ours_only), seconds, rounds))
        print(f"  {problem.name}: done", file=sys.stderr, flush=True)
    chosen = [systems.OURS] if ours_only else [systems.OURS, *systems.PEERS]
    if not names or any("start".startswith(name) for name in names):
        yield from start.rows([one for one in chosen if systems.is_there(one)])


def record(problem, measured):
    """A row as plain data."""
    timed = {row.entrant: row for row in measured if row.samples}
    plain, hand = timed[PLAIN], timed.get(HAND)
    return {
        "name": problem.name,
        "unit": problem.unit,
        "goal": problem.goal,
        "aim": problem.aim,
        "entrants": {row.entrant: entry(row, plain, hand, problem.unit) for row in measured},
    }


def entry(row, plain, hand, unit):
    """What is kept of one entrant: its value in the unit of the row, and what that was made of."""
    if row.failure:
        return {"failure": row.failure}
    told = {
        "value": UNITS[unit](row, plain, hand),
        "seconds": row.minimum,
        "median_seconds": row.median,
        "rounds": len(row.samples),
        "to_plain": row.minimum / plain.minimum,
        "to_hand": hand and row.minimum / hand.minimum,
        "first_seconds": row.first,
        "megabytes": row.megabytes,
    }
    return {name: value for name, value in told.items() if value is not None}


def memory_rows(found):
    """Rows of the memory that a call takes at its peak, from rows that were timed."""
    for row in found:
        if row["name"] in MEMORY:
            goal = MEMORY[row["name"]]
            yield {
                "name": f"{row['name']}, memory",
                "unit": "MB",
                "goal": goal,
                "aim": goal,
                "entrants": {
                    name: one if "failure" in one else {"value": one["megabytes"]}
                    for name, one in row["entrants"].items()
                    if "failure" in one or "megabytes" in one
                },
            }
