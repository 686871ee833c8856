"""A wrong rule with one expression changed: tried at every probe, shown as a diff if it is right there."""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import difflib
import itertools
import re
import types
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...compiler.source import find_source
from ...errors import Place, RuleLabError
from ...parsing import parse
from ...rules.calling import apply_frule, apply_rrule
from ...rules.rule import Rule
from ...rules.scalar import scalar_frule, scalar_rrule
from ...tangents.zeros import NoTangent
from ..anatomy import Anatomy, anatomy_of, names_in, own_nodes, returns_of
from ..budgets import Limit
from ..closeness import weighted
from ..perturb import fresh, landmarks
from ..probes import Point, Probe, quiet, reverse_answer
from ..subjects import Subject, codes_of
from ..usage import names_of
from .edits import (
    Edit,
    Slots,
    added,
    code_of,
    conditions_of,
    conjugates_left_out,
    dump_of,
    exchanged,
    halves,
    instead,
    is_stored,
    left_out,
    masked,
    matrix_times,
    other_calls,
    other_comparisons,
    other_conditions,
    other_indices,
    other_numbers,
    other_operators,
    other_orders,
    other_slices,
    other_transforms,
    other_updates,
    rechained,
    regrouped,
    renamed,
    replaced,
    rows_written,
    times,
    turned_round,
    unread,
    with_edits,
    with_one_more,
    with_term,
    without_one,
)  # fmt: skip
from .evidence import Seen
from .formulas import OF_CONSTANTS
from .reading import Reading
from .slips import (
    added_at,
    all_transforms,
    everywhere,
    folded,
    moved_cuts,
    names_wherever,
    other_axes,
    other_buffers,
    other_cuts,
    other_entries,
    other_lays,
    other_letters,
    other_modes,
    other_statements,
    other_targets,
    swapped_parts,
    transforms_around,
    turned_sums,
    wider_parts,
)  # fmt: skip
from .terms import HOOK, Hook, Observation, hooked, observed, terms
from .verifying import COMPLEX, ROUGHLY, Unseen, is_right_at

MOST_TRIED = 2400
"""Single changes of a rule that are tried."""
MOST_LOOKED_INTO = 6
"""Expressions of which the numbers are looked at for what is missing."""
MOST_PRODUCTS = 24
"""Products of a function of which a forgotten term may be made."""
MOST_NAMES = 8
"""Names of a rule of which a forgotten term may be made."""
SECONDS = 20.0
"""Of the processor, beyond which no correction is looked for: far above what so many tries take, so that
the machine decides nothing."""
LOOKS = 16
"""Tries after which the time is looked at, which takes longer than many a try."""
SOME, NEARLY_ALL = 12, 0.6
"""Points beside those of the check, and the part of them at which a change is right that is worth a word."""
PLAIN = (
    "ignores_cotangent", "broadcast_sum", "none", "zero_class", "shape", "thunk", "stateful", "conjugate",
)  # fmt: skip
"""Mistakes of which the correction is known, before small changes are tried."""


_FACTORS = (ast.BinOp, ast.Call, ast.Name, ast.Attribute, ast.Subscript)
_CONSTANTS = ("{0}.sqrt(2 * {0}.pi)", "{0}.sqrt({0}.pi)", "(2 * {0}.pi)", "{0}.pi", "({0}.pi / 180)")
"""Numbers of which one is easily forgotten beside a function."""
_ALONG = frozenset("sum mean max min prod norm cumsum argmax argmin repeat stack concatenate softmax".split())
_CONJUGATES = ("conj", "conjugate")
_PLAIN_CALLS = frozenset("conj conjugate tril triu abs sqrt exp log".split())
_TRIANGLES = frozenset(("tril", "triu"))
_TRANSFORMS = ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2")


