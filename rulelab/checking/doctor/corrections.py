"""Corrections of a wrong rule: changes tried at every probe, and shown as a diff if the rule is right with
them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...errors import RuleLabError
from ...parsing import parse
from ...tangents.zeros import AbstractZero
from ..calling.subjects import Subject
from ..judgement.effects import writes
from ..measuring.copies import own_keywords
from ..measuring.vectors import shape_of, to_vec
from ..probing.closeness import expected_of
from ..probing.perturb import fresh
from ..probing.probes import Point, Probe, answer_to, reverse_answer, without_warnings
from ..probing.variants import IN_COMPLEX, OF_MATRICES
from ..reading.anatomy import inlined
from ..reading.editing import Edit, instead, narrowed, with_edits
from .candidates import Candidates
from .evidence import Explanation
from .neighbours import is_length
from .nonsense import has_no_effect
from .patching import MOST_TRIED, MOST_WHERE_KNOWN
from .regions import parts
from .statements import statements_left_out
from .unwritten_elements import unwritten_elements
from .verifying import (
    OF_A_MATRIX,
    OF_OTHER_KINDS,
    OF_OTHER_RANKS,
    OF_OWN_LENGTHS,
    ROUGHLY,
    Answers,
    complex_for_real,
    divides,
    fails_alike,
    has_answer,
    has_no_numbers,
    in_floats,
    is_right_at,
)

MOST_AFTER = 400
"""How many more changes are tried after one that is wrong only for kinds of arguments that may not be
intended.
"""
_OF_RAW_MEMORY = frozenset(("as_strided", "ctypes", "from_address", "memmove"))
"""Names of functions that access memory at unchecked addresses: a changed number may crash the process."""
LOOKS = 16
"""After how many tries the time is checked, which takes longer than many a try."""
SOME = 12
"""At how many points outside the check a change is tried that is worth mentioning."""
NEARLY_ALL = 0.75
"""The fraction of them at which it has to be right."""
FIRST = 3
"""A change that is wrong at each of this many first points is not tried at the others."""
FEW_REFUSED = 1 / 3
"""The largest fraction of the points of a check at which a corrected rule may be refused as it was before."""


class Surgery(Candidates):
    """One rule whose changes are tried."""

    _last_asked: tuple[Subject, Answers] | None = None
    _fails_at: Probe | None = None

    def correction(self, seen: list[Explanation]) -> tuple[list[Edit], str] | None:
        """Edits with which the rule is right at every probe and wherever else it was called, and the diff
        that shows them: one edit for all wrong arguments, or one for each. None if there are none within the
        number of tries.
        """
        arguments = list(dict.fromkeys(one.argument for one in seen))
        self.accused = frozenset(arguments)
        found = self._searched(seen, arguments)
        edits = list(found.all) if found is not None else []
        if found is None and len(arguments) > 1 and all(name in self.each for name in arguments):
            edits = list({id(e.old): e for each in self.each.values() for e in each.all}.values())
            if not self._is_right(edits):
                return None
        text = self.diff(edits) if edits else ""
        return (edits, text) if text else None

    def still_wrong(self, edits: list[Edit], off: Iterable[Probe]) -> Probe | None:
        """The first of some probes at which the rule is wrong even with these edits, because of another
        mistake.
        """
        changed = self._changed(edits)
        if changed is None:
            return None
        return next((p for p in off if not is_right_at(changed, p, roughly=_allowed(p))), None)

    def _searched(self, seen: list[Explanation], arguments: list[str | None]) -> Edit | None:
        """The first edit that makes the whole rule right. Edits that correct the cotangent of one of several
        wrong arguments are kept as well.
        """
        tried: set[tuple[int, str]] = set()
        last, least = min(self.tries, MOST_WHERE_KNOWN) if self.culprits else self.tries, 0
        several = len(arguments) > 1
        of_value_alone = {one.mistake for one in seen} == {"value"}
        for edit in self._by_likelihood(seen):
            if of_value_alone and all(id(one.old) in self._in_pullbacks for one in edit.all):
                continue  # an edit in a pullback does not change the value
            key = (id(edit.old), ast.dump(edit.new) + "".join(ast.dump(one.new) for one in edit.more))
            if key in tried or any(map(self._is_lost, edit.all)):
                continue
            if len(tried) % LOOKS == 0 and self._limit.is_over() or len(tried) >= last:
                return self.perhaps
            if len(tried) > self.tries // 2 and several and all(name in self.each for name in arguments):
                return self.perhaps
            tried.add(key)
            changed = self._changed(list(edit.all))
            first = self._asked[0]  # the probe at which the last edit failed
            answers = None if changed is None else _answered(changed, first, several)
            if answers is None or changed is None:
                continue
            mended = [name for name in arguments if several and name and answers.get(name)]
            if not (mended or all(answers.values())) or any(map(self._is_void, edit.all)):
                continue
            if all(answers.values()) and self._is_right(list(edit.all), changed):
                if self.diff(list(edit.all)):
                    off = self._off_where_not_meant(changed) + self._is_doubtful
                    if not off:
                        return self._without_what_does_nothing(self._where_it_is_made(edit))
                    if self.perhaps is None or off < least:
                        self.perhaps, least = edit, off
                    last = min(last, len(tried) + MOST_AFTER)
                    continue
                self.nearest, self.almost = edit, ""  # right, but the text cannot show it
                return self.perhaps
            if all(answers.values()) and self.nearest is None and self._is_right_in_numbers(changed):
                self.nearest = edit
            open_ones = [name for name in mended if name not in self.each]
            for name in self._mended_by(changed, open_ones) if not self._harms(first, answers) else ():
                if self._is_right_for(changed, name):
                    self.each[name] = edit
        return self.perhaps

    def _where_it_is_made(self, edit: Edit) -> Edit:
        """An edit of a name that is read once, moved to the expression assigned to that name: the mistake was
        made there, unless intermediate values say otherwise.
        """
        if edit.mistake == "transposed":
            return self._where_it_is_multiplied(edit)
        if edit.mistake == "factor" and self._normalised(edit) is not None:
            return self._where_rows_are_made(edit)
        old, becomes = narrowed(edit.old, edit.new)
        if edit.more or not isinstance(old, ast.Name) or self._times_read[old.id] != 1:
            return edit
        made = self.made.get(old.id)
        if made is None or not isinstance(becomes, ast.expr):
            return edit
        is_in_new = any(isinstance(n, ast.Name) and n.id == old.id for n in ast.walk(becomes))
        has_it = any(ast.dump(n) == ast.dump(made) for n in ast.walk(becomes))  # `x.size - 1` for `n`
        is_cleared = bool(self.culprits) and not any(made is one for one in self.culprits)
        if is_cleared and not is_length(made) or not (is_in_new or has_it):  # values do not clear a length
            return edit
        new = inlined(becomes, {old.id: made}, depth=1)
        words = edit.words.replace(instead(edit.new, edit.old), instead(new, made))
        there = replace(edit, old=made, new=new, words=words)
        return there if self._is_as_right(there) else edit

    def _where_it_is_multiplied(self, edit: Edit) -> Edit:
        """A transposition of the expression assigned to a name, moved to the name, if it is only read as a
        factor of a matrix product: that is where it was forgotten.
        """
        name = next((name for name, made in self.made.items() if made is edit.old), "")
        turned = isinstance(edit.new, ast.Attribute) and edit.new.attr == "T" and edit.new.value is edit.old
        if edit.more or not turned or self._times_read[name] != 1:
            return edit
        for node in ast.walk(self.anatomy.node):
            if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.MatMult):
                continue
            for side in (node.left, node.right):
                if isinstance(side, ast.Name) and side.id == name:
                    new = ast.Attribute(side, "T", ast.Load())
                    words = edit.words.replace(instead(edit.new, edit.old), instead(new, side))
                    there = replace(edit, old=side, new=new, words=words)
                    return there if self._is_as_right(there) else edit
        return edit

    def _normalised(self, edit: Edit) -> ast.expr | None:
        """The expression assigned to the matrix, read once and by name, that multiplies a vector which an
        edit multiplies or divides by a name; None for any other edit.
        """
        new, product = edit.new, self._slots.owner(edit.old)
        scaled = isinstance(new, ast.BinOp) and new.left is edit.old and isinstance(new.right, ast.Name)
        if edit.more or not scaled or not isinstance(product, ast.BinOp) or product.left is not edit.old:
            return None
        matrix = product.right if isinstance(product.op, ast.MatMult) else None
        is_read_once = isinstance(matrix, ast.Name) and self._times_read[matrix.id] == 1
        return self.made.get(matrix.id) if isinstance(matrix, ast.Name) and is_read_once else None

    def _where_rows_are_made(self, edit: Edit) -> Edit:
        """A factor of a vector, moved to the rows of the matrix by which it is multiplied, `v / n @ P` as
        `P / n[:, None]`: weights are normalised where they are computed.
        """
        made, scaled = self._normalised(edit), edit.new
        if made is None or not isinstance(scaled, ast.BinOp):
            return edit
        rows = parse(f"{ast.unparse(scaled.right)}[:, None]", mode="eval").body
        new = ast.BinOp(made, scaled.op, rows)
        there = replace(edit, old=made, new=new, words=instead(new, made))
        return there if self._is_as_right(there) else edit

    def _without_what_does_nothing(self, edit: Edit) -> Edit:
        """An edit that removes the whole statement, if the rule is right without it: an edit that makes a
        part empty, or a factor zero, may only work because it disables the statement.
        """
        node: Any = edit.old
        while node is not None and not isinstance(node, (ast.Assign, ast.AugAssign)):
            node = self._slots.owner(node)
        for pullback in self.anatomy.pullbacks if node is not None and not edit.more else ():
            for other in statements_left_out(pullback):
                if other.old is node and isinstance(other.new, ast.Pass) and self._is_as_right(other):
                    return other
        return edit

    def _is_as_right(self, edit: Edit) -> bool:
        changed = self._changed([edit])
        if changed is None or not self._is_right([edit], changed) or self._is_doubtful:
            return False
        return not self._off_where_not_meant(changed) and bool(self.diff([edit]))

    def _harms(self, probe: Probe, answers: dict[str, bool]) -> bool:
        """Whether some answers at a probe have a wrong cotangent that the unchanged rule has right there."""
        return any(was and not answers.get(name) for name, was in self._before(probe).items())

    def _before(self, probe: Probe) -> dict[str, bool]:
        """Which cotangents are right at a probe in the answer of the unchanged rule."""
        if id(probe) not in self._answered_before:
            self._answered_before[id(probe)] = _answered(self.subject, probe, True) or {}
        return self._answered_before[id(probe)]

    def _mended_by(self, changed: Subject, arguments: Sequence[str]) -> Iterator[str]:
        """Those of some arguments whose cotangent is right in a changed rule at a probe where that of the
        unchanged rule is wrong. If there is no such probe, any change counts.
        """
        there: dict[int, dict[str, bool]] = {}
        for name in arguments:
            telling = next((p for p in self.probes if self._before(p).get(name) is False), None)
            if telling is not None and id(telling) not in there:
                there[id(telling)] = _answered(changed, telling, True) or {}
            if telling is None or there[id(telling)].get(name):
                yield name

    @cached_property
    def _answered_before(self) -> dict[int, dict[str, bool]]:
        return {}

    def bare_buffer(self) -> ast.Call | None:
        """A buffer with elements that are never written but get into the answer."""
        return unwritten_elements(self.anatomy.node, self._changed, self.probes)

    def is_zero_by_name(self, node: ast.AST) -> bool:
        """Whether a name stands for one of rulelab's zeros: `NO = rl.NoTangent()`."""
        named = self.function.__globals__.get(node.id) if isinstance(node, ast.Name) else None
        return isinstance(named, AbstractZero)

    @cached_property
    def _in_pullbacks(self) -> frozenset[int]:
        """The ids of the nodes in the pullbacks."""
        return frozenset(id(node) for pullback in self.anatomy.pullbacks for node in ast.walk(pullback))

    def is_in_branch(self, edit: Edit) -> bool:
        """Whether an edit is inside a conditional, including its condition."""
        node: Any = edit.old
        while (node := self._slots.owner(node)) is not None:
            if isinstance(node, (ast.If, ast.IfExp)) or (isinstance(node, ast.Call) and parts(node)):
                return True
        return False

    def _is_lost(self, edit: Edit) -> bool:
        """Whether an edit would write to elements of a temporary value, which nobody reads."""
        return id(edit.old) in self._stored_into and not isinstance(edit.new, (ast.Name, ast.Attribute))

    def _is_void(self, edit: Edit) -> bool:
        """Whether an edit reduces what it changes to nothing, by a factor zero or an empty part, or is
        something that nobody would write, such as `min(n, n)`.
        """
        owner = self._slots.owner(edit.old)
        is_part = isinstance(owner, (ast.expr, ast.Assign)) and isinstance(edit.new, ast.expr)
        around: Any = owner if is_part else None
        changed = edit.new if around is None else with_edits(around, [Edit(edit.old, edit.new)])
        if has_no_effect(changed) and not has_no_effect(edit.old if around is None else around):
            return True
        if isinstance(edit.new, ast.BinOp) and isinstance(edit.new.op, ast.Sub):
            if ast.dump(edit.new.left) == ast.dump(edit.new.right):
                return True
        if isinstance(edit.new, ast.Constant) and edit.new.value == 0 and type(edit.new.value) is not bool:
            return isinstance(owner, ast.BinOp) and isinstance(owner.op, (ast.Mult, ast.Div, ast.Pow))
        cut: Any = edit.new
        if isinstance(owner, ast.Slice):
            cut = with_edits(owner, [edit])
        bounds = [_whole_number(cut.lower), _whole_number(cut.upper)] if isinstance(cut, ast.Slice) else []
        if not bounds or cut.step is not None or bounds[1] is None:
            return False
        low, high = bounds[0] or 0, bounds[1]
        return (low < 0) == (high < 0) and low >= high

    def _is_right_for(self, changed: Subject, argument: str) -> bool:
        """Whether a changed rule has the right cotangent of an argument at every probe."""
        kept = self._answers_of(changed)
        return self._are_right(lambda p: is_right_at(changed, p, argument, roughly=_allowed(p), kept=kept))

    def _answers_of(self, changed: Subject) -> Answers:
        """The answers of a changed rule so far; only those of the last one are kept, since rules are tried
        one after the other.
        """
        if self._last_asked is None or self._last_asked[0] is not changed:
            self._last_asked = changed, Answers()
        return self._last_asked[1]

    def is_right_elsewhere(self, edit: Edit, argument: str) -> bool:
        """Whether an edit makes the cotangent of an argument right at nearly all points outside the check."""
        changed, there = self._changed(list(edit.all)), itertools.islice(self.unseen.probes_there(), SOME)
        right = [changed is not None and is_right_at(changed, p, argument, roughly=ROUGHLY) for p in there]
        return sum(right) >= NEARLY_ALL * len(right)

    def _are_right(self, is_right: Callable[[Probe], bool]) -> bool:
        for at, probe in enumerate(self._asked):
            if id(probe) not in self._refused and not is_right(probe):
                # The next edit is likely to fail at the same probe.
                self._asked.insert(0, self._asked.pop(at))
                return False
        return True

    @cached_property
    def _refused(self) -> dict[int, Probe]:
        """The few probes at which the rule has no answer, if it has wrong numbers elsewhere: that may be a
        separate mistake, or due to arguments that were not given, of ranks for which it has no answer at all.
        """
        refused = [probe for probe in self.probes if probe.failure is not None]
        answered = {_ranks(probe) for probe in self.probes if probe.failure is None}
        of_own = all(p.point.guessed and _ranks(p) not in answered for p in refused)
        wrong = self._wrong_in_numbers if of_own or len(refused) <= FEW_REFUSED * len(self.probes) else []
        return {id(p): p for p in refused} if any(p.failure is None for p in wrong) else {}

    def _still_refused(self, changed: Subject) -> set[int]:
        """Those of them at which a changed rule has no answer either, for the same reason."""
        alike = partial(fails_alike, self.subject, changed, accused=frozenset())
        return {number for number, probe in self._refused.items() if alike(probe)}

    def _divides_more(self, edit: Edit) -> bool:
        """Whether an edit may be the reason for a missing value at zero: it divides, or changes a divisor or
        a power.
        """
        inner: Any = edit.old
        while (outer := self._slots.owner(inner)) is not None:
            if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Div) and inner is outer.right:
                return True
            inner = outer
        powers = [
            {ast.dump(n) for n in ast.walk(root) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)}
            for root in (edit.new, edit.old)
        ]
        return divides(edit.new) > divides(edit.old) or bool(powers[0] - powers[1])

    def _is_right(self, edits: list[Edit], changed: Subject | None = None) -> bool:
        """Whether the whole rule is right with some edits, at the probes and wherever else it was called.

        It is doubtful if something stays as it was that may be intended: another edit may be better.
        """
        self._is_doubtful = False
        changed = changed or self._changed(edits)
        if changed is None:
            return False
        is_right = partial(is_right_at, changed, kept=self._answers_of(changed))
        refused = self._still_refused(changed)
        first, wide = self._asked_for_effects
        other = _of_other_numbers(first, self.probes)

        def is_right_wholly(probe: Probe) -> bool:
            watched = probe is first or probe is wide or any(probe.point is point for point in self.watched)
            excused = complex_for_real(self.subject, probe)
            right = partial(is_right, probe, roughly=_allowed(probe))
            if not right(with_effects=watched, other=other, excused=excused):
                self._fails_at = probe
                return False
            if excused & self.accused and not self._is_doubtful:
                self._is_doubtful = not right(excused=excused - self.accused)
            return True

        hardest = self._fails_at  # where the last edit with right numbers everywhere was wrong
        if hardest is not None and id(hardest) not in refused and not is_right_wholly(hardest):
            return False
        if not self._are_right(
            lambda p: is_right(p, roughly=_allowed(p), with_kinks=False, with_kinds=False)
        ):
            return False
        self._is_doubtful = bool(refused)
        if not all(is_right_wholly(probe) for probe in self.probes if id(probe) not in refused):
            return False
        there, complex_anyway = self.unseen.probes_there(), self._complex_anyway
        right_there = partial(
            is_right, roughly=ROUGHLY, excused=complex_anyway, with_writes=bool(self.watched)
        )
        failed = (p for p in there if not right_there(p))
        refused_now = partial(_is_refused_now, self.subject, changed)
        meant = (p for p in failed if not self._may_not_be_meant(p) or refused_now(p))
        divides_more = any(self._divides_more(edit) for edit in edits)
        bad = next(
            (
                p for p in meant
                if not self._is_another_matter(p, changed, bool(refused))
                and (divides_more or not _is_zero_divided(changed, p) or not self._is_wrong_there(p))
                and not (self._has_no_numbers_far_away(changed, p) and self._is_wrong_there(p))
            ),
            None,
        )  # fmt: skip
        if bad is not None:
            self.unseen.put_first(bad)
        if bad is not None and not self.almost and self._is_right_nearly_everywhere(changed):
            text = " and ".join(f"`{ast.unparse(e.new)}` instead of `{ast.unparse(e.old)}`" for e in edits)
            where = f"wrong elsewhere ({bad.point.origin.replace('near the first', 'near the first point')})"
            self.nearest = edits[0]
            self.almost = f"{text} would be right at the points of the check, but {where}"
        return bad is None and not self._writes_into_arrays(changed)

    @cached_property
    def _asked_for_effects(self) -> tuple[Probe, Probe]:
        """The probes at which effects are looked for, as in a check. Where there is no derivative, nan is not
        an effect, and nothing can be written into a number.
        """
        smooth = [p for p in self.probes if p.failure is None and p.truth.is_smooth]
        first = next(iter(smooth), self.probes[0])
        return first, next((p for p in smooth if shape_of(p.truth.y)), first)

    def _writes_into_arrays(self, changed: Subject) -> bool:
        """Whether a changed rule writes to a cotangent that is an array, if the check had none."""
        if any(shape_of(probe.truth.y) for probe in self.probes):
            return False
        wide = next((probe for probe in self.unseen.probes_there() if shape_of(probe.truth.y)), None)
        again = None if wide is None else self._answers_of(changed).of(changed, wide)[0]
        return again is not None and again.failure is None and any(True for _ in writes(changed, again))

    def _has_no_numbers_far_away(self, changed: Subject, probe: Probe) -> bool:
        """Whether a changed rule has no number at a far point, as `log(1 - p)` if p is rounded to 1. The
        check does not count that as a mistake, but another edit may be better.
        """
        if not probe.point.far or not has_no_numbers(changed, probe):
            return False
        self._is_doubtful = True
        return True

    def _may_not_be_meant(self, probe: Probe) -> bool:
        """Whether a point has arguments of a kind that was not given, and for which the unchanged rule is
        wrong.
        """
        if probe.point.origin == IN_COMPLEX:  # a function that contains `1j` is one of real numbers
            may = self._makes_complex and not self._is_complex() and not self._is_of_complex_alone(probe)
        elif probe.point.origin == OF_OTHER_RANKS:
            may = True
        elif probe.point.origin == OF_MATRICES:
            may = not self._is_array
        else:
            kinds = (OF_OTHER_KINDS, OF_A_MATRIX, OF_OWN_LENGTHS)
            may = probe.point.origin in kinds and self._is_ranked(None)
        if not may:
            return False
        return self._is_wrong_there(probe)

    def _is_wrong_there(self, probe: Probe) -> bool:
        """Whether the unchanged rule has a wrong answer at a point, or none."""
        if id(probe) not in self._wrong_there:
            self._wrong_there[id(probe)] = not is_right_at(self.subject, probe, roughly=ROUGHLY)
        return self._wrong_there[id(probe)]

    def _is_of_complex_alone(self, probe: Probe) -> bool:
        """Whether the complex arguments of a point are among those for which the rule returns complex numbers
        anyway.
        """
        pairs = zip(self.subject.names, probe.point.inputs)
        return {name for name, x in pairs if np.iscomplexobj(x)} <= self._complex_anyway

    def _is_another_matter(self, probe: Probe, changed: Subject, refused: bool) -> bool:
        """Whether a changed rule fails at a point as the unchanged one did, where no mistake was seen: it
        raises, or its cotangents of other arguments are not finite or off by rounding. With `refused`, it
        does so at a few points of the check.
        """
        if probe.point.origin == OF_OTHER_KINDS:
            return False
        if not refused and any(p.failure is not None for p in self.probes):
            return False
        if fails_alike(self.subject, changed, probe, self.accused):
            return True
        alike = fails_alike(self.subject, changed, probe, self.accused, of_any_size=True)
        self._is_doubtful = self._is_doubtful or alike
        return alike

    @cached_property
    def _complex_anyway(self) -> frozenset[str]:
        """The real arguments for which the unchanged rule returns complex numbers."""
        return frozenset().union(*(complex_for_real(self.subject, probe) for probe in self.probes))

    def _off_where_not_meant(self, changed: Subject) -> int:
        """At how many points of kinds that may not be intended a changed rule is wrong as well. Of two
        otherwise right corrections, that with fewer is better.
        """
        there = [probe for probe in self.unseen.probes_there() if self._may_not_be_meant(probe)]
        kept = self._answers_of(changed)
        return sum(not is_right_at(changed, probe, roughly=ROUGHLY, kept=kept) for probe in there)

    @cached_property
    def _wrong_there(self) -> dict[int, bool]:
        return {}

    def _is_right_nearly_everywhere(self, changed: Subject) -> bool:
        """Whether a changed rule is wrong at few points only. At the points of a quick check nearly any
        change is right.
        """
        there = itertools.islice(self.unseen.probes_there(), SOME)
        kept = self._answers_of(changed)
        right = [is_right_at(changed, p, roughly=ROUGHLY, with_kinks=False, kept=kept) for p in there]
        return sum(right) >= NEARLY_ALL * len(right)

    def _is_right_in_numbers(self, changed: Subject) -> bool:
        """Whether a changed rule has the right numbers at nearly all points where the unchanged one has wrong
        ones. That they are complex for a real argument is a different matter.
        """
        if len(self._wrong_in_numbers) <= 1:
            return False
        for there in (self._wrong_in_numbers, self._wrong_elsewhere):
            allowed, failures = int((1 - NEARLY_ALL) * len(there)), 0
            for number, probe in enumerate(there, 1):
                failures += not self._is_mended_at(probe, changed)
                if failures > allowed or failures == number == FIRST:
                    return False
        return not any(_is_refused_now(self.subject, changed, probe) for probe in self.unseen.probes_there())

    def _is_mended_at(self, probe: Probe, changed: Subject) -> bool:
        """Whether a changed rule has the right numbers at a probe; a quick test comes first."""
        quick = _answered(changed, probe, False)
        if quick is None or not all(quick.values()):
            return False
        return _in_numbers(changed, probe, self._answers_of(changed))

    @cached_property
    def _wrong_in_numbers(self) -> list[Probe]:
        """The probes at which the numbers of the unchanged rule are wrong."""
        return [probe for probe in self.probes if not _in_numbers(self.subject, probe)]

    @cached_property
    def _wrong_elsewhere(self) -> list[Probe]:
        """The same for some points outside the check, where sizes differ from those of the check."""
        there = itertools.islice(self.unseen.probes_there(), SOME)
        return [p for p in there if not self._may_not_be_meant(p) and not _in_numbers(self.subject, p)]


