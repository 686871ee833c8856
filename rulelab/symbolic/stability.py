"""Where a right rule is numerically bad: its floats compared with the same code in hundreds of digits, and a
better formula if a short search finds one.
"""

from __future__ import annotations

import cmath
import itertools
import math
import operator
import sys
import time
import types
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from ..advice import IN_THE_PLANE, NO_PLANE, with_at
from ..checking.calling.budgets import took_more
from ..errors import NotDifferentiableError, RuleError
from ..rules.registry import Registry
from ..rules.targets import name_of
from ..tables import Page, Report, Table
from ..tangents import thunks, zeros
from ..verdicts import CANNOT_TELL, HEADLINE, LOSES_DIGITS, NOT_JUDGED, RIGHT, headed
from . import worker
from .arrays import to_traced_arrays
from .branches import global_names
from .cells import Array, ComplexNumbers, Static, entry_name
from .check import preload
from .drawn_arguments import DrawnArguments, drawn_arguments
from .forms import compiled_form, value_or_nan
from .formulas import TooLarge, expression, size
from .functions import ELEMENTARY
from .plain_values import (
    entries_of,
    flat_floats,
    numbers_in,
    plain_argument,
    seed_like,
    without_warnings_or_output,
)
from .printers import SEED, Printer, Spelling, name_tree, plain_scope, text
from .questions import NoRuleFound, find_rule, judged_arguments
from .rewrites import best_rewriting
from .scalars import CONTEXT, CannotTrace, Stop, Trace
from .scan_inputs import (
    MAX_ENTRIES,
    answers,
    array_lines,
    is_of_numbers,
    plan_to_scan,
    plane_inputs,
    real_inputs,
)
from .specials import works_on_arrays
from .swap import Swap, same_shape_object_array
from .tracing import STAND_INS, THE_AD_CALLED, comes_from_the_ad, flat_numbers, traced_arguments
from .work_counter import WorkLimit

BAD = 64.0  # ulps: six lost bits
LOST = 2.0**52  # ulps: no correct digit
PRECISIONS = (60, 160, 450, 1100)  # digits, increased until two results agree
POINT_SECONDS = 2.0  # processor seconds
SHARE = 0.6  # part of the time limit, in seconds of work, for the inputs; the rest is for the search
ROOM = 2  # factor of the time limit for the whole scan, since hundreds of digits are slow
ONE_TOOK_MORE = took_more("one of them", POINT_SECONDS)
MAX_REGIONS = 4
MIN_NORMAL, LARGEST = sys.float_info.min, sys.float_info.max


@dataclass(frozen=True)
class Region:
    """A range of neighbouring inputs at which the pullback loses digits, and the worst of them.

    `low` and `high` are the first and the last of the inputs tried; `ulps` is the error at `worst` in units
    in the last place (infinite if there is no finite result), `found` is the result there and `exact` the
    right one. `cause` is empty if none is visible. `own` says that the function itself has no finite value
    there.
    """

    argument: str
    low: str
    high: str
    worst: str
    ulps: float
    found: str
    exact: str
    cause: str
    own: bool = False

    @property
    def loss(self) -> str:
        """The loss in words."""
        if not self.ulps < math.inf:
            return "no finite number"
        count = int(15.95 - math.log10(self.ulps)) if self.ulps > 0 else 16
        if self.ulps >= LOST or count < 1:
            return "no digit is right"
        digits = "1 digit is right" if count == 1 else f"{count} digits are right"
        return f"{_in_ulps(self.ulps)} off, only {digits}"

    @property
    def where(self) -> str:
        """The inputs and the loss at them, in words."""
        where = f"for {self.argument} from {self.low} to {self.high}"
        return f"loses digits {where} ({self.loss})" if self.ulps < math.inf else f"{self.loss} {where}"

    @property
    def example(self) -> str:
        """The result at the worst input, the right one, and the cause."""
        words = f"{self.argument} = {self.worst} it gives {self.found} instead of {self.exact}"
        return f"{words}: {self.cause}" if self.cause else words


def _in_ulps(ulps):
    """A number of ulps with two significant digits.

    >>> _in_ulps(421.3), _in_ulps(0.52), _in_ulps(1.23e14)
    ('420 ulps', '0.52 ulps', '1.2e+14 ulps')
    """
    short = f"{ulps:.2g}"
    return f"{float(short):.0f} ulps" if 100 <= ulps < 1e6 else f"{short} ulps"


NO_FINITE_NUMBER = "the function has no finite number there"


def _worst_last(region):
    """Sort key: regions that a rule can repair come before those of the function itself."""
    return not region.own, region.ulps


