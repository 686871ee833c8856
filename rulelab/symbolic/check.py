"""Is this rule right? Refuted by a number, or proved cell by cell, on the author's own unchanged code.

Order of work: sample points in every orthant and size are tried first, and the first at which the rule is
off by more than 1e-12 ends the matter. What survives is proved: for each cell visited the derivative SymPy
finds, times y_bar, minus the rule's cotangent is shown to be identically zero. All of it runs in a forked
worker with so many seconds of the processor, and how much is tried is counted in operations: a busy machine
changes no verdict. What takes longer is undecided, whatever was known by then.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import itertools
import re
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from ..checking.axes_read import multiplies_matrices, names_an_axis, ranks_asked, summed_for
from ..checking.complex_meant import may_be_of_complex
from ..checking.meant import Meant
from ..checking.subjects import codes_of, helper_codes
from ..checking.texts import decides_in_a_loop
from ..checking.usage import speaks_of_complex, taken_apart
from ..checking.witness import wrong_by_numbers
from ..errors import RuleError
from ..rules.authoring import rrule_for
from ..rules.registry import DEFAULT, Registry
from . import worker
from .boundary import Borders
from .caveats import CELLS_CAPPED, Caveat, of_constants, of_stability
from .cells import (
    Array,
    ComplexNumbers,
    Static,
    Symmetric,
    beside_borders,
    complex_part,
    conditions,
    count_of,
    fraction,
    more_samples,
    positive_samples,
    samples,
    shape_of,
)
from .convergence import converges, find_steps
from .counterexamples import left_out
from .digits import EXACT_DIGITS, MAX_DIGITS
from .drawn import of_drawn
from .far_sides import far_sides
from .field_graphs import ERROR, METHOD, is_identity
from .formulas import (
    MAX_SHOWN,
    MAX_WRITTEN,
    Formula,
    Tidying,
    TooLarge,
    expression,
    formula,
    size,
    sum_of_sizes,
    tidy,
    written_size,
)
from .integrals import prepare
from .limits import ONE_SIZE, domains, limits_of
from .narrow_guards import Guard, guard_around
from .outcomes import Misfit, NotFollowed, Settled, Skipped
from .plain import plain_argument
from .questions import (
    ARRAYS,
    NUMBERS,
    VECTORS,
    NoRuleFound,
    Plan,
    find_rule,
    judged_arguments,
    kind_of,
    positional_parameters,
)
from .report import ArgumentFinding, CellFinding, SymbolicReport
from .runs import Visit, makes_a_number, not_derived, plain_value, visit
from .scalars import CONTEXT, Stop
from .scopes import except_at, except_inside, headline, kinds_of, scope, sizes_of
from .structured import is_of_parts, structured
from .tracing import RESULT_OF_TYPE, mentions, reads_one_triangle
from .transcendents import is_open
from .trials import Trials, number_rows, with_held_guards, with_whole_numbers
from .variations import Variations
from .verdicts import Agrees, Proved, Refuted, Undecided, Unsupported
from .work import Work, WorkLimit
from .zerotest import is_identically_zero

LEFT_BY_CANCELLING = 8  # digits that agree at least where only the rounding of a constant is seen
EPSILON = 2.0**-52
NOTHING_FITS = "no numbers or arrays that the rule is for"
NOTHING_VARIES = "no argument varies"
NOTHING_ANSWERED = "the rule has no cotangent for any argument that varies"
HELD_ADVICE = "give floats and arrays of floats by at=: 2.0 for 2, np.array([1.0, 2.0]) for a list"
GIVE_ARGUMENTS = "give sample arguments: at=(x, y), or --at x, y"
NOT_MEANT = "which may not be meant"
AT_OR_DOMAIN = "with at= or domain="
OTHER_KINDS = "other kinds of arguments"
MAX_CELLS = 8
ENOUGH_SIZES = 2  # of a function with branches
MOST_RAISED = 3  # exceptions of a rule, until it is said not to be for arguments of a kind
MAX_LEAVES = 64
MOST_SHARES = 8  # ways to have vectors for some of the arguments
MAX_VISITS = 40
EVERY = 4  # of the samples are one beyond those beside borders
MORE_SAMPLES = 4  # with signs in any mixture, where the program decides by the entries of arrays
MAX_SHOWN_GRAPH = 60  # operations; cells of larger graphs are proved in the field alone
MOST_ROWS = 6  # arguments of a cell whose formulas are shown
NO_SLOPE = CONTEXT.mpf(10) ** -20  # what a difference quotient leaves of a derivative that is zero
MAX_SHOWN_PLANE = 30  # the same for complex arguments, whose formulas are long
FORMULA_SECONDS = 2.0  # for the formulas of a rule that is refuted, which is said without them else
NO_FORMULA = f"no formula is shown: it took more than {FORMULA_SECONDS:g} s"
NUMERIC_SHARE = 0.4  # of the time limit, in seconds of work, for the samples
INTEGRAL_SHARE = 0.2  # the same where a function integrates
LIMIT_SHARE = 0.5  # the same for the samples with more and more steps
BORDER_SHARE = 0.25  # the same for the points on borders


def prove(
    f: Callable[..., Any],
    rule: Any = None,
    *,
    at: Any = None,
    kwargs: Any = None,
    sizes: Any = None,
    domain: Any = None,
    registry: Registry | None = None,
    time_limit: float = 5.0,
    rng: np.random.Generator | None = None,
    stop: Callable[[], bool] | None = None,
    name: str | None = None,
    steps: Any = None,
    stability: Any = None,
    heard: Callable[[Any], Any] | None = None,
) -> SymbolicReport:
    """Judge the rule of a function symbolically.

    Without `at`, numbers are tried, then vectors, then matrices: each kind that the function takes, at two
    sizes or more. Complex numbers are tried where `at` has some, or where a parameter is annotated `complex`:
    the cotangent of z is then dL/dRe(z) + i dL/dIm(z) for a real L, and both parts are judged.

    A wrong number at one kind refutes; an exception does so at arguments that were given. A proof names the
    kinds and sizes it is for, and is of the open cells; the points where they meet, and zeros, ones and ties,
    are tried afterwards, and what is not right there is in `warnings`.

    Parameters
    ----------
    f : callable
        It takes and returns numbers or small arrays, real ones or complex.
    rule : callable, optional
        A function `rule(*args) -> (y, pullback)`, instead of the rule that is registered.
    at : tuple, optional
        Sample arguments: they set which arguments are arrays, of which shape, and are tried first. Strings
        and flags in it are held fixed, and so are whole numbers in whose place the function takes no
        fraction, or for which the rule says `NoTangent()`.
    kwargs : dict, optional
        Keyword arguments, which are held fixed.
    sizes : list, optional
        The sizes of arrays to be tried instead: a list of lengths or shapes, `[3, 5]` or `[(2, 3), (4, 2)]`,
        or of tuples with one for each argument, `[((2, 3), 3), ((4, 2), 2)]`, in which `()` is a number.
    domain : optional
        The open interval that all numbers are drawn from, `(0, 1)` or a word such as "positive", or a dict of
        these by argument; words such as "square" or "positive definite" say what an argument is. The verdict
        is for this domain and says so.
    registry : Registry, optional
        Where to look for rules.
    time_limit : float
        Seconds of the processor; what takes longer is Undecided.
    rng : numpy.random.Generator, optional
        For the sample points. The default one is seeded, so that a verdict can be repeated.
    stop : callable, optional
        Called now and then; says whether to end early, with the verdict Undecided.
    name : str, optional
        How the author writes `f`, for the report and the code to paste.
    steps : str, optional
        The parameter that is the number of steps of a sum that stands for an integral (see `Converges`); by
        default it is looked for by its name.
    stability : StabilityReport, optional
        A scan whose findings are to stand among the warnings.
    heard : callable, optional
        Called with each report on the way to the one that is returned, as soon as more is known.

    Returns
    -------
    SymbolicReport
        Its `verdict` is Proved, Refuted, Agrees, Converges, Undecided or Unsupported.

    Raises
    ------
    RuleError
        If `f` has no rule.
    RuleLabError
        If the sizes or the domain make no sense.

    Examples
    --------
    >>> def cube(x): return x**3
    >>> def cube_rrule(x):
    ...     return x**3, lambda y_bar: (None, 3 * x**2 * y_bar)
    >>> prove(cube, cube_rrule).verdict.word
    'PROVED'
    >>> prove(cube, cube_rrule, sizes=[2, (2, 3)], domain="positive").verdict.scope.split(", for ")[1]
    'sizes (2,) and (2, 3), with x positive'
    """
    started = time.monotonic()
    rng = np.random.default_rng(0) if rng is None else rng
    is_guessed = at is None and sizes is None and domain is None
    names, questions, not_found = _questions(f, rule, at, kwargs, sizes, domain, steps, registry, name)
    if not questions and not (is_guessed and not_found.is_of_kinds):
        raise not_found.error
    _check_steps(questions, steps)
    by_numbers = _meant(f, rule, registry, kwargs)
    meant = by_numbers if is_guessed else None
    shown = name or getattr(f, "__name__", None) or type(f).__name__
    warm()
    prepare()
    first = took_more("a call of the function and its rule", time_limit)
    empty = SymbolicReport(shown, names, Undecided(0, first))

    def drawn():
        return of_drawn(f, rule, meant, name, kwargs) if meant is not None and steps is None else None

    outcome = worker.run(
        lambda report: Judge(
            shown, names, questions, rng, time_limit, report, steps, meant, drawn, by_numbers
        ).judge(),
        time_limit,
        stop,
        heard and (lambda report: heard(dataclasses.replace(report, seconds=time.monotonic() - started))),
    )
    report = finished(outcome, empty, started)
    if not questions and isinstance(report.verdict, Unsupported):
        raise not_found.error
    return dataclasses.replace(
        report,
        warnings=(*report.warnings, *(of_stability(stability) if stability is not None else ())),
    )


def _questions(f, rule, at, kwargs, sizes, domain, steps, registry, name):
    """(names, pairs of plans and questions, what was not found) for the arguments that were given, or for
    each kind that is tried."""
    given = at if isinstance(at, tuple) else (at,)
    if at is not None and sizes is None and domain is None and is_of_parts(f, given, kwargs or {}):
        _, defaults = positional_parameters(f, len(given), kwargs or ())
        whole = (*given, *defaults[len(given) :])
        names, (sample, *_), question = structured(f, rule, [whole], registry, name, kwargs)
        return names, [(Plan((tuple(map(kind_of, sample)),), (sample,)), question)], None
    names, plans = judged_arguments(f, at, kwargs or (), sizes, domain, steps)
    questions, not_found = [], None
    for plan in plans:
        try:
            questions.append((plan, find_rule(f, rule, names, plan, registry, name, kwargs)))
        except NoRuleFound as missing:
            not_found = missing
    return names, questions, not_found


def _meant(f, rule, registry, kwargs):
    """What the rule of a function is for, where nobody said so."""
    if rule is not None:
        own = Registry()
        rrule_for(f, registry=own)(rule)
        return Meant(f, kwargs or {}, own, is_registered=False)
    return Meant(f, kwargs or {}, DEFAULT if registry is None else registry)


def _wrong_at(refuted):
    """What a refutation says, and where."""
    example = refuted.counterexample
    if example is None or " at " in refuted.reason:
        return refuted.reason
    return f"{refuted.reason} at {', '.join(f'{n} = {value}' for n, value in example.arguments.items())}"


ALIKE = 2
"""Digits in which what a rule gives is like what is expected, so that differences in floats tell no more."""
BY_DECISIONS = (
    "differences in floats say that the rule is right where the formula of the steps that ran has another "
    "derivative: as in a bisection, comparisons decide each step"
)


def _of_not_meant(refuted):
    """What is known of a rule where nothing but arguments that may not be meant refutes it."""
    return Undecided(0, f"{_wrong_at(refuted)}, {NOT_MEANT}: give those that are, {AT_OR_DOMAIN}")


def _number_of(shown):
    """The number, or the array, of which a counterexample shows the exact fractions."""
    if isinstance(shown, str) and shown.startswith("["):
        shown = ast.literal_eval(shown)  # our own text
    return np.array([_number_of(one) for one in shown]) if isinstance(shown, list) else float(Fraction(shown))


def held_fixed(name):
    """What is said where a rule has no derivative by what counts something, and nobody gave it."""
    return f"the rule returns NoTangent() for {name}: give it as a whole number, with at= or --at, to hold it"


def took_more(what, seconds):
    """What is said of something for which there was not time enough."""
    return f"{what} took more than {seconds:g} s"


def finished(outcome, empty, started):
    """The last report of a worker, or `empty`; where it failed, its verdict says so."""
    result = outcome.result or empty
    if outcome.failure and isinstance(result.verdict, Undecided):
        digits = result.verdict.digits
        known = digits or outcome.cut  # else the check itself has failed, before anything was seen
        verdict = Undecided(digits, outcome.failure) if known else Unsupported(outcome.failure)
        result = dataclasses.replace(result, verdict=verdict)
    return dataclasses.replace(result, seconds=time.monotonic() - started)


@functools.cache
def warm():
    """Have SymPy and NumPy load what they load lazily (0.1 s), and what all proofs share be made (0.03 s),
    here, once, and not again in every worker.
    """
    number_rows()
    np.median([0.0])
    x, y = sp.symbols("x y")
    sp.diff(x**2 * y, x)
    tidy(sp.sin(x) ** 2 + sp.exp(y * x) / sp.sqrt(x))
    formula(sp.sin(x) / y)
    is_identically_zero(sp.exp(x + y) - sp.exp(x) * sp.exp(y) + sp.sqrt(x))


def _check_steps(questions, steps):
    """Raises where nothing is called `steps`."""
    if steps is None or any(find_steps(question, plan.specs[0], steps) for plan, question in questions):
        return
    raise RuleError(
        f"no whole number called {steps} is an argument, a keyword or a global constant here",
        asked="a symbolic check in the limit of many steps",
        fixes=("name the number of steps by steps=",),
    )


class _Proof(NamedTuple):
    """What was proved of one kind of arguments; `is_meant` says that its formulas are those to be shown."""

    verdict: Proved
    plan: Plan
    question: Any
    visits: list
    conditions: list
    cells: tuple[_Cell, ...]
    notes: tuple
    warnings: tuple
    is_meant: bool


class _MeantOfParts:
    """What is `meant`, for a judge that has the numbers and arrays in the arguments for these."""

    def __init__(self, meant, question):
        self.f, self.kwargs, self.registry = meant.f, meant.kwargs, meant.registry
        self.is_registered, self._meant, self._question = meant.is_registered, meant, question

    def excludes(self, args):
        return self._meant.excludes(self._question.arguments(args))

    def excludes_ranks(self, ranks):
        return False  # they are those that are drawn

    def intervals(self):
        return {}  # they are limits of the plan


class Judge:
    """The worker's job: reports what is known so far, so that a cut job still has an answer."""

    exceptions_condemn = False  # those of a rule at arguments of ours

    def __init__(
        self,
        shown,
        names,
        questions,
        rng,
        time_limit,
        report,
        steps=None,
        meant=None,
        drawn=lambda: None,
        differences=None,
    ):
        self.shown, self.names, self.questions, self.rng = shown, names, questions, rng
        self.report, self.steps, self.meant, self.drawn = report, steps, meant, drawn
        self.differences = differences
        self.one_triangle = False  # of square matrices, at the sample that refuted
        self.time_limit, self.work = time_limit, Work()
        self.for_symmetric = False  # whether it called what is for symmetric matrices only
        self.for_samples = NUMERIC_SHARE * time_limit  # seconds of work
        self.last: SymbolicReport | None = None  # that was passed
        self.proofs: list[_Proof] = []
        self.misfits: list[tuple[Any, Misfit]] = []  # by plan
        self.guessed: dict[tuple, tuple] = {}  # all sizes of a guess, by those that fit
        self.remarks: list[str] = []  # on kinds that were judged and are not proved
        self.guards: dict[str, Guard] = {}  # narrow ones, inside of which the rule is that of the outside
        self.not_meant: list[SymbolicReport] = []  # refutations by arguments that the function is not for
        self.fits_nowhere = False  # whether no kind of those that are tried fits
        self.is_in_doubt = False  # whether a refutation was set aside as one by arguments that are not meant

    def judge(self):
        report = self.judge_cells()
        if not isinstance(report.verdict, Proved):
            return report if isinstance(report.verdict, Refuted) else self.of_drawn(report) or report
        return self.of_numbers(report) or self.judge_borders(report)

    def of_drawn(self, so_far):
        """The proof, or the refutation, at arguments of the kinds at which numbers judge the rule, where
        none of those that are tried here fit; None where there is none. What refutes it there has to be seen
        by numbers, too, which know more of the arguments that are meant."""
        is_of_type = getattr(so_far.verdict, "construct", "").startswith(RESULT_OF_TYPE)
        drawn = self.drawn() if is_of_type or self.fits_nowhere else None
        if drawn is None:
            return None

        def heard(report):
            if isinstance(report.verdict, Undecided):
                self.hand_over(report)

        of_parts = _MeantOfParts(self.meant, drawn.question)
        for plan in drawn.plans:
            pair = (plan, drawn.question)
            judge = Judge(self.shown, drawn.names, [pair], self.rng, self.time_limit, heard, None, of_parts)
            report = judge.judge()
            if isinstance(report.verdict, Proved):
                break
        if isinstance(report.verdict, Refuted):
            found = report.verdict.kind == "numbers" or self.wrong_by_numbers(True)
        else:
            found = isinstance(report.verdict, Proved)
        self.hand_over(report if found else so_far)
        return report if found else None

    def wrong_by_numbers(self, in_doubt):
        """What numbers find wrong with the rule, and at which arguments; None for nothing."""
        meant = self.meant
        return wrong_by_numbers(
            meant.f, meant.kwargs, meant.registry, of_form=meant.is_registered, in_doubt=in_doubt
        )

    def of_numbers(self, proved):
        """The refutation of a rule that is proved for some arguments by numbers at others that its function
        is for, as a check without a proof draws them; None where they find nothing, or somebody said which
        arguments are meant.
        """
        if self.meant is None:
            return None
        digits = min(v.digits for proof in self.proofs for v in proof.visits)
        so_far = f"proved for {proved.verdict.kinds}; {self.took_more('the check by numbers')}"
        self.hand_over(dataclasses.replace(proved, verdict=Undecided(digits, so_far), cells=()))
        wrong = self.wrong_by_numbers(self.is_in_doubt)
        if wrong is None:
            return None
        words, at = wrong
        found = (f"found by numbers at {at}",) if at else ()
        notes = (*found, f"elsewhere it is {proved.verdict.sentence()}", *proved.notes)
        refuted = self.make(Refuted("numbers", words), (), notes, proved.warnings)
        self.hand_over(refuted)
        return refuted

    def took_more(self, what):
        return took_more(what, self.time_limit)

    def judge_borders(self, proved):
        """The proof with what is found where its open cells end."""
        digits = min(v.digits for proof in self.proofs for v in proof.visits)
        unseen = (
            f"proved inside each case; {self.took_more('zeros, ones, ties and the borders between cases')}"
        )
        self.hand_over(dataclasses.replace(proved, verdict=Undecided(digits, unseen)))
        whole = WorkLimit(BORDER_SHARE * self.time_limit)
        verdict = proved.verdict
        caveats: list[Caveat] = []
        notes: list[str] = []
        proofs = self.with_borders()
        for number, proof in enumerate(proofs, 1):
            share = (whole.seconds - whole.used()) / (len(proofs) - number + 1)
            borders = Borders(proof.question, proof.visits, self.rng, WorkLimit(share), self.admits(proof))
            borders.walk()
            if borders.refuted is not None and self.is_excluded(borders.refuted):
                notes.append(f"{_wrong_at(borders.refuted)}, {NOT_MEANT}")
            elif borders.refuted is not None:
                elsewhere = f"apart from such points it is {proved.verdict.sentence()}"
                refuted = self.make(borders.refuted, (), (*proved.notes, elsewhere), proved.warnings)
                self.hand_over(refuted)
                return refuted
            caveats += [c for c in borders.caveats if c.sentence() not in {k.sentence() for k in caveats}]
            notes += borders.notes
            if borders.exceptions and " but not at " not in verdict.scope:
                verdict = except_at(verdict, borders.exceptions)
        warnings = (*caveats, *proved.warnings)
        return self.say(verdict, proved.cells, (*proved.notes, *dict.fromkeys(notes)), warnings)

    def admits(self, proof):
        """Which points are asked of a proof: those in its domain that lie in none of the guards left out."""
        guards, plan, names = list(self.guards.values()), proof.plan, self.names
        return lambda point: plan.admits(point) and not any(guard.holds(point, names) for guard in guards)

    def with_borders(self):
        """The proofs whose borders are looked at: of the kind that is shown, and of others if they decide by
        what they are given."""
        ordered = sorted(self.proofs, key=lambda proof: not proof.is_meant)
        return [p for p in ordered if p is ordered[0] or p.plan.form != ARRAYS and any(p.conditions)]

    def judge_cells(self):
        """The verdict on the open cells, over all kinds of arguments that the function takes."""
        for form in dict.fromkeys(plan.form for plan, _ in self.questions):
            group = [
                (self.with_guards(plan, question), question)
                for plan, question in self.questions
                if plan.form == form
            ]
            ended = self.judge_guesses(form, group) if form else self.judge_asked(group)
            if ended is not None:
                if not isinstance(ended.verdict, Proved):  # of which this is not the last word
                    self.hand_over(ended)
                return ended
        self.fits_nowhere = not self.proofs
        if not self.proofs and self.not_meant:
            first = self.not_meant[0]
            return self.say(_of_not_meant(first.verdict), (), first.notes, first.warnings)
        if not self.proofs:
            return self.say(self.of_misfits() if self.questions else Unsupported(NOTHING_FITS))
        if (refuted := self.of_complex()) is not None:
            self.hand_over(refuted)
        return refuted or self.proved()

    def of_complex(self):
        """The refutation of a rule that is proved for real numbers, by complex ones in the place of what it
        or its function takes apart as such; None where there is none. Where it is right for complex numbers
        in the place of all, the proofs are of these, too: of some alone nothing is said."""
        for proof in list(self.proofs) if any(proof.plan.form for proof in self.proofs) else ():
            question = proof.question
            authors = filter(None, (question.primal, question.rule))
            names = frozenset().union(*map(taken_apart, authors))
            for those in dict.fromkeys((frozenset(self.names), names)) if names else ():
                before, specs = list(self.proofs), _complex_specs(self.names, proof.plan.specs, those)
                try:
                    report = self.judge_plan(proof.plan._replace(specs=specs), question)
                except Misfit:
                    continue
                if isinstance(report.verdict, Refuted) and those == names:
                    return report
                if isinstance(report.verdict, Proved):
                    self.proofs = self.proofs if len(those) == len(self.names) else before
                    break
        return None

    def judge_asked(self, questions):
        """The report on arguments of the kinds that were asked for; None where none of them fit."""
        for plan, question in questions:
            plan = self.prepared(plan, question)
            if not any(map(count_of, plan.specs[0])):
                return self.say(Unsupported(NOTHING_VARIES, None, HELD_ADVICE))
            report = self.judged(plan, question)
            if report is not None:
                return self.proved() if isinstance(report.verdict, Proved) else report
        return None

    def with_guards(self, plan, question):
        """The plan with guards of a formula at their defaults, where the rule holds them."""
        if plan.given:
            return plan
        return with_held_guards(plan, question, question.defaults())

    def prepared(self, plan, question):
        """The plan with whole numbers that vary, where some were given."""
        return with_whole_numbers(question, plan) if plan.given else plan

    def judge_guesses(self, form, questions):
        """The report that ends the matter, among guesses of one form; None where it goes on to other forms.

        Which of several arguments are meant to be numbers is not known: a rule that is wrong for arrays in
        the place of all of them may be proved for numbers in the place of some, and that is what it is for.
        """
        refuted = None
        trials = Trials(questions[0][1], questions[0][0].limits)
        fitting = None
        for fitting in self.fitting(form, questions, trials):
            plan, question = fitting
            if refuted and not (_is_lower(plan, refuted[1]) and all(map(trials.seems_right, plan.specs))):
                continue
            report = self.judged(plan, question)
            if report is None:
                continue
            if isinstance(report.verdict, Proved):
                return self.of_other_ranks(form, questions, plan, trials)
            if isinstance(report.verdict, Refuted):
                count = trials.held_count(plan.specs[0]) if form == NUMBERS else None
                if count and report.verdict.reason == left_out(count):
                    return self.say(Undecided(0, held_fixed(count)))
                is_of_shape = report.verdict.kind == "shape"
                if self.is_excluded(report.verdict) or is_of_shape and self.is_of_other_ranks(plan):
                    self.not_meant.append(report)
                    self.is_in_doubt = True
                    self.remarks.append(f"{_wrong_at(report.verdict)}, {NOT_MEANT}")
                    continue
                refuted = refuted or (report, plan, question)
                if form == NUMBERS:
                    break
            elif not self.proofs:
                return report
            else:
                self.remarks.append(f"not proved for {self.kinds(plan)}: {report.verdict.sentence()}")
                return None
        if refuted is None:
            return self.of_shape(form, questions) if fitting is None else None
        return self.of_symmetric(trials, *refuted[1:]) or self.of_refutation(*refuted)

    def of_symmetric(self, trials, plan, question):
        """That it cannot be told of a rule that is proved for symmetric matrices, and wrong in several
        cotangents for other square ones, whether it is for these; None of any other rule."""
        symmetric = plan.symmetric()
        if symmetric is None or trials.count_wrong(plan.specs[0]) < 2:
            return None
        before = list(self.proofs)
        report = self.judged(symmetric, question)
        self.proofs = before
        if report is None or not isinstance(report.verdict, Proved):
            return None
        pairs = zip(self.names, plan.specs[0], symmetric.specs[0], strict=True)
        name = next(name for name, kind, other in pairs if kind != other)
        why = f"right for symmetric {name}, wrong for others: say which by domain="
        return self.say(Undecided(0, why))

    def of_other_ranks(self, form, questions, proved, trials):
        """The refutation of a rule that is proved for vectors and wrong for a number in the place of one,
        where it or its function asks which it has, so that both are meant; None where there is none."""
        asked = asked_by(questions[0][1]) if form == VECTORS else ()
        for plan, question in questions if asked else ():
            pairs = zip(self.names, plan.specs[0], proved.specs[0], strict=True)
            apart = {name for name, kind, other in pairs if kind != other}
            if not apart or not apart <= set(asked):
                continue
            specs, _ = trials.fitting(plan.specs)
            report = self.judged(plan._replace(specs=specs), question) if specs else None
            if report is not None and isinstance(report.verdict, Refuted):
                return report
        return None

    def fitting(self, form, questions, trials):
        """The guesses of one form that the function and its rule take, at the sizes that they take."""
        if form != NUMBERS:
            questions = self.with_sums_as_numbers(questions)
        proved = {proof.plan.form for proof in self.proofs}
        alone = sum(not isinstance(kind, Static) for kind in questions[0][0].specs[0]) == 1
        if form == NUMBERS:
            yield from questions
            return
        if form == ARRAYS and VECTORS in proved and not alone:
            return
        if form == ARRAYS and proved and alone:
            branches = any(any(proof.conditions) for proof in self.proofs if proof.plan.form == VECTORS)
            if branches and not names_an_axis(questions[0][1].primal):
                return
            questions = [(_of_matrices(p), question) for p, question in questions if _is_of_matrices(p)][:1]
        for plan, question in questions:
            specs, misfit = trials.fitting(plan.specs, search=form == VECTORS)
            if misfit is not None:
                self.misfits.append((plan, misfit))
                if all(map(_has_one, specs)):  # at a length of one much fits by chance
                    specs = ()
            if specs:
                if alone and specs == plan.specs:
                    specs = (*specs, *trials.fitting(_squares(plan))[0])
                self.guessed[specs] = plan.specs
                yield plan._replace(specs=specs), question
                if alone:
                    return

    def with_sums_as_numbers(self, questions):
        """The questions with numbers for those arguments of which the cotangent is a sum by the text of the
        rule; all of them where there are no others."""
        question = questions[0][1]
        summed = summed_for(question.rule, self.is_of_number(questions)) if question.rule else frozenset()

        def as_meant(spec):
            pairs = zip(self.names, spec, strict=True)
            return tuple("scalar" if name in summed and shape_of(kind) else kind for name, kind in pairs)

        found: dict[tuple, tuple] = {}
        for plan, question in questions if summed else ():
            meant = plan._replace(specs=tuple(map(as_meant, plan.specs)))
            if any(map(shape_of, meant.specs[0])):
                found.setdefault(meant.specs, (meant, question))
        return list(found.values()) or questions

    def is_of_number(self, questions):
        """Whether the function makes one number of the arrays that are tried, where it takes some of them."""
        for plan, question in itertools.islice(questions, MOST_SHARES):
            for sample in positive_samples(plan.specs[-1], np.random.default_rng(0)):
                with contextlib.suppress(Skipped, Misfit, Settled):
                    y = plain_value(question, sample)
                    if not isinstance(y, (tuple, list)) and np.ndim(y) == 0:
                        return True
        return False

    def judged(self, plan, question):
        """The report on one plan; None where its arguments do not fit."""
        self.one_triangle = self.for_symmetric = False
        try:
            report = self.judge_plan(plan, question)
        except Misfit as misfit:
            self.misfits.append((plan, misfit))
            return None
        if isinstance(report.verdict, Refuted) and self.one_triangle:
            # Of the sizes at which no sample of ours was one for the function, too.
            symmetric = plan._replace(specs=self.guessed.get(plan.specs, plan.specs)).symmetric()
            if symmetric:
                report = self.judge_symmetric(report, symmetric, question)
        if isinstance(report.verdict, Refuted) and self.is_contradicted(report.verdict):
            report = self.say(Undecided(0, BY_DECISIONS), (), report.notes, report.warnings)
        if isinstance(report.verdict, Refuted) and not plan.limits:
            if plan.form or self.is_beyond_given(report.verdict, plan):
                report = self.of_usual_signs(report, plan, question)
        if isinstance(report.verdict, Refuted) and _is_of_constants(report.verdict, question):
            shown = report.verdict.counterexample
            agree = shown.digits if shown else 0
            why = "it is off by the rounding of a constant, such as that of `0.1 * 0.3`"
            report = self.say(Undecided(agree, why), (), report.notes, report.warnings)
        return self.judge_limit(report, plan, question)

    def of_usual_signs(self, refuted, plan, question):
        """The proof of a rule that is right where what has a positive default is positive, as a width or a
        bound is, and in the intervals that the function is meant for; the refutation of any other rule."""
        defaults = zip(*positional_parameters(question.primal, None), strict=True)
        usual = {n: "positive" for n, default in defaults if n in self.names and _is_positive(default)}
        if is_excluded := not plan.form or self.is_excluded(refuted.verdict):
            meant = (self.meant or self.differences).intervals().items()
            usual |= {name: interval for name, interval in meant if name in self.names}
        held = tuple(kind if isinstance(kind, Static) else None for kind in plan.specs[0])
        usual = {name: said for name, said in usual.items() if held[self.names.index(name)] is None}
        if not usual:
            return refuted
        kinds = domains(self.names, held, usual)
        try:
            report = self.judge_plan(plan._replace(limits=limits_of(self.names, kinds)), question)
        except Misfit:
            return refuted
        if not isinstance(report.verdict, Proved):
            return refuted
        self.is_in_doubt |= is_excluded
        return report

    def is_contradicted(self, refuted):
        """Whether differences of the function in floats agree with the rule where its derivative by the trace
        is far from what the rule gives: what decides each of its steps by what varies is no formula.
        """
        args = self.shown_by(refuted)
        if args is None or refuted.kind != "gradient" or refuted.counterexample.digits >= ALIKE:
            return False
        if not decides_in_a_loop(self.differences.f):
            return False
        return all(self.differences.guesser.seems_right(args) for _ in range(3))

    def is_beyond_given(self, refuted, plan):
        """Whether a rule is refuted by numbers of other signs than those that were given, which its function
        is not meant for.
        """
        args = self.shown_by(refuted)
        if args is None or len(plan.given) != 1 or len(args) != len(plan.given[0]):
            return False
        given = tuple(map(plain_argument, plan.given[0]))
        signs = [np.sign(x) if np.shape(x) == () else None for x in given]
        if all(sign is None or sign == np.sign(x) for sign, x in zip(signs, args)):
            return False
        return not self.differences.excludes(given) and self.differences.excludes(args)

    def shown_by(self, refuted):
        """The arguments of a counterexample in floats, where differences are of the same; None where they are
        not, or not all are numbers or arrays of such.
        """
        args = None if self.differences is None else self.floats_of(refuted)
        is_same = args is not None and tuple(self.names) == self.differences.guesser.names
        return args if is_same else None

    def floats_of(self, refuted):
        """The arguments of a counterexample in floats; None if not all are numbers or arrays of such."""
        example = refuted.counterexample
        if example is None:
            return None
        try:
            return tuple(_number_of(example.arguments[name]) for name in self.names)
        except (KeyError, ValueError):  # what is not a number, or is not shown
            return None

    def is_excluded(self, refuted):
        """Whether a rule is refuted by arguments that its function is not meant for, and seems right for
        those that it is."""
        args = None if self.meant is None else self.floats_of(refuted)
        return args is not None and self.meant.excludes(args)

    def is_of_other_ranks(self, plan):
        """Whether the arguments of a plan have other axes than those that the function is meant for, and its
        rule seems right for these."""
        if self.meant is None or not plan.form:
            return False
        return self.meant.excludes_ranks(tuple(len(shape_of(kind)) for kind in plan.specs[0]))

    def of_refutation(self, report, plan, question):
        """What a refutation at a guessed kind means: the last word, or that the rule is for other kinds."""
        proved = {proof.plan.form for proof in self.proofs}
        higher = plan.form == ARRAYS and VECTORS in proved and not names_an_axis(question.primal)
        if not higher and not (plan.form == VECTORS and ARRAYS in proved):
            return report if plan.form != VECTORS else self.of_read_entries(report, plan, question)
        example = report.verdict.counterexample
        shown = f" ({example.code.splitlines()[-1].strip()})" if example else ""
        self.remarks.append(f"wrong for {self.kinds(plan)}: {report.verdict.reason}{shown}")
        return None

    def of_read_entries(self, refuted, plan, question):
        """The last word on a rule that is wrong for vectors; None where that is so only at lengths of which
        the function does not read all entries, while there are others."""
        trials = Trials(question, plan.limits)
        if not any(map(trials.has_idle_entries, plan.specs)):
            return refuted
        whole = [s for s in (*plan.specs, *trials.searched(plan.specs[0])) if not trials.has_idle_entries(s)]
        if not whole:
            return refuted
        plan = plan._replace(specs=tuple(dict.fromkeys(whole)))
        report = self.judged(plan, question)
        if report is None or not isinstance(report.verdict, Proved):
            return refuted
        why = refuted.verdict.reason
        self.remarks.append(f"wrong for longer vectors, of which the function reads a part: {why}")
        return None

    def of_shape(self, form, questions):
        """REFUTED where a function makes numbers of vectors and its rule has cotangents of another shape for
        them, at any length."""
        plan, question = questions[0]
        misfit = next((m for p, m in self.misfits if p.form == form and not self.is_of_other_ranks(p)), None)
        if form != VECTORS or misfit is None or misfit.raised or not _is_shape(misfit.verdict):
            return None
        if any(proof.plan.form == ARRAYS for proof in self.proofs):
            return None
        if all(makes_a_number(question, spec, self.rng, plan.limits) for spec in plan.specs[-1:]):
            return self.make(misfit.verdict)
        return None

    def of_misfits(self):
        """The verdict where nothing fits."""
        asked = [m.verdict for p, m in self.misfits if not p.form and m.verdict is not None]
        of_rule = [m for _, m in self.misfits if m.verdict is not None]
        raised = next((m for m in of_rule if m.raised), None)
        if asked and (self.misfits[0][0].given or raised is None):
            return asked[0]
        if raised is not None:
            words = f"{raised.verdict.reason}, at arguments of each kind that was tried"
            return Unsupported(words, None, GIVE_ARGUMENTS)
        ranks = {tuple(len(shape_of(kind)) for kind in p.specs[0]) for p, _ in self.questions}
        is_said = len(ranks) == 1  # by a domain that leaves no other kinds
        alike = [
            m for p, m in self.misfits
            if m.verdict is not None
            and (not p.form or is_said or _are_alike(p) and not self.multiplies_several())
            and not self.is_of_other_ranks(p)
        ]  # fmt: skip
        if alike:  # of a mixture that we made up, a cotangent may well have another shape
            return alike[0].verdict
        if of_rule:
            return Unsupported(f"{of_rule[0].verdict.reason}, at guessed arguments", None, GIVE_ARGUMENTS)
        unsupported = next((m.unsupported for _, m in self.misfits if m.unsupported is not None), None)
        if unsupported is not None:
            return unsupported
        sized = all(any(map(shape_of, plan.specs[0])) for plan, _ in self.questions)
        kinds = "arrays of these kinds and sizes" if sized else "numbers and on arrays"
        return Unsupported(f"a call that fails on {kinds}: {self.misfits[0][1]}", None, GIVE_ARGUMENTS)

    def multiplies_several(self):
        """Whether the function has several arguments and products of matrices: vectors for all of them are
        likely not to be meant."""
        plan, question = self.questions[0]
        return sum(kind == "scalar" for kind in plan.specs[0]) > 1 and multiplies_matrices(question.primal)

    def kinds(self, plan):
        return kinds_of(plan.specs, self.names)

    def proved(self):
        """One report of all proofs."""
        proofs = self.proofs
        if all(map(_is_of_one_degenerate_size, proofs)):
            words = f"the derivative is zero at the only arguments that fit: {self.kinds(proofs[0].plan)}"
            report = self.make(Unsupported(words, None, GIVE_ARGUMENTS))
            self.hand_over(report)
            return report
        judged = [(proof.plan.specs, proof.plan.limits) for proof in proofs]
        conditions = [condition for proof in proofs for condition in proof.conditions]
        takes_more = len(proofs) > 1 or self.takes_vectors()
        verdict = Proved(
            scope([(proof.conditions, proof.plan) for proof in proofs], self.names, not takes_more),
            " and ".join(dict.fromkeys(m for proof in proofs for m in proof.verdict.method.split(" and "))),
            next((proof.verdict.error for proof in proofs if proof.verdict.error != "none"), "none"),
            headline(judged, self.names, conditions, any(map(_may_be_complex, proofs))),
        )
        if self.guards:
            verdict = except_inside(verdict, self.guards)
        shown = max(proofs, key=lambda proof: proof.is_meant)
        each = dict.fromkeys(note for proof in proofs for note in proof.notes)
        warnings = {w.sentence(): w for proof in proofs for w in proof.warnings}
        notes = (*each, *self.remarks, *self.not_judged())
        return self.make(verdict, shown.cells, notes, warnings.values())

    def not_judged(self):
        """Notes on the kinds that the function takes and the rule does not."""
        proved = {proof.plan.form for proof in self.proofs}
        seen: dict[str, str] = {}
        for plan, misfit in self.misfits:
            if misfit.verdict is not None and plan.form and plan.form not in proved:
                seen.setdefault(plan.form, f"not judged for {self.kinds(plan)}: {misfit.verdict.reason}")
        one = [p.plan for p in self.proofs if len(p.plan.specs) == 1 and any(map(shape_of, p.plan.specs[0]))]
        alone = one and len(one) == len([p for p in self.proofs if any(map(shape_of, p.plan.specs[0]))])
        return (*seen.values(), *((ONE_SIZE,) if alone else ()))

    def takes_vectors(self):
        """Whether the function takes vectors in the place of the numbers that were judged."""
        proof = self.proofs[0]
        if any(map(shape_of, proof.plan.specs[0])):
            return True
        spec = tuple((3,) if kind == "scalar" else kind for kind in proof.plan.specs[0])
        sample = next(iter(samples(spec, np.random.default_rng(0), proof.plan.limits)))
        try:
            plain_value(proof.question, sample)
        except Misfit:
            return False
        except (Skipped, Settled):
            return True
        return True

    def judge_symmetric(self, refuted, plan, question):
        """The verdict on symmetric matrices, where the function looks at one triangle of them only: its rule
        may divide a cotangent between the two places as it likes.

        That counts where the function is for such matrices (it factorises them); a trace or a triangle of any
        matrix stays refuted, and what was found is a note.
        """
        try:
            report = self.judge_plan(plan, question)
        except Misfit:
            return self.say(refuted.verdict, refuted.cells, refuted.notes, refuted.warnings)
        if self.for_symmetric:
            note = "the function reads one triangle only: judged for matrices that stay symmetric"
            return self.say(report.verdict, report.cells, (*report.notes, note), report.warnings)
        right = isinstance(report.verdict, Proved)
        hint = ("for positive definite matrices that stay symmetric the rule is right",) if right else ()
        return self.say(refuted.verdict, refuted.cells, (*refuted.notes, *hint), refuted.warnings)

    def judge_limit(self, report, plan, question):
        """The verdict on a rule that is off by a little, where many steps may lead the function to what the
        rule is for."""
        verdict = report.verdict
        gradient = isinstance(verdict, Refuted) and verdict.kind == "gradient"
        if not gradient and not getattr(verdict, "digits", EXACT_DIGITS) < EXACT_DIGITS:
            return report
        limit = WorkLimit(LIMIT_SHARE * self.time_limit)
        for steps in find_steps(question, plan.specs[0], self.steps):
            note = f"whether it is right in the limit of many steps ({steps.name}) could not be decided"
            doubtful = self.say(verdict, report.cells, (*report.notes, note), report.warnings)
            found = converges(question, plan, steps, self.rng, self.seed, limit)
            if found:
                return self.say(found, (), report.notes, report.warnings)
            report = doubtful if found is None else report
        return report

    def make(self, verdict, cells=(), notes=(), warnings=()):
        return SymbolicReport(
            self.shown, self.names, verdict, tuple(cells), tuple(notes), warnings=tuple(warnings)
        )

    def say(self, verdict, cells=(), notes=(), warnings=()):
        """Make a report, and hand it over as the best that is known."""
        report = self.make(verdict, cells, notes, warnings)
        # Once a kind is proved, what is not the last word on another one is no better answer.
        if not self.proofs or isinstance(verdict, Proved):
            self.hand_over(report)
            if isinstance(verdict, Refuted) and self.is_excluded(verdict):
                self.hand_over(self.make(_of_not_meant(verdict), (), notes, warnings))
        return report

    def hand_over(self, report):
        """Report it with its formulas, unless it was the last one."""
        if report is not self.last:
            self.last = report
            self.report(_with_formulas(report))

    def judge_plan(self, plan, question):
        visits: list[Visit] = []
        skipped: dict[str, None] = {}
        left_out: dict[str, None] = {}
        try:
            for number, spec in enumerate(plan.specs):
                if number >= ENOUGH_SIZES and plan.form and len({v.path for v in visits}) > number:
                    plan = plan._replace(specs=plan.specs[:number])  # it has a branch: more and more cells
                    break
                unfollowed: dict[str, None] = {}
                there = self.visits(question, spec, plan, skipped, unfollowed)
                if not there and unfollowed and plan.form:
                    return self.say(Unsupported(f"{next(iter(unfollowed))}, at any sample of one size"))
                visits, left_out = visits + there, left_out | unfollowed
        except Settled as settled:
            return self.refuted_or_unsupported(settled)
        except Stop as stop:
            return self.say(Unsupported(str(stop)))
        if not visits:
            why = "; ".join(list(skipped)[:3])
            verdict = Unsupported(
                f"no sample at which the function has a derivative ({why})",
                None,
                GIVE_ARGUMENTS,
            )
            if plan.given:
                return self.say(verdict)
            misfit = Misfit(why)
            misfit.unsupported = verdict
            raise misfit
        digits = min(v.digits for v in visits)
        notes = dict.fromkeys(note for v in visits for note in v.trace.notes) | left_out
        codes = frozenset().union(*(v.codes for v in visits))
        rounded = of_constants(dict.fromkeys(c for v in visits for c in v.trace.rounded), codes)
        self.say(Undecided(digits, self.took_more("the proof")), (), notes, rounded)
        if underived := dict.fromkeys(name for v in visits for name in v.underived):
            return self.say(Undecided(digits, not_derived(underived)), (), notes, rounded)
        if not digits:
            return self.say(Unsupported(NOTHING_ANSWERED, None, HELD_ADVICE))
        known = min((v.digits for v in visits if not v.vague), default=EXACT_DIGITS)
        if known < EXACT_DIGITS:
            return self.say(Agrees(known, _why_no_identity(known, rounded)), (), notes, rounded)
        try:
            why = self.vary(plan, question, visits)
        except Settled as settled:
            return self.refuted_or_unsupported(settled)
        if why is not None:
            return self.say(Undecided(digits, why), (), notes, rounded)
        is_meant = any(map(shape_of, plan.specs[0])) and (
            (bool(self.proofs) and all(map(_is_of_zeros, self.proofs)))  # as the softmax of a number is 1
            or makes_a_number(question, plan.specs[0], np.random.default_rng(0), plan.limits)
        )
        report = self.prove_cells(visits, plan, digits, notes, rounded, is_meant)
        if isinstance(report.verdict, Proved):
            conditions = [cell.condition for cell in report.cells]
            self.proofs.append(
                _Proof(
                    report.verdict, plan, question, visits, conditions, report.cells, report.notes,
                    report.warnings, is_meant,
                )
            )  # fmt: skip
            if plan.form:
                so_far = f"proved for {self.kinds(plan)}; {self.took_more(OTHER_KINDS)}"
                self.hand_over(self.make(Undecided(digits, so_far)))
        return report

    def vary(self, plan, question, visits):
        """Why a rule that is right at all samples is not to be proved; None for none. Raises Settled where
        it is wrong in a way that the samples do not show."""
        variations = Variations(question, visits, tuple(map(plain_argument, plan.whole)))
        variations.refute()
        if variations.decides_by_cotangent():
            return "the rule branches on y_bar, and no finite number of cotangents covers all cases"
        if (kept := variations.keeps()) is not None:
            return (
                f"it keeps something from call to call ({kept}), and no number of calls predicts the next one"
            )
        return None

    # --- samples ---

    def seed(self):
        """A cotangent for the result: never 1, or a rule that ignores it would pass."""
        return int(self.rng.choice((1, -1))) * fraction(self.rng, Fraction(5, 4), Fraction(4))

    def visits(self, question, spec, plan, skipped, left_out):
        """The visits at all samples of `spec`, and beside the borders that the first ones met."""
        if sum(map(count_of, spec)) > MAX_LEAVES:
            raise Settled(
                Unsupported(
                    f"more than {MAX_LEAVES} numbers as arguments", None, "give smaller arrays by at="
                )
            )
        visits: list[Visit] = []
        raised: list[Misfit] = []  # by the rule, at arguments of ours
        tried = 0
        waiting = [(sample, ()) for sample in (*plan.given, *samples(spec, self.rng, plan.limits))]
        queue: list[Any] = []  # beside borders that were met
        explored: set[Any] = set()
        entries_moved: set[Any] = set()
        far_tried: set[Any] = set()  # decisions of which the other side was looked for far away
        mixed = False
        others = iter([list(positive_samples(spec, self.rng))] if any(map(shape_of, spec)) else [])
        while tried < MAX_VISITS:
            if not queue and not waiting:
                waiting = [(sample, ()) for sample in next(others, [])] if not visits else []
                if visits and all(v.digits >= EXACT_DIGITS for v in visits):
                    # Of what agrees to some digits nothing is proved anyhow.
                    queue = [(sample, ()) for sample in far_sides(self.names, visits, far_tried)]
                if not waiting and not queue:
                    break
            if visits and self.work.used() >= self.for_samples:
                break
            # Not the borders alone: `floor` has ever more of them, all in one direction.
            turn = queue if queue and (tried % EVERY or not waiting) else waiting
            sample, wanted = turn.pop(0)
            if not plan.admits(sample):
                skipped["it lies outside the domain"] = None
                continue
            tried += 1
            seeds = _Seeds(self.seed, wanted)
            try:
                last = visit(question, sample, seeds)
            except Misfit as misfit:
                if visits and plan.given and misfit.verdict is None and not misfit.raised:
                    # The kinds fit, and the function refuses this sample: an index beyond an array.
                    left_out[f"not judged where the function raises {misfit.reason_in_short()}"] = None
                    continue
                if not misfit.raised or sample in plan.given or self.exceptions_condemn:
                    raise
                raised.append(misfit)
                if not visits and len(raised) == MOST_RAISED:
                    raise
                left_out[f"not judged where {misfit.reason_in_short()}"] = None
                continue
            except Settled as settled:
                if not self.is_inside_a_guard(settled, question, sample):
                    raise
                skipped["it lies inside a narrow guard"] = None
                continue
            except Skipped as reason:
                skipped[str(reason)] = None
                if isinstance(reason, NotFollowed):
                    left_out[f"not judged where {reason}, though the function has a value there"] = None
                continue
            visits.append(last)
            if last.trace.integrands:  # each sample takes a dozen quadratures
                self.for_samples = min(self.for_samples, INTEGRAL_SHARE * self.time_limit)
            if len(visits) == 1:
                self.say(Undecided(last.digits, self.took_more("the samples")))
            if last.path in explored:
                continue
            explored.add(last.path)
            if not mixed and last.path and any(isinstance(kind, Array) for kind in last.sample):
                mixed = True
                waiting += [(more, ()) for more in more_samples(spec, self.rng, MORE_SAMPLES)]
            beside = beside_borders(sample, self.names, last.trace.decisions, entries_moved)
            queue = [*_other_side(last, seeds.drawn), *((s, ()) for s in beside), *queue]
        if (left := len(queue) + len(waiting)) and tried < MAX_VISITS:
            left_out[f"{left} of the samples were not tried: they would take too long"] = None
        if raised and not visits:
            raise raised[0]
        return visits

    def is_inside_a_guard(self, settled, question, sample):
        """Whether what seems wrong at a sample is what a narrow guard leaves open, which is noted then."""
        guard = guard_around(settled, question, sample) if hasattr(settled, "graphs") else None
        if guard is not None:
            self.guards.setdefault(guard.words(), guard)
        return guard is not None

    # --- verdicts ---

    def refuted_or_unsupported(self, settled):
        if not hasattr(settled, "graphs"):
            return self.say(settled.verdict)
        leaves, found, y, seeds = settled.graphs
        self.one_triangle = reads_one_triangle(leaves, y)
        self.for_symmetric = leaves[0].trace.for_symmetric
        # Of a function for symmetric matrices this is not the last word, and is kept back.
        say = self.make if self.one_triangle and self.for_symmetric else self.say
        report = say(settled.verdict)
        try:
            with worker.at_most(FORMULA_SECONDS):
                cell = self.finding(
                    leaves, found, y, seeds, decisions=leaves[0].trace.decisions, first=settled.wrong
                )
                reason = settled.verdict.reason + _factor_hint(cell, settled.verdict.reason)
        except (Stop, TooLarge):  # a rule that gives nan or infinity has no formula
            return report
        except worker.TooLong:
            return say(settled.verdict, (), (NO_FORMULA,))
        # Where this is not the last word its formulas are made for nobody.
        return self.make(dataclasses.replace(settled.verdict, reason=reason), [cell])

    def prove_cells(self, visits, plan, digits, notes, warnings, is_meant=True):
        cells: dict[Any, list[Visit]] = {}
        for v in visits:
            cells.setdefault((len(v.leaves), v.path), []).append(v)
        findings: list[_Cell] = []
        why = None
        for members in _each_size_first(list(cells.values()))[:MAX_CELLS]:
            v = members[0]
            try:
                # Nobody reads that many formulas.
                brief = len(findings) >= 2 and len(v.leaves) > 2 or bool(self.proofs) and not is_meant
                cell = self.finding(v.leaves, v.found, v.y, v.seeds, v.trace.decisions, members, brief=brief)
            except TooLarge as large:
                why = why or f"too large for SymPy: {large}"
                continue
            findings.append(cell)
            why = why or cell.why
        if len(cells) > MAX_CELLS:
            capped = f"{len(cells)} cases were found; the first {MAX_CELLS} were tried"
            warnings = (*warnings, Caveat(CELLS_CAPPED, capped))
        tidying = Tidying()
        for cell in findings:
            cell.tidy = tidying if cell.tidy is tidy else cell.tidy
        if why is not None:
            return self.say(Undecided(digits, why), findings, notes, warnings)
        methods = dict.fromkeys(cell.method for cell in findings)
        error = next((cell.error for cell in findings if cell.error != "none"), "none")
        conditions = [cell.condition for cell in findings]
        verdict = Proved(scope([(conditions, plan)], self.names, True), " and ".join(methods), error)
        return self.make(verdict, findings, notes, warnings)

    def finding(self, leaves, found, y, seeds, decisions, members=None, first=0, brief=False):
        """Formulas of one cell, and with `members` (its visits) the proof; where it is `brief` and the field
        will do, without formulas."""
        symbols = {leaf.args: sp.Symbol(leaf.args) for leaf in (*leaves, *seeds)}
        cell = _Cell(_condition_text(decisions, symbols), len(members or ()), sizes_of(leaves))
        operations = sum_of_sizes([*y, *found], MAX_SHOWN_GRAPH)
        if not members and sum_of_sizes([*y, *found], 2 * MAX_SHOWN) > 2 * MAX_SHOWN:
            raise TooLarge("no formula of it would be shown")
        in_plane = any(complex_part(leaf.args) is not None for leaf in leaves)
        large = operations > (MAX_SHOWN_PLANE if in_plane else MAX_SHOWN_GRAPH)
        in_field = brief or large or in_plane or (bool(members) and members[0].trace.integrands)
        shown = members and in_field and cell.settle_in_field(members[0])
        if (shown and (brief or large)) or (in_plane and large and not members):
            return cell
        if written_size([*y, *found]) > MAX_WRITTEN:
            raise TooLarge(f"more than {MAX_WRITTEN} operations, written out")
        cell.tidy = (lambda expr: expr) if in_plane else tidy  # two angles at once take seconds to simplify
        memo: dict[Any, Any] = {}
        loss = sum(symbols[s.args] * expression(v, symbols, memo) for s, v in zip(seeds, y, strict=True))
        order = [first, *(i for i in range(len(leaves)) if i != first)] if leaves else []
        if members:
            cell.moves = any(abs(members[0].expected[i]) > NO_SLOPE for i in order[:MOST_ROWS])
        for i in order:
            derivative = sp.diff(loss, symbols[leaves[i].args])
            given = expression(found[i], symbols, memo)
            cell.rows.append((leaves[i].args, derivative, given))
            if shown:
                continue
            if members:
                cell.settle(i, derivative - given, derivative, members[0])
            elif operations > MAX_SHOWN_GRAPH:
                break  # one formula of a refuted rule will do
        if members and not shown:
            for v in members[:1]:
                cell.settle_value(v, symbols, memo)
        return cell


