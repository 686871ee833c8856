"""What a function computes, branch by branch: its runs on traced numbers, gathered into a tree of conditions.

Numbers that the function reads from its module become symbols of the same name, so that a formula made from
the tree follows them when they change. What cannot be a symbol (a count, a flag, a list) is recorded as a
condition of the result.
"""

from __future__ import annotations

import ast
import dis
import keyword
import math
import types
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from ..advice import with_arguments
from ..errors import DerivationError, an
from ..raised import raised_words
from .cells import Array, Static, entry_name, more_samples, samples
from .complexes import is_complex
from .formulas import TooLarge, expression, size
from .functions import ELEMENTARY
from .plain_values import (
    are_close_results,
    moved_by_rounding,
    parts_that_move,
    plain_argument,
    without_warnings_or_output,
)
from .scalars import CONTEXT, CannotTrace, Scalar, Stop, Trace
from .swap import Globals, Swap, same_shape_object_array
from .tracing import STAND_INS, flat_numbers, place_of, users_place
from .worker import TooLong, at_most

MAX_RUNS = 160
MORE_SAMPLES = 40  # samples of arrays, for a function that compares their entries
MAX_LEAVES = 6
MAX_PATHS = 16
RUN_SECONDS = 1.0  # processor time of one run, plain and traced
ASSUMPTION_SECONDS = 1.0  # for what SymPy's assumptions say about one condition
LONG = "a long expression"
FAR = (0, Fraction(1, 10**8), Fraction(1, 1000), Fraction(1, 10), 1, 2, 5, 10, 30, 100, 800)


class Held(Static):
    """An int that appears in the formulas under its name, and whose cotangent is seldom used."""

    value: int


@dataclass(frozen=True)
class Run:
    """One run: the sample, what was decided, and the result, which is None if there is none."""

    sample: tuple
    trace: Trace
    y: tuple[Scalar, ...] | None
    shape: tuple = ()
    finite: bool = True  # in floats


@dataclass(frozen=True)
class Leaf:
    """A path through the function: its results as expressions, and the runs that took it."""

    values: tuple
    shape: tuple
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True)
class Branch:
    """`left relation right`, and what the function computes where that holds and where it does not."""

    left: Any
    relation: str
    right: Any
    yes: Any
    no: Any


@dataclass
class Reading:
    """A function read as a formula: `tree` of branches, in symbols of the arguments and of module
    constants.
    """

    tree: Any
    arguments: dict[str, Any]  # by parameter: its symbol, an object array of symbols, or None if it is fixed
    constants: dict[str, sp.Symbol]  # numbers read from the module
    fixed: dict[str, Any]  # parameters and module globals with the values that the formula was made for
    notes: dict[str, None] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()
    # Samples at which floats have a value and the formula has none.
    beyond: list = field(default_factory=list)


def _in_figures(value):
    """An exact number with a few digits; an array as a list of such numbers; what is fixed as its repr."""
    if isinstance(value, Static) and not isinstance(value, Held):
        return value.shown()
    try:
        return f"{float(value):g}"
    except (TypeError, ValueError, OverflowError):
        entries = getattr(value, "entries", None)
        return str(value) if entries is None else f"[{', '.join(map(_in_figures, entries))}]"


def refusal(f, why, *fixes, place=None):
    """The error that says why no rule can be derived."""
    name = getattr(f, "__name__", "the function")
    return DerivationError(why, asked=f"a rule derived for {name}", place=place or place_of(f), fixes=fixes)


# --- what the function reads besides its arguments ----------------------------------------------------------


