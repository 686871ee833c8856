"""The changes of a whole rule that are tried: where, in which order, and what numbers show about them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..calling.subjects import Subject, codes_of
from ..probing.probes import Probe
from ..reading.anatomy import names_in, own_nodes
from ..reading.editing import Edit, instead
from ..reading.texts import names_of
from .counterparts import (
    accumulated_loop_variables,
    decaying,
    moved_into_loops,
    of_totals,
    selected_element_terms,
    terms_of_other,
    twins,
    updates_after,
    zeroed,
)
from .edits import (
    addends,
    casts_left_out,
    chain,
    conjugates_left_out,
    exchanged,
    is_zero,
    left_out,
    product,
    renamed,
    reversed_operands,
    unread_names,
)  # fmt: skip
from .evidence import Explanation
from .grafts import Grafting, Part
from .joint_edits import axes_by_parameter, updated_together
from .missing_copies import (
    buffers_moved_into_the_pullback,
    copies,
    read_from_the_rule,
    with_one_each,
    written_apart,
)
from .neighbours import Neighbours
from .observing import HOOK, Hook, Observation, hooked, observed
from .slips import (
    all_transforms,
    cuts_of_reading,
    edits_at_every_occurrence,
    exchanged_names,
    is_buffer,
    kept_by_key,
    names_exchanged,
    names_wherever,
    other_buffers,
    swapped_parts,
    transposed_throughout,
    with_names,
)  # fmt: skip
from .statements import (
    narrowed_parts,
    other_statements,
    other_targets,
    statements_left_out,
    widened_parts,
    written_through,
)  # fmt: skip
from .suspects import is_of_values
from .terms import terms
from .verifying import COMPLEX

MOST_GRAFTED = 40
"""With how many expressions those from elsewhere are compared."""
MOST_LOOKED_INTO = 6
"""For how many expressions the numbers are examined for what is missing."""
PLAIN = (
    "ignores_cotangent", "broadcast_sum", "none", "zero_class", "shape", "thunk", "stateful", "conjugate",
)  # fmt: skip
"""Mistakes with a known correction, which is tried before small changes."""


_LARGEST = ("max", "argmax", "maximum", "fmax", "nanmax", "nanargmax")
_SMALLEST = ("min", "argmin", "minimum", "fmin", "nanmin", "nanargmin")


_MAY_BE_EXCHANGED = ("swapped_arguments", "shape", "kind", "dropped_argument")
"""How the mistake of one argument looks if the cotangents of two are exchanged."""


class Candidates(Neighbours):
    """Every change of a rule that may correct a mistake."""

    def edits(self, seen: list[Explanation]) -> Iterator[Edit]:
        """Changes to try, the likeliest first: where the mistake is likeliest to be, small ones and those for
        the mistake; then small ones anywhere in the rule.
        """
        one, sites = seen[0], list(self.sites(seen))
        self._is_nan = one.mistake == "not_finite"
        names = dict.fromkeys(s.argument for s in seen)
        targets = [node for name in names for node in self.cotangents_of(name)]
        yield from kept_by_key(self.anatomy.node)
        if one.mistake == "count":
            yield from self._of_mistake(one, [*self._nothing_first()])
        if one.mistake in ("writes", "stateful"):
            yield from read_from_the_rule(self.anatomy.node, self.anatomy.pullbacks)
            yield from buffers_moved_into_the_pullback(self.anatomy.node, self.anatomy.pullbacks)
            for scope in (*self.anatomy.pullbacks, self.anatomy.node):
                yield from written_apart(scope, [*self.anatomy.parameters, *self.bars()])
                yield from copies(scope, self._numpy() or "np")
        yield from with_one_each(self.anatomy.node)
        if one.mistake in ("sign", "factor"):
            for site in sites:
                yield from left_out(site)
        if one.mistake == "conjugate":
            yield from conjugates_left_out(sites)
        if one.mistake in ("nonlinear", "additive_constant"):
            yield from self._terms_without_bar()
        if one.mistake == "broadcast_sum":
            for name in names:
                yield from self._reduced_as_beside(name)
        if one.mistake in PLAIN:
            yield from self._of_mistake(one, sites)
        yield from self._other_buffers()
        if len(names) > 1 or one.mistake in _MAY_BE_EXCHANGED:
            yield from self._exchanged(len(names) > 1)
        yield from self._loops_as_they_are()
        if sites and self.culprits and sites[0] is self.culprits[0]:
            within = {id(node) for node in (*self.culprits, *targets)}
            yield from self._thoroughly(self.culprits, [node for node in sites if id(node) not in within])
        yield from self._as_in_the_function()
        yield from axes_by_parameter(self.anatomy.node, self.anatomy.parameters)
        by_values = is_of_values(one.mistake)
        if by_values:
            yield from conjugates_left_out([*self.anatomy.pullbacks, self.anatomy.node])
        yield from (edit for edit in self._of_statements() if not (by_values and self.is_fine(edit)))
        for node in self._expressions(sites, elsewhere=False):
            yield from self._neighbours(node)
        for site in sites:
            yield from renamed(site, self._other_names)
        yield from self._grafted(sites if by_values else [])
        for node in self._expressions(sites, elsewhere=False):
            yield from self._slips(node)
        for node in {id(n): n for n in (*self.returned(), *sites)}.values():
            yield from edits_at_every_occurrence(node, self._neighbours)
            yield from transposed_throughout(node) if self._is_array else ()
        if one.mistake not in PLAIN:
            yield from self._of_mistake(one, sites)
        yield from self._of_unread([*sites, *targets])
        for name in names if len(names) < len(self.anatomy.parameters) else ():
            yield from self._as_beside(name)
        for node in self._expressions([*sites, *targets], elsewhere=True):
            yield from self._neighbours(node)
        for node in self._expressions(sites, elsewhere=False):
            yield from self._with_factor(node)
        looked_into = self._answering(sites)[:MOST_LOOKED_INTO]
        for node in looked_into:
            yield from self._from_numbers(node, whole=False)
        for node in self._expressions(sites, elsewhere=False):
            yield from self._changed_more(node)
        for node in self._expressions(sites, elsewhere=False):
            yield from self._less_one(node)
        for node in self._expressions(sites, elsewhere=False):
            yield from self._with_function(node)
        for node in looked_into:
            yield from self._from_numbers(node, whole=True)
        for node in self._expressions([*sites, *targets], elsewhere=True):
            yield from self._slips(node)
        for node in self._expressions([*sites, *targets], elsewhere=True):
            yield from self._changed_more(node)
        for node in targets if one.mistake not in PLAIN else ():
            yield from self._with_term(node)
        if by_values:  # these are right as some cotangent, but may be used as another
            yield from self._grafted([n for n in self.fine_values if n not in sites])

    def _loops_as_they_are(self) -> Iterator[Edit]:
        """The sequence of a loop from its start, if the loop goes through it from the end."""
        for pullback in self.answering:
            for loop in (n for n in ast.walk(pullback) if isinstance(n, (ast.For, ast.comprehension))):
                for node in (n for n in ast.walk(loop.iter) if isinstance(n, ast.Subscript)):
                    yield from reversed_operands(node)

    def _exchanged(self, several: bool) -> Iterator[Edit]:
        """Two cotangents of an answer exchanged, and two parts of one if `several` are wrong."""
        for pullback in self.anatomy.pullbacks:
            for answer in self.anatomy.answers(pullback):
                yield from exchanged(answer.node)
                for _, node in answer.cotangents if several else ():
                    made = self._stands_for(node)
                    if isinstance(made, (ast.Call, ast.Dict)):
                        yield from swapped_parts(made)

    def _nothing_first(self) -> Iterator[ast.expr]:
        """The None that a pullback returns for the function itself."""
        for node in self.returned():
            first = node.elts[0] if isinstance(node, ast.Tuple) and node.elts else None
            if isinstance(first, ast.Constant) and first.value is None:
                yield first

    def _of_statements(self) -> Iterator[Edit]:
        """Changes of whole statements of a pullback, and of what several of them have in common."""
        for pullback in self.answering:
            yield from names_wherever(pullback, self.bars())
            for statement in own_nodes(pullback):
                if isinstance(statement, ast.Assign):
                    yield from other_targets(statement)
                if isinstance(statement, (ast.Assign, ast.AugAssign)):
                    yield from widened_parts(statement)
                    yield from written_through(statement)
                    for node in ast.walk(statement.value):
                        yield from of_totals(node, self.made)
                if isinstance(statement, ast.AugAssign) and self._is_ranked(None):
                    yield from narrowed_parts(statement)
            yield from updated_together(pullback)
            yield from statements_left_out(pullback)
            yield from other_statements(pullback)
            yield from names_exchanged(pullback, [n for n in self._named if n not in self.bars()])
            yield from cuts_of_reading(pullback, self._read_cuts)
            names = [n for n in (*self._named, *self._looping) if n not in self.bars()]
            yield from twins(pullback, names, [*unread_names(self.anatomy.node), *self._loops])
            yield from decaying(pullback, self._multipliers)
            yield from moved_into_loops(pullback)
            yield from updates_after(pullback)
            yield from accumulated_loop_variables(pullback)
            answers = [answer.node for answer in self.anatomy.answers(pullback)]
            yield from zeroed(pullback, self.anatomy.node, answers, self._primal_node)
            yield from selected_element_terms(pullback, answers, self._primal_node, self.anatomy.parameters)
            yield from all_transforms(pullback)
            for statement in own_nodes(pullback):
                if isinstance(statement, ast.For):
                    yield from edits_at_every_occurrence(statement.iter, self._neighbours)

    def _terms_without_bar(self) -> Iterator[Edit]:
        """The cotangent as a factor of each term that lacks it beside terms that have it."""
        for term, others in self.still_terms():
            beside = [factor for other in others for factor in self._moving_factors(other)]
            products = [ast.BinOp(term, ast.Mult(), factor) for factor in beside]
            products += [ast.BinOp(ast.Name(bar, ast.Load()), ast.Mult(), term) for bar in self.bars()]
            for new in products:
                words = f"has a term without its cotangent: {instead(new, term)}"
                yield Edit(term, new, "additive_constant", words)

    def still_terms(self) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
        """The terms of the pullbacks' sums that do not depend on the cotangent, each with the other terms."""
        for pullback in self.anatomy.pullbacks:
            sums = [n for n in ast.walk(pullback) if isinstance(n, ast.BinOp)]
            for node in (one for one in sums if isinstance(one.op, (ast.Add, ast.Sub))):
                terms_of = [term for _, term in addends(node)]
                still = [term for term in terms_of if names_in(term).isdisjoint(self._moving)]
                others = [term for term in terms_of if term not in still]
                yield from ((term, others) for term in still if others)

    def _moving_factors(self, term: ast.expr) -> list[ast.expr]:
        """The factors of a term that contain the cotangent: `y_bar / n` and `y_bar` in `p * (y_bar / n)`."""
        above, below = chain(term)
        moving = [one for one in above if not names_in(one).isdisjoint(self._moving)]
        whole = [product(moving, below)] if moving and below else []
        return [*whole, product(moving, [])] if moving and len(above) > 1 else []

    def _as_in_the_function(self) -> Iterator[Edit]:
        """The largest instead of the smallest if only the rule uses the smallest, and the other way round."""
        for node in ast.walk(self.anatomy.node):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and isinstance(called, ast.Attribute):
                name = self._of_the_function(called.attr)
                if name:
                    new = ast.Call(ast.Attribute(called.value, name, ast.Load()), node.args, node.keywords)
                    yield Edit(node, new, "wrong_element", instead(new, node))

    def _of_the_function(self, name: str) -> str:
        for those, others in (_LARGEST, _SMALLEST), (_SMALLEST, _LARGEST):
            if name in those and self._called.isdisjoint(those) and not self._called.isdisjoint(others):
                return others[those.index(name)]
        return ""

    def _other_buffers(self) -> Iterator[Edit]:
        """Buffers of other dtypes: those of integers round what is written to them."""
        ranked = [name for name in self.anatomy.parameters if self._is_ranked(name)]
        first: list[Edit] = []
        for node in ast.walk(self.anatomy.node):
            if isinstance(node, ast.Call) and is_buffer(node):
                of_memory = not self._is_for_whole_numbers
                edits = list(other_buffers(node, self._numpy() or "np", ranked, of_memory))
                first += edits[:1] if len(node.args) == 1 else []
                yield from edits
        if len(first) > 1:  # the same mistake in each of them
            yield replace(first[0], more=tuple(first[1:]))
        casts = list(casts_left_out(self.anatomy.pullbacks, ranked))
        yield from casts
        if casts and (first or len(casts) > 1):
            yield replace((first or casts)[0], more=tuple([*first, *casts][1:]))

    def _thoroughly(self, culprits: list[Any], before: list[Any]) -> Iterator[Edit]:
        """All changes of the statements whose values are wrong, the small ones first; then those of
        statements `before` them; all this before terms are invented.
        """
        kinds = (self._neighbours, self._slips, self._with_factor, self._numbered, self._changed_more)
        for site in culprits:
            yield from renamed(site, self._other_names)
        for number, kind in enumerate(kinds):
            for node in self._expressions(culprits, elsewhere=False):
                yield from kind(node)
            if not number:
                for node in self._expressions(before, elsewhere=False):
                    yield from kind(node)
                yield from self._grafted(culprits)

    def _numbered(self, node: Any) -> Iterator[Edit]:
        """What the numbers of an expression show that it lacks, or should be."""
        if node in self._answering(self.culprits)[:MOST_LOOKED_INTO]:
            yield from self._from_numbers(node, whole=False)
            yield from self._from_numbers(node, whole=True)

    def _by_likelihood(self, seen: list[Explanation]) -> Iterator[Edit]:
        """The edits for everything that is wrong together, those for its mistakes first; then those for each
        wrong argument.
        """
        apart = list({one.argument: one for one in seen}.values())
        if len(apart) > 1:
            if len({(one.mistake, one.words) for one in seen}) == 1:
                yield from self._of_mistake(seen[0], self.shared_by([one.argument for one in apart]))
            for one in apart:
                sites = list(self.sites([one]))
                for site in sites if one.mistake in ("sign", "factor") else ():
                    yield from left_out(site)
                yield from self._of_mistake(one, sites)
        yield from self.edits(seen)
        if len(apart) > 1:
            yield from itertools.chain.from_iterable(self.edits([one]) for one in apart)

    def _as_beside(self, argument: str | None) -> Iterator[Edit]:
        """The cotangent of an argument computed like that of another, with the two exchanged, for functions
        that treat them alike.
        """
        if argument not in self.anatomy.parameters:
            return
        for other in self.anatomy.parameters:
            mine, like = self.cotangents_of(argument), self.cotangents_of(other)
            if other == argument or len(mine) != 1 or len(like) != 1:
                continue
            old, pattern = (self._stands_for(node) for node in (mine[0], like[0]))
            names = exchanged_names(argument, other, self.made)
            new = with_names(pattern, names)
            for turned in (new, ast.UnaryOp(ast.USub(), new)):
                if not is_zero(pattern) and not isinstance(pattern, ast.Name):
                    lacks = len(list(addends(turned))) > len(list(addends(old)))
                    yield Edit(old, turned, "lacks_term" if lacks else "factor", instead(turned, old))
            own = self._of_this_alone(mine[0])
            if not is_zero(own):
                yield from terms_of_other(own, pattern, names)

    def _reduced_as_beside(self, argument: str | None) -> Iterator[Edit]:
        """The cotangent of an argument passed to the function that sums that of another:
        `sum_to(…, x.shape)`.
        """
        if argument not in self.anatomy.parameters:
            return
        for other in self.anatomy.parameters:
            mine, like = self.cotangents_of(argument), self.cotangents_of(other)
            if other == argument or len(mine) != 1 or len(like) != 1:
                continue
            old, pattern = (self._of_this_alone(node) for node in (mine[0], like[0]))
            if isinstance(pattern, ast.Call) and other in names_in(ast.Tuple(pattern.args[1:], ast.Load())):
                rest = [with_names(part, {other: argument}) for part in pattern.args[1:]]
                new = ast.Call(pattern.func, [old, *rest], pattern.keywords)
                yield Edit(old, new, "broadcast_sum", instead(new, old))

    def _stands_for(self, node: ast.expr) -> ast.expr:
        while isinstance(node, ast.Name) and node.id in self.made:
            node = self.made[node.id]
        return node

    def _of_this_alone(self, node: ast.expr) -> ast.expr:
        """The value of a name, if the name is used nowhere else."""
        while isinstance(node, ast.Name) and node.id in self.made and self._times_read[node.id] == 1:
            node = self.made[node.id]
        return node

    def is_a_sum(self, node: ast.expr) -> bool:
        """Whether an expression has several terms, also through names that are assigned in the pullbacks."""
        whole = self._stands_for(node)
        if any(isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Add, ast.Sub)) for n in ast.walk(whole)):
            return True
        names = {n.id for n in ast.walk(whole) if isinstance(n, ast.Name)} & self._moving & set(self.made)
        return any(whole is not self.made[name] and self.is_a_sum(self.made[name]) for name in names)

    def _answering(self, sites: list[ast.expr]) -> list[ast.expr]:
        """The sites in the pullbacks, from which the answer is computed; parts of a sum after the whole."""
        inside = {id(n) for scope in self.answering for n in ast.walk(scope)}
        exprs = [site for site in sites if isinstance(site, ast.expr) and id(site) in inside]
        plain = (ast.BinOp, ast.Name, ast.Call, ast.UnaryOp)
        parts = [n for site in exprs for n in ast.walk(site) if isinstance(n, ast.BinOp) and n is not site]
        found = {id(n): n for n in (*exprs, *parts) if isinstance(n, plain) and not is_zero(n)}
        return list(found.values())

    def _from_numbers(self, node: ast.expr, whole: bool) -> Iterator[Edit]:
        """An expression with the term that it lacks according to its numbers; or, with `whole`, the
        expression that should be there.
        """
        numpy = self._numpy()
        if numpy is None or self.rule.partials is not None:
            return
        functions = {name for code in codes_of(self.subject.primal) for name in names_of(code)}
        seen = [] if any(len(one.turns) > 1 for one in self._observed(node)) else self._observed(node)
        yield from terms(node, seen, numpy, functions, self._parts_at_hand, whole)

    def _observed(self, node: ast.expr) -> list[Observation]:
        """The values of an expression at the probes, and what they should be."""

        def make(hook: Hook) -> Subject | None:
            return self._run_as(code, {HOOK: hook})

        if node not in self._looked_at:
            code = self._code_of([hooked(node, self._at_hand)])
            self._looked_at[node] = observed(make, self._to_observe, self.subject.reverse is None)
        return self._looked_at[node]

    def _grafted(self, sites: list[Any]) -> Iterator[Edit]:
        """What expressions lack according to their numbers, or should be, taken from elsewhere in texts."""
        if self.rule.partials is not None:
            return
        nodes = [n for n in self._expressions(sites, elsewhere=False) if self._may_lack(n)]
        found: list[tuple[float, Edit]] = []
        for number, node in enumerate(nodes[:MOST_GRAFTED]):
            if node not in self._grafts:
                seen = self._observed(node)
                parts = [part for part in self._parts if self._goes_there(part, node)]
                grafting = Grafting(node, seen, self.function.__globals__) if seen else None
                self._grafts[node] = grafting.edits(parts, self._parts_of(node)) if grafting else []
            found += [(price + number / 4, edit) for price, edit in self._grafts[node]]
        yield from (edit for _, edit in sorted(found, key=lambda one: one[0]))

    def _goes_there(self, part: Part, node: ast.expr) -> bool:
        """Whether a part uses only loop variables of the loops that would contain it."""
        names = names_in(part.node) & set(self._loops) if self._loops else ()
        return all(id(node) in self._inside_loops.get(name, ()) for name in names)

    @cached_property
    def _inside_loops(self) -> dict[str, set[int]]:
        """The ids of the nodes inside the loops over each loop variable."""
        found: dict[str, set[int]] = {}
        for loop in (n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.For)):
            inside = {id(n) for statement in loop.body for n in ast.walk(statement)}
            for name in names_in(loop.target):
                found.setdefault(name, set()).update(inside)
        return found

    def _may_lack(self, node: Any) -> bool:
        """Whether an expression has numbers of its own: a name that is used once is changed where it is
        assigned.
        """
        if isinstance(node, ast.Name) and node.id in self.made and node.id not in self.updates:
            if self._times_read[node.id] < 2 and not self._is_still(node.id):
                return False
        if isinstance(node, ast.Subscript):
            return isinstance(node.ctx, ast.Load)
        plain = (ast.BinOp, ast.Call, ast.Name, ast.UnaryOp, ast.Attribute, ast.Compare)
        return isinstance(node, plain) and not (self.is_module(node) or is_buffer(node) or is_zero(node))

    @cached_property
    def _grafts(self) -> dict[ast.expr, list[tuple[float, Edit]]]:
        return {}

    @cached_property
    def _looked_at(self) -> dict[ast.expr, list[Observation]]:
        return {}

    @cached_property
    def _to_observe(self) -> list[Probe]:
        """The probes, preceded by complex ones: real ones show nothing about conjugates."""
        codes = codes_of(self.subject.primal)
        if COMPLEX.isdisjoint(name for code in codes for name in names_of(code)):
            return self.probes
        more = (p for p in self.unseen.probes_there() if any(x.dtype.kind == "c" for x in p.truth.inputs))
        return [*more, *self.probes]