def _with_formulas(report):
    """The report with the formulas of its cells, which take longer to make than to prove: they are made when
    it is known which are shown."""
    if not any(isinstance(cell, _Cell) for cell in report.cells):
        return report
    is_refuted = isinstance(report.verdict, Refuted)
    try:
        with worker.at_most(FORMULA_SECONDS) if is_refuted else contextlib.nullcontext():
            cells = tuple(cell.shown if isinstance(cell, _Cell) else cell for cell in report.cells)
    except worker.TooLong:
        return dataclasses.replace(report, cells=(), notes=(*report.notes, NO_FORMULA))
    return dataclasses.replace(report, cells=cells)


class _Seeds:
    """Makes seeds: those that are `wanted`, else new ones; `drawn` are those that it has made."""

    def __init__(self, new, wanted=()):
        self.new, self.left, self.drawn = new, list(wanted), []

    def __call__(self):
        self.drawn.append(self.left.pop(0) if self.left else self.new())
        return self.drawn[-1]


def asked_by(question):
    """The names of the arguments of which a function or its rule asks whether they are numbers."""
    return ranks_asked(question.primal) | (ranks_asked(question.rule) if question.rule else frozenset())


def _each_size_first(cells):
    """The same cells with the first one of each size before the others: a size without a proof has none."""
    sizes: dict[Any, list] = {}
    for members in cells:
        sizes.setdefault(sizes_of(members[0].leaves), []).append(members)
    return [m for row in itertools.zip_longest(*sizes.values()) for m in row if m is not None]