@dataclass(frozen=True)
class Better:
    """A formula for the derivative that loses fewer digits: its text, and the errors before and after."""

    argument: str
    formula: str
    worst_before: float
    worst: float
    bits_before: float
    bits: float


@dataclass(frozen=True, repr=False)
class StabilityReport(Report):
    """The scan of a pullback. It is true if no significant number of digits is lost at any input.

    Attributes
    ----------
    function : str
        The function whose pullback was scanned.
    regions : tuple of Region
        Where the pullback loses digits, and why.
    better : tuple of Better
        Formulas that lose fewer digits.
    points : int
        The number of inputs that were tried.
    worst : float
        The largest error in ulps, units in the last place.
    notes : tuple of str
        Further remarks.
    seconds : float
        How long it took.
    cut : bool
        Whether there was not enough time for all inputs.
    """

    function: str
    regions: tuple[Region, ...]
    better: tuple[Better, ...]
    points: int
    worst: float
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    cut: bool = False

    def __bool__(self) -> bool:
        return not self.regions and self.points > 0 and not self.cut

    @property
    def word(self) -> str:
        """The verdict as one word; "right" means up to rounding."""
        if self.regions:
            return LOSES_DIGITS
        return CANNOT_TELL if self.cut else RIGHT if self.points else NOT_JUDGED

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if self.cut and not self.regions:
            return f"pullback of {self.function}: {CANNOT_TELL}: not all inputs could be tried"
        if not self.points:
            return f"pullback of {self.function}: {NOT_JUDGED}: no input could be compared"
        if not self.regions:
            off = f"at most {self.worst:.2g} ulps off at {self.points} inputs"
            return f"pullback of {self.function}: {RIGHT} to rounding: {off}"
        words = self.worst_region.where
        words = words if len(words) <= HEADLINE - 40 else f"{self.worst_region.loss} for some inputs"
        return f"pullback of {self.function}: {words}"

    @property
    def worst_region(self) -> Region:
        """The region with the largest error; there must be at least one."""
        return max(self.regions, key=_worst_last)

    @property
    def example(self) -> str:
        """The result at the worst input, and the cause."""
        return f"at {self.worst_region.example}" if self.regions else ""

    def page(self) -> Page:
        """The verdict, the regions, and the better formulas."""
        tables = []
        if self.regions:
            rows = tuple(
                (r.argument, r.low, r.high, r.worst, r.loss, r.cause or "not visible") for r in self.regions
            )
            columns = ("argument", "from", "to", "worst at", "error", "cause")
            tables.append(Table("Where digits are lost", columns, rows))
        if self.better:
            names = ("argument", "derivative", "bits lost before", "after", "worst after")
            formulas = tuple(
                (b.argument, b.formula, f"{b.bits_before:.1f}", f"{b.bits:.1f}", _ulps(b.worst))
                for b in self.better
            )
            tables.append(Table("A better formula (bits: the mean over the inputs)", names, formulas))
        words = (*headed(self.sentence, self.function), *filter(None, [self.example]))
        return Page(words, tuple(tables), tuple(f"note: {n}" for n in self.notes), self.word)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        return {
            "function": self.function,
            "regions": [asdict(r) for r in self.regions],
            "better": [asdict(b) for b in self.better],
            "points": self.points,
            "worst": self.worst,
            "notes": list(self.notes),
            "seconds": self.seconds,
            "cut": self.cut,
        }


def _ulps(number):
    return (
        f"{number:.2g} ulps" if number < LOST else ("no digit" if number < math.inf else "no finite number")
    )