class _ReadingSwap(Swap):
    """A swap that notes what is read: floats of the function's own module turn into symbols."""

    def __init__(self, trace, f, reading):
        self.f, self.reading = f, reading
        self.closures: set[str] = set()
        self.inner: frozenset[str] = frozenset()
        super().__init__(trace, STAND_INS)

    def value(self, value, name):
        if isinstance(value, (bool, int, float, str, bytes, type(None), np.generic)):
            return self.plain(value, name)
        if isinstance(value, (tuple, list, dict)):
            self.keep(value, name)
            return super().value(value, name)
        known = (
            types.ModuleType,
            types.FunctionType,
            types.BuiltinFunctionType,
            types.MethodType,
            Scalar,
            type,
        )
        if not isinstance(value, known) and not callable(value) and not _is_library(value):
            self.trace_stop(
                f"{name}, {an(type(value).__name__)}", "pass in what the function needs as arguments"
            )
        if isinstance(value, type) and type(value).__module__ != "builtins":
            self.trace_stop(f"the class {name}")
        return super().value(value, name)

    def plain(self, value, name):
        if name.startswith("a default of") or "[" in name or name in self.inner:
            return value
        if "." in name:
            if name.partition(".")[0] not in ("math", "numpy", "scipy", "cmath", "builtins"):
                self.trace_stop(f"{name}, a constant of another module", "pass it in as an argument")
            return value
        if name in self.closures:
            self.reading.notes[f"{name} of the closure is held fixed at {value!r}"] = None
        elif not is_name(name):
            self.trace_stop("a name that is not an identifier")
        elif type(value) in (float, np.float64) and math.isfinite(value):
            self.reading.constants[name] = sp.Symbol(name)
            return self.trace.argument(name, Fraction(float(value)))
        elif name not in ("__name__", "__file__", "__debug__"):
            self.keep(value, name)
        return value

    def keep(self, value, name):
        if "." in name or "[" in name or name.startswith("a default of"):
            return
        if name in self.closures:
            self.reading.notes[f"{name} of the closure is held fixed"] = None
            return
        if not is_literal(value) or not is_name(name):
            self.trace_stop(
                f"{name}, {an(type(value).__name__)} of the module",
                "pass in what the function needs as arguments",
            )
        self.reading.fixed[name] = value

    def function(self, function):
        self.closures.update(function.__code__.co_freevars)
        before = self.inner
        self.inner = frozenset(() if function is self.f else function.__kwdefaults__ or ())
        try:
            return super().function(function)
        finally:
            self.inner = before

    def _globals_for(self, source):
        if not isinstance(source, Globals) and source is not self.f.__globals__:
            return _ForeignGlobals(self, source)
        return super()._globals_for(source)


class _ForeignGlobals(Globals):
    """The globals of a helper in another module: its numbers are taken as they are, with a note."""

    def __missing__(self, name):
        value = self._source[name]
        if isinstance(value, (bool, int, float, str, tuple, np.generic)) and not name.startswith("__"):
            module = self._source.get("__name__", "another module")
            self._swap.reading.notes[f"{name} of {module} is held fixed at {value!r}"] = None
            self[name] = value
            return value
        return super().__missing__(name)


def _is_library(value):
    """Whether an object belongs to a library and is not data: flags, number types, wrappers."""
    return not isinstance(value, np.ndarray) and type(value).__module__.partition(".")[0] in (
        "numpy",
        "scipy",
        "functools",
        "rulelab",
        "builtins",
    )


def is_name(word):
    """Whether a string can be written as a name in a program."""
    return isinstance(word, str) and word.isidentifier() and not keyword.iskeyword(word)


def is_literal(value, room=20):
    """Whether a value can be written in one line and compared: plain numbers, strings, short containers."""
    if type(value) in (bool, int, float, str, bytes, type(None)):  # no subclass: repr must be Python's own
        return len(repr(value)) <= 60
    if type(value) in (tuple, list):
        return len(value) <= room and all(is_literal(v, 4) for v in value)
    if type(value) is dict:
        return len(value) <= room and all(is_literal(v, 4) for kv in value.items() for v in kv)
    return False


# --- runs ---------------------------------------------------------------------------------------------------


