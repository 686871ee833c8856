"""Rules for the methods of distributions of `scipy.stats`, and of those with frozen parameters.

A parameter may be given by position or by name, and a frozen distribution holds its parameters: each gets its
cotangent where it was given. What rules are made of is stated in `scipy_stats_rows`.
"""

from __future__ import annotations

import types

import numpy as np

from ..own_code import only_look
from ..rules.rule_table import RuleTable
from ..tangents.forms import no_change
from ..tangents.missing import NotImplementedTangent
from ..tangents.structural import make
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from . import scipy_stats_counts as counts
from . import scipy_stats_moments as moments
from . import scipy_stats_rows as rows
from .array_likes import is_zero, only_real
from .scipy_rows import without_slope
from .scipy_stats_rows import parameter_names, row_of, stats
from .standins import as_array

TABLE = RuleTable("scipy_stats_methods")
NO = NoTangent()

OF_SUPPORT = without_slope("a shape parameter that sets the ends of a frozen distribution")

OF_VALUE = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
OF_COUNT = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
FIRST = {"ppf": "q", "isf": "q", "pmf": "k", "logpmf": "k"}  # what the first argument is called, but for x
MOMENTS = ("mean", "var", "std", "entropy")


def first_name(name, row):
    """What the first argument of a method is called; None if it has parameters alone."""
    if name in MOMENTS or name == "median":
        return None
    return "k" if row.discrete and name not in ("ppf", "isf") else FIRST.get(name, "x")


def row_for(distribution, name, given, words):
    """The row, for a call of this method; None where there is none, or SciPy does not take such a call."""
    row = row_of(distribution)
    if row is None:
        return None
    names = call_names(row, name)
    by_position, first = names[: len(given)], first_name(name, row)
    needed = row.shapes if first is None else (first, *row.shapes)
    fits = len(given) <= len(names) and all(each in words or each in by_position for each in needed)
    return row if fits and all(word in names and word not in by_position for word in words) else None


def not_known(distribution, name):
    """What stands for a derivative of a method that nothing is stated of."""
    called = getattr(distribution, "name", None) or type(distribution).__name__
    why = f"the derivative of {name} of the distribution {called} of scipy.stats is not known here"
    return NotImplementedTangent(why, fixes=WRITE)


WRITE = (
    "write the log-density with functions of NumPy and scipy.special",
    "write a rule for the calling function",
)


def call_names(row, name):
    """The names of all arguments of a method, in their order."""
    first = first_name(name, row)
    return parameter_names(row) if first is None else (first, *parameter_names(row))


def standard_arguments(row, name, given, words, missing):
    """The arguments of a call in the order of our own functions: value, place, scale, shapes."""
    names = call_names(row, name)
    where = {each: number for number, each in enumerate(names[: len(given)])}

    def argument(key):
        if key in where:
            return given[where[key]]
        return words[key] if key in words else missing.get(key)

    shapes = [argument(key) for key in row.shapes]
    first = first_name(name, row)
    return [
        None if first is None else argument(first),
        argument("loc"),
        argument("scale") if "scale" in names else None,
        *shapes,
        *[None] * (2 - len(shapes)),
    ]


DEFAULTS = {"loc": 0.0, "scale": 1.0}
STILL = {"loc": NO, "scale": NO}


def whole(x):
    """An argument as SciPy takes it: integers and what is not an array as float64."""
    return x if isinstance(x, (float, np.ndarray, np.generic)) or x is None else as_array(x)


def call_cotangents(row, name, given, words, bars):
    """The cotangents of a call's arguments, by position and by name, from those of our functions."""
    by_name = dict(zip((first_name(name, row), "loc", "scale", *row.shapes), bars, strict=False))
    names = call_names(row, name)
    return [by_name[each] for each in names[: len(given)]], {word: by_name[word] for word in words}


def family(name, row):
    """Whose rules answer for a method of a distribution."""
    if name in MOMENTS:
        return moments
    return counts if row.discrete else rows


def reverse(distribution, name, given, words):
    """`(y, pullback)` of a method; the pullback gives the cotangents by position and those by name."""
    row = row_for(distribution, name, given, words)
    if row is None:
        lacking = not_known(distribution, name)
        answer = [lacking] * len(given), dict.fromkeys(words, lacking)
        return getattr(distribution, name)(*given, **words), lambda y_bar: answer
    args = standard_arguments(row, name, given, words, DEFAULTS)
    only_real(f"scipy.stats.{row.name}.{name}", *args)
    y, back = family(name, row).evaluated_rrule(name, distribution, *map(whole, args))

    def method_pullback(y_bar):
        return call_cotangents(row, name, given, words, back(y_bar)[3:])

    return y, method_pullback