def scan_stability(
    f: Callable[..., Any],
    rule: Any = None,
    *,
    at: Any = None,
    plane: bool = False,
    registry: Registry | None = None,
    time_limit: float = 15.0,
    stop: Callable[[], bool] | None = None,
    name: str | None = None,
) -> StabilityReport:
    """Return where the pullback of `f` loses digits, why, and a better formula if one is found.

    One argument at a time is varied over floats of both signs, evenly spaced on a logarithmic scale, and
    floats near ±1; the others keep their values in `at`. For an array, first its first entry is varied, then
    all entries are scaled, then all are shifted. An input counts if the exact value and cotangent are in the
    range of floats: overflow, an error or nan there is a finding. The cotangent of the pullback is compared
    with that of the same code computed with hundreds of digits: this scan is only about rounding; `prove` is
    about whether the rule is right.

    Parameters
    ----------
    f : callable
        A function of numbers, elementwise, or of real arrays of up to sixteen numbers.
    rule : callable, optional
        A function `rule(*args) -> (y, pullback)`, instead of the registered rule.
    at : tuple, optional
        The values of the arguments that do not vary.
    plane : bool
        Whether the argument takes complex numbers instead; there may be only one argument.
    registry : Registry, optional
        Where to look for rules.
    time_limit : float
        Seconds of processor time; the report says what was left out for lack of time.
    stop : callable, optional
        Called repeatedly; says whether to end early.
    name : str, optional
        How the author writes `f`.

    Returns
    -------
    StabilityReport
        A report that is true if nothing was found.

    Raises
    ------
    RuleError
        If there is no rule, or if the rule cannot be followed.

    Examples
    --------
    >>> import math
    >>> def tanh(x): return math.tanh(x)
    >>> def tanh_rrule(x):
    ...     y = tanh(x)
    ...     return y, lambda y_bar: (None, (1 - y * y) * y_bar)
    >>> report = scan_stability(tanh, tanh_rrule)
    >>> bool(report), report.regions[0].cause
    (False, 'cancellation in 1 - y * y')
    """
    started = time.monotonic()
    names, plans = judged_arguments(f, at)
    shown = name or getattr(f, "__name__", None) or name_of(f)
    if any(isinstance(k, ComplexNumbers) for k in plans[0].specs[0]):
        raise _refused(shown, "the scan takes real numbers only", IN_THE_PLANE)
    if plane and sum(k == "scalar" for k in plans[0].specs[0]) != 1:
        raise _refused(
            shown,
            "in the complex plane the scan is for one argument",
            "bind the others with functools.partial",
        )
    preload()
    plain_scope()  # loads SciPy once here, instead of in every worker

    def question_for(plan):
        return find_rule(f, rule, names, plan, registry, name)

    def job(report):
        try:
            inputs = _Inputs(plans[0]) if plane else _inputs(f, plans, at is not None, question_for)
            if inputs.plan is None:
                kinds = f"numbers, and real arrays of up to {MAX_ENTRIES} of them"
                advice = with_at("give smaller arguments", names)
                raise _refused(shown, f"the scan takes {kinds}", advice)
            question = question_for(inputs.plan)
        except NoRuleFound as missing:
            error = missing.error
            report(_refused(shown, error.found, *error.fixes))
        except RuleError as refused:
            report(refused)
        else:
            scan = (_PlaneScan if plane else _RealScan)(question, inputs.plan, shown, time_limit, report)
            if inputs.drawn:
                advice = with_at("give your own", names)
                scan.notes[f"the arguments were drawn ({inputs.drawn}); {advice}"] = None
            scan.are_taken = inputs.are_taken
            scan.run()

    outcome = worker.run(job, ROOM * time_limit, stop)
    found = outcome.result
    over = outcome.failure or took_more("the scan", time_limit)
    if found is None:
        raise _refused(shown, over)
    if isinstance(found, Exception):
        raise found
    if outcome.cut or outcome.failure:
        found = {**found, "cut": True, "notes": (*found["notes"], over)}
    return StabilityReport(**{**found, "seconds": time.monotonic() - started})


class _Inputs(NamedTuple):
    """The plan of a scan, None if there is none; the kinds of its arguments in words, if these were drawn as
    for a check; and whether the function takes them at all.
    """

    plan: Any
    drawn: str = ""
    are_taken: bool = True


def _inputs(f, plans, are_given, question_for):
    """The inputs of a scan of the line. If none were given, they are those that function and rule take, which
    are drawn where vectors and matrices in all positions do not fit.
    """
    plan = plan_to_scan(f, plans)  # calls f
    if are_given or (plan is not None and answers(question_for(plan), plan)):
        return _Inputs(plan)
    drawn = drawn_arguments(f) if isinstance(f, types.FunctionType) else DrawnArguments()
    found = plan_to_scan(f, judged_arguments(f, drawn.args)[1]) if drawn.args else None
    if found is not None:
        return _Inputs(found, drawn.kinds)
    return _Inputs(plan or next(filter(is_of_numbers, plans), None), are_taken=plan is not None)


def _refused(shown, why, *fixes):
    return RuleError(why, asked=f"a stability scan of the rule of {shown}", fixes=fixes)


# --- the scan -----------------------------------------------------------------------------------------------


@dataclass
class _InputResult:
    """One input: the derivative in floats, the exact one, and the error; for an array those of the worst
    `entry`. `y` is the function's value.
    """

    x: Any
    y: Any
    found: Any
    exact: Any
    ulps: float
    graph: Any = None
    entry: int = 0

    @property
    def has_value(self):
        """Whether the function itself gives finite numbers."""
        return bool(np.all(np.isfinite(self.y)))


