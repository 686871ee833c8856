"""Is this rule right? Refuted by a number, or proved cell by cell, on the author's own unchanged code.

Order of work: sample points in every orthant and size are tried first, and the first at which the rule is
off by more than 1e-12 ends the matter. What survives is proved: for each cell visited the derivative SymPy
finds, times y_bar, minus the rule's cotangent is shown to be identically zero. All of it runs in a forked
worker under a wall limit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from ..errors import RuleError
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
    samples,
    shape_of,
)
from .convergence import converges, find_steps
from .digits import EXACT_DIGITS, MAX_DIGITS
from .endings import Misfit, NotFollowed, Settled, Skipped
from .field_graphs import ERROR, METHOD, is_identity
from .formulas import MAX_SHOWN, Formula, TooLarge, expression, formula, size, sum_of_sizes, tidy
from .integrals import prepare
from .kinds import VECTOR_SIZES
from .limits import ONE_SIZE, limit_words
from .questions import NoRuleFound, find_rule, judged_arguments
from .report import ArgumentFinding, CellFinding, SymbolicReport
from .runs import Visit, makes_a_number, visit
from .scalars import CONTEXT, Stop
from .tracing import mentions, reads_one_triangle
from .verdicts import Agrees, Proved, Refuted, Undecided, Unsupported
from .zerotest import is_identically_zero

MAX_CELLS = 8
MAX_LEAVES = 64
MAX_VISITS = 40
EVERY = 4  # of the samples are one beyond those beside borders
MORE_SAMPLES = 4  # with signs in any mixture, where the program decides by the entries of arrays
MAX_SHOWN_GRAPH = 60  # operations; cells of larger graphs are proved in the field alone
MAX_SHOWN_PLANE = 30  # the same for complex arguments, whose formulas are long
FORMULA_SECONDS = 1.0  # for the formulas of a rule that is refuted, which is said without them else
NUMERIC_SHARE = 0.4  # of the time limit, for the samples
INTEGRAL_SHARE = 0.2  # the same where a function integrates
LIMIT_SHARE = 0.9  # of the time limit, until the samples with more and more steps end
BORDER_SHARE = 0.25  # of the time limit, at most, for the points on borders


def prove(
    f,
    rule=None,
    *,
    at=None,
    kwargs=None,
    sizes=None,
    domain=None,
    registry=None,
    time_limit=5.0,
    rng=None,
    stop=None,
    name=None,
    steps=None,
    stability=None,
    heard=None,
):
    """Judge the rule of a function symbolically.

    `f` takes and returns numbers or small arrays, real ones or complex. Its rule is looked up in
    `registry` (the default one), unless `rule`, a function `rule(*args) -> (y, pullback)`, is given. `at`
    is a tuple of sample arguments: it sets which arguments are arrays, of which shape, and is tried first;
    ints, strings and flags in it are held fixed, and so are the keyword arguments `kwargs`. Without `at`,
    numbers are tried, then vectors, then matrices, each kind of array at two sizes. Complex numbers are tried
    where `at` has some, or where a parameter is annotated `complex`: the cotangent of z is then dL/dRe(z) +
    i dL/dIm(z) for a real L, and both parts are judged.

    `sizes` are those of arrays to be tried instead: a list of lengths or shapes, `[3, 5]` or
    `[(2, 3), (4, 2)]`, or of tuples with one for each argument, `[((2, 3), 3), ((4, 2), 2)]`, in which `()`
    is a number. `domain` is the open interval that all numbers are drawn from, `(0, 1)` or a word such as
    "positive", or a dict of these by argument; words such as "square" or "positive definite" say what an
    argument is. The verdict is for this domain and says so.

    No more than `time_limit` seconds are used. `rng` is a NumPy Generator for the sample points; the default
    one is seeded, so that a verdict can be repeated. `stop()` is asked now and then whether to end early,
    with the verdict Undecided. `name` is how the author writes `f`, for the report and the code to paste; its
    own name, else. `steps` names the whole number of steps of a sum that stands for an integral (see
    `Converges`); else it is looked for by its name. `stability` is the `StabilityReport` of a scan whose
    findings are to stand among the warnings. `heard(report)` is called with each report on the way to the one
    that is returned, as soon as more is known.

    Returns a `SymbolicReport`; its `verdict` is Proved, Refuted, Agrees, Converges, Undecided or Unsupported.
    A proof is of the open cells; the points where they meet, and zeros, ones and ties, are tried afterwards,
    and what is not right there is in `warnings`. Raises `RuleError` where `f` has no rule, RuleLabError for
    sizes or a domain that make no sense.

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
    names, plans = judged_arguments(f, at, kwargs or (), sizes, domain, steps)
    questions = []
    for plan in plans:
        try:
            questions.append((plan, find_rule(f, rule, names, plan, registry, name, kwargs)))
        except NoRuleFound as missing:
            not_found = missing
    if not questions:
        raise not_found.error
    _check_steps(questions, steps)
    shown = name or getattr(f, "__name__", None) or type(f).__name__
    warm()
    prepare()
    silence = "no call of the function and its rule had come back at the time limit"
    empty = SymbolicReport(shown, names, Undecided(0, silence))
    outcome = worker.run(
        lambda report: Judge(shown, names, questions, rng, started, time_limit, report, steps).judge(),
        time_limit,
        stop,
        heard and (lambda report: heard(dataclasses.replace(report, seconds=time.monotonic() - started))),
    )
    report = finished(outcome, empty, started)
    one_size = sizes is not None and len(plans[0].specs) == 1 and isinstance(report.verdict, Proved)
    return dataclasses.replace(
        report,
        notes=(*report.notes, *([ONE_SIZE] if one_size else [])),
        warnings=(*report.warnings, *(of_stability(stability) if stability is not None else ())),
    )


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
    """Have SymPy load what it loads lazily (0.1 s) here, once, and not anew in every worker."""
    x, y = sp.symbols("x y")
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


