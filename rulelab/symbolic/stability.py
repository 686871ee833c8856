"""Where a right rule is numerically bad: its floats against the same code with hundreds of digits, and a
better formula where a short search finds one."""

from __future__ import annotations

import cmath
import math
import operator
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from ..errors import RuleError
from ..rules.targets import name_of
from ..tables import Page, Report, Table
from ..tangents import thunks, zeros
from . import worker
from .branches import uses
from .cells import ComplexNumbers, Static
from .check import warm
from .forms import evaluated, runnable
from .formulas import TooLarge, expression, size
from .functions import ELEMENTARY
from .plain import quietly
from .printers import Printer, Spelling, name_tree, plain_scope, text
from .questions import NoRuleFound, find_rule, judged_arguments
from .rewrites import best_rewriting
from .scalars import CONTEXT, CannotTrace, Stop, Trace
from .specials import works_on_arrays
from .swap import Swap
from .tracing import STAND_INS

BAD = 64.0  # ulps: beyond them six bits are lost
LOST = 2.0**52  # ulps: no digit is left
PRECISIONS = (60, 160, 450, 1100)  # digits, raised until two agree
POINT_SECONDS = 0.3
SHARE = 0.6  # of the time limit, for the inputs; the rest is for the search
MAX_REGIONS = 4
MIN_NORMAL, LARGEST = sys.float_info.min, sys.float_info.max


@dataclass(frozen=True)
class Region:
    """Neighbouring inputs at which the pullback loses digits, and the worst of them.

    `low` and `high` are the first and the last of the inputs tried; `ulps` is the error at `worst` in units
    of the last place (infinite where no finite number came out), `found` and `exact` are what came out there
    and what should have.
    `cause` is empty where none is visible.
    """

    argument: str
    low: str
    high: str
    worst: str
    ulps: float
    found: str
    exact: str
    cause: str

    @property
    def loss(self) -> str:
        """How much is lost, in words."""
        if not self.ulps < math.inf:
            return "no finite number"
        if self.ulps >= LOST:
            return "no digit is right"
        return f"{self.ulps:.2g} ulps, {max(0, int(15.95 - math.log10(self.ulps)))} digits are right"


@dataclass(frozen=True)
class Better:
    """A formula for the derivative that loses less: its text, and the errors before and after."""

    argument: str
    formula: str
    worst_before: float
    worst: float
    bits_before: float
    bits: float


@dataclass(frozen=True, repr=False)
class StabilityReport(Report):
    """The scan of a pullback: the regions in which it loses digits, and better formulas.

    `points` is the number of inputs tried, `worst` the largest error in ulps. It is true where no digits to
    speak of are lost.
    """

    function: str
    regions: tuple[Region, ...]
    better: tuple[Better, ...]
    points: int
    worst: float
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return not self.regions and self.points > 0

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        if not self.points:
            return f"pullback of {self.function}: nothing could be scanned"
        if not self.regions:
            return f"pullback of {self.function}: at most {self.worst:.2g} ulps off at {self.points} inputs"
        r = max(self.regions, key=lambda r: r.ulps)
        why = f": {r.cause}" if r.cause else ""
        return (
            f"pullback of {self.function}: loses digits for {r.argument} from {r.low} to {r.high}; "
            f"at {r.worst} it gives {r.found}, exact is {r.exact} ({r.loss}){why}"
        )

    def page(self):
        """The verdict, the regions, the better formulas."""
        tables = []
        if self.regions:
            rows = tuple(
                (r.argument, r.low, r.high, r.worst, r.loss, r.cause or "not visible") for r in self.regions
            )
            columns = ("argument", "from", "to", "worst at", "error", "cause")
            tables.append(Table("where digits are lost", columns, rows))
        if self.better:
            names = ("argument", "derivative", "bits lost before", "after", "worst after")
            formulas = tuple(
                (b.argument, b.formula, f"{b.bits_before:.1f}", f"{b.bits:.1f}", _ulps(b.worst))
                for b in self.better
            )
            tables.append(Table("a better formula (bits: the mean over the inputs)", names, formulas))
        return Page((self.sentence,), tuple(tables), tuple(f"note: {n}" for n in self.notes))

    def to_dict(self):
        """The report as JSON-ready data."""
        return {
            "function": self.function,
            "regions": [asdict(r) for r in self.regions],
            "better": [asdict(b) for b in self.better],
            "points": self.points,
            "worst": self.worst,
            "notes": list(self.notes),
            "seconds": self.seconds,
        }