class _Scan:
    """The common part of the scans of the line and of the plane."""

    plane = False
    tried: Any  # tried(i): the results for all inputs of argument i, line by line
    groups: Any  # groups(tried): the runs of inputs that lose digits
    both: Any  # both(cotangent, tried): every node's exact value and its value in floats
    number: Any  # float or complex: the type of a formula's value

    def __init__(self, question, plan, shown, time_limit, report):
        self.question, self.plan, self.shown = question, plan, shown
        self.report, self.cut = report, False
        self.notes: dict[str, None] = {}
        self.missed = ""
        self.are_taken = True  # whether the function takes the arguments, if they were guessed
        self.limit = WorkLimit(SHARE * time_limit)
        self.numpy = self.plane or writes_numpy(question.primal)

    def error(self, found, exact):
        """The error of a number in ulps; 0 if the exact one exceeds all floats, unless the number is nan."""
        if abs(exact) >= LARGEST:
            return math.inf if cmath.isnan(complex(found)) else 0.0
        return _distance(found, exact)

    def is_late(self):
        """Whether no more inputs should be tried."""
        is_over = self.limit.is_over()
        if is_over:
            self.leave_out(f"they take more than {self.limit.seconds:g} s")
        return is_over

    def leave_out(self, why):
        """Record that inputs were left out."""
        self.cut = True
        self.notes[f"some inputs were left out: {why}"] = None

    def run(self):
        before = CONTEXT.dps
        try:
            self.scan()
        except CannotTrace as stop:
            self.report(
                _refused(
                    self.shown,
                    f"the rule cannot be followed: {stop.sentence}",
                    *filter(None, (stop.advice,)),
                )
            )
        finally:
            CONTEXT.dps = before

    def say(self, regions, better, tried):
        worst = max((t.ulps for t in tried), default=0.0)
        self.report(
            {
                "function": self.shown,
                "regions": tuple(sorted(regions, key=_worst_last, reverse=True)),
                "better": tuple(better),
                "points": len(tried),
                "worst": worst,
                "notes": tuple(self.notes),
                "cut": self.cut,
            }
        )

    def scan(self):
        regions: list[Region] = []
        better: list[Better] = []
        everything: list[_InputResult] = []
        for i, kind in enumerate(self.plan.specs[0]):
            if isinstance(kind, Static):
                continue
            lines = self.tried(i)
            tried = [t for line in lines for t in line]
            everything += tried
            self.note_the_functions_own(i, tried)
            found = [self.region(i, group) for line in lines for group in self.groups(line)]
            # Where all other entries are zeros, scaling the array varies the first one only.
            distinct = {(r.low, r.high): r for r in found}.values()
            regions += sorted(distinct, key=_worst_last, reverse=True)[:MAX_REGIONS]
            self.say(regions, better, everything)
            if found and kind == "scalar":
                better += filter(None, [self.better(i, [t for t in tried if t.has_value])])
                self.say(regions, better, everything)
        if not everything:
            self.note_what_was_missed()
            self.say(regions, better, everything)

    def note_what_was_missed(self):
        """Record why no input at all could be compared, and what may help."""
        none_vary = all(isinstance(kind, Static) for kind in self.plan.specs[0])
        what = "no argument is a number or an array of numbers" if none_vary else NO_FINITE_NUMBER
        why = (self.missed or what) if self.are_taken else "the function takes no numbers"
        self.notes[f"no input could be compared with the exact cotangent: {why}"] = None
        if not self.plan.given:
            self.notes[f"the arguments were guessed; {with_at('give your own', self.question.names)}"] = None

    def note_the_functions_own(self, i, tried):
        """Record where the function itself has no finite value, which no rule can repair."""
        lost = next((t.x for t in tried if not t.has_value), None)
        if lost is not None:
            where = f"{self.question.names[i]} = {_number(lost)}, although its exact value is finite"
            self.notes[f"{self.shown} itself gives no finite number at {where}"] = None

    def ordinary(self, i):
        """The arguments, of which `i` will be replaced: those given, or small distinct numbers."""
        given = self.plan.given[0] if self.plan.given else None
        values = []
        for j, kind in enumerate(self.plan.specs[0]):
            if isinstance(kind, Static):
                values.append(kind.value)
            else:
                values.append(plain_argument(given[j]) if given else (0.75, 1.25, 0.625, 1.5)[j % 4])
        return values

    def in_floats(self, args, i):
        """(y, cotangent) by the rule in floats; its exceptions pass through."""
        with without_warnings_or_output():
            y, back = self.question.rule_through(lambda f: f)(*args)
            cotangent = thunks.unthunk(back(_seeds(y))[i + 1])
        return y, 0.0 if isinstance(cotangent, zeros.AbstractZero) else cotangent

    def graph(self, i, args):
        """(the results, the cotangents, the argument `i`) of the rule on traced numbers, as flat lists."""
        trace = Trace()
        swap = Swap(trace, STAND_INS)
        pairs = zip(self.plan.specs[0], args, strict=True)
        sample = [kind if isinstance(kind, Static) else _exactly(value) for kind, value in pairs]
        traced, _ = traced_arguments(trace, self.question.names, sample)
        with without_warnings_or_output():
            rule = self.question.rule_through(lambda f: swap.value(f, "rule"))
            y, back = rule(*traced)
            cotangent = thunks.unthunk(back(_traced_seeds(trace, y))[i + 1])
            if isinstance(cotangent, zeros.AbstractZero):
                cotangent = np.zeros(np.shape(traced[i]))
            made = flat_numbers(trace, y), flat_numbers(trace, cotangent), entries_of(traced[i])[0]
        if trace.stop is not None:
            raise trace.stop
        return made

    def region(self, i, group):
        worst = max(group, key=lambda t: (t.ulps > BAD and t.has_value, t.ulps, abs(t.exact)))
        name = self.question.names[i]
        low, high, at = _number(group[0].x), _number(group[-1].x), _number(worst.x)
        found, exact = _told_apart(worst.found, worst.exact)
        cause, own = self.cause(i, worst), not worst.has_value
        return Region(name, low, high, at, worst.ulps, found, exact, cause, own)

    def cause(self, i, tried):
        try:
            y, cotangents, _ = tried.graph or self.graph(i, self.with_input(i, tried.x))
        except (Stop, Exception):
            return ""
        return self.explained(y, cotangents[tried.entry], tried)

    def with_input(self, i, x):
        args = self.ordinary(i)
        args[i] = x
        return args

    def explained(self, y, cotangent, tried):
        """The first step at which floats go wrong, in words."""
        exact, rough = self.both(cotangent, tried)
        magnified = ""
        for node in _in_order(cotangent):
            off = _distance(rough[id(node)], exact[id(node)])
            inputs = (
                [a for a in node.args if not a.is_constant] if node.op not in ("argument", "constant") else []
            )
            before = max((_distance(rough[id(a)], exact[id(a)]) for a in inputs), default=0.0)
            if node.op in ("argument", "constant") or off < BAD or off < 16 * before:
                continue
            shown = self.words(node, y)
            if node.op not in ("add", "sub") and (small := _underflown(node, exact, rough)) is not None:
                return f"underflow in {self.words(small, y)}"
            if not _is_finite(rough[id(node)]):
                lost = (
                    "overflow"
                    if node.op in ("exp", "cosh", "sinh", "pow", "mul", "add", "sub", "div", "gamma")
                    else "domain"
                )
                return f"{lost} in {shown}"
            if node.op in ("add", "sub"):
                return f"cancellation in {shown}"
            magnified = magnified or f"{shown} magnifies the error of its argument"
            if _is_finite(tried.found):  # otherwise a later step overflowed
                break
        return magnified

    def words(self, node, y):
        if size(node) > 40:
            return "a long expression"
        names = ["y"] if len(y) == 1 else [f"y[{k}]" for k in range(len(y))]
        memo = {id(v): sp.Symbol(n) for v, n in zip(y, names, strict=True) if v is not node}
        try:
            expr = expression(node, {}, memo)
        except (TooLarge, Stop):
            return "a long expression"
        shown = _tree_text(expr)
        return shown if len(shown) <= 60 else f"{shown[:57]}…"

    def slope(self, i, tried):
        """(derivative, values): the formula in the pullback, in terms of y, and the expression for y."""
        (y,), (cotangent,), _ = tried.graph or self.graph(i, self.with_input(i, tried.x))
        one = sp.Symbol(f"y_bar{SEED}")
        value = expression(y, {}, {})
        memo = {} if y.op in ("argument", "constant") else {id(y): sp.Symbol("y value")}
        slope = expression(cotangent, {}, memo).subs(one, 1)
        return slope, ({} if value.is_Atom else {value: sp.Symbol("y value")})

    def better(self, i, tried):
        """A formula with a smaller loss, or None."""
        try:
            middle = min(tried, key=lambda t: abs(math.log10(abs(t.x) or 1e-9)) + (t.ulps > BAD))
            slope, values = self.slope(i, middle)
        except (Stop, TooLarge, Exception):
            return None
        name = self.question.names[i]
        fixed = {sp.Symbol(n): v for n, v in zip(self.question.names, self.ordinary(i), strict=True)}

        def measure(expr):
            tree, function, symbols = compiled_form(expr, numpy=self.numpy)
            lost = []
            for t in tried:
                floats = {**fixed, sp.Symbol(name): t.x, sp.Symbol("y value"): t.y}
                given = value_or_nan(function, [floats[s] for s in symbols], self.number)
                lost.append(self.error(given, t.exact))
            return sum(map(_bits, lost)) / len(lost), max(lost), tree

        try:
            found = best_rewriting(slope, values, measure, self.plane)
        except Exception:  # the search uses many SymPy heuristics; without it, the scan still has a result
            return None
        own = sum(_bits(t.ulps) for t in tried) / len(tried)
        worst = max(t.ulps for t in tried)
        if found is None or found.loss > 0.7 * own or found.loss > own - 0.05:
            return None
        return Better(name, self.printed(found.expr), worst, found.worst, own, found.loss)

    def printed(self, expr):
        """The formula in the author's spelling, with y for the value."""
        names = {s: name_tree(s.name.removesuffix(" value")) for s in expr.free_symbols}
        return text(Printer(Spelling(plain_scope(), self.numpy, self.question.names), names).tree(expr))