def _of_matrices(plan):
    """The plan of matrices with more than one row and column, and not as many of one as of the other."""
    kinds = plan.specs[0]
    return plan._replace(
        specs=tuple(tuple(k if isinstance(k, Static) else shape for k in kinds) for shape in ((2, 3), (3, 2)))
    )


def _squares(plan):
    """A square matrix for one that is none: a rule may do otherwise with as many rows as columns."""
    if not _is_of_matrices(plan) or any(k[0] == k[1] for k in plan.specs[0] if not isinstance(k, Static)):
        return ()
    return (tuple(k if isinstance(k, Static) else (2, 2) for k in plan.specs[0]),)


def _is_lower(plan, other):
    """Whether the arguments of a plan have fewer axes than those of another one, none of them more."""
    ranks = [[len(shape_of(kind)) for kind in p.specs[0]] for p in (plan, other)]
    lower = all(here <= there for here, there in zip(*ranks, strict=True)) and ranks[0] != ranks[1]
    return lower and not any(isinstance(kind, Symmetric) for kind in plan.specs[0])


def _is_of_matrices(plan):
    return all(isinstance(k, Static) or isinstance(k, tuple) and len(k) == 2 for k in plan.specs[0])


def _complex_specs(names, specs, those):
    """The same kinds with complex numbers for the real ones of those names."""

    def wide(name, kind):
        if name not in those or kind != "scalar" and type(kind) is not tuple:
            return kind
        return ComplexNumbers() if kind == "scalar" else ComplexNumbers(kind)

    return tuple(tuple(map(wide, names, spec)) for spec in specs)


