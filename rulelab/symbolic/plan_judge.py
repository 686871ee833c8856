"""Judge a rule for the arguments of one plan: refute it by a number, or prove it cell by cell, on the
author's own unchanged code.

Sample points in every orthant and at several magnitudes are tried first, and the first at which the error of
the rule exceeds 1e-12 refutes it. If none does, the rule is proved: for each cell visited, SymPy's derivative
times y_bar minus the rule's cotangent is shown to be identically zero.
"""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..advice import FLOATS, with_at
from ..checking.calling.budgets import took_more
from . import worker
from .caveats import CELLS_CAPPED, Caveat, of_constants
from .cell_proofs import FORMULA_SECONDS, NO_FORMULA, Cell, factor_hint, finding, with_formulas
from .cells import Static, count_of, fraction, shape_of
from .convergence import converges, find_steps
from .digits import EXACT_DIGITS, MAX_DIGITS
from .formulas import Tidying, TooLarge, shortest_form
from .limits import domains, limits_of
from .misfits import GIVE_ARGUMENTS
from .narrow_guards import Guard, guard_around
from .outcomes import Misfit, Settled, Skipped, UntracedSample
from .plain_values import plain_argument
from .questions import Plan, positional_parameters
from .refutations import (
    BY_DECISIONS,
    GOES_ON,
    Evidence,
    is_of_constants,
    of_not_meant,
)
from .report import SymbolicReport
from .runs import Visit, makes_a_number, not_derived, visit_sample
from .sample_queue import SampleQueue, Seeds
from .scalars import Stop
from .scopes import kinds_of, scope, sizes_of
from .tracing import reads_one_triangle
from .variations import Variations
from .verdicts import Agrees, Proved, Refuted, Undecided, Unsupported
from .work_counter import WorkCounter, WorkLimit

NOTHING_ANSWERED = "the rule has no cotangent for any argument that varies"
SMALLER = "give smaller arrays"
OTHER_KINDS = "other kinds of arguments"
MAX_CELLS = 8
ENOUGH_SIZES = 2  # for a function with branches
MOST_RAISED = 3  # exceptions of a rule before it is considered not to be for arguments of a kind
MAX_LEAVES = 64
MAX_VISITS = 40
NUMERIC_SHARE = 0.4  # part of the time limit, in seconds of work, for the samples
INTEGRAL_SHARE = 0.2  # the same for a function with integrals
LIMIT_SHARE = 0.5  # the same for the samples with increasing numbers of steps


class Inquiry(NamedTuple):
    """What a judge is asked: the `questions` about a function, each with the plan for its arguments, whose
    names are `names`; `steps` is the parameter that is the number of steps of a sum, if it was given.
    """

    function: str
    names: tuple[str, ...]
    questions: list
    steps: str | None = None


class KindProof(NamedTuple):
    """What was proved for one kind of arguments; `is_meant` says that its formulas should be shown."""

    verdict: Proved
    plan: Plan
    question: Any
    visits: list
    conditions: list
    cells: tuple[Cell, ...]
    notes: tuple
    warnings: tuple
    is_meant: bool


