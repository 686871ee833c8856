"""A derived rule as source code, and what such rules have in common."""

from __future__ import annotations

from dataclasses import dataclass

from .printers import Spelling, text

MOST_COLUMNS = 90  # of conditions on one line


@dataclass(frozen=True)
class Draft:
    """A rule as source code, and what its checks need: module, names, points."""

    source: str
    cell: str
    body: str  # the imports and the function, without the decorator
    rule: str  # the name of the rule function
    root: str  # the first identifier in how f is called
    scalar: bool
    at: tuple | None
    points: tuple
    beyond: tuple  # points at which the formula has no value but floats do
    notes: tuple[str, ...]
    by_steps: bool = False  # derived from the function's statements, not from its formula
    left: tuple[str, ...] = ()  # the calls whose derivative is left to the AD


def delegating_lines(spelling: Spelling, f, name: str, seed: str, tests: list[str], passed: str):
    """Return (lines above the rule, lines in it) that leave the derivative to the AD where a test holds.

    The AD differentiates a copy of the function, which has no rule. Its None, for arguments that do not vary,
    is replaced by NoTangent().
    """
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
    """An `if` with these tests, on several lines if one would be too long."""
    if len(" or ".join(tests)) <= MOST_COLUMNS:
        return [f"    if {' or '.join(tests)}:"]
    return ["    if (", f"        {tests[0]}", *(f"        or {test}" for test in tests[1:]), "    ):"]