def _may_be_complex(proof):
    """Whether function or rule speak of complex numbers, or the function is as usual for these."""
    both = (proof.question.primal, proof.question.rule)
    speaks = speaks_of_complex(code for f in both for code in (*codes_of(f), *helper_codes(f)))
    return speaks or may_be_of_complex(proof.question.primal)


def _is_of_constants(verdict, question):
    """Whether all that is wrong is what floats in the code may be off by: products of decimals that Python
    has rounded, of which little is left where large numbers cancel."""
    shown = verdict.counterexample
    if verdict.kind != "gradient" or shown is None or shown.digits < LEFT_BY_CANCELLING:
        return False
    codes = (*codes_of(question.primal), *codes_of(question.rule))
    constants = [c for code in codes for c in code.co_consts if isinstance(c, float) and c % 1]
    seeds = [float(Fraction(one)) for one in re.findall(r"\d+(?:/\d+)?", shown.y_bar)]
    try:
        off = abs(float(shown.expected) - float(shown.found))
    except ValueError:  # complex
        return False
    return bool(constants) and off <= 4 * EPSILON * max([1.0, *map(abs, constants)]) * max([1.0, *seeds])


def _has_one(spec):
    return any(1 in shape_of(kind) for kind in spec)


def _is_positive(default):
    return isinstance(default, float) and default > 0