def _ulps(number):
    return (
        f"{number:.2g} ulps" if number < LOST else ("no digit" if number < math.inf else "no finite number")
    )


def scan_stability(
    f, rule=None, *, at=None, plane=False, registry=None, time_limit=15.0, stop=None, name=None
) -> StabilityReport:
    """Where the pullback of `f` loses digits, why, and a better formula where one is found.

    `f` is a function of numbers, or elementwise; its rule is looked up in `registry`, unless `rule`, a
    function `rule(*args) -> (y, pullback)`, is given. One argument at a time goes through floats of both
    signs, spaced evenly in their logarithm, at which `f` is finite, and close to ±1; the others stay at those
    of `at`. With `plane=True` it goes through complex numbers instead (one argument). The cotangent that the
    pullback gives for this argument is compared with the same code worked out with hundreds of digits: this
    scan is about rounding alone, `prove` about being right. `time_limit`, `stop` and `name` are as for
    `prove`.

    RuleError where there is no rule, or none that can be followed.

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
    plan = plans[0]
    if any(isinstance(k, ComplexNumbers) for k in plan.specs[0]):
        raise _refused(shown, "the scan begins on the line", "give plane=True and no complex arguments")
    if not all(k == "scalar" or isinstance(k, Static) for k in plan.specs[0]):
        raise _refused(shown, "the scan is for arguments that are numbers", "give numbers as at=(…)")
    try:
        question = find_rule(f, rule, names, plan, registry, name)
    except NoRuleFound as missing:
        raise missing.error from None
    if plane and sum(k == "scalar" for k in plan.specs[0]) != 1:
        raise _refused(
            shown, "in the complex plane the scan is for one argument", "hold the others by a partial"
        )
    warm()
    scan = _PlaneScan if plane else _RealScan

    def job(report):
        scan(question, plan, shown, started + time_limit, report).run()

    outcome = worker.run(job, time_limit, stop)
    found = outcome.result
    if found is None:
        raise _refused(shown, outcome.failure or f"the scan took more than {time_limit:g} seconds")
    if isinstance(found, Exception):
        raise found
    return StabilityReport(**{**found, "seconds": time.monotonic() - started})


def _refused(shown, why, *fixes):
    return RuleError(why, asked=f"a stability scan of the rule of {shown}", fixes=fixes)


# --- the inputs ---------------------------------------------------------------------------------------------


def real_inputs():
    """Floats of both signs over their whole range, closest between 1e-8 and 1e4, and close to ±1."""
    exponents = [
        *range(-300, -20, 40),
        *range(-20, -8, 2),
        *np.arange(-8, 4, 0.1),
        *range(4, 20, 2),
        *range(20, 301, 40),
    ]
    sizes = (
        [10.0**e for e in exponents]
        + [1 - 10.0**-k for k in range(1, 16)]
        + [1 + 10.0**-k for k in range(1, 16)]
    )
    return sorted({s * sign for s in sizes for sign in (1.0, -1.0)})


def plane_inputs():
    """Complex numbers on twelve rays, up to 300 from the origin, where sines still have values."""
    angles = [k * math.pi / 6 + 0.05 for k in range(12)]
    return [cmath.rect(10.0**e, a) for a in angles for e in np.arange(-6, 2.6, 0.3)]


# --- the scan -----------------------------------------------------------------------------------------------


@dataclass
class _Tried:
    """One input: the derivative in floats, the exact one, and the error."""

    x: Any
    y: Any
    found: Any
    exact: Any
    ulps: float
    graph: Any = None


class _Scan:
    """What the scans of the line and of the plane share."""

    plane = False
    tried: Any  # tried(i): what was found at every input of argument i
    groups: Any  # groups(tried): the runs of inputs that lose digits
    both: Any  # both(cotangent, tried): every node's exact value and its value in floats
    number: Any  # float or complex: what a formula gives

    def __init__(self, question, plan, shown, deadline, report):
        self.question, self.plan, self.shown = question, plan, shown
        self.deadline, self.report = deadline, report
        self.notes: dict[str, None] = {}
        self.half_time = time.monotonic() + SHARE * (deadline - time.monotonic())
        self.numpy = self.plane or writes_numpy(question.primal)

    def error(self, found, exact):
        """How far off a number is, in ulps; 0 where the exact one is beyond all floats."""
        return 0.0 if abs(exact) >= LARGEST else _distance(found, exact)

    def is_late(self):
        """Whether the time for the inputs is over."""
        late = time.monotonic() > self.half_time
        if late:
            self.notes["the time limit came before the last inputs"] = None
        return late

    def run(self):
        before = CONTEXT.dps
        try:
            self.scan()
        except CannotTrace as stop:
            self.report(
                _refused(
                    self.shown,
                    f"the rule cannot be followed: {stop.construct}",
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
                "regions": tuple(sorted(regions, key=lambda r: -r.ulps)),
                "better": tuple(better),
                "points": len(tried),
                "worst": worst,
                "notes": tuple(self.notes),
            }
        )

    def scan(self):
        regions: list[Region] = []
        better: list[Better] = []
        everything: list[_Tried] = []
        for i, kind in enumerate(self.plan.specs[0]):
            if kind != "scalar":
                continue
            tried = self.tried(i)
            everything += tried
            found = [self.region(i, group) for group in self.groups(tried)]
            regions += sorted(found, key=lambda r: -r.ulps)[:MAX_REGIONS]
            self.say(regions, better, everything)
            if found:
                better += filter(None, [self.better(i, tried)])
                self.say(regions, better, everything)
        if not everything:
            self.say(regions, better, everything)

    def ordinary(self, i):
        """The arguments, to be replaced at `i`: those given, or small numbers, no two alike."""
        given = self.plan.given[0] if self.plan.given else None
        values = []
        for j, kind in enumerate(self.plan.specs[0]):
            if isinstance(kind, Static):
                values.append(kind.value)
            else:
                values.append(float(given[j]) if given else (0.75, 1.25, 0.625, 1.5)[j % 4])
        return values

    def in_floats(self, args, i, seed):
        """(y, cotangent) as the rule gives them, or the error it raises."""
        with quietly():
            y, back = self.question.rule_through(lambda f: f)(*args)
            cotangent = thunks.unthunk(back(seed)[i + 1])
        return y, 0.0 if isinstance(cotangent, zeros.AbstractZero) else cotangent

    def graph(self, i, args):
        """(y, cotangent, the argument `i`) of the rule on traced numbers."""
        trace = Trace()
        swap = Swap(trace, STAND_INS)
        traced = [
            value if isinstance(kind, Static) else trace.argument(name, Fraction(value))
            for name, kind, value in zip(self.question.names, self.plan.specs[0], args, strict=True)
        ]
        seed = trace.argument("y_bar seed", Fraction(1))
        with quietly():
            rule = self.question.rule_through(lambda f: swap.value(f, "rule"))
            y, back = rule(*traced)
            cotangent = thunks.unthunk(back(seed)[i + 1])
        if trace.stop is not None:
            raise trace.stop
        cotangent = (
            trace.constant(0)
            if isinstance(cotangent, zeros.AbstractZero)
            else trace.constant(_entry(cotangent))
        )
        return trace.constant(_entry(y)), cotangent, traced[i]

    def region(self, i, group):
        worst = max(group, key=lambda t: (t.ulps, abs(t.exact)))
        name = self.question.names[i]
        low, high, at = _number(group[0].x), _number(group[-1].x), _number(worst.x)
        found, exact = _number(worst.found), _number(worst.exact)
        return Region(name, low, high, at, worst.ulps, found, exact, self.cause(i, worst))

    def cause(self, i, tried):
        try:
            y, cotangent, _ = tried.graph or self.graph(i, self.with_input(i, tried.x))
        except (Stop, Exception):
            return ""
        return self.explained(y, cotangent, tried)

    def with_input(self, i, x):
        args = self.ordinary(i)
        args[i] = x
        return args

    def explained(self, y, cotangent, tried):
        """The first step at which floats go wrong, in words."""
        exact, rough = self.both(cotangent, tried)
        for node in _in_order(cotangent):
            off = _distance(rough[id(node)], exact[id(node)])
            inputs = (
                [a for a in node.args if not a.is_constant] if node.op not in ("argument", "constant") else []
            )
            before = max((_distance(rough[id(a)], exact[id(a)]) for a in inputs), default=0.0)
            if node.op in ("argument", "constant") or off < BAD or off < 16 * before:
                continue
            shown = self.words(node, y)
            if not _is_finite(rough[id(node)]):
                lost = (
                    "overflow"
                    if node.op in ("exp", "cosh", "sinh", "pow", "mul", "add", "sub", "div", "gamma")
                    else "domain"
                )
                return f"{lost} in {shown}"
            if node.op in ("add", "sub"):
                return f"cancellation in {shown}"
            return f"{shown} magnifies the error of its argument"
        return ""

    def words(self, node, y):
        if size(node) > 40:
            return "a long expression"
        memo = {} if node is y else {id(y): sp.Symbol("y")}
        try:
            expr = expression(node, {}, memo)
        except (TooLarge, Stop):
            return "a long expression"
        shown = expr.subs(sp.Symbol("y_bar seed"), sp.Symbol("y_bar"))
        shown = _tree_text(shown)
        return shown if len(shown) <= 60 else f"{shown[:57]}…"

    def slope(self, i, tried):
        """(derivative, values): the formula that the pullback has, in y, and what y stands for."""
        y, cotangent, _ = tried.graph or self.graph(i, self.with_input(i, tried.x))
        one = sp.Symbol("y_bar seed")
        value = expression(y, {}, {})
        memo = {} if y.op in ("argument", "constant") else {id(y): sp.Symbol("y value")}
        slope = expression(cotangent, {}, memo).subs(one, 1)
        return slope, ({} if value.is_Atom else {value: sp.Symbol("y value")})

    def better(self, i, tried):
        """A formula with a smaller loss, or None."""
        middle = min(tried, key=lambda t: abs(math.log10(abs(t.x) or 1e-9)) + (t.ulps > BAD))
        try:
            slope, values = self.slope(i, middle)
        except (Stop, TooLarge, Exception):
            return None
        name = self.question.names[i]
        fixed = {sp.Symbol(n): v for n, v in zip(self.question.names, self.ordinary(i), strict=True)}

        def measure(expr):
            tree, function, symbols = runnable(expr, numpy=self.numpy)
            lost = []
            for t in tried:
                floats = {**fixed, sp.Symbol(name): t.x, sp.Symbol("y value"): t.y}
                given = evaluated(function, [floats[s] for s in symbols], self.number)
                lost.append(self.error(given, t.exact))
            return sum(map(_bits, lost)) / len(lost), max(lost), tree

        try:
            found = best_rewriting(slope, values, measure, self.plane)
        except (
            Exception
        ):  # the search goes through many of SymPy's heuristics: without it there is a scan still
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


def writes_numpy(f):
    """Whether a function's code names NumPy; C functions take floats as NumPy's do."""
    code = getattr(f, "__code__", None)
    if code is None:
        return isinstance(f, np.ufunc)
    words = (f.__globals__.get(word) for word in uses(code))
    return any(map(works_on_arrays, words))


def _tree_text(expr):
    return text(
        Printer(_Bare(), {s: name_tree(s.name.removesuffix(" value")) for s in expr.free_symbols}).tree(expr)
    )


class _Bare(Spelling):
    """Functions by their bare names, for words in a report."""

    def __init__(self):
        super().__init__({}, False, ())

    def word(self, module, name):
        return name_tree(name)


def _entry(value):
    """The number in an array of one."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _number(value):
    if isinstance(value, str):
        return value
    if isinstance(value, (complex, CONTEXT.mpc)):
        return f"{complex(value):.4g}"
    value = float(value)
    shown = f"{value:.6g}"
    return repr(value) if abs(float(shown)) == 1 != abs(value) else shown