def _in_words(error):
    """An error as the end of a sentence."""
    if isinstance(error, NotDifferentiableError) and comes_from_the_ad(error):
        return f"{THE_AD_CALLED}, which SymPy cannot follow"
    words = " ".join(str(error).split())
    return words if isinstance(error, Stop) and words else f"{type(error).__name__}: {words}"


def writes_numpy(f):
    """Whether a function's code refers to NumPy; C functions accept floats as NumPy's do."""
    code = getattr(f, "__code__", None)
    if code is None:
        return isinstance(f, np.ufunc)
    words = (f.__globals__.get(word) for word in global_names(code))
    return any(map(works_on_arrays, words))


def _tree_text(expr):
    return text(Printer(_Bare(), {s: name_tree(_without_mark(s.name)) for s in expr.free_symbols}).tree(expr))


def _without_mark(name):
    return name.removesuffix(" value").replace(SEED, "")


def _far_off(x):
    """The distance of the largest number of an input from 1, in powers of ten."""
    largest = float(np.max(np.abs(x), initial=0.0))
    return abs(math.log10(largest)) if largest else math.inf


def _flat(y):
    """The numbers of a plain result: a float, or an array of all of them."""
    if not isinstance(y, (tuple, list)):
        return np.asarray(y, float) if np.ndim(y) else float(y)
    return flat_floats(y)