def _are_alike(plan):
    """Whether all arguments of which a plan guesses the kinds are of one, which no broadcasting changes."""
    shapes = {shape_of(kind) for kind in plan.specs[0] if not isinstance(kind, Static) and kind != "scalar"}
    numbers = any(kind == "scalar" for kind in plan.specs[0])
    return len(shapes) < 2 and not (shapes and numbers)


def _is_of_one_degenerate_size(proof):
    """Whether arrays were guessed of which one size fits alone, and the derivative is zero there: a sum over
    what comes after the first, where there is only one. Any rule that gives zeros is right for these."""
    plan = proof.plan
    return not plan.given and plan.form == ARRAYS and len(plan.specs) == 1 and _is_of_zeros(proof)


def _is_of_zeros(proof):
    """Whether all derivatives that a proof shows are 0, which tells a reader nothing about the rule."""
    cells = [cell for cell in proof.cells if cell.rows]
    return bool(cells) and all(cell.is_of_zeros() for cell in cells)


def _is_shape(verdict):
    return isinstance(verdict, Refuted) and verdict.kind == "shape"


def _other_side(last, seeds):
    """The sample of a visit once more with the opposite seeds, where the rule decides by them: cotangents are
    linear in the seed, and a proof for seeds of one sign would be none."""
    decided = any(mentions(d.left, last.seeds) or mentions(d.right, last.seeds) for d in last.trace.decisions)
    return [(last.sample, [-seed for seed in seeds])] if decided else []