def _ranks(probe: Probe) -> tuple[int, ...]:
    """The number of axes of each argument of a point."""
    return tuple(len(shape_of(x)) for x in probe.point.inputs)


def _of_other_numbers(first: Probe, probes: Iterable[Probe]) -> Probe | None:
    """A probe at other numbers than the first one, of the same shapes if possible. The same numbers in
    float32 would not show what is kept from call to call.
    """
    numbers = to_vec(first.point.inputs)[0]
    pairs = [(p, to_vec(p.point.inputs)[0]) for p in probes if p.failure is None and p is not first]
    alike = [p for p, own in pairs if own.shape == numbers.shape and not np.allclose(own, numbers, rtol=1e-3)]
    return next(iter(alike or (p for p, own in pairs if own.shape != numbers.shape)), None)


def _is_refused_now(before: Subject, changed: Subject, probe: Probe) -> bool:
    """Whether a changed rule has no answer at other lengths or kinds at which the unchanged rule had one."""
    kinds = (OF_OWN_LENGTHS, OF_A_MATRIX, OF_OTHER_KINDS, OF_OTHER_RANKS)
    return probe.point.origin in kinds and has_answer(before, probe) and not has_answer(changed, probe)


def _is_zero_divided(changed: Subject, probe: Probe) -> bool:
    """Whether a changed rule has no number at zero. One that divides as before has none there even if it is
    right: `slope / sigma` at `sigma = 0`.
    """
    return probe.point.origin in ("at zero", "exactly 0") and has_no_numbers(changed, probe)