class Surgery(Reading):
    """The text of one rule, and what becomes of it after an edit."""

    def __init__(
        self,
        subject: Subject,
        probes: list[Probe],
        tries: int = MOST_TRIED,
        elsewhere: Sequence[Point] = (),
    ) -> None:
        assert subject.rule is not None
        self.subject, self.probes, self.tries = subject, probes, tries
        self._asked = list(probes)  # the same in the order in which edits are tried at them
        self.almost = ""  # a change that is right at every probe, and not elsewhere, in words
        self.nearest: Edit | None = None  # and that change
        self.watched: list[Point] = []  # where it did what no rule may: a correction does not
        self.each: dict[str, Edit] = {}  # changes that make one of several cotangents right
        self.unseen, self._limit = Unseen(subject, probes, elsewhere), Limit(SECONDS)
        self.rule = subject.rule
        self.anatomy: Anatomy = anatomy_of(self._stated(), subject.primal)
        self.function, self._slots = self.anatomy.rule.function, Slots(self.anatomy.node)
        super().__init__(self.anatomy.source, (*self.anatomy.pullbacks, self.anatomy.node), self.function)

    def _stated(self) -> Rule:
        """The rule with the function that its author wrote: of a scalar rule, that of the partials."""
        if self.rule.partials is None:
            return self.rule
        return dataclasses.replace(self.rule, function=self.rule.partials)

    # -- where -----------------------------------------------------------------------------------------------

    def cotangents_of(self, argument: str | None) -> list[ast.expr]:
        """The expressions that make the cotangent of an argument (None: of all), those returned first."""
        root = argument.split(".")[0].split("[")[0] if argument else None
        found: list[ast.expr] = []
        if self.rule.partials is not None:
            found += self._partials(root)
        elif self.rule.mode == "frule":
            found += [
                v.elts[1] for v in self.anatomy.returned if isinstance(v, ast.Tuple) and len(v.elts) == 2
            ]
        else:
            for pullback in self.anatomy.pullbacks:
                for answer in self.anatomy.answers(pullback):
                    of_root = [node for name, node in answer.cotangents if root in (None, name)]
                    found += [self._part(node, argument) for node in of_root]
        return [node for node in found if not isinstance(node, ast.Starred)]

    def _part(self, node: ast.expr, argument: str | None) -> ast.expr:
        """The part of a structured cotangent for a part of an argument: `p.slope`, `p[1]`, `p["a"]`."""
        dots = re.fullmatch(r"[^.\[]*(?:\.(\w+)|\[(\d+)\]|\[['\"](\w+)['\"]\])", argument or "")
        if dots is None:
            return node
        while isinstance(node, ast.Name) and node.id in self.made:
            node = self.made[node.id]
        if isinstance(node, ast.Dict):
            named = zip(node.keys, node.values)
            return next((v for k, v in named if isinstance(k, ast.Constant) and k.value == dots[3]), node)
        if not isinstance(node, ast.Call):
            return node
        if dots[1] is not None:
            keyword = next((k.value for k in node.keywords if k.arg == dots[1]), None)
            made = self.function.__globals__.get(getattr(node.func, "id", ""))
            fields = list(getattr(made, "_fields", ()) or getattr(made, "__dataclass_fields__", ()))
            at = fields.index(dots[1]) if dots[1] in fields else len(node.args)
            return keyword or (node.args[at] if at < len(node.args) else node)
        at = int(dots[2] or 0) + 1  # after the type
        return node.args[at] if at < len(node.args) else node

    def _partials(self, root: str | None) -> list[ast.expr]:
        node = self.anatomy.node
        if not isinstance(node, ast.Lambda):
            return []
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)][1:]
        parts = node.body.elts if isinstance(node.body, ast.Tuple) else [node.body]
        wanted = list(self.subject.names)
        pairs = zip(wanted if len(wanted) == len(parts) else names, parts)
        return [part for name, part in pairs if root in (None, name)]

    # -- what may be changed ---------------------------------------------------------------------------------

    def edits(self, seen: list[Seen]) -> Iterator[Edit]:
        """Changes to try, the likeliest first: where the mistake is likeliest to be, the small ones and those
        of the mistake; then small ones anywhere in the rule.
        """
        one, sites = seen[0], list(self.sites(seen))
        names = dict.fromkeys(s.argument for s in seen)
        targets = [node for name in names for node in self.cotangents_of(name)]
        if one.mistake in ("sign", "factor"):
            for site in sites:
                yield from left_out(site)
        if one.mistake == "conjugate":
            yield from conjugates_left_out(sites)
        if one.mistake in PLAIN:
            yield from self._of_mistake(one, sites)
        if len(names) > 1 or one.mistake == "swapped_arguments":
            for pullback in self.anatomy.pullbacks:
                for answer in self.anatomy.answers(pullback):
                    yield from exchanged(answer.node)
                    for _, node in answer.cotangents:
                        if isinstance(node, ast.Call) and len(names) > 1:
                            yield from swapped_parts(node)
        for pullback in self.anatomy.pullbacks:
            yield from names_wherever(pullback, self.bars())
            yield from other_statements(pullback)
            yield from all_transforms(pullback)
            for statement in own_nodes(pullback):
                if isinstance(statement, ast.Assign):
                    yield from other_targets(statement)
        for node in self._expressions(sites, elsewhere=False):
            yield from self._neighbours(node)
        for site in sites:
            yield from renamed(site, self._other_names)
        for node in self._expressions(sites, elsewhere=False):
            yield from self._slips(node)
        for node in {id(n): n for n in (*self.returned(), *sites)}.values():
            yield from everywhere(node, self._neighbours)
        if one.mistake not in PLAIN:
            yield from self._of_mistake(one, sites)
        yield from self._of_unread([*sites, *targets])
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
            yield from self._with_function(node)
        for node in looked_into:
            yield from self._from_numbers(node, whole=True)
        for node in self._expressions([*sites, *targets], elsewhere=True):
            yield from self._slips(node)
        for node in self._expressions([*sites, *targets], elsewhere=True):
            yield from self._changed_more(node)
        for node in targets if one.mistake not in PLAIN else ():
            yield from self._with_term(node)

    def _answering(self, sites: list[ast.expr]) -> list[ast.expr]:
        """The sites in the pullbacks, of which the answer is made; the parts of a sum after the whole."""
        inside = {id(n) for pullback in self.anatomy.pullbacks for n in ast.walk(pullback)}
        exprs = [site for site in sites if isinstance(site, ast.expr) and id(site) in inside]
        plain = (ast.BinOp, ast.Name, ast.Call, ast.UnaryOp)
        parts = [n for site in exprs for n in ast.walk(site) if isinstance(n, ast.BinOp) and n is not site]
        found = {id(n): n for n in (*exprs, *parts) if isinstance(n, plain) and not _is_zero(n)}
        return list(found.values())

    def _from_numbers(self, node: ast.expr, whole: bool) -> Iterator[Edit]:
        """An expression with the term that it lacks, as far as its numbers tell; what should stand there as a
        `whole`.
        """
        numpy = self._numpy()
        if numpy is None or self.subject.reverse is None or self.rule.partials is not None:
            return

        def make(hook: Hook) -> Subject | None:
            return self._changed([around], {HOOK: hook})

        if node not in self._looked_at:
            around = hooked(node, self._at_hand)
            self._looked_at[node] = observed(make, self._to_observe)
        functions = {name for code in codes_of(self.subject.primal) for name in names_of(code)}
        yield from terms(node, self._looked_at[node], numpy, functions, whole)

    @cached_property
    def _looked_at(self) -> dict[ast.expr, list[Observation]]:
        return {}

    @cached_property
    def _to_observe(self) -> list[Probe]:
        """The probes, and those in complex numbers before them: of real ones nothing tells of a conjugate."""
        codes = codes_of(self.subject.primal)
        if COMPLEX.isdisjoint(name for code in codes for name in names_of(code)):
            return self.probes
        more = (p for p in self.unseen.probes_there() if any(x.dtype.kind == "c" for x in p.truth.inputs))
        return [*more, *self.probes]

    @cached_property
    def _at_hand(self) -> list[str]:
        """The names that may stand for numbers within the pullbacks."""
        inner = (n.id for p in self.anatomy.pullbacks for n in ast.walk(p) if isinstance(n, ast.Name))
        local = [name for name in inner if name in self.anatomy.local_names]
        return list(dict.fromkeys(filter(None, (*self.bars(), *self._named, *local))))

    def _with_term(self, node: ast.expr) -> Iterator[Edit]:
        """A cotangent and one more term, a product of the cotangent of the value and of what the rule has:
        that of a product rule is easily forgotten.
        """
        known = dict.fromkeys((*self.anatomy.values, *self.anatomy.parameters))
        names = [n for n in known if n.isidentifier() and n not in self.bars()][:MOST_NAMES]
        while isinstance(node, ast.Name) and node.id in self.made:
            node = self.made[node.id]
        for bar, rest in itertools.product(filter(None, self.bars()), self._partial_products):
            for operator in (ast.Add(), ast.Sub()):
                new = ast.BinOp(node, operator, ast.BinOp(ast.Name(bar, ast.Load()), ast.Mult(), rest))
                yield Edit(node, new, "lacks_term", f"lacks a term: {instead(new, node)}")
        for count, bar in itertools.product((1, 2, 3), self.bars() if node not in self.returned() else ()):
            for factors in itertools.combinations(names, count):
                yield from with_term(node, (bar, *factors))

    @cached_property
    def _partial_products(self) -> list[ast.expr]:
        """The products of function and rule with one factor left out: of these derivatives are made."""
        found: dict[str, ast.expr] = {}
        for node in self._known_in_texts(ast.BinOp):
            if names_in(node).isdisjoint(self.bars()):
                found |= {ast.dump(rest): rest for rest in without_one(node)}
        return list(found.values())[:MOST_PRODUCTS]

    def _of_mistake(self, seen: Seen, sites: list[ast.expr]) -> Iterator[Edit]:
        sites = [site for site in sites if isinstance(site, ast.expr)]
        for site, bar, text in itertools.product(sites, self.bars(), seen.edits):
            new = self._filled(text, site, bar)
            if new is not None:
                yield Edit(site, new)

    def _of_unread(self, sites: list[ast.expr]) -> Iterator[Edit]:
        """What was computed and is never used, put back into the cotangent."""
        for name in unread(self.anatomy.node):
            yield from (Edit(site, ast.Name(name, ast.Load())) for site in sites if _is_zero(site))
            others = [n for n in (*self.anatomy.values, *self.anatomy.parameters, *self.bars()) if n != name]
            for node in self._expressions(sites, elsewhere=False):
                yield from with_one_more(node, name, others)

    def _with_factor(self, node: Any) -> Iterator[Edit]:
        """An expression times a number, or something of the rule, or where a condition holds."""
        if self._is_factor(node):
            whole = (2, *(int(m) for m in self.marks if 2 < m <= 12 and m == int(m)))
            yield from times(node, map(ast.Constant, dict.fromkeys(whole)))
            yield from times(node, (ast.Name(n, ast.Load()) for n in self._factors(node)))
            yield from masked(node, self._conditions)
            numpy = self._numpy()
            if isinstance(node, ast.Call) and numpy is not None:
                yield from times(node, (parse(c.format(numpy), mode="eval").body for c in _CONSTANTS))
            values = (ast.Name(n, ast.Load()) for n in self.anatomy.values if n in self.made)
            rests = [ast.BinOp(ast.Constant(1), ast.Sub(), value) for value in values]
            yield from times(node, rests)
        elif isinstance(node, ast.Constant) and type(node.value) is float and node.value:
            yield from masked(node, self._conditions)

    def _with_function(self, node: Any) -> Iterator[Edit]:
        """An expression times a matrix, or a function of something of the rule."""
        if not self._is_factor(node):
            return
        if self._is_array:
            yield from matrix_times(node, self._factors(node))
        numpy = self._numpy()
        if numpy is not None:
            insides = [*self._pieces(), *(ast.Name(n, ast.Load()) for n in self.anatomy.parameters)]
            for name in ("log", "cos", "sin", "exp"):
                yield from times(node, (_call(numpy, name, inside) for inside in insides))

    def _is_factor(self, node: Any) -> bool:
        if not isinstance(node, _FACTORS) or self.is_module(node):
            return False
        return not isinstance(node, ast.Attribute) or node.attr == "T"

    def _factors(self, node: Any) -> list[str]:
        names = [n for n in (*self.anatomy.values, *self.anatomy.parameters, *self.made) if n.isidentifier()]
        return [n for n in dict.fromkeys(names) if self.made.get(n) is not node]

    def _pieces(self) -> list[ast.expr]:
        """The expressions that the rule hands to functions of one argument."""
        calls = [n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Call) and len(n.args) == 1]
        known = {*self.anatomy.parameters}
        handed: list[ast.expr] = [call.args[0] for call in calls if isinstance(call.args[0], ast.BinOp)]
        return list({ast.dump(x): x for x in handed if names_in(x) <= known}.values())[:4]

    def returned(self) -> list[ast.expr]:
        """What the pullbacks return."""
        return [node for pullback in self.anatomy.pullbacks for node in returns_of(pullback)]

    def values(self) -> list[ast.expr]:
        """What the rule returns as the value of the function."""
        pairs = [v for v in self.anatomy.returned if isinstance(v, ast.Tuple) and v.elts]
        return [pair.elts[0] for pair in pairs]

    def bars(self) -> list[str]:
        """What the pullbacks call the cotangent they are handed."""
        names = [p.args.args[0].arg for p in self.anatomy.pullbacks if p.args.args]
        return list(dict.fromkeys(names)) or [""]

    def _numpy(self) -> str | None:
        space = self.function.__globals__
        return next((name for name, value in space.items() if value is np and name.isidentifier()), None)

    def _filled(self, text: str, it: ast.expr, bar: str) -> ast.expr | None:
        """A template with IT, BAR and NP filled in, and constants such as `log(2)`; None where something of
        it has no name in the rule.
        """
        node = parse(text, mode="eval").body
        bar_node = ast.Name(bar, ast.Load())
        known: dict[str, ast.expr] = {"IT": it, "BAR": bar_node, "y_bar": bar_node}
        numpy = self._numpy()
        if numpy is not None:
            known["NP"] = known["np"] = ast.Name(numpy, ast.Load())
            own = {*self.anatomy.local_names, *self.function.__globals__}
            for name in OF_CONSTANTS - own:
                known[name] = ast.Attribute(known["NP"], name, ast.Load())

        class Fill(ast.NodeTransformer):
            def visit_Name(self, name: ast.Name) -> ast.expr:
                return copy.deepcopy(known.get(name.id, name))

        if "BAR" in text and not bar:
            return None
        wanted = names_in(node) - set(known)
        mine = self.anatomy.local_names
        space = self.function.__globals__
        for name in wanted:
            if name not in mine and not (name == "rl" and "rl" in space) and not hasattr(builtins, name):
                if not name.endswith("Tangent") or name not in space:
                    return None
        if "NP" in names_in(node) and numpy is None:
            return None
        if "np" in names_in(node) and numpy is None:
            return None
        return Fill().visit(node)

    def _expressions(self, targets: list[ast.expr], elsewhere: bool) -> Iterator[Any]:
        """The expressions in which a mistake may be: those of the targets, or of the rule `elsewhere`."""
        inside = {id(node) for root in targets for node in ast.walk(root)}
        scopes: list[Any] = [*self.anatomy.pullbacks, self.anatomy.node]
        roots = (n for scope in scopes for n in own_nodes(scope)) if elsewhere else iter(targets)
        seen: set[int] = set()
        for root in roots:
            for node in ast.walk(root):
                if id(node) in seen or (elsewhere and id(node) in inside):
                    continue
                seen.add(id(node))
                if isinstance(node, (ast.Assign, ast.AugAssign)):
                    yield node
                elif isinstance(node, ast.expr) and not is_stored(node):
                    yield node

    def _neighbours(self, node: Any) -> Iterator[Edit]:
        """What an author may have meant by an expression: the same with one small thing changed."""

        def made(new: ast.expr, mistake: str) -> Edit:
            words = f"has `{ast.unparse(node)}` where `{ast.unparse(new)}` belongs"
            return Edit(node, new, mistake, words)

        if id(node) in self._indices:
            yield from other_indices(node, self._indexing)
        if id(node) in self._gone_through:
            yield from other_orders(node)
        if isinstance(node, ast.BinOp):
            yield from other_operators(node)
            yield from regrouped(node)
            if isinstance(node.op, (ast.Mult, ast.Div)) and id(node) not in self._in_chains:
                yield from rechained(node)
                yield from halves(node, self._named)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield made(node.operand, "sign")
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            lengths = self._lengths(("len({})", "{}.size", "{}.shape[0]", "{}.shape[1]"))
            yield from other_numbers(node, [m for m in self.marks if m != node.value], lengths)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from other_comparisons(node, self.marks)
            yield from other_conditions(node, self._conditions)
        elif isinstance(node, ast.Call):
            yield from other_calls(node)
            yield from other_transforms(node, self._lengths(("len({})", "{}.shape[-1]", "{}.size")))
            if self._is_ranked(None) and not self.is_module(node.func):
                yield from turned_round(node)
            for name, whole in self.made.items():
                if isinstance(whole, ast.Call) and whole is not node and _calls_the_same(whole, node):
                    yield made(ast.Name(name, ast.Load()), "wrong_variable")
        elif isinstance(node, ast.Attribute) and node.attr == "T":
            yield made(node.value, "transposed")
        elif isinstance(node, ast.Attribute) and node.attr in ("real", "imag"):
            other = ast.Attribute(node.value, "imag" if node.attr == "real" else "real", ast.Load())
            yield made(node.value, "conjugate")
            yield made(other, "conjugate")
        elif isinstance(node, ast.Name):
            if self._is_value(node):
                yield made(ast.BinOp(node, ast.Pow(), ast.Constant(2)), "factor")
            yield from (made(other, "wrong_variable") for other in self._other_names(node))
            stands_for = self.made.get(node.id)
            if isinstance(stands_for, ast.BinOp):  # a part of what the name stands for
                yield from (made(part, "factor") for part in (stands_for.left, stands_for.right))
        elif isinstance(node, ast.Slice):
            yield from other_slices(node)
        elif isinstance(node, ast.AugAssign):
            yield from other_updates(node)
            yield from rows_written(node, self._numpy())
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield from self._written(node)
        if isinstance(node, ast.Subscript):
            yield from turned_round(node)
        if self._is_value(node):
            if self._is_array:
                yield made(ast.Attribute(node, "T", ast.Load()), "transposed")
            yield made(ast.UnaryOp(ast.USub(), node), "sign")
        numpy = self._numpy()
        if isinstance(node, ast.BinOp) and numpy is not None:
            yield made(_call(numpy, "sqrt", node), "power")

    def _slips(self, node: Any) -> Iterator[Edit]:
        """What an author may have meant by what has several parts, or is a part of something elsewhere."""
        numpy = self._numpy() or "np"
        if isinstance(node, (ast.List, ast.Tuple)) and id(node) in self._literals:
            yield from other_entries(node)
        elif isinstance(node, ast.AugAssign):
            yield from added_at(node, numpy)
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", "")
            yield from other_letters(node)
            yield from other_modes(node)
            if called in _ALONG:
                yield from other_axes(node, self.is_module)
            yield from other_buffers(node, numpy, filter(self._is_ranked, self.anatomy.parameters))
        elif isinstance(node, ast.Subscript):
            yield from other_modes(node)
            yield from folded(node)
        if id(node) in self._indices:
            yield from other_cuts(node, self._cuts)
            if isinstance(node, ast.Slice):
                yield from moved_cuts(node)
        if not self._is_value(node) and not isinstance(node, ast.Subscript):
            return
        yield from wider_parts(node, self._wholes)
        yield from turned_sums(node, numpy)
        if self._is_array:
            yield from other_lays(node)
        names = [name for name in _TRANSFORMS if name in self._called]
        if names and isinstance(node, (ast.Name, ast.BinOp)):
            yield from transforms_around(node, numpy, names, self._lengths(("len({})",)))
        around = dict.fromkeys(sorted(_TRIANGLES & self._called), "triangle")
        if self._is_complex() and getattr(getattr(node, "func", None), "attr", "") not in _CONJUGATES:
            around["conj"] = "conjugate"
        for name, mistake in around.items():
            new = _call(numpy, name, node)
            yield Edit(node, new, mistake, instead(new, node))

    @cached_property
    def _called(self) -> set[str]:
        """The names of attributes that the function uses."""
        return {name for code in codes_of(self.subject.primal) for name in code.co_names}

    @cached_property
    def _literals(self) -> set[int]:
        """The literals that arrays are made of."""
        calls = [n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Call) and n.args]
        made = [c.args[0] for c in calls if getattr(c.func, "attr", "") in ("array", "asarray", "stack")]
        return {id(n) for one in made for n in ast.walk(one) if isinstance(n, (ast.List, ast.Tuple))}

    @cached_property
    def _wholes(self) -> list[ast.expr]:
        """The sums and calls that stand in the rule, and those of the function in names of the rule."""
        return [node for node in self._known_in_texts(ast.BinOp, ast.Call) if _is_whole(node)]

    @cached_property
    def _cuts(self) -> list[ast.expr]:
        """What stands in brackets in the rule and in the function, in names that the rule has."""
        cuts = {ast.dump(n.slice): n.slice for n in self._known_in_texts(ast.Subscript)}  # type: ignore[attr-defined]
        return [one for one in cuts.values() if not isinstance(getattr(one, "value", None), str)]

    def _known_in_texts(self, *kinds: type) -> list[ast.expr]:
        """The expressions of some kinds in the rule and in the function, in names that the rule has."""
        known = {*self._named, *self._looping, self._numpy()}
        roots = [root for root in (self.anatomy.node, self._primal_node) if root is not None]
        found: dict[str, ast.expr] = {}
        for node in (n for root in roots for n in ast.walk(root) if isinstance(n, kinds)):
            if names_in(node.slice if isinstance(node, ast.Subscript) else node) <= known:
                found.setdefault(ast.dump(node), node)  # type: ignore[arg-type]
        return list(found.values())

    @cached_property
    def _looping(self) -> list[str]:
        """The names that loops, and sequences taken apart, give values to."""
        nodes = list(ast.walk(self.anatomy.node))
        targets = [n.target for n in nodes if isinstance(n, (ast.For, ast.comprehension))]
        assigned = [t for n in nodes if isinstance(n, ast.Assign) for t in n.targets]
        targets += [t for t in assigned if isinstance(t, ast.Tuple)]
        return list(dict.fromkeys(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)))

    @cached_property
    def _primal_node(self) -> Any:
        """The tree of the function, None where there is no text of it."""
        try:
            return find_source(codes_of(self.subject.primal)[0]).node
        except (RuleLabError, AttributeError, IndexError):
            return None

    @cached_property
    def _stored_into(self) -> set[int]:
        """What is written to: the owners of the elements that statements store."""
        stored = (n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Subscript) and is_stored(n))
        return {id(n.value) for n in stored}

    def _is_value(self, node: Any) -> bool:
        return isinstance(node, (ast.Name, ast.BinOp, ast.Call)) and not self.is_module(node)

    def _changed_more(self, node: Any) -> Iterator[Edit]:
        """An expression with something around it that may have been forgotten."""
        if not self._is_value(node):
            return

        def made(new: ast.expr, mistake: str) -> Edit:
            words = f"has `{ast.unparse(node)}` where `{ast.unparse(new)}` belongs"
            return Edit(node, new, mistake, words)

        yield from self._wrapped(node, made)
        if isinstance(node, ast.Name) and self._is_array:
            twice = ast.BinOp(node, ast.Add(), ast.Attribute(node, "T", ast.Load()))
            yield made(twice, "transposed")
            yield made(ast.BinOp(twice, ast.Div(), ast.Constant(2)), "transposed")

    def _written(self, node: ast.Assign) -> Iterator[Edit]:
        """An assignment that should add to what is there, or write elsewhere, or something else than zero."""
        target = node.targets[0]
        again = isinstance(target, ast.Name) and target.id in self.updates
        if isinstance(target, ast.Subscript) or again:
            yield from added(node)
        yield from rows_written(node, self._numpy())
        if isinstance(target, ast.Subscript) and isinstance(node.value, ast.Constant):
            for bar in filter(None, self.bars()):
                new = ast.Subscript(ast.Name(bar, ast.Load()), target.slice, ast.Load())
                words = f"has `{ast.unparse(node.value)}` where `{ast.unparse(new)}` belongs"
                yield Edit(node.value, new, "lacks_term", words)

    def _lengths(self, forms: tuple[str, ...]) -> list[ast.expr]:
        """The lengths of the arguments that are arrays."""
        names = filter(self._is_ranked, self.anatomy.parameters)
        return [parse(form.format(name), mode="eval").body for name in names for form in forms]

    @cached_property
    def _named(self) -> list[str]:
        """What a name may stand for in a formula: parameters, cotangents, what the rule has computed."""
        known = dict.fromkeys((*self.anatomy.parameters, *self.bars(), *self.anatomy.values, *self.made))
        return [name for name in known if name.isidentifier()]

    @cached_property
    def _indices(self) -> set[int]:
        """What stands alone in brackets, or between commas there."""
        inside = [n.slice for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Subscript)]
        return {id(part) for i in inside for part in (i.elts if isinstance(i, ast.Tuple) else [i])}

    @cached_property
    def _indexing(self) -> list[str]:
        """The parameters that are whole numbers, such as indices, and what was computed and is never used."""
        found = dict.fromkeys(unread(self.anatomy.node), True)
        for probe in self.probes:
            for name, x in zip(self.subject.names, probe.point.inputs):
                if isinstance(x, np.ndarray) and x.dtype.kind in "iu" and name in self.anatomy.parameters:
                    found[name] = True
        return list(found)

    @cached_property
    def _gone_through(self) -> set[int]:
        """What loops go through."""
        loops = (n for n in ast.walk(self.anatomy.node) if isinstance(n, (ast.For, ast.comprehension)))
        return {id(loop.iter) for loop in loops}

    @cached_property
    def _in_chains(self) -> set[int]:
        """The products that are factors of another product."""
        plain = (ast.Mult, ast.Div)
        chains = [
            n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.BinOp) and isinstance(n.op, plain)
        ]
        return {id(part) for n in chains for part in (n.left, n.right)}

    @cached_property
    def _conditions(self) -> list[ast.expr]:
        """The conditions of the function, in names that the rule has."""
        numpy, function = self._numpy(), self._primal_node
        if function is None:
            return []
        known = {*self._named, numpy}
        mine = [n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Compare) and len(n.ops) == 1]
        found = [*conditions_of(function, numpy or ""), *mine]
        kept = [one for one in found if names_in(one) <= known][:MOST_NAMES]
        return [*kept, *(ast.UnaryOp(ast.Invert(), one) for one in kept if isinstance(one, ast.Compare))]

    def _wrapped(self, node: ast.expr, made: Callable[[ast.expr, str], Edit]) -> Iterator[Edit]:
        """A value in a call or a power that may have been forgotten."""
        numpy = self._numpy()
        if isinstance(node, ast.Name):
            if self._is_ranked(None):
                yield made(parse(f"{node.id}[::-1]", mode="eval").body, "off_by_one")
        if numpy is None:
            return
        if self._is_complex():
            yield made(_call(numpy, "conj", node), "conjugate")
        names = {name for code in codes_of(self.subject.primal) for name in code.co_names}
        if isinstance(node, ast.Name) and node.id in self.bars() and "cumsum" in names:
            text = f"{numpy}.cumsum({node.id}[::-1])[::-1]"
            yield made(parse(text, mode="eval").body, "lacks_sum")
        if isinstance(node, ast.Name) and node.id in self.made:
            return  # what it stands for gets the sum
        if self._is_ranked(None):
            yield made(_call(numpy, "sum", node), "lacks_sum")
        if self._is_array:
            if "linalg" in {name for code in codes_of(self.subject.primal) for name in code.co_names}:
                inverse = parse(f"{numpy}.linalg.inv({ast.unparse(node)})", mode="eval").body
                yield made(inverse, "lacks_inverse")
                yield made(ast.Attribute(inverse, "T", ast.Load()), "lacks_inverse")
            for axis in (0, 1, -1):
                kept = [ast.keyword("axis", ast.Constant(axis)), ast.keyword("keepdims", ast.Constant(True))]
                yield made(_call(numpy, "sum", node, *kept), "lacks_sum")

    def _other_names(self, node: ast.Name) -> Iterator[ast.expr]:
        known = (*self.anatomy.parameters, *self.bars(), *self.anatomy.values, *self._looping)
        if node.id in known:
            for name in dict.fromkeys(known):
                if name and name != node.id:
                    yield ast.Name(name, ast.Load())

    @cached_property
    def marks(self) -> tuple[float, ...]:
        """The numbers in the function, of which one may belong into the rule."""
        return landmarks(codes_of(self.subject.primal))

    def _is_ranked(self, name: str | None) -> bool:
        """Whether an argument (None: any, or the value) is an array somewhere."""
        for probe in self.probes:
            named = dict(zip(self.subject.names, probe.point.inputs))
            values = (*named.values(), probe.truth.y) if name is None else (named.get(name),)
            if any(isinstance(x, np.ndarray) and x.ndim for x in values):
                return True
        return False

    @cached_property
    def _is_array(self) -> bool:
        """Whether a matrix is among the arguments, or is the value, somewhere."""
        values = (x for p in self.probes for x in (*p.point.inputs, p.truth.y))
        return any(isinstance(x, np.ndarray) and x.ndim == 2 for x in values)

    def _is_complex(self) -> bool:
        return any(
            leaf.dtype.kind == "c" for p in self.probes for leaf in (*p.truth.inputs, *p.truth.outputs)
        )

    # -- trying ----------------------------------------------------------------------------------------------

    def correction(self, seen: list[Seen]) -> tuple[list[Edit], str] | None:
        """Edits, one for all arguments that are wrong or one for each, with which the rule is right at every
        probe and wherever else it was asked, and the diff that shows them; None where there are none among so
        many tries.
        """
        arguments = list(dict.fromkeys(one.argument for one in seen))
        found = self._searched(seen, arguments)
        edits = list(found.all) if found is not None else []
        if found is None and len(arguments) > 1 and all(name in self.each for name in arguments):
            edits = list({id(e.old): e for each in self.each.values() for e in each.all}.values())
            if not self._is_right(edits):
                return None
        text = self.diff(edits) if edits else ""
        return (edits, text) if text else None

    def _searched(self, seen: list[Seen], arguments: list[str | None]) -> Edit | None:
        """The first edit that makes the whole rule right. Those that make the cotangent of one of several
        wrong arguments right are kept as well.
        """
        tried: set[tuple[int, str]] = set()
        several = len(arguments) > 1
        for edit in self._by_likelihood(seen):
            key = (id(edit.old), ast.dump(edit.new) + "".join(ast.dump(one.new) for one in edit.more))
            if key in tried or any(self._is_lost(one) for one in edit.all):
                continue
            if len(tried) % LOOKS == 0 and self._limit.is_over() or len(tried) == self.tries:
                return None
            if len(tried) > self.tries // 2 and several and all(name in self.each for name in arguments):
                return None
            tried.add(key)
            changed = self._changed(list(edit.all))
            answers = None if changed is None else _answered(changed, self._asked[0])
            if answers is None or changed is None:
                continue
            if all(answers.values()) and self._is_right(list(edit.all), changed):
                if self.diff(list(edit.all)):
                    return edit
                self.nearest, self.almost = edit, ""  # right, and the text cannot show it
                return None
            if all(answers.values()) and self.nearest is None and self._is_right_in_numbers(changed):
                self.nearest = edit
            for name in arguments if several else ():
                if name is not None and name not in self.each and answers.get(name):
                    if self._is_right_for(changed, name):
                        self.each[name] = edit
        return None

    def _is_lost(self, edit: Edit) -> bool:
        """Whether an edit would write to what nobody reads: the elements of the value of an expression."""
        return id(edit.old) in self._stored_into and not isinstance(edit.new, (ast.Name, ast.Attribute))

    def _by_likelihood(self, seen: list[Seen]) -> Iterator[Edit]:
        """The edits for all that is wrong together, those first that its mistakes ask for; then for each
        argument that is wrong.
        """
        apart = list({one.argument: one for one in seen}.values())
        if len(apart) > 1:
            for one in apart:
                yield from self._of_mistake(one, list(self.sites([one])))
        yield from self.edits(seen)
        if len(apart) > 1:
            yield from itertools.chain.from_iterable(self.edits([one]) for one in apart)

    def _is_right_for(self, changed: Subject, argument: str) -> bool:
        """Whether a changed rule gives the right cotangent of an argument at every probe."""
        return self._are_right(lambda probe: is_right_at(changed, probe, argument))

    def _are_right(self, is_right: Callable[[Probe], bool]) -> bool:
        for at, probe in enumerate(self._asked):
            if not is_right(probe):
                # What one edit fails at, the next one is likely to.
                self._asked.insert(0, self._asked.pop(at))
                return False
        return True

    def _is_right(self, edits: list[Edit], changed: Subject | None = None) -> bool:
        """Whether the whole rule is right with some edits, at the probes and wherever else it was asked."""
        changed = changed or self._changed(edits)
        if changed is None or not self._are_right(lambda p: is_right_at(changed, p, with_kinks=False)):
            return False
        first = self.probes[0]
        other = next((p for p in self.probes[1:] if p.failure is None), None)
        for probe in self.probes:
            watched = probe is first or any(probe.point is point for point in self.watched)
            if not is_right_at(changed, probe, None, watched, other=other):
                return False
        there = self.unseen.probes_there()
        bad = next((p for p in there if not is_right_at(changed, p, roughly=ROUGHLY)), None)
        if bad is not None:
            self.unseen.ask_first(bad)
        if bad is not None and not self.almost and self._is_right_nearly_everywhere(changed):
            text = " and ".join(f"`{ast.unparse(e.new)}` for `{ast.unparse(e.old)}`" for e in edits)
            where = f"is wrong elsewhere ({bad.point.origin})"
            self.nearest = edits[0]
            self.almost = f"{text} would be right at the points of the check, and {where}"
        return bad is None

    def _is_right_nearly_everywhere(self, changed: Subject) -> bool:
        """Whether a changed rule fails at few points only: at those of a quick check nearly any is right."""
        there = itertools.islice(self.unseen.probes_there(), SOME)
        right = [is_right_at(changed, p, roughly=ROUGHLY, with_kinks=False) for p in there]
        return sum(right) >= NEARLY_ALL * len(right)

    def _is_right_in_numbers(self, changed: Subject) -> bool:
        """Whether a changed rule gives the right numbers nearly wherever its own are wrong, be they
        complex for a real argument: that is another matter than the mistake.
        """
        there = self._wrong_in_numbers
        return len(there) > 1 and sum(_in_numbers(changed, p) for p in there) >= NEARLY_ALL * len(there)

    @cached_property
    def _wrong_in_numbers(self) -> list[Probe]:
        """The probes at which the numbers of the rule as it is are wrong."""
        return [probe for probe in self.probes if not _in_numbers(self.subject, probe)]

    def _changed(self, edits: list[Edit], known: dict[str, Any] | None = None) -> Subject | None:
        """The subject with the rule so edited, or None where that cannot be run; `known` are more globals."""
        function = self._rebuilt(edits, known)
        if function is None or self.rule.requires:
            return None
        target, rule = self.subject.primal, self.rule
        if rule.partials is not None:
            make = scalar_frule if rule.mode == "frule" else scalar_rrule
            built = make(target, rule.target_name, function)
            changed = dataclasses.replace(rule, function=built, partials=function, tags={})
        else:
            changed = dataclasses.replace(rule, function=function, tags={})

        def reverse(*inputs: Any, **keywords: Any) -> tuple[Any, Callable]:
            y, back = apply_rrule(changed, target, inputs, keywords)

            def answer(y_bar: Any) -> tuple:
                return tuple(back(y_bar))[1:]

            answer.__wrapped__ = back  # type: ignore[attr-defined]
            return y, answer

        def forward(tangents: tuple, *inputs: Any, **keywords: Any) -> tuple[Any, Any]:
            return apply_frule(changed, target, (NoTangent(), *tangents), inputs, keywords)

        return dataclasses.replace(
            self.subject,
            reverse=None if self.subject.reverse is None else reverse,
            forward=None if self.subject.forward is None else forward,
            codes=(),
        )

    def _rebuilt(self, edits: list[Edit], known: dict[str, Any] | None = None) -> types.FunctionType | None:
        """The author's function with one expression changed, over the same globals and the same cells.

        Only its code is compiled; no statement around it is run, so that nothing is bound anew.
        """
        old = self.function
        try:
            if len(edits) == 1:
                with self._slots.edited(edits[0]) as tree:
                    code = code_of(tree, old.__code__)
            else:
                code = code_of(ast.fix_missing_locations(with_edits(self.anatomy.node, edits)), old.__code__)
        except (SyntaxError, ValueError, TypeError):
            return None
        cells = dict(zip(old.__code__.co_freevars, old.__closure__ or ()))
        if code is None or not set(code.co_freevars) <= set(cells):
            return None
        closure = tuple(cells[name] for name in code.co_freevars)
        space = old.__globals__ if known is None else {**old.__globals__, **known}
        made = types.FunctionType(code, space, old.__name__, old.__defaults__, closure)
        made.__kwdefaults__ = old.__kwdefaults__
        return made

    def diff(self, edits: list[Edit]) -> str:
        """The edits in the author's own lines, as a unified diff; empty where the text cannot show them."""
        source = self.anatomy.source
        lines = [line.rstrip("\n") for line in source.lines]
        if any((edit.old.end_lineno or 0) > len(lines) for edit in edits):
            return ""
        wanted = ast.dump(with_edits(self.anatomy.node, edits))
        name = Place(source.filename, 1).label().split(", line")[0]
        ordered = sorted(edits, key=lambda e: (e.old.lineno, e.old.col_offset), reverse=True)
        for form in ("{}", "({})"):
            changed, fewer = lines, 0
            for edit in ordered:
                changed = replaced(changed, edit.old, form.format(_text(edit, lines)))
                fewer += (edit.old.end_lineno or edit.old.lineno) - edit.old.lineno
            if dump_of(changed, self.anatomy.node, fewer) == wanted:
                made = difflib.unified_diff(lines, changed, name, f"{name}, corrected", lineterm="", n=0)
                return "\n".join(made)
        return ""