class _Cell:
    """What is known of one cell while it is being proved."""

    def __init__(self, condition, count, sizes=""):
        self.condition, self.count, self.sizes = condition, count, sizes
        self.rows, self.method, self.error, self.why = [], "SymPy's normal form", "none", None
        self.tidy: Any = tidy
        self.moves = False  # whether a number that is shown as an argument has a derivative that is not zero

    def settle(self, i, difference, derivative, visit):
        name = visit.leaves[i].args
        if is_open(derivative):
            self.why = self.why or f"SymPy has no closed form of the derivative with respect to {name}"
            return
        if not _agrees(derivative, visit, i):
            self.why = self.why or f"SymPy's derivative for {name} differs from the difference quotient"
            return
        self.judge(difference, visit, f"SymPy could not show that the difference for {name} is zero")

    def settle_in_field(self, visit):
        """Whether the whole cell is shown without any formula; where not, nothing is said."""
        shown = is_identity(visit.leaves, visit.seeds, visit.y, visit.found, visit.rule_y)
        if shown:
            self.method, self.error = METHOD, ERROR
        return bool(shown)

    def settle_value(self, visit, symbols, memo):
        for y, rule_y in zip(visit.y, visit.rule_y, strict=True):
            difference = expression(y, symbols, memo) - expression(rule_y, symbols, memo)
            self.judge(difference, visit, "SymPy could not show that the rule's y is f of the arguments")

    def judge(self, difference, visit, why):
        negative = [sp.Symbol(leaf.args) for leaf in (*visit.leaves, *visit.seeds) if leaf.shadow < 0]
        proof = is_identically_zero(difference, negative)
        if proof is None:
            self.why = self.why or why
        elif _WEIGHT.get(proof[0], 9) > _WEIGHT.get(self.method, 0):
            self.method, self.error = proof

    def is_of_zeros(self):
        """Whether all derivatives that are shown are 0."""
        return not self.moves and all(tidy(derivative) == 0 for _, derivative, _ in self.rows[:MOST_ROWS])

    @functools.cached_property
    def shown(self):
        """The finding with its formulas."""
        rows = []
        for name, derivative, given in self.rows[:MOST_ROWS]:
            zero = self.why is None and self.count > 0
            rows.append(
                ArgumentFinding(
                    name,
                    formula(self.tidy(derivative)),
                    formula(given),
                    Formula("0", "0") if zero else formula(self.tidy(derivative - given)),
                )
            )
        return CellFinding(self.condition, self.count, tuple(rows), self.sizes)