class _Explorer:
    """Runs one function at many samples until both sides of its comparisons are known."""

    def __init__(self, f, names, spec, rng):
        self.f, self.names, self.spec, self.rng = f, names, spec, rng
        self.reading = Reading(None, {}, {}, {})
        self.seen: set = set()
        self.endless = 0
        self.failure: BaseException | None = None

    def run(self, sample):
        sample = tuple(
            Fraction(float(v)) if k == "scalar" else v for v, k in zip(sample, self.spec, strict=True)
        )
        try:
            with at_most(RUN_SECONDS):
                return self.traced(sample)
        except TooLong:
            self.endless += 1
            if self.endless == 3:
                at = ", ".join(f"{n} = {v}" for n, v in zip(self.names, sample, strict=True))
                raise refusal(
                    self.f,
                    f"it does not end within {RUN_SECONDS:g} s at {at}, among others",
                    with_arguments("give arguments", self.f),
                ) from None
            return None

    def traced(self, sample):
        trace = Trace()
        swap = _ReadingSwap(trace, self.f, self.reading)
        plain = self.plain(sample)
        try:
            with without_warnings_or_output():
                y = swap.value(self.f, "f")(*self.arguments(trace, sample))
            if trace.stop is not None:
                raise trace.stop
            if any(map(is_complex, parts_that_move(y))):
                trace.halt(CannotTrace("a complex result", why="rules are derived for real results"))
            flat = tuple(flat_numbers(trace, y))
        except CannotTrace as stop:
            raise self.refused(stop.sentence, stop, swap, stop.advice) from stop
        except Stop as stop:
            if plain is not None:
                self.need_continuation(sample, stop)
            return Run(sample, trace, None)
        except Exception as raised:
            if plain is not None:
                raise self.refused(
                    f"{type(raised).__name__} on SymPy's symbols: {raised}", raised, swap
                ) from raised
            self.failure = self.failure or raised
            return Run(sample, trace, None)
        if plain is not None and not are_close_results([float(v.shadow) for v in flat], np.ravel(plain)):
            if not self.is_lost_to_rounding(sample, plain):
                raise refusal(
                    self.f,
                    f"its formula and its result in floats differ at {self.shown(sample)}",
                    with_arguments("give arguments at which rounding does not matter", self.f),
                )
            plain = None  # which says nothing about the formula
        return Run(sample, trace, flat, np.shape(y), plain is not None)

    def is_lost_to_rounding(self, sample, plain):
        """Whether floats that differ from those of a sample by a rounding error give a different value, as
        after many steps of a chaotic equation: then the float value is useless for comparison with a formula.
        """
        for arguments in moved_by_rounding(map(plain_argument, sample)):
            beside = self.plain_at(arguments)
            if beside is None or not are_close_results(np.ravel(beside), np.ravel(plain)):
                return True
        return False

    def need_continuation(self, sample, stop):
        """The case where floats have a value and the formula has none: integer powers of negative numbers and
        lgamma continue with the same formula, which the numerical check will verify; anything else is a
        different function.
        """
        if not str(stop).startswith(("a power of a number", "loggamma")):
            raise refusal(self.f, f"it has a value at {self.shown(sample)}, but its formula has none: {stop}")
        self.reading.beyond.append(sample)

    def shown(self, sample):
        """A sample as text, with the names of the arguments."""
        return ", ".join(f"{n} = {_in_figures(v)}" for n, v in zip(self.names, sample, strict=True))

    def plain(self, sample):
        """The value in floats; None if there is none, or one that is not finite and real."""
        return self.plain_at(map(plain_argument, sample))

    def plain_at(self, arguments):
        with without_warnings_or_output():
            try:
                found = self.f(*arguments)
                unlike = isinstance(found, (tuple, list)) and len(set(map(np.shape, found))) > 1
                y = None if unlike else np.asarray(found)
            except Exception as raised:
                self.failure = self.failure or raised
                return None
        if y is None:
            raise refusal(
                self.f,
                "it returns several values with different shapes",
                "write one for each: rules are derived for functions that return a number or one array",
            )
        return y if y.dtype.kind in "fiub" and np.all(np.isfinite(y)) else None

    def arguments(self, trace, sample):
        made = []
        for name, kind, value in zip(self.names, self.spec, sample, strict=True):
            if isinstance(kind, Held):
                made.append(trace.argument(name, Fraction(value.value)))
            elif isinstance(kind, Static):
                made.append(value.value)
            elif isinstance(value, Array):
                labels = [entry_name(name, index) for index in np.ndindex(value.shape)]
                entries = [trace.argument(n, v) for n, v in zip(labels, value.entries, strict=True)]
                made.append(same_shape_object_array(entries, value.shape))
            else:
                made.append(trace.argument(name, Fraction(value)))
        return made

    def refused(self, why, raised, swap, *fixes):
        return refusal(self.f, why, *filter(None, fixes), place=users_place(raised, swap.codes, self.f))

    def explore(self, given):
        queue = [*given, *samples(self.spec, self.rng), *self.far_samples()]
        runs = self.ran(queue)
        has_arrays = any(isinstance(kind, tuple) and not isinstance(kind, Static) for kind in self.spec)
        if has_arrays and any(map(_decides, runs)):  # perhaps by the signs or the order of entries
            runs += self.ran([*more_samples(self.spec, self.rng, MORE_SAMPLES)])
        return runs

    def ran(self, queue):
        """The runs that terminate, at these samples and beside them."""
        runs: list[Run] = []
        while queue and len(runs) < MAX_RUNS:
            run = self.run(queue.pop(0))
            if run is None:
                continue
            if not run.trace.tie:
                runs.append(run)
            queue = [*self.beside(run), *queue]
        return runs

    def far_samples(self):
        """Small, large and special numbers, to see the function outside its ordinary range."""
        scalars = [i for i, kind in enumerate(self.spec) if kind == "scalar"]
        values = [sign * Fraction(v) for v in FAR for sign in (1, -1)]
        for k, value in enumerate(values):
            for i in scalars[:3]:
                ordinary = next(s for j, s in enumerate(samples(self.spec, self.rng)) if j == k % 3)
                yield tuple(value if j == i else v for j, v in enumerate(ordinary))

    def beside(self, run):
        """Samples on both sides of each number that an argument was compared with."""
        places = {name: i for i, name in enumerate(self.names) if self.spec[i] == "scalar"}
        for decision in run.trace.decisions:
            for argument, bound in ((decision.left, decision.right), (decision.right, decision.left)):
                sign = 1
                if argument.op == "neg":
                    argument, sign = argument.args[0], -1
                i = places.get(argument.args) if argument.op == "argument" else None
                if i is None or not CONTEXT.isfinite(bound.shadow):
                    continue
                at = sign * Fraction(float(bound.shadow)).limit_denominator(10**6)
                if (i, at) in self.seen:
                    continue
                self.seen.add((i, at))
                for away in (Fraction(1, 7), Fraction(1, 1009)):
                    for step in (away * max(Fraction(1), abs(at)), -away * max(Fraction(1), abs(at))):
                        yield tuple(at + step if j == i else v for j, v in enumerate(run.sample))


