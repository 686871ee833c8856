"""Is this derivative right? Judges the derivative of any expression: its gradient by AD, or a formula by the
author, judged as `prove` judges a rule.

For the judge the derivative is a rule whose pullback returns `y_bar` times it. A gradient is traced through
the compiled passes (`passes.py`). Where these cannot be traced, its floats are compared with the exact
derivative at several points: then nothing is proved, and the verdict says to how many digits they agree.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from ..ad.reverse import gradient, need_positional
from ..checking.calling.budgets import took_more
from ..checking.measuring.shortening import index_text
from ..checking.testing.gradients import rules_asked
from ..errors import RuleLabError, ScalarOutputError, an
from ..rules.targets import name_of
from ..tangents import projection, zeros
from . import worker
from .cells import Array, Static, count_of, leaf_names, samples
from .check import finished, preload
from .counterexamples import code_to_paste, exact_arguments, exact_text, keywords_text
from .derivative_report import AtPoint, DerivativeReport
from .digits import VALUES, agreeing_digits
from .formulas import Formula, TooLarge
from .judge import Judge
from .outcomes import Misfit, Settled, Skipped
from .passes import GradientQuestion
from .plain_values import SAME_PROGRAM, plain_argument, without_warnings_or_output
from .plan_judge import MAX_LEAVES, MAX_VISITS, Inquiry
from .questions import Plan, Question, judged_arguments, times
from .scalars import CONTEXT, Stop
from .tracing import difference_quotients, seed_name, trace_primal
from .verdicts import Counterexample, Refuted, Undecided, Unsupported

FLOAT_DIGITS = 16  # no more digits of a float are compared
WRONG_DIGITS = 3  # a float gradient that agrees to fewer digits is wrong; rounding explains what lies between
NOISE = 1e-14  # relative to value and gradient: the rounding error of a float gradient
ROUNDED_DIGITS = 9  # a gradient that agrees to this many digits may be off because of rounded constants alone
FEW_DIGITS = 8  # if floats agree to fewer digits where the derivative is proved, that is worth a note


def sym_check(
    f: Callable[..., Any],
    *args: Any,
    formula: Any = None,
    kwargs: Any = None,
    time_limit: float = 5.0,
    rng: np.random.Generator | None = None,
    stop: Callable[[], bool] | None = None,
    name: str | None = None,
    written: str | None = None,
    heard: Callable[[Any], Any] | None = None,
) -> DerivativeReport:
    """Judge the gradient of a function symbolically: the one by AD, or a formula for it.

    Without `formula`, `rulelab.gradient(f, *args)` is judged with the rules currently registered: the whole
    program, at the shapes of the arguments. Where the passes of the AD cannot be traced, the verdict is
    Undecided at best, with the number of digits to which the numbers agree.

    Parameters
    ----------
    f : callable
        Any function of numbers and float arrays, at most 64 numbers in all, with or without rules in it.
        Without `formula` it must return a real number.
    *args
        Its positional arguments. One may be the class `float`, which stands for any real number. Anything
        other than that, a float or an array of floats is held fixed.
    formula : callable, optional
        A function of the same arguments that returns the derivative, with the shape of the argument; a tuple
        if several arguments are floats or arrays of floats. If `f` returns an array, the formula applies to
        its entries, one by one.
    kwargs : dict, optional
        Keyword arguments, which are held fixed.
    time_limit : float
        Seconds of processor time.
    rng : numpy.random.Generator, optional
        Generator for the sample points.
    stop : callable, optional
        Called at intervals; returns whether to stop early.
    name : str, optional
        How the author writes the function that is judged.
    written : str, optional
        How the author writes the expression.
    heard : callable, optional
        Called with each preliminary report.

    Returns
    -------
    DerivativeReport
        Its `verdict` is Proved, Refuted, Undecided or Unsupported.

    Raises
    ------
    RuleLabError
        If the formula does not return one derivative for each argument; also whatever `f`, `formula` and
        `gradient` raise at `args`.

    Examples
    --------
    >>> def spring(x, k): return k * x**2 / 2
    >>> sym_check(spring, 2.0, 3.0).verdict.word
    'PROVED'
    >>> sym_check(spring, 2.0, 3.0, formula=lambda x, k: (k * x, x**2)).verdict.reason
    'the formula for k is not the derivative, but 2 times that'
    """
    __tracebackhide__ = True
    started = time.monotonic()
    kwargs = dict(kwargs or {})
    need_positional(f, args, kwargs)
    rng = np.random.default_rng(0) if rng is None else rng
    args, drawn = _with_point(f, args, kwargs, rng)
    shown = name or _named(f, "f")
    if formula is None:
        asked = _about_gradient(f, args, kwargs, drawn, shown, written)
    elif not callable(formula):
        raise RuleLabError(
            f"formula must be a function of the same arguments as {shown}, not {formula!r}",
            fixes=("write formula=lambda x: …",),
        )
    else:
        asked = _about_formula(f, formula, args, kwargs, shown, written)
    names, plan = _arguments(f, asked.args)
    preload()
    question = dataclasses.replace(asked.question, names=names)
    empty = DerivativeReport(
        shown,
        names,
        Undecided(0, took_more("its first computation", time_limit)),
        formula=asked.formula,
    )
    if any(_is_complex(x) for x in args):
        return dataclasses.replace(empty, verdict=Unsupported("an argument that is complex"))
    outcome = worker.run(
        lambda report: _DerivativeJudge(
            empty, [(plan, question)], rng, time_limit, report, asked
        ).judge(),
        time_limit,
        stop,
        heard,
    )
    return finished(outcome, empty, started)


# --- the question -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _InquiryArguments:
    """What is judged at the arguments, and what it returns there: floats, in the order of the arguments."""

    question: Question
    args: tuple
    found: list | None
    formula: str = ""
    elementwise: bool = False


def _about_gradient(f, args, kwargs, drawn, shown, written):
    __tracebackhide__ = True
    found = None
    try:
        found = gradient(f, *args, **kwargs)
    except (ArithmeticError, ValueError):
        if not drawn:
            raise
    if found is not None:
        pairs = zip(args, found, strict=True)
        args = tuple(_floating(x) if x_bar is not None else x for x, x_bar in pairs)
    ask, moving = f"rl.gradient({written or shown}, ", tuple(map(_varies, args))
    question = GradientQuestion(f, None, None, (), None, ask, kwargs, moving)
    return _InquiryArguments(question, args, _floats(args, found))


def _about_formula(f, formula, args, kwargs, shown, written):
    __tracebackhide__ = True
    moving = tuple(_varies(x) for x in args)
    if not any(moving):
        raise RuleLabError(
            f"No argument of {shown} is a float or an array of floats",
            asked="sym_check with a formula",
            fixes=("give floats: 2.0, not 2",),
        )
    y = f(*args, **kwargs)
    if isinstance(y, (tuple, list, dict)) or np.asarray(y).dtype.kind not in "fiu":
        raise ScalarOutputError(
            f"{shown} gives {an(type(y).__name__)}, not a real number or an array of them",
            asked="sym_check with a formula",
        )
    elementwise = np.ndim(y) > 0
    spelled = written or _named(formula, "formula")
    question = FormulaQuestion(f, None, None, (), None, f"{_callable(spelled)}(", kwargs, formula, moving,
                               elementwise)  # fmt: skip
    slopes = question.slopes(formula(*args, **kwargs))
    for slope, moves in zip(slopes, moving, strict=True):
        if moves and (isinstance(slope, list) or np.asarray(slope).dtype.kind not in "fiub"):
            raise RuleLabError(
                f"The formula gives {an(type(slope).__name__)}, not a real number or an array of them",
                asked="sym_check with a formula",
            )
    ones = np.ones(np.shape(y)) if elementwise else 1.0
    pairs = zip(slopes, args, strict=True)
    given = [None if s is None else question.fitted(s * ones, x, y) for s, x in pairs]
    return _InquiryArguments(question, args, _floats(args, given), _of_lambda(spelled), elementwise)


def _arguments(f, args):
    """The names of the given arguments, and the plan for judging at them: parameters left at their defaults
    are held fixed.
    """
    names, (plan, *_) = judged_arguments(f, args)
    count = len(args)
    return names[:count], Plan((plan.specs[0][:count],), (plan.given[0][:count],))


def _named(f, otherwise):
    name = name_of(f)
    return otherwise if name == "<lambda>" else name


def _callable(spelled):
    return f"({spelled})" if spelled.startswith("lambda") else spelled


def _of_lambda(spelled):
    """The expression of a lambda: this is what the author wrote."""
    if not spelled.startswith("lambda"):
        return spelled
    return spelled.partition(": ")[2].removeprefix("(").removesuffix(")")


def _varies(x):
    return isinstance(x, (float, np.floating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


def _is_complex(x):
    return isinstance(x, (complex, np.complexfloating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "c")


def _floating(x):
    """An integer that has a gradient, as the float it is differentiated as."""
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        return float(x)
    return x.astype(float) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else x


def _floats(args, found):
    """The numbers found for the arguments that vary, flat; None for an argument whose shape differs."""
    if found is None:
        return None
    flat: list[float | None] = []
    for x, x_bar in zip(args, found, strict=True):
        if _varies(x):
            x_bar = np.zeros(np.shape(x)) if x_bar is None else np.asarray(x_bar, dtype=float)
            fits = x_bar.shape == np.shape(x)
            flat += x_bar.ravel().tolist() if fits else [None] * np.size(x)
    return flat


def _with_point(f, args, kwargs, rng):
    """The arguments with each `float` replaced by a number, such that `f` has a finite value, and whether any
    was drawn.
    """
    __tracebackhide__ = True
    if float not in [x for x in args if isinstance(x, type)]:
        return args, False
    spec = tuple("scalar" if x is float else Static(x) for x in args)
    for sample in samples(spec, rng):
        pairs = zip(args, sample, strict=True)
        candidate = tuple(round(float(drawn), 2) if x is float else x for x, drawn in pairs)
        with without_warnings_or_output():
            try:
                y = f(*candidate, **kwargs)
            except (ArithmeticError, ValueError):
                continue
        if np.asarray(y).dtype.kind in "fiu" and np.all(np.isfinite(y)):
            return candidate, True
    return candidate, True


@dataclass(frozen=True)
class FormulaQuestion(Question):
    """Is a formula the derivative? The pullback of its "rule" returns `y_bar` times the value of the
    formula.
    """

    formula: Callable | None = None
    moving: tuple = ()
    elementwise: bool = False

    def rule_through(self, exchange):
        primal, formula = self.value_through(exchange), exchange(self.formula)
        fitted = exchange(projection.unbroadcast)

        def formula_rule(*xs):
            y = primal(*xs)
            slopes = self.slopes(formula(*xs, **self.kwargs))

            def formula_pullback(y_bar):
                return zeros.NoTangent(), *(
                    zeros.NoTangent() if s is None else self.fitted(times(s, y_bar), x, y, fitted)
                    for s, x in zip(slopes, xs, strict=True)
                )

            return y, formula_pullback

        return formula_rule

    def slopes(self, given):
        """What the formula returns as one entry for each argument, None for those that are held fixed."""
        count = sum(self.moving)
        slopes = given if isinstance(given, tuple) else (given,)
        if len(slopes) != count:
            raise RuleLabError(
                f"The formula gives {len(slopes)} derivative{'s' * (len(slopes) != 1)}, and {count} are "
                "needed: one for each argument that varies",
                asked="sym_check with a formula",
            )
        left = iter(slopes)
        return [next(left) if moves else None for moves in self.moving]

    def fitted(self, x_bar, x, y, unbroadcast=projection.unbroadcast):
        """What the formula returns for an argument: unchanged, or summed where an elementwise function
        broadcast the argument.
        """
        return unbroadcast(x_bar, x) if self.elementwise and np.shape(x_bar) == np.shape(y) else x_bar

    def code(self, arguments, index, seed):
        text = f"{self.ask}{arguments}{keywords_text(self.kwargs)})"
        if not isinstance(index, tuple):
            return text
        number, (item,) = index
        if sum(self.moving) > 1:
            text += f"[{sum(self.moving[: number - 1])}]"
        if self.elementwise:
            text = f"({seed} * {text})" if item else f"np.sum({seed} * {text})"
        return text + index_text(item)


# --- the judge ----------------------------------------------------------------------------------------------

# The phrases of the judge of rules, and what this check says instead.
_WORDS = (
    ("is not y_bar times the derivative", "is not the derivative"),
    ("the cotangents of", "{by}s for"),
    ("the cotangent of", "{by} for"),
    ("the pullback raised", "{by} raised"),
    ("the rule raised", "{by} raised"),
    ("f and the rule are defined", "the expression and {by} are defined"),
    ("the rule refuses", "{by} refuses"),
    ("the rule gives", "{by} gives"),
    ("the rule is", "{by} is"),
    ("an exact rule", "an exact one"),
)


class _DerivativeJudge(Judge):
    """The judge of rules, for a derivative: it records the numbers at the given point, and states its
    findings in its own words.
    """

    exceptions_condemn = True  # a formula must hold at all points of its function

    def __init__(self, empty, questions, rng, time_limit, report, asked):
        super().__init__(Inquiry(empty.function, empty.names, questions), rng, time_limit, report)
        self.empty, self.asked = empty, asked
        self.by = "the formula" if asked.formula else "the gradient"
        self.made_with: tuple = ()  # notes on the rules involved, and on the point

    def judge(self):
        (plan, question), *_ = self.questions
        self.keep_numbers(plan.given[0], question)
        if not self.asked.formula:
            self.keep_rules(question)
        if not any(map(count_of, plan.specs[0])):
            return self.say(Unsupported("no argument is a number, or an array of numbers, that may vary"))
        report = super().judge()
        if isinstance(report.verdict, Unsupported) and not self.asked.formula:
            report = self.by_numbers(plan, question, report)
        return report

    def prepared(self, plan, question):
        return plan

    def vary(self, plan, question, visits):
        return None

    def takes_vectors(self):
        return False

    def seed(self):
        """One, since the rules here treat all seeds alike; another number only where the entries of an array
        must be told apart.
        """
        return super().seed() if self.asked.elementwise else Fraction(1)

    def make(self, verdict, cells=(), notes=(), warnings=()):
        notes = tuple(dict.fromkeys((*self.made_with, *notes)))  # a report that is made again includes them
        digits = min((n.digits for n in self.empty.numbers if n.digits is not None), default=FLOAT_DIGITS)
        if not isinstance(verdict, Refuted) and digits < FEW_DIGITS:
            notes = (*notes, f"at the point only {digits} digits agree in floats: rounding dominates there")
        warnings = [dataclasses.replace(w, words=self.in_own_words(w.words)) for w in warnings]
        return dataclasses.replace(
            self.empty,
            verdict=self.worded(verdict),
            cells=tuple(cells),
            notes=notes,
            warnings=tuple(warnings),
        )

    def worded(self, verdict):
        changed = {
            field.name: self.in_own_words(getattr(verdict, field.name))
            for field in dataclasses.fields(verdict)
            if isinstance(getattr(verdict, field.name), str)
        }
        example = getattr(verdict, "counterexample", None)
        if example is not None:
            where = self.in_own_words(example.where)
            where = self.by if where in ("the rule", "the pullback") else where
            changed["counterexample"] = dataclasses.replace(example, where=where)
        if isinstance(verdict, Unsupported) and "at=" in verdict.advice:
            changed["advice"] = "give other arguments, or smaller ones"
        return dataclasses.replace(verdict, **changed)

    def in_own_words(self, text):
        for theirs, ours in _WORDS:
            text = text.replace(theirs, ours.format(by=self.by))
        return text

    def refuted_or_unsupported(self, settled):
        """As for a rule, except that a gradient whose error can be explained by rounded constants is not
        refuted: the passes may have computed one of these constants from the arguments.
        """
        example = getattr(settled.verdict, "counterexample", None)
        if example is not None and not self.asked.formula and hasattr(settled, "graphs"):
            notes = tuple(settled.graphs[0][0].trace.notes)
            if notes and example.digits >= ROUNDED_DIGITS:
                why = "more digits would agree if it were exact, but the code has rounded constants"
                return self.say(Undecided(example.digits, why), (), notes)
        return super().refuted_or_unsupported(settled)

    def finding(self, leaves, found, y, seeds, decisions, members=None, first=0, brief=False):
        cell = super().finding(leaves, found, y, seeds, decisions, members, first, brief)
        one = {sp.Symbol(leaf.args): sp.Integer(1) for leaf in seeds}
        cell.rows = [(name, d.xreplace(one), given.xreplace(one)) for name, d, given in cell.rows]
        return cell

    # --- numbers ---

    def keep_rules(self, question):
        """Note which of the author's rules are involved."""
        with contextlib.suppress(Exception):
            rules = rules_asked(question.primal, self.asked.args, question.kwargs)
            self.made_with += tuple(f"made with your rule {rule.describe()}" for rule in rules)

    def keep_numbers(self, sample, question):
        """The numbers at the given point, exact ones beside those that are judged; every report includes
        them.
        """
        names = leaf_names(question.names, sample)
        exact: list[Any] = [None] * len(names)
        if len(names) <= MAX_LEAVES:
            try:
                exact = exact_slopes(question, sample)[0]
            except Skipped as skipped:
                self.made_with += (f"the point itself is not judged: {skipped}",)
            except (Settled, Misfit, Stop, RuleLabError):  # the judge will say what the obstacle is
                pass
        found = self.asked.found or [None] * len(names)
        point = _point(question, sample)
        numbers = tuple(map(_at_point, names, exact, found))
        if any(number.found is not None or number.digits is not None for number in numbers):
            self.empty = dataclasses.replace(self.empty, point=point, numbers=numbers)

    def by_numbers(self, plan, question, unsupported):
        """The verdict where the passes cannot be traced but the function can: floats compared with exact
        numbers.
        """
        cells: list = []
        digits, tried, left_out = FLOAT_DIGITS, 0, 0
        for sample in [*plan.given, *samples(plan.specs[0], self.rng)]:
            if tried == MAX_VISITS or (tried and self.work.used() >= self.for_samples):
                break
            sample = tuple(map(_as_floats, sample))
            try:
                found, value = _by_floats(question, sample)
                exact, leaves, y = exact_slopes(question, sample)
            except (Skipped, RuleLabError, ArithmeticError, ValueError):
                continue
            except (Settled, Misfit, Stop):
                return unsupported
            if abs(y[0].shadow - value) > SAME_PROGRAM * (1 + abs(y[0].shadow)):
                left_out += 1
                continue
            if all(number.digits is None for number in self.empty.numbers):
                names = [leaf.args for leaf in leaves]
                numbers = tuple(map(_at_point, names, exact, found))
                self.empty = dataclasses.replace(self.empty, point=_point(question, sample), numbers=numbers)
            cells = cells or self.only_by_sympy(leaves, y)
            scale = 1 + abs(y[0].shadow) + max(map(abs, exact))
            for leaf, e, f in zip(leaves, exact, found, strict=True):
                if abs(e - f) <= NOISE * scale:
                    continue
                alike = _digits(e, f)
                if alike < WRONG_DIGITS and not _is_noisy(question, sample, found):
                    return self.say(self.refuted(question, sample, leaf.args, e, f, alike), cells)
                digits = min(digits, alike)
            tried += 1
        if not tried:
            return unsupported
        construct = unsupported.verdict.construct
        _, refused, refusal = construct.partition("refuses: ")
        construct = refusal.removesuffix(")") if refused else construct
        whole = construct.startswith(("more than", "the traced value"))
        why = construct if whole else f"the passes of the AD cannot be followed: {construct}"
        counted = f"{tried} point" if tried == 1 else f"{tried} points"
        note = f"floats were compared with the exact derivative at {counted}"
        if left_out:
            note += f"; {left_out} more were left out, where rounding dominates the value"
        return self.say(Undecided(digits, why), cells, (note,))

    def only_by_sympy(self, leaves, y):
        """The cell with SymPy's derivatives only."""
        trace = leaves[0].trace
        none = [trace.constant(0)] * len(leaves)
        try:
            seed = trace.argument(seed_name(self.names), Fraction(1))
            cell = self.finding(leaves, none, y, [seed], trace.decisions).shown
        except (Stop, TooLarge):
            return []
        dash = Formula("(numbers only)", r"\text{(numbers only)}")
        rows = [dataclasses.replace(row, rule=dash, difference=dash) for row in cell.arguments]
        return [dataclasses.replace(cell, arguments=tuple(rows))]

    def refuted(self, question, sample, name, exact, found, digits):
        number, item = _place(name, question.names)
        code = code_to_paste(question, sample, Fraction(1), (number, [item]), None)
        example = Counterexample(
            exact_arguments(question, sample),
            "1",
            f"{self.by} for {name}",
            CONTEXT.nstr(exact, 20),
            repr(found),
            digits,
            f"{code}    # gives {found:.12g}, should be {float(exact):.12g}",
        )
        return Refuted("gradient", f"{self.by} for {name} is not the derivative", example)