# The method named in the verdict is the strongest that was needed.
_WEIGHT = {
    "SymPy's normal form": 0,
    "expansion": 1,
    "cancellation of rational functions": 2,
    "SymPy's simplification": 3,
    "identity test in a finite field": 4,
    "SymPy's integration": 5,
}


def _agrees(derivative, visit, i):
    """Whether SymPy's derivative has the value of the difference quotient: two witnesses who have not
    spoken."""
    point = {
        sp.Symbol(leaf.args): sp.Float(CONTEXT.nstr(leaf.shadow, 60), 60)
        for leaf in (*visit.leaves, *visit.seeds)
    }
    value = CONTEXT.mpf(str(sp.re(derivative.evalf(50, subs=point))))
    expected = visit.expected[i]
    scale = max(abs(expected), CONTEXT.mpf(10) ** -15)
    return abs(value - expected) <= CONTEXT.mpf(10) ** -25 * scale


def _condition_text(decisions, symbols):
    real = {symbol: sp.Symbol(symbol.name, real=True) for symbol in symbols.values()}

    def shown(node):
        return expression(node, symbols, {}) if size(node) <= 8 else None

    def show(node):
        return None if (expr := shown(node)) is None else sp.sstr(expr)

    def always(left, relation, right):
        """Whether SymPy knows the condition to hold for all real arguments: then it is not worth a word."""
        if size(left) > 8 or size(right) > 8 or relation not in _ALWAYS:
            return False
        return bool(getattr((shown(left) - shown(right)).xreplace(real), _ALWAYS[relation]))

    return conditions(decisions, show, always)