def _exactly(value):
    """A float, or an array of floats, as an exact sample."""
    if isinstance(value, np.ndarray):
        return Array(tuple(Fraction(float(v)) for v in value.flat), value.shape)
    return Fraction(value)


def _seeds(y):
    """Distinct numbers in the form of a result, so that sums over entries in a rule do not cancel; 1 for a
    single number.
    """
    numbers = (float(number) for number in _unlike())
    return seed_like(y, lambda shape: numbers_in(shape, numbers)) if _is_made_of_more(y) else 1.0


def _unlike():
    return (Fraction((-1) ** k * (1 + 3 * k), 1 + 4 * k) for k in itertools.count())


def _is_made_of_more(y):
    return isinstance(y, (tuple, list)) or np.shape(y) != ()


def _traced_seeds(trace, y):
    """The same as traced numbers, in the form of a traced result."""
    if not _is_made_of_more(y):
        return trace.argument(f"y_bar{SEED}", Fraction(1))
    numbers, parts = _unlike(), itertools.count()

    def traced(shape):
        name = f"y_bar[{next(parts)}]" if isinstance(y, (tuple, list)) else "y_bar"
        names = [entry_name(name, index) if shape else name for index in np.ndindex(shape)]
        entries = [trace.argument(one + SEED, Fraction(float(next(numbers)))) for one in names]
        return to_traced_arrays(same_shape_object_array(entries, shape)) if shape else entries[0]

    return seed_like(y, traced)


class _Bare(Spelling):
    """Functions by their bare names, for the text of a report."""

    def __init__(self):
        super().__init__({}, False, ())

    def word(self, module, name):
        return name_tree(name)


def _number(value):
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        rows = [_number(v) for v in value]
        return f"[{', '.join(rows if len(rows) <= 4 else [*rows[:2], '…', rows[-1]])}]"
    if isinstance(value, (complex, CONTEXT.mpc)):
        return f"{complex(value):.4g}"
    value = float(value)
    shown = f"{value + 0.0:.6g}"
    return repr(value) if abs(float(shown)) == 1 != abs(value) else shown