def _point(question, sample):
    return {name: exact_text(value) for name, value in zip(question.names, sample, strict=True)}


def _at_point(name, exact, found):
    known = exact is not None and found is not None
    shown = "–" if exact is None else CONTEXT.nstr(exact, 17)
    return AtPoint(name, shown, found, _digits(exact, found) if known else None)


def _by_floats(question, sample):
    """The float gradient at a sample, flat, and the value there."""
    args = tuple(map(plain_argument, sample))
    found = gradient(question.primal, *args, **question.kwargs)
    return _floats(args, found), float(question.primal(*args, **question.kwargs))


def _is_noisy(question, sample, found):
    """Whether the float gradient changes at a tiny distance: then rounding caused the error, not a rule."""
    beside = tuple(_moved(value, 1 + Fraction(1, 10**13)) for value in sample)
    try:
        there, _ = _by_floats(question, beside)
    except (RuleLabError, ArithmeticError, ValueError):
        return True
    size = max(map(abs, found))
    return any(not abs(a - b) <= 1e-6 * size for a, b in zip(found, there, strict=True))


def _moved(value, factor):
    if isinstance(value, Array):
        return value._replace(entries=tuple(entry * factor for entry in value.entries))
    return value if isinstance(value, Static) else value * factor


def exact_slopes(question, sample):
    """(slopes, leaves, results): the derivatives of the sum of the results, by difference quotients with 100
    digits.
    """
    trace, _, _, leaves, y = trace_primal(question, sample)
    results = y.view(np.ndarray).ravel().tolist() if isinstance(y, np.ndarray) else [y]
    results = [trace.constant(number) for number in results]
    ones = [trace.constant(1)] * len(results)
    return difference_quotients(question, sample, leaves, ones, trace.path()), leaves, results


def _digits(exact, found):
    if exact == 0 and abs(found) <= NOISE:
        return FLOAT_DIGITS
    return min(FLOAT_DIGITS, agreeing_digits(exact, CONTEXT.mpf(found), VALUES))


def _as_floats(value):
    """The sample with each exact number replaced by that of the nearest float."""
    if isinstance(value, Array):
        return value._replace(entries=tuple(Fraction(float(entry)) for entry in value.entries))
    return value if isinstance(value, Static) else Fraction(float(value))


def _place(leaf, names):
    """Which argument, counted from one, and which of its entries a number of the gradient belongs to."""
    name, _, index = leaf.partition("[")
    return names.index(name) + 1, tuple(map(int, index.rstrip("]").split(","))) if index else ()