_ALWAYS = {
    ">": "is_positive",
    ">=": "is_nonnegative",
    "<": "is_negative",
    "<=": "is_nonpositive",
    "!=": "is_nonzero",
}


def _factor_hint(cell, reason):
    """Where the wrong cotangent is a simple multiple of the right one, by what."""
    if "is not y_bar times the derivative" not in reason:
        return ""
    _, derivative, given = cell.rows[0]
    if given == 0 or derivative == 0 or given.count_ops() + derivative.count_ops() > 80:
        return ""
    if _is_ratio_of_many(given, derivative):
        return ""
    ratio = tidy(sp.cancel(given / derivative), short=MOST_IN_HINT)
    return f", it is {sp.sstr(ratio)} times that" if ratio.count_ops() <= MOST_IN_HINT else ""


MOST_IN_HINT = 3  # operations of a factor that is shown
_LEAST = sp.Rational(1, 7)


def _is_ratio_of_many(one, other):
    """Whether the ratio of two formulas changes with more symbols than a factor that is shown can have, which
    a few numbers tell, and SymPy only after it has looked for common factors for long."""
    symbols = sorted(one.free_symbols | other.free_symbols, key=str)
    # Around 1, where `1 - tanh(W @ x)**2` has its digits in plain arithmetic: `evalf(subs=)` takes a hundred
    # times as long.
    numbers = {symbol: sp.sqrt(sp.prime(i + 2)).evalf(20) % 1 + _LEAST for i, symbol in enumerate(symbols)}

    def ratio(point):
        divisor = other.xreplace(point).evalf(20)
        return complex(one.xreplace(point).evalf(20) / divisor) if divisor else float("nan")

    with contextlib.suppress(TypeError, ValueError, ArithmeticError):
        return len(symbols) > MOST_IN_HINT + 1 and _changes_with_many(ratio, numbers)
    return False


def _changes_with_many(ratio, numbers):
    """Whether a ratio at these numbers is another with more than a few of them moved, each by itself."""
    usual, changing = ratio(numbers), 0
    for symbol, value in numbers.items():
        off = abs(ratio({**numbers, symbol: value + sp.Rational(1, 3)}) - usual)
        changing += bool(off > 1e-6 * abs(usual))
        if changing > MOST_IN_HINT + 1:
            return True
    return False


def _why_no_identity(digits, rounded):
    """Why a rule that agrees to so many digits only is no identity; `rounded` has the inexact constants."""
    if not rounded:
        return (
            f"the two differ from digit {digits + 1} on, as they do where an iteration stops or a constant "
            f"is rounded (an identity would agree to {MAX_DIGITS})"
        )
    words = [c.words.split()[0] + (f" ({c.place.label()})" if c.place else "") for c in rounded[:2]]
    return f"{' and '.join(words)} {'are rounded constants' if len(rounded) > 1 else 'is a rounded constant'}"