def _told_apart(found, exact):
    """Two numbers as text, with enough digits to show that they differ."""
    short = _number(found), _number(exact)
    if short[0] != short[1] or any(isinstance(v, (complex, CONTEXT.mpc)) for v in (found, exact)):
        return short
    longer = ((f"{float(found):.{n}g}", f"{float(exact):.{n}g}") for n in (9, 12, 15, 17))
    return next((pair for pair in longer if pair[0] != pair[1]), short)


def _bits(ulps):
    return math.log2(1 + min(ulps, 2.0**64))


def _is_finite(value):
    return cmath.isfinite(complex(value))


def _distance(rough, exact, size=None):
    """The distance of a float from an exact number in ulps of that number, or of a number of magnitude
    `size`.
    """
    if not _is_finite(rough):
        return math.inf
    size = abs(exact) if size is None else size
    size = float(size) if size < 1e308 else math.inf
    if size == math.inf:
        return math.inf
    unit = math.ulp(max(size, MIN_NORMAL))
    return float(
        abs(CONTEXT.mpmathify(complex(rough) if isinstance(rough, complex) else float(rough)) - exact) / unit
    )


def _underflown(node, exact, rough):
    """The first node below `node` whose float is subnormal and inexact, if an argument of `node` has become
    zero.
    """
    lost = [a for a in node.args if exact[id(a)] != 0 and rough[id(a)] == 0]
    for below in _in_order(node) if lost else ():
        value = abs(exact[id(below)])
        if 0 < value < MIN_NORMAL and abs(rough[id(below)]) != value:
            return below
    return None


def _in_order(node):
    """The nodes below, each after its arguments."""
    seen, order, stack = set(), [], [(node, False)]
    while stack:
        top, ready = stack.pop()
        if ready:
            order.append(top)
        elif id(top) not in seen:
            seen.add(id(top))
            stack.append((top, True))
            if top.op not in ("argument", "constant"):
                stack.extend((a, False) for a in top.args)
    return order


_ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "neg": operator.neg, "pow": operator.pow,
}  # fmt: skip
_NUMPY_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "atan2": "arctan2",
}  # fmt: skip


def _float_operation(op):
    """The float function for a node's operation."""
    if op in _ARITHMETIC:
        return _ARITHMETIC[op]
    if (function := getattr(np, _NUMPY_NAMES.get(op, op), None)) is not None:
        return function
    known = getattr(math, {"loggamma": "lgamma"}.get(op, op), None)
    return known or (lambda *xs: float(ELEMENTARY[op].evaluate(*map(CONTEXT.mpf, xs))))


def _node_values(node, leaf, constant, function):
    """The value of every node, from `leaf(node)`, `constant(node)` and `function(op)`."""
    values = {}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in _in_order(node):
            if each.op == "argument":
                values[id(each)] = leaf(each)
            elif each.op == "constant":
                values[id(each)] = constant(each)
            else:
                try:
                    values[id(each)] = function(each.op)(*(values[id(a)] for a in each.args))
                except (ArithmeticError, ValueError, TypeError):
                    values[id(each)] = math.nan
    return values