def _decides(run):
    """Whether a comparison in this run depends on an argument."""
    return any(not (d.left.is_constant and d.right.is_constant) for d in run.trace.decisions)


# --- the tree -----------------------------------------------------------------------------------------------


class _DeadBranch:
    """A path at whose end there is no value: outside the domain."""


def read_function(f, names, spec, given, rng) -> Reading:
    """The function as a tree of formulas; DerivationError if it cannot be read as one.

    `spec` has for each name "scalar", a shape, `Held` (a symbol without a cotangent) or `Static` (fixed).
    """
    explorer = _Explorer(f, names, spec, rng)
    runs = explorer.explore(given)
    live = [run for run in runs if run.y is not None and run.finite]
    if not live:
        if explorer.failure is None:
            why = "it gave no finite number at any sample"
        else:
            drawn = "" if given else "called with numbers, because no arguments were given, "
            why = f"{drawn}it raised {raised_words(explorer.failure)}"
        raise refusal(f, why, with_arguments("give arguments", f))
    reading = explorer.reading
    for name, kind in zip(names, spec, strict=True):
        if isinstance(kind, Static) and not isinstance(kind, Held):
            reading.fixed[name] = kind.value
            reading.arguments[name] = None
        elif isinstance(kind, tuple) and not isinstance(kind, Static):
            entries = [sp.Symbol(entry_name(name, index)) for index in np.ndindex(kind)]
            reading.arguments[name] = same_shape_object_array(entries, kind)
        else:
            reading.arguments[name] = sp.Symbol(name)
    clash = sorted({*reading.constants, *reading.fixed} & set(names) - _fixed_parameters(names, spec))
    if clash:
        raise refusal(f, f"{clash[0]} is both an argument and a global that it reads")
    reading.runs = tuple(live)
    for decision in (d for run in live for d in run.trace.decisions):
        if decision.relation in ("floor", "ceil", "round") and not decision.left.is_constant:
            raise refusal(
                f, f"it rounds a number ({decision.relation}): no formula describes the steps"
            )
    if len({run.trace.path() for run in live}) > MAX_PATHS:
        raise refusal(
            f,
            f"it branches in more than {MAX_PATHS} ways, like a maximum or a sort of several numbers, or a "
            "loop that runs until it has converged",
            "give shorter arrays",
        )
    try:
        reading.tree = _Gatherer(f).tree(runs, 0)
    except TooLarge as large:
        raise refusal(f, f"its formula is too large: {large}") from large
    return reading


def _fixed_parameters(names, spec):
    return {n for n, k in zip(names, spec, strict=True) if isinstance(k, Static) and not isinstance(k, Held)}