def forward(name, distribution, given, words, dots, word_dots):
    """`(y, y_dot)` of a method."""
    row = row_for(distribution, name, given, words)
    if row is None:
        y = getattr(distribution, name)(*given, **words)
        still = all(map(is_zero, (*dots, *word_dots.values())))
        return y, no_change(y) if still else not_known(distribution, name)
    x, loc, scale, a, b = [whole(each) for each in standard_arguments(row, name, given, words, DEFAULTS)]
    only_real(f"scipy.stats.{row.name}.{name}", x, loc, scale, a, b)
    x_dots = standard_arguments(row, name, dots, word_dots, STILL)
    x_dots = [NO if x_dot is None else x_dot for x_dot in x_dots]
    y = family(name, row).evaluated(name, distribution, x, loc, scale, a, b)
    return y, family(name, row).tangent_of(x_dots, name, distribution, y, x, loc, scale, a, b)


TABLE.non_differentiable(row_for, call_names, first_name, family, not_known)


def _state_method(owner, name):
    target = vars(owner).get(name) if isinstance(owner, type) else None
    if target is None:
        return

    @TABLE.rrule(target, leading=None, keyword_cotangents=True)
    def method_rrule(self, *given, **words):
        y, back = reverse(self, name, given, words)

        def method_pullback(y_bar):
            by_position, by_name = back(y_bar)
            return NO, NO, *by_position, *by_name.values()

        return y, method_pullback

    @TABLE.frule(target, keyword_tangents=True)
    def method_frule(tangents, self, *given, **words):
        count = 2 + len(given)
        word_dots = dict(zip(words, tangents[count:], strict=True))
        return forward(name, self, given, words, tangents[2:count], word_dots)

    only_look(target)


def _state_frozen_method(owner, name):
    target = vars(owner).get(name) if isinstance(owner, type) else None
    if target is None:
        return

    @TABLE.rrule(target, leading=None)
    def frozen_rrule(self, *first):
        y, back = reverse(self.dist, name, (*first, *self.args), self.kwds)

        def frozen_pullback(y_bar):
            bars, by_name = back(y_bar)
            args_bar = make(tuple, dict(enumerate(bars[len(first) :])), len(self.args))
            self_bar = make(type(self), {"args": args_bar, "kwds": make(dict, by_name)})
            return NO, self_bar, *bars[: len(first)]

        return y, frozen_pullback

    @TABLE.frule(target)
    def frozen_frule(tangents, self, *first):
        dots, word_dots = held_dots(self, tangents[1])
        return forward(name, self.dist, (*first, *self.args), self.kwds, (*tangents[2:], *dots), word_dots)

    only_look(target)


def held_dots(frozen, frozen_dot):
    """The tangents of the parameters that a frozen distribution holds."""
    if isinstance(frozen_dot, AbstractZero):
        return (NO,) * len(frozen.args), {}
    return frozen_dot.args, frozen_dot.kwds


# -- draws ---------------------------------------------------------------------------------------------------
# The draw is SciPy's own. Its parameters move and stretch it; some shapes move it as they move a quantile.


def drawn_parameters(row, args, words):
    """The parameters of a draw in the order of our own functions; its size may follow them."""
    names = parameter_names(row)
    given = {**dict(zip(names, args)), **words}
    only_real(f"draws of scipy.stats.{row.name}", *given.values())
    shapes = [given.get(name) for name in row.shapes]
    return [given.get("loc", 0.0), given.get("scale", 1.0), *shapes, *[None] * (2 - len(shapes))]


def draw(target, distribution, args, words):
    """`(y, pullback)` of a draw; the pullback gives the cotangents by position and those by name."""
    row, y = row_of(distribution), target(distribution, *args, **words)
    names = parameter_names(row) if row is not None else ()
    if row is None or row.discrete:
        lacking = not_known(distribution, "rvs")
        return y, lambda y_bar: ([lacking] * len(args), dict.fromkeys(words, lacking))
    back = rows.pullback_of(row, "rvs", distribution, y, None, *drawn_parameters(row, args, words))

    def draw_pullback(y_bar):
        bars = dict(zip(("loc", "scale", *row.shapes), back(y_bar)[4:], strict=False))
        by_position = [bars[name] for name, _ in zip(names, args, strict=False)]
        return by_position + [NO] * (len(args) - len(by_position)), {w: bars.get(w, NO) for w in words}

    return y, draw_pullback


def _state_draws(target):
    if target is None:
        return

    @TABLE.rrule(target, leading=None, keyword_cotangents=True)
    def draw_rrule(self, *args, **words):
        y, back = draw(target, self, args, words)

        def draw_pullback(y_bar):
            bars, by_name = back(y_bar)
            return NO, NO, *bars, *by_name.values()

        return y, draw_pullback

    @TABLE.frule(target, keyword_tangents=True)
    def draw_frule(tangents, self, *args, **words):
        count = 2 + len(args)
        word_dots = dict(zip(words, tangents[count:], strict=True))
        return draw_forward(target, self, args, words, tangents[2:count], word_dots)

    only_look(target)