class _RealScan(_Scan):
    """The scan along the real line, one argument at a time."""

    number = float

    def tried(self, i):
        ordinary = self.ordinary(i)[i]
        lines = array_lines(ordinary) if isinstance(ordinary, np.ndarray) else (real_inputs(),)
        return [self.along(i, line) for line in lines]

    def along(self, i, line):
        """The results at the inputs of a line, in its order. Ordinary inputs are tried first, since extreme
        ones may take long.
        """
        found = {}
        for n in sorted(range(len(line)), key=lambda n: _far_off(line[n])):
            if self.is_late():
                break
            try:
                with worker.at_most(POINT_SECONDS):
                    found[n] = self.one(i, line[n])
            except worker.TooLong:
                self.leave_out(ONE_TOOK_MORE)
                break
        return [found[n] for n in sorted(found) if found[n] is not None]

    def one(self, i, x):
        values = self.exact(i, self.with_input(i, x))
        if values is None or any(abs(y) >= LARGEST for y in values[0]):
            return None
        y: Any = math.nan
        found: Any = math.nan
        try:
            with without_warnings_or_output():
                y = _flat(self.question.primal(*self.with_input(i, x)))
            found = np.real(self.in_floats(self.with_input(i, x), i)[1])
        except Exception:  # overflow or another error: there is no result
            pass
        exact, ulps = values[1], []
        largest = max(map(abs, exact))
        rough = [float(v) for v in np.broadcast_to(found, np.shape(x)).flat]
        for given, wanted in zip(rough, exact, strict=True):
            plain = len(exact) == 1 or largest >= LARGEST
            ulps.append(self.error(given, wanted) if plain else _distance(given, wanted, largest))
        k = max(range(len(ulps)), key=lambda k: (ulps[k], abs(exact[k])))
        return _InputResult(x, y, rough[k], exact[k], ulps[k], None, k)

    def exact(self, i, args):
        """The function's values and the pullback's results, with enough digits that more of them do not
        change the results.
        """
        last: list[Any] = []
        for digits in PRECISIONS:
            CONTEXT.dps = digits
            try:
                y, cotangents, _ = self.graph(i, args)
            except CannotTrace:
                raise
            except OverflowError:  # an exponential with more digits than there is memory
                return None
            except (Stop, Exception) as error:
                self.missed = self.missed or _in_words(error)
                return None
            now = [c.shadow for c in cotangents]
            if not all(map(CONTEXT.isfinite, now)):
                return None
            largest = max(map(abs, now))
            size = CONTEXT.mpf(10) ** -25 * largest
            if last and largest and all(abs(a - b) <= size for a, b in zip(now, last, strict=True)):
                return [v.shadow for v in y], now
            last = now
        return ([v.shadow for v in y], last) if largest == 0 else None

    def both(self, cotangent, tried):
        exact = {id(node): node.shadow for node in _in_order(cotangent)}
        rough = _node_values(
            cotangent, lambda n: float(n.shadow), lambda n: float(n.shadow), _float_operation
        )
        return exact, rough

    def groups(self, tried):
        """Yield runs of inputs that lose digits; a single input that does not is no end of a run."""
        group, good = [], 0
        for t in tried:
            if t.ulps > BAD:
                group.append(t)
                good = 0
            elif group:
                good += 1
                if good > 1:
                    yield group
                    group = []
        if group:
            yield group


class _PlaneScan(_Scan):
    """The scan over the complex plane, for a rule without branches."""

    plane, number = True, complex

    def tried(self, i):
        CONTEXT.dps = PRECISIONS[0]
        y, (cotangent,), moving = self.graph(i, self.with_input(i, 0.75))
        found = []
        for z in plane_inputs():
            if self.is_late():
                break
            try:
                with worker.at_most(POINT_SECONDS):
                    one = self.one(i, z, y, cotangent, moving)
            except worker.TooLong:
                self.leave_out(ONE_TOOK_MORE)
                break
            if one is not None:
                found.append(one)
        return [found]

    def one(self, i, z, y, cotangent, moving):
        try:
            with without_warnings_or_output():
                value = complex(self.question.primal(*self.with_input(i, z)))
            found = complex(self.in_floats(self.with_input(i, z), i)[1])
        except TypeError as raised:
            raise CannotTrace(f"complex numbers ({raised})", NO_PLANE) from raised
        except (ArithmeticError, ValueError):
            found = value = complex(math.nan)
        exact = self.exact(cotangent, moving, z)
        if exact is None or not cmath.isfinite(value):
            return None
        # A rule may conjugate the partial derivative or not: this scan is only about rounding.
        error = min(self.error(found, exact), self.error(found.conjugate(), exact))
        if self.error(found.conjugate(), exact) == error:
            found = found.conjugate()
        return _InputResult(z, value, found, exact, error, (y, [cotangent], moving))

    def exact(self, cotangent, moving, z):
        last = None
        for digits in PRECISIONS:
            CONTEXT.dps = digits
            value = self.precise(cotangent, moving, z)[id(cotangent)]
            if isinstance(value, float) or not CONTEXT.isfinite(value):
                return None
            if last is not None and abs(value - last) <= CONTEXT.mpf(10) ** -25 * abs(value) and value != 0:
                return value
            last = value
        return None

    def precise(self, cotangent, moving, z):
        def function(op):
            return _ARITHMETIC.get(op) or ELEMENTARY[op].evaluate

        def constant(node):
            return node.args.shadow() if node.args is not None else node.shadow

        return _node_values(
            cotangent, lambda n: CONTEXT.mpc(z) if n is moving else n.shadow, constant, function
        )

    def both(self, cotangent, tried):
        moving = tried.graph[2]
        CONTEXT.dps = PRECISIONS[-1]
        exact = self.precise(cotangent, moving, tried.x)
        rough = _node_values(
            cotangent,
            lambda n: complex(tried.x) if n is moving else complex(n.shadow),
            lambda n: float(n.shadow),
            _float_operation,
        )
        return exact, rough

    def groups(self, tried):
        """Yield all inputs that lose digits, by the sign of their imaginary part."""
        for sign in (1, -1):
            group = sorted((t for t in tried if t.ulps > BAD and t.x.imag * sign > 0), key=lambda t: abs(t.x))
            if group:
                yield group
