"""A rule as text, and what the texts of derived rules have in common."""

from __future__ import annotations

from dataclasses import dataclass

from .printers import Spelling, text

MOST_COLUMNS = 90  # of tests in a line


@dataclass(frozen=True)
class Draft:
    """A rule as text, and what the checks need: its module, names, points."""

    source: str
    cell: str
    body: str  # the imports and the function, without how it is stated
    rule: str  # the name of the function in it
    root: str  # the first word of how f is called in it
    scalar: bool
    at: tuple | None
    points: tuple
    beyond: tuple  # points at which floats go on where the formula has no value
    notes: tuple[str, ...]
    by_steps: bool = False  # of the function's statements, not of its formula
    left: tuple[str, ...] = ()  # the calls whose derivative it leaves to the AD


def handed_on(spelling: Spelling, f, name: str, seed: str, tests: list[str], passed: str):
    """(lines above the rule, lines in it) that let the AD answer where a test holds.

    It is asked about a copy of the function, which has no rule. Its None for what does not vary is not a
    cotangent."""
    short = name.rpartition(".")[2]
    copy = spelling.free_name(f"{short}_by_ad")
    closure = f", {name}.__name__, None, {name}.__closure__" if f.__closure__ else ""
    made = f"{copy} = type({name})({name}.__code__, {name}.__globals__{closure})"
    pullback, nothing = (text(spelling.word("rulelab", word)) for word in ("pullback", "NoTangent"))
    inner, bars = spelling.free_name("ad_pullback"), spelling.free_name("bars")
    return [f"{made}  # has no rule"], [
        *_condition(tests),
        f"        def {inner}({seed}):",
        f"            {bars} = {pullback}({copy}, {passed})[1]({seed})",
        f"            return {nothing}(), *[{nothing}() if bar is None else bar for bar in {bars}]",
        f"        return {copy}({passed}), {inner}",
    ]


def _condition(tests):
    """`if` with these tests, in several lines where one would be long."""
    if len(" or ".join(tests)) <= MOST_COLUMNS:
        return [f"    if {' or '.join(tests)}:"]
    return ["    if (", f"        {tests[0]}", *(f"        or {test}" for test in tests[1:]), "    ):"]