def draw_forward(target, distribution, args, words, dots, word_dots):
    """`(y, y_dot)` of a draw."""
    row, y = row_of(distribution), target(distribution, *args, **words)
    if row is None or row.discrete:
        still = all(map(is_zero, (*dots, *word_dots.values())))
        return y, no_change(y) if still else not_known(distribution, "rvs")
    loc, scale, a, b = drawn_parameters(row, args, words)
    x_dots = [NO, *drawn_dots(row, dots, word_dots)]
    return y, rows.tangent_of(x_dots, "rvs", distribution, y, None, loc, scale, a, b)


def drawn_dots(row, dots, word_dots):
    found = {**dict(zip(parameter_names(row), dots)), **word_dots}
    shapes = [found.get(name, NO) for name in row.shapes]
    return [found.get("loc", NO), found.get("scale", NO), *shapes, *[NO] * (2 - len(shapes))]


def _state_frozen_draws(target):
    if target is None:
        return

    @TABLE.rrule(target, leading=1)
    def frozen_rrule(self, size=None, random_state=None):
        words = {**self.kwds, "size": size, "random_state": random_state}
        y, back = draw(type(self.dist).rvs, self.dist, self.args, words)

        def frozen_pullback(y_bar):
            bars, by_name = back(y_bar)
            args_bar = make(tuple, dict(enumerate(bars)), len(self.args))
            kwds_bar = make(dict, {word: by_name[word] for word in self.kwds})
            return NO, make(type(self), {"args": args_bar, "kwds": kwds_bar})

        return y, frozen_pullback

    @TABLE.frule(target)
    def frozen_frule(tangents, self, size=None, random_state=None):
        dots, word_dots = held_dots(self, tangents[1])
        words = {**self.kwds, "size": size, "random_state": random_state}
        return draw_forward(type(self.dist).rvs, self.dist, self.args, words, dots, word_dots)

    only_look(target)


# -- freezing ------------------------------------------------------------------------------------------------


def _state_freezing(target):
    if target is None:
        return

    @TABLE.rrule(target, leading=None, keyword_cotangents=True)
    def frozen_rrule(self, *args, **words):
        y = target(self, *args, **words)

        def frozen_pullback(y_bar):
            if isinstance(y_bar, AbstractZero):
                return NO, NO, *(y_bar,) * (len(args) + len(words))
            moved = not (isinstance(y_bar.a, AbstractZero) and isinstance(y_bar.b, AbstractZero))
            bars = [part(y_bar.args, k) for k in range(len(args))]
            bars += [part(y_bar.kwds, word) for word in words]
            shapes = set(shape_positions(self, args, words)) if moved else ()
            return NO, NO, *[OF_SUPPORT if k in shapes else bar for k, bar in enumerate(bars)]

        return y, frozen_pullback

    @TABLE.frule(target, keyword_tangents=True)
    def frozen_frule(tangents, self, *args, **words):
        count = 2 + len(args)
        word_dots = dict(zip(words, tangents[count:], strict=True))
        shapes = shape_positions(self, args, words)
        still = all(map(is_zero, [tangents[2 + k] for k in shapes]))
        ends = NO if still else OF_SUPPORT
        y_dot = types.SimpleNamespace(args=tangents[2:count], kwds=word_dots, dist=NO, a=ends, b=ends)
        return target(self, *args, **words), y_dot

    only_look(target)


def shape_positions(distribution, args, words):
    """Which of the arguments, by position and then by name, are shapes: by these it begins and ends."""
    names = distribution.shapes.split(", ") if distribution.shapes else []
    by_name = [len(args) + k for k, word in enumerate(words) if word in names]
    return [*range(min(len(args), len(names))), *by_name]


TABLE.non_differentiable(shape_positions)


def part(bar, key):
    """One entry of the cotangent of a tuple or dict."""
    return ZeroTangent() if isinstance(bar, AbstractZero) else bar[key]


for _name in OF_VALUE:
    _state_method(stats.rv_continuous, _name)
for _name in OF_COUNT:
    _state_method(stats.rv_discrete, _name)
_generic = rows.infrastructure.rv_generic
for _owner in (_generic, stats.rv_discrete):  # which has methods of its own since SciPy 1.18
    for _name in (*MOMENTS, "median"):
        if isinstance(_owner, type) and _name in vars(_owner):
            _state_method(_owner, _name)
for _owner in ("rv_frozen", "rv_continuous_frozen", "rv_discrete_frozen"):
    for _name in dict.fromkeys((*OF_VALUE, *OF_COUNT, *MOMENTS, "median")):
        _state_frozen_method(getattr(rows.infrastructure, _owner), _name)
for _name in ("__call__", "freeze"):
    for _owner in (_generic, stats.rv_discrete):
        _state_freezing(vars(_owner).get(_name) if isinstance(_owner, type) else None)
_state_draws(vars(_generic).get("rvs") if isinstance(_generic, type) else None)
if isinstance(stats.rv_discrete, type):
    _state_draws(vars(stats.rv_discrete)["rvs"])
    _state_frozen_draws(vars(rows.infrastructure.rv_frozen)["rvs"])