def _bits(ulps):
    return math.log2(1 + min(ulps, 2.0**64))


def _is_finite(value):
    return cmath.isfinite(complex(value))


def _distance(rough, exact):
    """How many ulps a float is from an exact number."""
    if not _is_finite(rough):
        return math.inf
    size = float(abs(exact)) if abs(exact) < 1e308 else math.inf
    if size == math.inf:
        return math.inf
    unit = math.ulp(max(size, MIN_NORMAL))
    return float(
        abs(CONTEXT.mpmathify(complex(rough) if isinstance(rough, complex) else float(rough)) - exact) / unit
    )


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


def _rough(op):
    """The float function of a node's operation."""
    if op in _ARITHMETIC:
        return _ARITHMETIC[op]
    if (function := getattr(np, _NUMPY_NAMES.get(op, op), None)) is not None:
        return function
    return getattr(math, {"loggamma": "lgamma"}.get(op, op), None) or (lambda *xs: math.nan)


def _worked_out(node, leaf, constant, function):
    """The value of every node, by `leaf(node)`, `constant(node)` and `function(op)`."""
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
    """The scan along the real line, one argument after the other."""

    number = float

    def tried(self, i):
        found = []
        for x in real_inputs():
            if self.is_late():
                break
            try:
                with worker.at_most(POINT_SECONDS):
                    one = self.one(i, x)
            except worker.TooLong:
                continue
            if one is not None:
                found.append(one)
        return found

    def one(self, i, x):
        args = self.with_input(i, x)
        try:
            with quietly():
                y = float(self.question.primal(*args))
        except Exception:
            return None
        if not math.isfinite(y):
            return None
        exact = self.exact(i, args)
        if exact is None:
            return None
        try:
            found = float(np.real(self.in_floats(args, i, 1.0)[1]))
        except Exception:
            found = math.nan
        return _Tried(x, y, found, exact, self.error(found, exact))

    def exact(self, i, args):
        """The pullback's own answer, with so many digits that more do not change it."""
        last = None
        for digits in PRECISIONS:
            CONTEXT.dps = digits
            try:
                value = self.graph(i, args)[1].shadow
            except CannotTrace:
                raise
            except (Stop, Exception):
                return None
            if not CONTEXT.isfinite(value):
                return None
            if last is not None and abs(value - last) <= CONTEXT.mpf(10) ** -25 * abs(value) and value != 0:
                return value
            last = value
        return last if last == 0 else None

    def both(self, cotangent, tried):
        exact = {id(node): node.shadow for node in _in_order(cotangent)}
        rough = _worked_out(cotangent, lambda n: float(n.shadow), lambda n: float(n.shadow), _rough)
        return exact, rough

    def groups(self, tried):
        """Neighbours that lose digits; a single input between them that does not is no end."""
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
    """The scan over the complex plane, of a rule without branches."""

    plane, number = True, complex

    def tried(self, i):
        CONTEXT.dps = PRECISIONS[0]
        y, cotangent, moving = self.graph(i, self.with_input(i, 0.75))
        found = []
        for z in plane_inputs():
            if self.is_late():
                break
            try:
                with worker.at_most(POINT_SECONDS):
                    one = self.one(i, z, y, cotangent, moving)
            except worker.TooLong:
                continue
            if one is not None:
                found.append(one)
        return found

    def one(self, i, z, y, cotangent, moving):
        try:
            with quietly():
                value = complex(self.question.primal(*self.with_input(i, z)))
            found = complex(self.in_floats(self.with_input(i, z), i, 1.0)[1])
        except TypeError as raised:
            raise CannotTrace(
                f"complex numbers ({raised})", "use NumPy's functions, or leave out plane=True"
            ) from raised
        except (ArithmeticError, ValueError):
            found = value = complex(math.nan)
        exact = self.exact(cotangent, moving, z)
        if exact is None or not cmath.isfinite(value):
            return None
        # A rule conjugates the partial derivative, or takes no complex numbers: this scan is about rounding.
        error = min(self.error(found, exact), self.error(found.conjugate(), exact))
        if self.error(found.conjugate(), exact) == error:
            found = found.conjugate()
        return _Tried(z, value, found, exact, error, (y, cotangent, moving))

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

        return _worked_out(
            cotangent, lambda n: CONTEXT.mpc(z) if n is moving else n.shadow, constant, function
        )

    def both(self, cotangent, tried):
        moving = tried.graph[2]
        CONTEXT.dps = PRECISIONS[-1]
        exact = self.precise(cotangent, moving, tried.x)
        rough = _worked_out(
            cotangent,
            lambda n: complex(tried.x) if n is moving else complex(n.shadow),
            lambda n: float(n.shadow),
            _rough,
        )
        return exact, rough

    def groups(self, tried):
        """All inputs that lose digits, by the sign of their imaginary part."""
        for sign in (1, -1):
            group = sorted((t for t in tried if t.ulps > BAD and t.x.imag * sign > 0), key=lambda t: abs(t.x))
            if group:
                yield group