def _allowed(probe: Probe) -> float:
    """By how much, relatively, numbers may be off: at far points the function itself loses digits."""
    return ROUGHLY if probe.point.far else 0.0


def _whole_number(node: ast.expr | None) -> int | None:
    """The whole number that an expression is; otherwise None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _whole_number(node.operand)
        return None if number is None else -number
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _in_numbers(subject: Subject, probe: Probe, kept: Answers | None = None) -> bool:
    """Whether the numbers of a rule are right at a probe, whatever their kind."""
    return is_right_at(subject, probe, roughly=ROUGHLY, with_kinks=False, with_kinds=False, kept=kept)


def _answered(subject: Subject, probe: Probe, apart: bool) -> dict[str, bool] | None:
    """Which cotangents are roughly right in the answer to one cotangent of the value: a quick test that most
    edits fail. None if there is no answer. For a forward rule, whether the tangent of the value is right, for
    each argument `apart` or for all at once.
    """
    truth, seed = probe.truth, probe.seeds[-1:]
    leaves = truth.inputs if truth.whole else truth.columns
    if not len(probe.seeds):
        return {leaf.name: True for leaf in leaves}
    if subject.reverse is None:
        return _answered_forward(subject, probe, apart)
    with without_warnings():
        try:
            y, back = subject.reverse(*fresh(probe.point.inputs), **own_keywords(probe.point.kwargs))
            if not _is_near_the_value(y, truth.y):
                return None
            found = reverse_answer(back, truth.y, seed[0], probe.point)[None, :]
            expected, bars = expected_of(truth, seed)
            near = _near(found if truth.whole else found @ truth.directions, expected, bars)
        except Exception:
            return None
    right: dict[str, bool] = {}
    for leaf in leaves:
        right[leaf.name] = right.get(leaf.name, True) and bool(np.all(near[:, leaf.start : leaf.stop]))
    return right


def _is_near_the_value(y: Any, wanted: Any) -> bool:
    """Whether the value of a rule is roughly that of its function; if not, nothing is right."""
    given, value = to_vec(in_floats(y))[0], to_vec(wanted)[0]
    if given.shape != value.shape:
        return False
    return bool(np.allclose(given, value, rtol=1e-3, atol=1e-9, equal_nan=True))


def _answered_forward(subject: Subject, probe: Probe, apart: bool) -> dict[str, bool] | None:
    """The same for a forward rule; one that is right for all arguments at once is not called further."""
    truth, seed = probe.truth, probe.seeds[-1]
    names = {leaf.name: True for leaf in truth.inputs}
    with without_warnings():
        try:
            if not truth.whole or _is_near(subject, probe, seed):
                return names
            if not apart:
                return dict.fromkeys(names, False)
            for leaf in truth.inputs:
                own = np.zeros_like(seed)
                own[leaf.start : leaf.stop] = seed[leaf.start : leaf.stop]
                names[leaf.name] = names[leaf.name] and _is_near(subject, probe, own)
        except Exception:
            return None
    return names


def _is_near(subject: Subject, probe: Probe, seed: np.ndarray) -> bool:
    """Whether a forward rule has roughly the right tangent of the value for a tangent of the arguments."""
    _, answer = answer_to(seed, subject, probe.point, probe.truth.y)
    expected, bars = expected_of(probe.truth, seed[None, :], forward=True)
    return bool(np.all(_near(answer[None, :], expected, bars)))


def _near(found: np.ndarray, expected: np.ndarray, bars: np.ndarray) -> np.ndarray:
    """Which numbers are roughly the expected ones, or not known."""
    known = np.isfinite(expected) & np.isfinite(bars)
    size = np.abs(expected[known]).max(initial=0.0)
    with np.errstate(all="ignore"):
        return (np.abs(found - expected) <= 2e-3 * size + 8 * bars + 1e-9) | ~known


def surgery(
    subject: Subject,
    probes: list[Probe],
    tries: int = MOST_TRIED,
    elsewhere: Sequence[Point] = (),
    others: Sequence[Probe] = (),
) -> Surgery | None:
    """The rule's text, ready to be changed; None if the author wrote no rule, or its text is not available.

    At most `tries` corrections are tried at the probes in this order: those at which the rule is wrong first.
    """
    rule = subject.rule
    names = {name for code in subject.codes for name in code.co_names}
    if rule is None or rule.built_in or names & _OF_RAW_MEMORY:
        return None
    try:
        return Surgery(subject, probes, tries, elsewhere, others)
    except (RuleLabError, AttributeError):
        return None
