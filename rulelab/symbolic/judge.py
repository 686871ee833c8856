"""Judge a rule for all kinds of arguments that its function accepts: numbers, vectors, matrices, complex
numbers. Each kind has a plan; one refutation refutes, and a proof names the kinds that it covers.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools

import numpy as np

from ..advice import AS_INTEGER, FLOATS, MEANT_FOR, ONE_SIZE, with_at
from ..checking.calling.subjects import codes_of, helper_codes
from ..checking.reading.axes_read import names_an_axis, ranks_asked, summed_for
from ..checking.reading.complex_meant import may_be_of_complex
from ..checking.reading.usage import complex_by_use, speaks_of_complex
from .boundary import Borders
from .caveats import UNSTABLE, Caveat
from .cell_proofs import with_formulas
from .cells import Static, count_of, positive_samples, samples, shape_of
from .counterexamples import wrongly_zero_message
from .misfits import GIVE_ARGUMENTS, verdict_on_misfits
from .outcomes import Misfit, Settled, Skipped
from .plan_judge import Inquiry, PlanJudge, is_of_zeros
from .questions import ARRAYS, NUMBERS, VECTORS
from .refutations import (
    NOT_MEANT,
    Evidence,
    MeantOfParts,
    is_of_shape,
    of_not_meant,
    wrong_at,
)
from .report import SymbolicReport
from .runs import makes_a_number, plain_value
from .scopes import except_at, except_inside, headline, options_held, scope
from .spelling import with_expressions_for_parts
from .tracing import RESULT_OF_TYPE
from .trials import Trials, with_held_guards, with_whole_numbers
from .verdicts import Proved, Refuted, Undecided, Unsupported
from .work_counter import WorkLimit

NOTHING_VARIES = "no argument varies"
MOST_SHARES = 8  # ways to choose which arguments are vectors
BORDER_SHARE = 0.25  # part of the time limit for the points on borders


class Judge(PlanJudge):
    """The judge of a rule, over all plans of an inquiry; `drawn` finds other kinds of arguments if none of
    these fit.
    """

    def __init__(self, inquiry, rng, time_limit, report, evidence=None, drawn=lambda: None):
        super().__init__(inquiry, rng, time_limit, report, evidence)
        self.drawn = drawn
        # Refutations by arguments that the function is not meant for.
        self.not_meant: list[SymbolicReport] = []
        self.fits_nowhere = False  # whether none of the kinds that are tried fits

    def judge(self):
        report = self.judge_cells()
        if not isinstance(report.verdict, Proved):
            return report if isinstance(report.verdict, Refuted) else self.of_drawn(report) or report
        return self.of_numbers(report) or self.judge_borders(self.with_no_number(report))

    def of_drawn(self, so_far):
        """The proof or refutation with arguments of the kinds that numeric checks use, if none of the kinds
        here fits; None if there is none. A refutation must be confirmed numerically, since that check knows
        more about the arguments that are intended.
        """
        is_of_type = getattr(so_far.verdict, "construct", "").startswith(RESULT_OF_TYPE)
        drawn = self.drawn() if is_of_type or self.fits_nowhere else None
        if drawn is None:
            return None

        def heard(report):
            if isinstance(report.verdict, Undecided):
                self.hand_over(with_expressions_for_parts(report, drawn.question))

        of_parts = MeantOfParts(self.evidence.meant, drawn.question)
        for plan in drawn.plans:
            pair = (plan, drawn.question)
            inquiry = Inquiry(self.inquiry.function, drawn.names, [pair])
            evidence = Evidence(drawn.names, of_parts)
            report = Judge(inquiry, self.rng, self.time_limit, heard, evidence).judge()
            if isinstance(report.verdict, Proved):
                break
        if isinstance(report.verdict, Refuted):
            found = report.verdict.kind == "numbers" or self.evidence.wrong_by_numbers(True)
        else:
            found = isinstance(report.verdict, Proved)
        if found:
            report = with_expressions_for_parts(with_formulas(report), drawn.question)
        self.hand_over(report if found else so_far)
        return report if found else None

    def of_numbers(self, proved):
        """The numeric refutation of a rule that is proved for some arguments, at others that its function is
        meant for, drawn as in a check without a proof; None if there is none, or if the arguments were given.
        """
        if self.evidence.meant is None:
            return None
        digits = min(v.digits for proof in self.proofs for v in proof.visits)
        so_far = f"proved for {proved.verdict.kinds}; {self.took_more('the check by numbers')}"
        self.hand_over(dataclasses.replace(proved, verdict=Undecided(digits, so_far), cells=()))
        wrong = self.evidence.wrong_by_numbers(self.is_in_doubt or self.is_of_few_lengths())
        if wrong is None:
            return None
        words, at = wrong
        found = (f"found by numbers at {at}",) if at else ()
        notes = (*found, f"elsewhere it is {proved.verdict.sentence_alone()}", *proved.notes)
        refuted = self.make(Refuted("numbers", words), (), notes, proved.warnings)
        self.hand_over(refuted)
        return refuted

    def is_of_few_lengths(self):
        """Whether arrays were proved for a single size, or only with a length of one among their sizes: rules
        that are wrong at other sizes may be right there, so more points are worthwhile.
        """
        sizes = {spec for proof in self.proofs for spec in proof.plan.specs if any(map(shape_of, spec))}
        return len(sizes) == 1 or bool(sizes) and all(map(_has_one, sizes))

    def with_no_number(self, proved):
        """The proof, which is for exact arithmetic, with an exception for arguments at which floats give no
        number.
        """
        at = self.evidence.no_number_at
        if not at:
            return proved
        words = "the rule gives nan or infinity in floats, where the function has a slope"
        verdict, warnings = except_at(proved.verdict, at), (*proved.warnings, Caveat(UNSTABLE, words, at))
        return dataclasses.replace(proved, verdict=verdict, warnings=warnings)

    def judge_borders(self, proved):
        """The proof, with what is found on the borders of its open cells."""
        digits = min(v.digits for proof in self.proofs for v in proof.visits)
        unseen = (
            "each case by itself is proved, but "
            f"{self.took_more('zeros, ones, ties and the borders between cases')}"
        )
        self.hand_over(dataclasses.replace(proved, verdict=Undecided(digits, unseen), cells=()))
        whole = WorkLimit(BORDER_SHARE * self.time_limit)
        verdict = proved.verdict
        caveats: list[Caveat] = []
        notes: list[str] = []
        proofs = self.with_borders()
        for number, proof in enumerate(proofs, 1):
            share = (whole.seconds - whole.used()) / (len(proofs) - number + 1)
            borders = Borders(proof.question, proof.visits, self.rng, WorkLimit(share), self.admits(proof))
            borders.walk()
            if borders.refuted is not None and self.evidence.excludes(borders.refuted):
                notes.append(f"{wrong_at(borders.refuted)}, {NOT_MEANT}")
            elif borders.refuted is not None:
                elsewhere = f"apart from such points it is {proved.verdict.sentence_alone()}"
                refuted = self.make(borders.refuted, (), (*proved.notes, elsewhere), proved.warnings)
                self.hand_over(refuted)
                return refuted
            caveats += [c for c in borders.caveats if c.sentence() not in {k.sentence() for k in caveats}]
            notes += borders.notes
            if borders.exceptions and " but not at " not in verdict.scope:
                verdict = except_at(verdict, borders.exceptions)
        warnings = (*caveats, *proved.warnings)
        notes = [*proved.notes, *dict.fromkeys(notes)]
        # Formulas may take longer than everything before; the proof must not depend on them.
        self.hand_over(self.make(verdict, (), (*notes, self.took_more("no formula is shown: it")), warnings))
        return self.say(verdict, proved.cells, notes, warnings)

    def admits(self, proof):
        """A predicate for the points to test for a proof: those in its domain and outside the guards that
        were left out.
        """
        guards, plan, names = list(self.guards.values()), proof.plan, self.names
        return lambda point: plan.admits(point) and not any(guard.holds(point, names) for guard in guards)

    def with_borders(self):
        """The proofs whose borders are examined: of the kind that is shown, and of others if they have
        conditions.
        """
        ordered = sorted(self.proofs, key=lambda proof: not proof.is_meant)
        return [p for p in ordered if p is ordered[0] or p.plan.form != ARRAYS and any(p.conditions)]

    def judge_cells(self):
        """The verdict on the open cells, over all kinds of arguments that the function accepts."""
        for form in dict.fromkeys(plan.form for plan, _ in self.questions):
            group = [
                (self.with_guards(plan, question), question)
                for plan, question in self.questions
                if plan.form == form
            ]
            ended = self.judge_guesses(form, group) if form else self.judge_asked(group)
            if ended is not None:
                if not isinstance(ended.verdict, Proved):  # a proof is not final yet
                    self.hand_over(ended)
                return ended
        self.fits_nowhere = not self.proofs
        if not self.proofs and self.not_meant:
            first = self.not_meant[0]
            return self.say(of_not_meant(first.verdict), (), first.notes, first.warnings)
        if not self.proofs:
            return self.say(verdict_on_misfits(self.misfits, self.questions, self.evidence.excludes_ranks))
        if (refuted := self.of_complex()) is not None:
            self.hand_over(refuted)
        return refuted or self.proved()

    def of_complex(self):
        """The refutation, by complex numbers, of a rule that is proved for real ones, in arguments that the
        rule or its function treats as complex; None if there is none. If the rule is right with all arguments
        complex, the proofs cover these, too; nothing is claimed for some of them complex.
        """
        for proof in list(self.proofs) if any(proof.plan.form for proof in self.proofs) else ():
            question = proof.question
            authors = filter(None, (question.primal, question.rule))
            names = frozenset().union(*map(complex_by_use, authors))
            for those in dict.fromkeys((frozenset(self.names), names)) if names else ():
                before = list(self.proofs)
                try:
                    report = self.judge_plan(proof.plan.with_complex(self.names, those), question)
                except Misfit:
                    continue
                if isinstance(report.verdict, Refuted) and those == names:
                    return report
                if isinstance(report.verdict, Proved):
                    self.proofs = self.proofs if len(those) == len(self.names) else before
                    break
        return None

    def judge_asked(self, questions):
        """The report on arguments of the kinds that were given; None if none of them fits."""
        for plan, question in questions:
            plan = self.prepared(plan, question)
            if not any(map(count_of, plan.specs[0])):
                return self.say(Unsupported(NOTHING_VARIES, None, FLOATS))
            report = self.judged(plan, question)
            if report is not None:
                return self.proved() if isinstance(report.verdict, Proved) else report
        return None

    def with_guards(self, plan, question):
        """The plan with guards of a formula at their defaults, if the rule treats them as fixed."""
        if plan.given:
            return plan
        return with_held_guards(plan, question, question.defaults())

    def prepared(self, plan, question):
        """The plan with ints free to vary, if some were given."""
        return with_whole_numbers(question, plan) if plan.given else plan

    def judge_guesses(self, form, questions):
        """The final report among guesses of one form; None if other forms must be tried.

        It is not known which of several arguments are meant to be numbers: a rule that is wrong for arrays in
        all places may be proved for numbers in some of them, and then it is for these.
        """
        refuted = None
        trials = Trials(questions[0][1], questions[0][0].limits)
        fitting = None
        for fitting in self.fitting(form, questions, trials):
            plan, question = fitting
            if refuted and not (plan.has_fewer_axes(refuted[1]) and all(map(trials.seems_right, plan.specs))):
                continue
            report = self.judged(plan, question)
            if report is None:
                continue
            if isinstance(report.verdict, Proved):
                return self.of_other_ranks(form, questions, plan, trials)
            if isinstance(report.verdict, Refuted):
                count = trials.held_count(plan.specs[0]) if form == NUMBERS else None
                if count and report.verdict.reason == wrongly_zero_message(count):
                    return self.say(Undecided(0, note_of_fixed_argument(count)))
                other_ranks = is_of_shape(report.verdict) and self.evidence.excludes_ranks(plan)
                if other_ranks or self.evidence.excludes(report.verdict):
                    self.not_meant.append(report)
                    self.is_in_doubt = True
                    self.remarks.append(f"{wrong_at(report.verdict)}, {NOT_MEANT}")
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
        undecided = self.of_symmetric(trials, *refuted[1:]) or self.of_set_aside(trials, *refuted[:2])
        return undecided or self.of_refutation(*refuted)

    def of_symmetric(self, trials, plan, question):
        """Undecided for a rule that is proved for symmetric matrices but wrong in several cotangents for
        other square ones, since it may be for symmetric ones only; None for any other rule.
        """
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
        why = f"right for symmetric {name}, wrong for others: {MEANT_FOR}"
        return self.say(Undecided(0, why))

    def of_set_aside(self, trials, report, plan):
        """Undecided for a rule whose refuting arguments may not be intended, if the numeric check, which
        knows more about these, sets the same refutation aside: the rule is right for symmetric matrices, or
        where its function finds what it searches for. None for any other rule.
        """
        symmetric = plan.symmetric()
        is_open = symmetric is not None and trials.count_wrong(plan.specs[0]) > 1
        if not (is_open and trials.count_wrong(symmetric.specs[0]) == 0):
            if not self.evidence.finds_nothing(report.verdict):
                return None
        unseen = f"{wrong_at(report.verdict)}; {self.took_more('the check by numbers')}"
        self.hand_over(self.make(Undecided(0, unseen)))
        words = self.evidence.set_aside() if self.evidence.meant is not None else ""
        return self.say(Undecided(0, words)) if words else None

    def of_other_ranks(self, form, questions, proved, trials):
        """The refutation of a rule that is proved for vectors but wrong for a number in place of one, if it
        or its function distinguishes the two, so that both are intended; None if there is none.
        """
        asked = arguments_tested_for_numbers(questions[0][1]) if form == VECTORS else ()
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
        """Yield the guesses of one form that the function and its rule accept, at the sizes that they
        accept.
        """
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
            questions = [(p.as_matrices(), question) for p, question in questions if p.is_of_matrices()][:1]
        for plan, question in questions:
            specs, misfit = trials.fitting(plan.specs, search=form == VECTORS)
            if misfit is not None:
                self.misfits.append((plan, misfit))
                if all(map(_has_one, specs)):  # much fits a length of one by chance
                    specs = ()
            if specs:
                if alone and specs == plan.specs:
                    specs = (*specs, *trials.fitting(plan.squares())[0])
                self.guessed[specs] = plan.specs
                yield plan._replace(specs=specs), question
                if alone:
                    return

    def with_sums_as_numbers(self, questions):
        """The questions with numbers for those arguments whose cotangents are sums in the source of the rule;
        all questions if there are none.
        """
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
        """Whether the function returns a single number for the arrays that are tried, as far as it accepts
        them.
        """
        for plan, question in itertools.islice(questions, MOST_SHARES):
            for sample in positive_samples(plan.specs[-1], np.random.default_rng(0)):
                with contextlib.suppress(Skipped, Misfit, Settled):
                    y = plain_value(question, sample)
                    if not isinstance(y, (tuple, list)) and np.ndim(y) == 0:
                        return True
        return False

    def of_refutation(self, report, plan, question):
        """What a refutation for a guessed kind means: the final report, or None if the rule is for other
        kinds.
        """
        proved = {proof.plan.form for proof in self.proofs}
        higher = plan.form == ARRAYS and VECTORS in proved and not names_an_axis(question.primal)
        if not higher and not (plan.form == VECTORS and ARRAYS in proved):
            return report if plan.form != VECTORS else self.of_read_entries(report, plan, question)
        example = report.verdict.counterexample
        shown = f" ({example.code.splitlines()[-1].strip()})" if example else ""
        self.remarks.append(f"wrong for {self.kinds(plan)}: {report.verdict.reason}{shown}")
        return None

    def of_read_entries(self, refuted, plan, question):
        """The final report on a rule that is wrong for vectors; None if that is so only at lengths at which
        the function does not read all entries, while there are others.
        """
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
        self.remarks.append(f"wrong for longer vectors, of which the function reads only a part: {why}")
        return None

    def of_shape(self, form, questions):
        """The refutation if a function maps vectors to numbers and its rule has cotangents of a different
        shape for them, at any length.
        """
        plan, question = questions[0]
        of_form = (m for p, m in self.misfits if p.form == form and not self.evidence.excludes_ranks(p))
        misfit = next(of_form, None)
        if form != VECTORS or misfit is None or misfit.raised or not is_of_shape(misfit.verdict):
            return None
        if any(proof.plan.form == ARRAYS for proof in self.proofs):
            return None
        if all(makes_a_number(question, spec, self.rng, plan.limits) for spec in plan.specs[-1:]):
            return self.make(misfit.verdict)
        return None

    def proved(self):
        """One report for all proofs."""
        proofs = self.proofs
        if all(map(_is_of_one_degenerate_size, proofs)):
            words = f"the derivative is zero at the only arguments that fit: {self.kinds(proofs[0].plan)}"
            report = self.make(Unsupported(words, None, with_at(GIVE_ARGUMENTS, self.names)))
            self.hand_over(report)
            return report
        judged = [(proof.plan.specs, proof.plan.limits) for proof in proofs]
        conditions = [condition for proof in proofs for condition in proof.conditions]
        takes_more = len(proofs) > 1 or self.takes_vectors()
        options = options_held(self.questions[0][1].options())
        verdict = Proved(
            scope([(proof.conditions, proof.plan) for proof in proofs], self.names, not takes_more, options),
            " and ".join(dict.fromkeys(m for proof in proofs for m in proof.verdict.method.split(" and "))),
            next((proof.verdict.error for proof in proofs if proof.verdict.error != "none"), "none"),
            headline(judged, self.names, conditions, any(map(_may_be_complex, proofs)), options),
        )
        if self.guards:
            verdict = except_inside(verdict, self.guards)
        shown = max(proofs, key=lambda proof: proof.is_meant)
        each = dict.fromkeys(note for proof in proofs for note in proof.notes)
        warnings = {w.sentence(): w for proof in proofs for w in proof.warnings}
        notes = (*each, *self.remarks, *self.not_judged())
        return self.make(verdict, shown.cells, notes, warnings.values())

    def not_judged(self):
        """Notes on the kinds that the function accepts and the rule does not."""
        proved = {proof.plan.form for proof in self.proofs}
        seen: dict[str, str] = {}
        for plan, misfit in self.misfits:
            if misfit.verdict is not None and plan.form and plan.form not in proved:
                seen.setdefault(plan.form, f"not judged for {self.kinds(plan)}: {misfit.verdict.reason}")
        one = [p.plan for p in self.proofs if len(p.plan.specs) == 1 and any(map(shape_of, p.plan.specs[0]))]
        alone = one and len(one) == len([p for p in self.proofs if any(map(shape_of, p.plan.specs[0]))])
        return (*seen.values(), *((ONE_SIZE,) if alone else ()))

    def takes_vectors(self):
        """Whether the function accepts vectors in place of the numbers that were judged."""
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


def note_of_fixed_argument(name):
    """The note for a rule that returns NoTangent() for an argument that counts something, if nobody passed a
    value for it.
    """
    return f"the rule returns NoTangent() for {name}: {AS_INTEGER}"


def arguments_tested_for_numbers(question):
    """The names of the arguments that a function or its rule tests for being numbers."""
    return ranks_asked(question.primal) | (ranks_asked(question.rule) if question.rule else frozenset())


def _may_be_complex(proof):
    """Whether the function or its rule mentions complex numbers, or the function is commonly used with
    them.
    """
    both = (proof.question.primal, proof.question.rule)
    speaks = speaks_of_complex(code for f in both for code in (*codes_of(f), *helper_codes(f)))
    return speaks or may_be_of_complex(proof.question.primal)


def _has_one(spec):
    return any(1 in shape_of(kind) for kind in spec)


def _is_of_one_degenerate_size(proof):
    """Whether the arrays were guessed, only one size fits, and the derivative is zero there: a sum over
    everything after the first entry, where there is only one. Any rule that returns zeros is right for these.
    """
    plan = proof.plan
    return not plan.given and plan.form == ARRAYS and len(plan.specs) == 1 and is_of_zeros(proof)