def _is_whole(node: ast.expr) -> bool:
    """Whether an expression is a sum, or a function of one thing: a part may stand alone by mistake."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Add, ast.Sub))
    called = getattr(getattr(node, "func", None), "attr", "")
    return isinstance(node, ast.Call) and len(node.args) == 1 and called in _PLAIN_CALLS


def _calls_the_same(one: ast.Call, other: ast.Call) -> bool:
    return ast.dump(one.func) == ast.dump(other.func)


def _is_zero(node: ast.expr) -> bool:
    """Whether an expression is a zero of ours: `rl.ZeroTangent()`, `NoTangent()`, also when given a name."""
    called = node.func if isinstance(node, ast.Call) and not node.args else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in ("ZeroTangent", "NoTangent")


def _text(edit: Edit, lines: list[str]) -> str:
    """What an edit writes: a tuple without brackets where the author wrote none."""
    text = ast.unparse(edit.new)
    start = lines[edit.old.lineno - 1].encode()[edit.old.col_offset :]
    return text[1:-1] if isinstance(edit.new, ast.Tuple) and not start.startswith(b"(") else text


def _call(numpy: str, name: str, node: ast.expr, *keywords: ast.keyword) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name(numpy, ast.Load()), name, ast.Load()), [node], list(keywords))


def _in_numbers(subject: Subject, probe: Probe) -> bool:
    """Whether the numbers of a rule are right at a probe, whatever their kind."""
    return is_right_at(subject, probe, roughly=ROUGHLY, with_kinks=False, with_kinds=False)


def _answered(subject: Subject, probe: Probe) -> dict[str, bool] | None:
    """Which cotangents are right, roughly, in the answer to one cotangent of the value: a quick look that
    most edits do not pass. None where there is no answer.
    """
    truth, seed = probe.truth, probe.seeds[-1:]
    leaves = truth.inputs if truth.whole else truth.columns
    if subject.reverse is None or not len(probe.seeds):
        return {leaf.name: True for leaf in leaves}
    with quiet():
        try:
            _, back = subject.reverse(*fresh(probe.point.inputs), **copy.deepcopy(dict(probe.point.kwargs)))
            found = reverse_answer(back, truth.y, seed[0], probe.point)[None, :]
            expected, bars = weighted(seed, truth.slopes.value, truth.slopes.error)
            apart = np.abs((found if truth.whole else found @ truth.directions) - expected)
        except Exception:
            return None
        known = np.isfinite(expected) & np.isfinite(bars)
        size = np.abs(expected[known]).max(initial=0.0)
        near = (apart <= 2e-3 * size + 8 * bars + 1e-9) | ~known
    right: dict[str, bool] = {}
    for leaf in leaves:
        right[leaf.name] = right.get(leaf.name, True) and bool(np.all(near[:, leaf.start : leaf.stop]))
    return right


def surgery(
    subject: Subject, probes: list[Probe], tries: int = MOST_TRIED, elsewhere: Sequence[Point] = ()
) -> Surgery | None:
    """The rule's text, ready to be changed; None where there is no rule of an author's, or no text.

    Corrections, at most so many `tries`, are tried at the probes in this order: those first at which the rule
    is wrong.
    """
    rule = subject.rule
    if rule is None or rule.house:
        return None
    try:
        return Surgery(subject, probes, tries, elsewhere)
    except (RuleLabError, AttributeError):
        return None