class Judge:
    """The worker's job: reports what is known so far, so that a cut job still has an answer."""

    def __init__(self, shown, names, questions, rng, started, time_limit, report, steps=None):
        self.shown, self.names, self.questions, self.rng = shown, names, questions, rng
        self.report, self.steps = report, steps
        self.one_triangle = False  # of square matrices, at the sample that refuted
        self.started, self.time_limit = started, time_limit
        self.for_symmetric = False  # whether it called what is for symmetric matrices only
        self.numeric_deadline = started + NUMERIC_SHARE * time_limit
        self.visited: dict[Proved, tuple] = {}  # by proof: question, what the samples have shown, domain

    def judge(self):
        report = self.judge_cells()
        return self.judge_borders(report) if isinstance(report.verdict, Proved) else report

    def judge_borders(self, proved):
        """The proof with what is found where its open cells end."""
        unseen = "no time was left for zeros, ones, ties and borders"
        self.report(dataclasses.replace(proved, notes=(*proved.notes, unseen)))
        question, visits, admits = self.visited[proved.verdict]
        now = time.monotonic()
        deadline = now + min(BORDER_SHARE * self.time_limit, 0.8 * (self.started + self.time_limit - now))
        borders = Borders(question, visits, self.rng, deadline, admits)
        borders.walk()
        if borders.refuted is not None:
            elsewhere = f"apart from such points it is {proved.verdict.sentence()}"
            return self.say(borders.refuted, (), (*proved.notes, elsewhere), proved.warnings)
        verdict = proved.verdict
        if borders.exceptions:
            scope = f"{verdict.scope}, but not at points such as {borders.exceptions}"
            verdict = dataclasses.replace(verdict, scope=scope)
        warnings = (*borders.caveats, *proved.warnings)
        return self.say(verdict, proved.cells, (*proved.notes, *borders.notes), warnings)

    def judge_cells(self):
        misfit: Misfit | None = None
        for plan, question in self.questions:
            try:
                report = self.judge_plan(plan, question)
            except Misfit as not_this:
                misfit = misfit if misfit is not None and misfit.verdict is not None else not_this
                continue
            if isinstance(report.verdict, Refuted) and self.one_triangle and (symmetric := plan.symmetric()):
                report = self.judge_symmetric(report, symmetric, question)
            report = self.judge_limit(report, plan, question)
            if isinstance(report.verdict, Proved) and not any(map(shape_of, plan.specs[0])):
                return self.judge_vectors(report)
            if misfit is None or getattr(misfit.verdict, "kind", None) != "shape":
                return report
            # The function takes plain numbers and the rule gave them arrays: only a proof speaks for the
            # rule now.
            return report if isinstance(report.verdict, Proved) else self.say(misfit.verdict)
        assert misfit is not None  # there is a question, and it was not judged
        sized = all(any(map(shape_of, plan.specs[0])) for plan, _ in self.questions)
        kinds = "arrays of these kinds and sizes" if sized else "numbers and on arrays"
        verdict = misfit.verdict or Unsupported(
            f"a call that fails on {kinds}: {misfit}", None, "give sample arguments by at=(…)"
        )
        return self.say(verdict)

    def judge_vectors(self, proved):
        """The verdict on a rule that is right for numbers: a function that makes one number of a vector is
        rather meant for vectors."""
        for plan, question in self.questions:
            if len(plan.specs) == len(VECTOR_SIZES) and makes_a_number(
                question, plan.specs[0], self.rng, plan.limits
            ):
                with contextlib.suppress(Misfit):
                    report = self.judge_plan(plan, question)
                    if isinstance(report.verdict, (Proved, Refuted)):
                        return report
                return self.say(proved.verdict, proved.cells, proved.notes, proved.warnings)
        return proved

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
        deadline = self.started + LIMIT_SHARE * self.time_limit
        for steps in find_steps(question, plan.specs[0], self.steps):
            note = f"whether it is right in the limit of many steps ({steps.name}) could not be told"
            doubtful = self.say(verdict, report.cells, (*report.notes, note), report.warnings)
            found = converges(question, plan, steps, self.rng, self.seed, deadline)
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
        self.report(report)
        return report

    def judge_plan(self, plan, question):
        visits: list[Visit] = []
        skipped: dict[str, None] = {}
        left_out: dict[str, None] = {}
        try:
            for spec in plan.specs:
                visits += self.visits(question, spec, plan, skipped, left_out)
        except Settled as settled:
            return self.refuted_or_unsupported(settled)
        except Stop as stop:
            return self.say(Unsupported(str(stop)))
        if not visits:
            why = "; ".join(list(skipped)[:3])
            verdict = Unsupported(
                f"no sample at which the function has a derivative ({why})",
                None,
                "give sample arguments by at=(…)",
            )
            if plan.given:
                return self.say(verdict)
            raise Misfit(why, verdict)
        digits = min(v.digits for v in visits)
        notes = dict.fromkeys(note for v in visits for note in v.trace.notes) | left_out
        codes = frozenset().union(*(v.codes for v in visits))
        rounded = of_constants(dict.fromkeys(c for v in visits for c in v.trace.rounded), codes)
        self.say(Undecided(digits, "the time limit came before the proof"), (), notes, rounded)
        known = min((v.digits for v in visits if not v.vague), default=EXACT_DIGITS)
        if known < EXACT_DIGITS:
            return self.say(Agrees(known, _why_no_identity(known, rounded)), (), notes, rounded)
        report = self.prove_cells(visits, plan, digits, notes, rounded)
        if isinstance(report.verdict, Proved):
            self.visited[report.verdict] = question, visits, plan.admits
        return report

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
        tried = 0
        waiting = [(sample, ()) for sample in (*plan.given, *samples(spec, self.rng, plan.limits))]
        queue: list[Any] = []  # beside borders that were met
        explored: set[Any] = set()
        entries_moved: set[Any] = set()
        mixed = False
        while (queue or waiting) and tried < MAX_VISITS:
            if visits and time.monotonic() >= self.numeric_deadline:
                break
            # Not the borders alone: `floor` has ever more of them, all in one direction.
            turn = queue if queue and (tried % EVERY or not waiting) else waiting
            sample, wanted = turn.pop(0)
            if not plan.admits(sample):
                skipped["it lies outside of the domain"] = None
                continue
            tried += 1
            seeds = _Seeds(self.seed, wanted)
            try:
                last = visit(question, sample, seeds)
            except Skipped as reason:
                skipped[str(reason)] = None
                if isinstance(reason, NotFollowed):
                    left_out[f"not judged where {reason}, though the function has a value there"] = None
                continue
            visits.append(last)
            if last.trace.integrands:  # each sample takes a dozen quadratures
                soon = self.started + INTEGRAL_SHARE * self.time_limit
                self.numeric_deadline = min(self.numeric_deadline, soon)
            if len(visits) == 1:
                self.say(Undecided(last.digits, "the time limit came before all samples were tried"))
            if last.path in explored:
                continue
            explored.add(last.path)
            if not mixed and last.path and any(isinstance(kind, Array) for kind in last.sample):
                mixed = True
                waiting += [(more, ()) for more in more_samples(spec, self.rng, MORE_SAMPLES)]
            beside = beside_borders(sample, self.names, last.trace.decisions, entries_moved)
            queue = [*_other_side(last, seeds.drawn), *((s, ()) for s in beside), *queue]
        if (left := len(queue) + len(waiting)) and tried < MAX_VISITS:
            left_out[f"the time was over before {left} of the samples were tried"] = None
        return visits

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
                shown = cell.shown()
        except (Stop, TooLarge, worker.TooLong):  # a rule that gives nan or infinity has no formula
            return report
        return say(dataclasses.replace(settled.verdict, reason=reason), [shown])

    def prove_cells(self, visits, plan, digits, notes, warnings):
        cells: dict[Any, list[Visit]] = {}
        for v in visits:
            cells.setdefault((len(v.leaves), v.path), []).append(v)
        findings: list[_Cell] = []
        why = None
        for members in list(cells.values())[:MAX_CELLS]:
            v = members[0]
            try:
                brief = len(findings) >= 2 and len(v.leaves) > 2  # nobody reads that many formulas
                cell = self.finding(v.leaves, v.found, v.y, v.seeds, v.trace.decisions, members, brief=brief)
            except TooLarge as large:
                why = why or f"too large for SymPy: {large}"
                continue
            findings.append(cell)
            why = why or cell.why
        if len(cells) > MAX_CELLS:
            capped = f"{len(cells)} cells were met, the first {MAX_CELLS} were tried"
            warnings = (*warnings, Caveat(CELLS_CAPPED, capped))
        shown = [cell.shown() for cell in findings]
        if why is not None:
            return self.say(Undecided(digits, why), shown, notes, warnings)
        methods = dict.fromkeys(cell.method for cell in findings)
        error = next((cell.error for cell in findings if cell.error != "none"), "none")
        verdict = Proved(_scope(findings, plan, self.names), " and ".join(methods), error)
        return self.say(verdict, shown, notes, warnings)

    def finding(self, leaves, found, y, seeds, decisions, members=None, first=0, brief=False):
        """Formulas of one cell, and with `members` (its visits) the proof; where it is `brief` and the field
        will do, without formulas."""
        symbols = {leaf.args: sp.Symbol(leaf.args) for leaf in (*leaves, *seeds)}
        cell = _Cell(_condition_text(decisions, symbols), len(members or ()), _sizes_of(leaves))
        operations = sum_of_sizes([*y, *found], MAX_SHOWN_GRAPH)
        if not members and sum_of_sizes([*y, *found], 2 * MAX_SHOWN) > 2 * MAX_SHOWN:
            raise TooLarge("no formula of it would be shown")
        in_plane = any(complex_part(leaf.args) is not None for leaf in leaves)
        large = operations > (MAX_SHOWN_PLANE if in_plane else MAX_SHOWN_GRAPH)
        in_field = brief or large or in_plane or (bool(members) and members[0].trace.integrands)
        shown = members and in_field and cell.settle_in_field(members[0])
        if (shown and (brief or large)) or (in_plane and large and not members):
            return cell
        cell.tidy = (lambda expr: expr) if in_plane else tidy  # two angles at once take seconds to simplify
        memo: dict[Any, Any] = {}
        loss = sum(symbols[s.args] * expression(v, symbols, memo) for s, v in zip(seeds, y, strict=True))
        order = [first, *(i for i in range(len(leaves)) if i != first)] if leaves else []
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