class _Gatherer:
    """Combines the runs of one program: runs with the same decisions so far make the same next comparison."""

    def __init__(self, f):
        self.f, self.leaves = f, 0

    def tree(self, runs, depth, facts=()):
        live = [r for r in runs if r.y is not None]
        if not live:
            return _DeadBranch
        first = live[0]
        if depth == len(first.trace.decisions):
            return self.leaf(live)
        decision = first.trace.decisions[depth]
        asked = [r for r in runs if len(r.trace.decisions) > depth]
        sides = {o: [r for r in asked if r.trace.decisions[depth].outcome == o] for o in (True, False)}
        if decision.left.is_constant and decision.right.is_constant:
            return self.tree(asked, depth + 1, facts)
        yes, no = (
            self.tree(sides[o], depth + 1, self.with_fact(facts, decision, o)) if sides[o] else None
            for o in (True, False)
        )
        if yes not in (None, _DeadBranch) and no not in (None, _DeadBranch):
            return Branch(
                self.expression(decision.left), decision.relation, self.expression(decision.right), yes, no
            )
        outcome = yes not in (None, _DeadBranch)
        found = yes if outcome else no
        missing = no if outcome else yes
        if missing is None and not self.may_miss(decision, outcome, live, facts):
            raise self.one_sided(decision, not outcome)
        if missing is None and decision.relation in ("==", "!="):
            return Branch(self.expression(decision.left), "==", self.expression(decision.right), None, found)
        return found

    def one_sided(self, decision, missing):
        """The refusal for a decision of which no sample took the other side."""
        sides = self.words(decision.left), self.words(decision.right)
        if LONG in sides:
            words = (
                "one of its branches, or one inside a NumPy function that it calls, depends on a long "
                "expression, and the samples took only one side of it"
            )
            return refusal(self.f, words)
        asked = f"{sides[0]} {decision.relation} {sides[1]}"
        return refusal(
            self.f,
            f"no sample was found at which `{asked}` is {missing}, so this branch cannot be derived",
            with_arguments("give arguments at which it is", self.f),
        )

    def may_miss(self, decision, outcome, live, facts):
        """Whether the side that was not seen needs no formula: a single point, no real numbers, outside the
        domain.
        """
        if decision.relation in ("==", "!="):
            return outcome == (decision.relation == "!=")
        left, right = decision.left, decision.right
        if (
            outcome
            and right.is_constant
            and any(_asks_domain(r.y, left, decision.relation) for r in live[:1])
        ):
            return True
        if size(left) > 30 or size(right) > 30:
            return False
        difference = self.expression(left) - self.expression(right)
        if _follows(
            difference,
            decision.relation in (">", ">=") if outcome else decision.relation in ("<", "<="),
            facts,
        ):
            return True
        difference = difference.xreplace({s: sp.Symbol(s.name, real=True) for s in difference.free_symbols})
        known = {
            (">", True): "is_positive",
            (">=", True): "is_nonnegative",
            ("<", True): "is_negative",
            ("<=", True): "is_nonpositive",
            (">", False): "is_nonpositive",
            (">=", False): "is_negative",
            ("<", False): "is_nonnegative",
            ("<=", False): "is_positive",
        }
        try:
            with at_most(ASSUMPTION_SECONDS):  # SymPy's assumptions may take minutes
                return bool(getattr(difference, known[decision.relation, outcome]))
        except TooLong:
            return False

    def with_fact(self, facts, decision, outcome):
        """What is known on this path once this decision is added: pairs (expression, whether it is
        positive).
        """
        if decision.relation not in (">", ">=", "<", "<=") or size(decision.left) + size(decision.right) > 40:
            return facts
        difference = self.expression(decision.left) - self.expression(decision.right)
        return (*facts, (difference, (decision.relation in (">", ">=")) == outcome))

    def leaf(self, live):
        self.leaves += 1
        if self.leaves > MAX_LEAVES:
            raise refusal(
                self.f,
                f"its formula has more than {MAX_LEAVES} cases, like that of a maximum or a sort of several "
                "numbers",
                "give shorter arrays",
            )
        return Leaf(tuple(map(self.expression, live[0].y)), live[0].shape, tuple(r for r in live if r.finite))

    def expression(self, node):
        return expression(node, {}, {})

    def words(self, node):
        return sp.sstr(self.expression(node)) if size(node) <= 12 else LONG


def _follows(expr, positive, facts):
    """Whether the sign of an expression follows from the signs of others that differ from it by a number."""
    for known, is_positive in facts:
        for sign, known_positive in ((1, is_positive), (-1, not is_positive)):
            beyond = expr - sign * known
            if beyond.is_number and known_positive == positive and (beyond >= 0 if positive else beyond <= 0):
                return True
    return False


def _asks_domain(results, argument, relation):
    """Whether a function in the graph requires this of its argument and has no value otherwise."""
    seen: set[int] = set()
    stack = list(results)
    while stack:
        node = stack.pop()
        if id(node) in seen or node.op in ("argument", "constant"):
            continue
        seen.add(id(node))
        known = ELEMENTARY.get(node.op)
        borders = known.borders if known is not None else ()
        asked = (node.args[b.which] for b in borders if b.relation == relation and b.which < len(node.args))
        if any(a is argument for a in asked):
            return True
        stack.extend(node.args)
    return False


def global_names(code: types.CodeType):
    """The global names that a function's code reads, and those that its inner functions read."""
    yield from (i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from global_names(constant)


def literal_tree(value):
    """The syntax tree of a value for which `is_literal` holds."""
    return ast.parse(repr(value), mode="eval").body
