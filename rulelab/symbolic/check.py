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

from . import worker
from .cells import (
    ComplexNumbers,
    Static,
    Symmetric,
    beside_borders,
    conditions,
    count_of,
    fraction,
    samples,
    shape_of,
)
from .field_graphs import ERROR, METHOD, is_identity
from .formulas import Formula, TooLarge, expression, formula, size, sum_of_sizes, tidy
from .kinds import VECTOR_SIZES
from .questions import NoRuleFound, find_rule, judged_arguments
from .report import ArgumentFinding, CellFinding, SymbolicReport
from .runs import (
    EXACT_DIGITS,
    MAX_DIGITS,
    Misfit,
    Settled,
    Skipped,
    Visit,
    complex_part,
    makes_a_number,
    reads_one_triangle,
    visit,
)
from .scalars import CONTEXT, Stop
from .verdicts import Proved, Refuted, Undecided, Unsupported
from .zerotest import is_identically_zero

MAX_CELLS = 8
MAX_LEAVES = 64
MAX_VISITS = 40
MAX_SHOWN_GRAPH = 60  # operations; cells of larger graphs are proved in the field alone
MAX_SHOWN_PLANE = 30  # the same for complex arguments, whose formulas are long
NUMERIC_SHARE = 0.4  # of the time limit, for the samples


def prove(
    f, rule=None, *, at=None, kwargs=None, registry=None, time_limit=5.0, rng=None, stop=None, name=None
):
    """Judge the rule of a function symbolically.

    `f` takes and returns numbers or small arrays, real ones or complex. Its rule is looked up in
    `registry` (the default one), unless `rule`, a function `rule(*args) -> (y, pullback)`, is given. `at`
    is a tuple of sample arguments: it sets which arguments are arrays, of which shape, and is tried first;
    ints, strings and flags in it are held fixed, and so are the keyword arguments `kwargs`. Without `at`,
    numbers are tried, then vectors, then matrices, each kind of array at two sizes. Complex numbers are tried
    where `at` has some, or where a parameter is annotated `complex`: the cotangent of z is then dL/dRe(z) +
    i dL/dIm(z) for a real L, and both parts are judged. No more than
    `time_limit` seconds are used. `rng` is a NumPy Generator for the sample points; the default one is
    seeded, so that a verdict can be repeated. `stop()` is asked now and then whether to end early, with the
    verdict Undecided. `name` is how the author writes `f`, for the report and the code to paste; its own
    name, else.

    Returns a `SymbolicReport`; its `verdict` is Proved, Refuted, Undecided or Unsupported. Raises
    `RuleError` where `f` has no rule.

    >>> def cube(x): return x**3
    >>> def cube_rrule(x):
    ...     return x**3, lambda y_bar: (None, 3 * x**2 * y_bar)
    >>> prove(cube, cube_rrule).verdict.word
    'PROVED'
    """
    started = time.monotonic()
    rng = np.random.default_rng(0) if rng is None else rng
    names, plans = judged_arguments(f, at)
    questions = []
    for plan in plans:
        try:
            questions.append((plan, find_rule(f, rule, names, plan, registry, name, kwargs)))
        except NoRuleFound as missing:
            not_found = missing
    if not questions:
        raise not_found.error
    shown = name or getattr(f, "__name__", None) or type(f).__name__
    _warm()
    empty = SymbolicReport(shown, names, Undecided(0, "nothing was computed within the time limit"))
    outcome = worker.run(
        lambda report: _Judge(shown, names, questions, rng, started, time_limit, report).judge(),
        time_limit,
        stop,
    )
    result = outcome.result or empty
    if outcome.failure and isinstance(result.verdict, Undecided):
        digits = result.verdict.digits
        known = digits or outcome.cut  # else the check itself has failed, before anything was seen
        verdict = Undecided(digits, outcome.failure) if known else Unsupported(outcome.failure)
        result = dataclasses.replace(result, verdict=verdict)
    return dataclasses.replace(result, seconds=time.monotonic() - started)


@functools.cache
def _warm():
    """Have SymPy load what it loads lazily (0.1 s) here, once, and not anew in every worker."""
    x, y = sp.symbols("x y")
    tidy(sp.sin(x) ** 2 + sp.exp(y * x) / sp.sqrt(x))
    formula(sp.sin(x) / y)
    is_identically_zero(sp.exp(x + y) - sp.exp(x) * sp.exp(y) + sp.sqrt(x))