class PlanJudge:
    """The judge of single plans. It reports what is known so far, so that an interrupted job still has a
    result, and keeps the proof of each kind of arguments.
    """

    exceptions_condemn = False  # whether exceptions of a rule at chosen arguments refute it

    def __init__(self, inquiry, rng, time_limit, report, evidence=None):
        self.inquiry, self.names, self.questions = inquiry, inquiry.names, inquiry.questions
        self.rng, self.report = rng, report
        self.evidence = evidence or Evidence(inquiry.names)
        # Whether the function reads one triangle of square matrices at the refuting sample.
        self.one_triangle = False
        self.time_limit, self.work = time_limit, WorkCounter()
        self.for_symmetric = False  # whether it called something that is for symmetric matrices only
        self.for_samples = NUMERIC_SHARE * time_limit  # seconds of work
        self.last: SymbolicReport | None = None  # the last report that was sent
        self.proofs: list[KindProof] = []
        self.misfits: list[tuple[Any, Misfit]] = []  # by plan
        self.guessed: dict[tuple, tuple] = {}  # all sizes of a guess, by those that fit
        self.remarks: list[str] = []  # about kinds that were judged but not proved
        self.guards: dict[str, Guard] = {}  # narrow guards inside which the rule is that of the outside
        # Whether a refutation was set aside because its arguments may not be intended.
        self.is_in_doubt = False

    def judged(self, plan, question):
        """The report on one plan; None if its arguments do not fit."""
        self.one_triangle = self.for_symmetric = False
        try:
            report = self.judge_plan(plan, question)
        except Misfit as misfit:
            self.misfits.append((plan, misfit))
            return None
        if isinstance(report.verdict, Refuted) and self.one_triangle:
            # Including the sizes at which none of the samples was suitable for the function.
            symmetric = plan._replace(specs=self.guessed.get(plan.specs, plan.specs)).symmetric()
            if symmetric:
                report = self.judge_symmetric(report, symmetric, question)
        if isinstance(report.verdict, Refuted) and self.evidence.contradicts(report.verdict):
            report = self.say(Undecided(0, BY_DECISIONS), (), report.notes, report.warnings)
        if isinstance(report.verdict, Refuted) and self.evidence.goes_on(report.verdict):
            report = self.say(Undecided(0, GOES_ON), (), report.notes, report.warnings)
        if isinstance(report.verdict, Refuted) and not plan.limits:
            if plan.form or self.evidence.excludes_beyond_given(report.verdict, plan):
                report = self.of_usual_signs(report, plan, question)
        if isinstance(report.verdict, Refuted) and is_of_constants(report.verdict, question):
            shown = report.verdict.counterexample
            agree = shown.digits if shown else 0
            why = "it is off by the rounding of a constant, such as that of `0.1 * 0.3`"
            report = self.say(Undecided(agree, why), (), report.notes, report.warnings)
        return self.judge_limit(report, plan, question)

    def of_usual_signs(self, refuted, plan, question):
        """The proof of a rule that is right if arguments with positive defaults, such as widths or bounds,
        are positive, those with negative defaults, such as lower bounds, are negative, and all are in the
        intervals that the function is meant for; for any other rule the refutation.
        """
        defaults = zip(*positional_parameters(question.primal, None), strict=True)
        signs = {n: _sign_of(default) for n, default in defaults if n in self.names}
        usual = {name: sign for name, sign in signs.items() if sign}
        if is_excluded := not plan.form or self.evidence.excludes(refuted.verdict):
            meant = self.evidence.intervals().items()
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

    def judge_symmetric(self, refuted, plan, question):
        """The verdict for symmetric matrices, if the function reads only one triangle of them: then its rule
        may divide a cotangent between the two positions as it likes.

        It applies if the function is for such matrices (it factorizes them); a trace or a triangle of an
        arbitrary matrix stays refuted, with a note on what was found.
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
        """The verdict on a rule with a small error, if the function may converge for many steps to what the
        rule is for.
        """
        verdict = report.verdict
        gradient = isinstance(verdict, Refuted) and verdict.kind == "gradient"
        if not gradient and not getattr(verdict, "digits", EXACT_DIGITS) < EXACT_DIGITS:
            return report
        limit = WorkLimit(LIMIT_SHARE * self.time_limit)
        for steps in find_steps(question, plan.specs[0], self.inquiry.steps):
            note = f"whether it is right in the limit of many steps ({steps.name}) could not be decided"
            doubtful = self.say(verdict, report.cells, (*report.notes, note), report.warnings)
            found = converges(question, plan, steps, self.rng, self.seed, limit)
            if found:
                return self.say(found, (), report.notes, report.warnings)
            report = doubtful if found is None else report
        return report

    def judge_plan(self, plan, question):
        visits: list[Visit] = []
        skipped: dict[str, None] = {}
        left_out: dict[str, None] = {}
        try:
            for number, spec in enumerate(plan.specs):
                if number >= ENOUGH_SIZES and plan.form and len({v.path for v in visits}) > number:
                    # It has a branch, hence more and more cells.
                    plan = plan._replace(specs=plan.specs[:number])
                    break
                unfollowed: dict[str, None] = {}
                there = self.visits(question, spec, plan, skipped, unfollowed)
                if not there and unfollowed and plan.form:
                    return self.say(Unsupported(f"{next(iter(unfollowed))} at every sample of one size"))
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
                with_at(GIVE_ARGUMENTS, self.names),
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
            return self.say(Unsupported(NOTHING_ANSWERED, None, FLOATS))
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
            (bool(self.proofs) and all(map(is_of_zeros, self.proofs)))  # the softmax of a number is 1
            or makes_a_number(question, plan.specs[0], np.random.default_rng(0), plan.limits)
        )
        report = self.prove_cells(visits, plan, digits, notes, rounded, is_meant)
        if isinstance(report.verdict, Proved):
            conditions = [cell.condition for cell in report.cells]
            self.proofs.append(
                KindProof(
                    report.verdict, plan, question, visits, conditions, report.cells, report.notes,
                    report.warnings, is_meant,
                )
            )  # fmt: skip
            if plan.form:
                so_far = f"proved for {self.kinds(plan)}; {self.took_more(OTHER_KINDS)}"
                self.hand_over(self.make(Undecided(digits, so_far)))
        return report

    def vary(self, plan, question, visits):
        """Why a rule that is right at all samples must not be proved; None if there is no reason. Raises
        Settled if it is wrong in a way that the samples do not show.
        """
        variations = Variations(question, visits, tuple(map(plain_argument, plan.whole)))
        variations.refute()
        if variations.decides_by_cotangent():
            return "the rule branches on y_bar, and no finite number of cotangents covers every case"
        if (kept := variations.keeps()) is not None:
            return (
                f"it keeps state between calls ({kept}), and no number of calls predicts the next one"
            )
        return None

    def seed(self):
        """A cotangent for the result: never 1, or a rule that ignores it would pass."""
        return int(self.rng.choice((1, -1))) * fraction(self.rng, Fraction(5, 4), Fraction(4))

    def visits(self, question, spec, plan, skipped, left_out):
        """The visits at all samples of `spec`, and beside the borders that the first ones found."""
        if sum(map(count_of, spec)) > MAX_LEAVES:
            advice = with_at(SMALLER, self.names)
            raise Settled(Unsupported(f"more than {MAX_LEAVES} numbers as arguments", None, advice))
        visits: list[Visit] = []
        raised: list[Misfit] = []  # by the rule, at chosen arguments
        queue = SampleQueue(self.names, spec, plan, self.rng)
        while queue.tried < MAX_VISITS and queue.has_more(visits):
            if visits and self.work.used() >= self.for_samples:
                break
            sample, wanted = queue.next()
            if not plan.admits(sample):
                skipped["it lies outside the domain"] = None
                continue
            queue.tried += 1
            seeds = Seeds(self.seed, wanted)
            try:
                last = visit_sample(question, sample, seeds)
            except Misfit as misfit:
                left_out[self.not_judged_for(misfit, plan, sample, visits, raised)] = None
                continue
            except Settled as settled:
                if not self.is_inside_a_guard(settled, question, sample):
                    raise
                skipped["it lies within a narrow branch"] = None
                continue
            except Skipped as reason:
                skipped[str(reason)] = None
                if isinstance(reason, UntracedSample):
                    left_out[f"not judged where {reason}, though the function has a value there"] = None
                continue
            visits.append(last)
            if last.trace.integrands:  # each sample takes a dozen quadratures
                self.for_samples = min(self.for_samples, INTEGRAL_SHARE * self.time_limit)
            if len(visits) == 1:
                self.say(Undecided(last.digits, self.took_more("the samples")))
            queue.follow(sample, last, seeds.drawn)
        if len(queue) and queue.tried < MAX_VISITS:
            left_out[f"{len(queue)} of the samples were not tried: they would take too long"] = None
        if raised and not visits:
            raise raised[0]
        return visits

    def not_judged_for(self, misfit, plan, sample, visits, raised):
        """The note about a sample that does not fit; raises the misfit if no other sample will fit either.
        `raised` collects those at which the rule raised an exception.
        """
        if visits and plan.given and misfit.verdict is None and not misfit.raised:
            # The kinds fit, but the function refuses this sample, for instance an index out of bounds.
            return f"not judged where the function raises {misfit.reason_in_short()}"
        if not misfit.raised or sample in plan.given or self.exceptions_condemn:
            raise misfit
        raised.append(misfit)
        if not visits and len(raised) == MOST_RAISED:
            raise misfit
        return f"not judged where {misfit.reason_in_short()}"

    def is_inside_a_guard(self, settled, question, sample):
        """Whether an apparent error at a sample is within the tolerance of a narrow guard, which is then
        recorded.
        """
        guard = guard_around(settled, question, sample) if hasattr(settled, "graphs") else None
        if guard is not None:
            self.guards.setdefault(guard.words(), guard)
        return guard is not None

    def refuted_or_unsupported(self, settled):
        if not hasattr(settled, "graphs"):
            return self.say(settled.verdict)
        leaves, found, y, seeds = settled.graphs
        self.one_triangle = reads_one_triangle(leaves, y)
        self.for_symmetric = leaves[0].trace.for_symmetric
        # For a function of symmetric matrices this is not final, and is held back.
        say = self.make if self.one_triangle and self.for_symmetric else self.say
        report = say(settled.verdict)
        try:
            with worker.at_most(FORMULA_SECONDS):
                cell = self.finding(
                    leaves, found, y, seeds, decisions=leaves[0].trace.decisions, first=settled.wrong
                )
                reason = settled.verdict.reason + factor_hint(cell, settled.verdict.reason)
        except (Stop, TooLarge):  # a rule that gives nan or infinity has no formula
            return report
        except worker.TooLong:
            return say(settled.verdict, (), (NO_FORMULA,))
        # A report that is not final needs no formulas.
        return self.make(dataclasses.replace(settled.verdict, reason=reason), [cell])

    def prove_cells(self, visits, plan, digits, notes, warnings, is_meant=True):
        cells: dict[Any, list[Visit]] = {}
        for v in visits:
            cells.setdefault((len(v.leaves), v.path), []).append(v)
        findings: list[Cell] = []
        why = None
        for members in _each_size_first(list(cells.values()))[:MAX_CELLS]:
            v = members[0]
            try:
                # So many formulas would not be read.
                brief = len(findings) >= 2 and len(v.leaves) > 2 or bool(self.proofs) and not is_meant
                cell = self.finding(v.leaves, v.found, v.y, v.seeds, v.trace.decisions, members, brief=brief)
            except TooLarge as large:
                why = why or f"too large for SymPy: {large}"
                continue
            findings.append(cell)
            why = why or cell.why
        if len(cells) > MAX_CELLS:
            left = len(cells) - MAX_CELLS
            others = "1 more case was" if left == 1 else f"{left} more cases were"
            capped = f"{MAX_CELLS} cases were judged; {others} found and not judged"
            warnings = (*warnings, Caveat(CELLS_CAPPED, capped))
        tidying = Tidying()
        for cell in findings:
            cell.tidy = tidying if cell.tidy is shortest_form else cell.tidy
        if why is not None:
            return self.say(Undecided(digits, why), findings, notes, warnings)
        methods = dict.fromkeys(cell.method for cell in findings)
        error = next((cell.error for cell in findings if cell.error != "none"), "none")
        conditions = [cell.condition for cell in findings]
        verdict = Proved(scope([(conditions, plan)], self.names, True), " and ".join(methods), error)
        return self.make(verdict, findings, notes, warnings)

    def finding(self, *cell, **options):
        """The cell of a visit: see `cell_proofs.finding`."""
        return finding(*cell, **options)

    def make(self, verdict, cells=(), notes=(), warnings=()):
        return SymbolicReport(
            self.inquiry.function, self.names, verdict, tuple(cells), tuple(notes), warnings=tuple(warnings)
        )

    def say(self, verdict, cells=(), notes=(), warnings=()):
        """Make a report, and send it as the best result so far."""
        report = self.make(verdict, cells, notes, warnings)
        # Once a kind is proved, a preliminary result on another kind is no improvement.
        if not self.proofs or isinstance(verdict, Proved):
            if isinstance(verdict, Refuted) and self.evidence.excludes(verdict):
                # Never the refutation itself: the report sent is the result if the check is stopped.
                self.hand_over(self.make(of_not_meant(verdict), (), notes, warnings))
            else:
                self.hand_over(report)
        return report

    def hand_over(self, report):
        """Send a report with its formulas, unless it was the last one sent."""
        if report is not self.last:
            self.last = report
            self.report(with_formulas(report))

    def kinds(self, plan):
        return kinds_of(plan.specs, self.names)

    def took_more(self, what):
        return took_more(what, self.time_limit)


def _each_size_first(cells):
    """The same cells with the first one of each size before the others, so that every size gets a proof."""
    sizes: dict[Any, list] = {}
    for members in cells:
        sizes.setdefault(sizes_of(members[0].leaves), []).append(members)
    return [m for row in itertools.zip_longest(*sizes.values()) for m in row if m is not None]


def _sign_of(default):
    """The word for the interval of numbers with the sign of a default; empty if it has none."""
    if not isinstance(default, float) or not default:
        return ""
    return "positive" if default > 0 else "negative"


def _why_no_identity(digits, rounded):
    """Why a rule that agrees to only `digits` digits is not an identity; `rounded` has the inexact
    constants.
    """
    if not rounded:
        return (
            f"the two differ from digit {digits + 1} on, as they do where an iteration stops or a constant "
            f"is rounded (an identity would agree to {MAX_DIGITS})"
        )
    words = [c.words.split()[0] + (f" ({c.place.label()})" if c.place else "") for c in rounded[:2]]
    return f"{' and '.join(words)} {'are rounded constants' if len(rounded) > 1 else 'is a rounded constant'}"


def is_of_zeros(proof):
    """Whether all derivatives that a proof shows are 0, which says nothing about the rule."""
    cells = [cell for cell in proof.cells if cell.rows]
    return bool(cells) and all(cell.is_of_zeros() for cell in cells)