class _Seeds:
    """Makes seeds: those that are `wanted`, else new ones; `drawn` are those that it has made."""

    def __init__(self, new, wanted=()):
        self.new, self.left, self.drawn = new, list(wanted), []

    def __call__(self):
        self.drawn.append(self.left.pop(0) if self.left else self.new())
        return self.drawn[-1]


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

    def settle(self, i, difference, derivative, visit):
        name = visit.leaves[i].args
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

    def shown(self):
        rows = []
        for name, derivative, given in self.rows[:6]:
            difference = derivative - given
            zero = self.why is None and self.count > 0
            rows.append(
                ArgumentFinding(
                    name,
                    formula(self.tidy(derivative)),
                    formula(given),
                    Formula("0", "0") if zero else formula(self.tidy(difference)),
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
    ratio = tidy(sp.cancel(given / derivative), short=3)
    return f", it is {sp.sstr(ratio)} times that" if ratio.count_ops() <= 3 else ""


def _why_no_identity(digits, rounded):
    """Why a rule that agrees to so many digits only is no identity; `rounded` has the inexact constants."""
    if not rounded:
        return (
            f"the two differ from digit {digits + 1} on, as they do where an iteration stops or a constant "
            f"is rounded (an identity would agree to {MAX_DIGITS})"
        )
    words = [c.words.split()[0] + (f" ({c.place.label()})" if c.place else "") for c in rounded[:2]]
    return f"{' and '.join(words)} {'are rounded constants' if len(rounded) > 1 else 'is a rounded constant'}"


def _sizes_of(leaves):
    """The shapes of the arrays that these traced numbers are the entries of: one if all are the same."""
    lengths: dict[str, tuple] = {}
    for name, _, inside in (leaf.args.partition("]")[0].partition("[") for leaf in leaves):
        if inside:
            index = tuple(int(i) + 1 for i in inside.split(","))
            lengths[name] = tuple(map(max, index, lengths.get(name, index)))
    return " with ".join(dict.fromkeys(map(str, lengths.values())))


def _size_words(spec):
    """The shapes of one spec: one if all arrays have the same."""
    shapes = [
        f"{shape_of(kind)}{' (symmetric)' if isinstance(kind, Symmetric) else ''}"
        for kind in spec
        if shape_of(kind)
    ]
    return " with ".join(shapes[:1] if len(set(shapes)) == 1 else shapes)


def _scope(findings, plan, names):
    texts = [cell.condition for cell in findings]
    fixed = [
        f"{name} = {kind.shown()}"
        for name, kind in zip(names, plan.specs[0], strict=True)
        if isinstance(kind, Static)
    ]
    if plan.limits:
        fixed += [limit_words(*pair) for pair in zip(names, plan.limits, strict=True) if pair[1] is not None]
    sizes = dict.fromkeys(filter(None, map(_size_words, plan.specs)))
    if not any(texts):
        field = "complex" if any(isinstance(kind, ComplexNumbers) for kind in plan.specs[0]) else "real"
        words = f"all {field} arguments at which f and the rule are defined (no branch was met)"
    elif len(dict.fromkeys(texts)) == 1:
        words = f"the cell {texts[0]}" if texts[0] else "the one cell met"
    else:
        words = f"{len(findings)} cells: " + "; ".join(dict.fromkeys(t or "no condition" for t in texts))
    if sizes:
        words += f", for sizes {' and '.join(sizes)}"
    if fixed:
        words += f", with {', '.join(fixed)}"
    return words