class _Judge:
    """The worker's job: reports what is known so far, so that a cut job still has an answer."""

    def __init__(self, shown, names, questions, rng, started, time_limit, report):
        self.shown, self.names, self.questions, self.rng = shown, names, questions, rng
        self.report = report
        self.one_triangle = False  # of square matrices, at the sample that refuted
        self.numeric_deadline = started + NUMERIC_SHARE * time_limit

    def judge(self):
        misfit: Misfit | None = None
        for plan, question in self.questions:
            try:
                report = self.judge_plan(plan, question)
            except Misfit as not_this:
                misfit = misfit if misfit is not None and misfit.verdict is not None else not_this
                continue
            if isinstance(report.verdict, Refuted) and self.one_triangle and (symmetric := plan.symmetric()):
                report = self.judge_symmetric(report, symmetric, question)
            if isinstance(report.verdict, Proved) and not any(map(shape_of, plan.specs[0])):
                return self.judge_vectors(report)
            if misfit is None or getattr(misfit.verdict, "kind", None) != "shape":
                return report
            # The function takes plain numbers and the rule gave them arrays: only a proof speaks for the
            # rule now.
            return report if isinstance(report.verdict, Proved) else self.say(misfit.verdict)
        assert misfit is not None  # there is a question, and it was not judged
        verdict = misfit.verdict or Unsupported(
            f"a call that fails on numbers and on arrays: {misfit}", None, "give sample arguments by at=(…)"
        )
        return self.say(verdict)

    def judge_vectors(self, proved):
        """The verdict on a rule that is right for numbers: a function that makes one number of a vector is
        rather meant for vectors."""
        for plan, question in self.questions:
            if len(plan.specs) == len(VECTOR_SIZES) and makes_a_number(question, plan.specs[0], self.rng):
                with contextlib.suppress(Misfit):
                    report = self.judge_plan(plan, question)
                    if isinstance(report.verdict, (Proved, Refuted)):
                        return report
                return self.say(proved.verdict, proved.cells, proved.notes)
        return proved

    def judge_symmetric(self, refuted, plan, question):
        """The verdict on symmetric matrices, where the function looks at one triangle of them only: its rule
        may divide a cotangent between the two places as it likes."""
        try:
            report = self.judge_plan(plan, question)
        except Misfit:
            return self.say(refuted.verdict, refuted.cells, refuted.notes)
        note = "the function reads one triangle only: judged for matrices that stay symmetric"
        return self.say(report.verdict, report.cells, (*report.notes, note))

    def say(self, verdict, cells=(), notes=()):
        report = SymbolicReport(self.shown, self.names, verdict, tuple(cells), tuple(notes))
        self.report(report)
        return report

    def judge_plan(self, plan, question):
        visits: list[Visit] = []
        skipped: dict[str, None] = {}
        try:
            for spec in plan.specs:
                visits += self.visits(question, spec, plan.given, skipped)
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
        notes = dict.fromkeys(note for v in visits for note in v.trace.notes)
        self.say(Undecided(digits, "the time limit came before the proof"), notes=notes)
        if digits < EXACT_DIGITS:
            rounded = " (the code holds rounded constants)" if notes else ""
            return self.say(
                Undecided(digits, f"an exact rule would agree to {MAX_DIGITS}{rounded}"), notes=notes
            )
        return self.prove_cells(visits, plan, digits, notes)

    # --- samples ---

    def seed(self):
        """A cotangent for the result: never 1, or a rule that ignores it would pass."""
        return int(self.rng.choice((1, -1))) * fraction(self.rng, Fraction(5, 4), Fraction(4))

    def visits(self, question, spec, given, skipped):
        """The visits at all samples of `spec`, and beside the borders that the first ones met."""
        if sum(map(count_of, spec)) > MAX_LEAVES:
            raise Settled(
                Unsupported(
                    f"more than {MAX_LEAVES} numbers as arguments", None, "give smaller arrays by at="
                )
            )
        visits: list[Visit] = []
        tried = 0
        queue = [*given, *samples(spec, self.rng)]
        explored = set()
        while queue and tried < MAX_VISITS and (not visits or time.monotonic() < self.numeric_deadline):
            sample = queue.pop(0)
            tried += 1
            try:
                visits.append(visit(question, sample, self.seed))
            except Skipped as reason:
                skipped[str(reason)] = None
                continue
            if visits[-1].path not in explored:
                explored.add(visits[-1].path)
                queue = [*beside_borders(sample, self.names, visits[-1].trace.decisions), *queue]
        return visits

    # --- verdicts ---

    def refuted_or_unsupported(self, settled):
        report = self.say(settled.verdict)
        if isinstance(settled.verdict, Refuted) and hasattr(settled, "graphs"):
            leaves, found, y, seeds = settled.graphs
            self.one_triangle = reads_one_triangle(leaves, y)
            try:
                cell = self.finding(
                    leaves, found, y, seeds, decisions=leaves[0].trace.decisions, first=settled.wrong
                )
            except (Stop, TooLarge):  # a rule that gives nan or infinity has no formula
                return report
            reason = settled.verdict.reason + _factor_hint(cell, settled.verdict.reason)
            report = self.say(dataclasses.replace(settled.verdict, reason=reason), [cell.shown()])
        return report

    def prove_cells(self, visits, plan, digits, notes):
        cells: dict[Any, list[Visit]] = {}
        for v in visits:
            cells.setdefault((len(v.leaves), v.path), []).append(v)
        findings, why = [], None
        for members in list(cells.values())[:MAX_CELLS]:
            v = members[0]
            try:
                cell = self.finding(v.leaves, v.found, v.y, v.seeds, v.trace.decisions, members)
            except TooLarge as large:
                why = why or f"too large for SymPy: {large}"
                continue
            findings.append(cell)
            why = why or cell.why
        if len(cells) > MAX_CELLS:
            notes[f"{len(cells)} cells were met, the first {MAX_CELLS} were proved"] = None
        shown = [cell.shown() for cell in findings]
        if why is not None:
            return self.say(Undecided(digits, why), shown, notes)
        methods = dict.fromkeys(cell.method for cell in findings)
        error = next((cell.error for cell in findings if cell.error != "none"), "none")
        verdict = Proved(_scope(findings, plan, self.names), " and ".join(methods), error)
        return self.say(verdict, shown, notes)

    def finding(self, leaves, found, y, seeds, decisions, members=None, first=0):
        """Formulas of one cell, and with `members` (its visits) the proof."""
        symbols = {leaf.args: sp.Symbol(leaf.args) for leaf in (*leaves, *seeds)}
        cell = _Cell(_condition_text(decisions, symbols), len(members or ()))
        operations = sum_of_sizes([*y, *found], MAX_SHOWN_GRAPH)
        in_plane = any(complex_part(leaf.args) is not None for leaf in leaves)
        large = operations > (MAX_SHOWN_PLANE if in_plane else MAX_SHOWN_GRAPH)
        if members and (large or in_plane) and cell.settle_in_field(members[0]):
            members = None  # proved: what is left is to show it
            if large:
                return cell
        if in_plane and large and not members:
            return cell
        cell.tidy = (lambda expr: expr) if in_plane else tidy  # two angles at once take seconds to simplify
        memo: dict[Any, Any] = {}
        loss = sum(symbols[s.args] * expression(v, symbols, memo) for s, v in zip(seeds, y, strict=True))
        order = [first, *(i for i in range(len(leaves)) if i != first)] if leaves else []
        for i in order:
            derivative = sp.diff(loss, symbols[leaves[i].args])
            given = expression(found[i], symbols, memo)
            cell.rows.append((leaves[i].args, derivative, given))
            if members:
                cell.settle(i, derivative - given, derivative, members[0])
            elif operations > MAX_SHOWN_GRAPH:
                break  # one formula of a refuted rule will do
        if members:
            for v in members[:1]:
                cell.settle_value(v, symbols, memo)
        return cell


class _Cell:
    """What is known of one cell while it is being proved."""

    def __init__(self, condition, count):
        self.condition, self.count = condition, count
        self.rows, self.method, self.error, self.why = [], "SymPy's normal form", "none", None
        self.tidy = tidy

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
        return CellFinding(self.condition, self.count, tuple(rows))


# The method named in the verdict is the strongest that was needed.
_WEIGHT = {
    "SymPy's normal form": 0,
    "expansion": 1,
    "cancellation of rational functions": 2,
    "SymPy's simplification": 3,
    "identity test in a finite field": 4,
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
    ratio = tidy(sp.cancel(given / derivative))
    return f", it is {sp.sstr(ratio)} times that" if ratio.count_ops() <= 3 else ""


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
        f"{name} = {kind.value!r}"
        for name, kind in zip(names, plan.specs[0], strict=True)
        if isinstance(kind, Static)
    ]
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
