"""The text of one rule, the rule rebuilt with some expressions changed, and the diff that shows them."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import difflib
import re
import types
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ...errors import Place
from ...rules.calling import apply_frule, apply_rrule
from ...rules.rule import Rule
from ...rules.scalar import scalar_frule, scalar_rrule
from ...tangents.zeros import NoTangent
from ..calling.budgets import Limit
from ..calling.endless_loops import raising_if_endless
from ..calling.subjects import Subject, has_loop, makes_functions
from ..probing.probes import Point, Probe
from ..reading.anatomy import Anatomy, anatomy_of, gives_functions, names_in, own_nodes
from ..reading.editing import (
    Edit,
    Slots,
    code_of,
    dump_of,
    function_of,
    is_block,
    is_stored,
    replaced,
    with_edits,
    without_passes,
)  # fmt: skip
from .reading import Reading
from .verifying import Unseen

MOST_TRIED, MOST_WHERE_KNOWN = 1800, 1500
"""How many single changes of a rule are tried, and how many if intermediate values show which statement is
wrong: what is found is nearly always among the first 700 of these; if nothing is found, all of them are run.
"""
SECONDS = 20.0
"""The limit of processor time for a correction, far above what so many tries take, so that the result does
not depend on the machine.
"""
LINES_OF_A_CHANGE = 50_000
"""After how many lines a changed rule counts as endless: it is called at small points only."""


def _of_each(node: ast.expr) -> ast.expr:
    """The expression for each argument, if cotangents are unpacked with `*`."""
    whole = node.value if isinstance(node, ast.Starred) else node
    return whole.elt if isinstance(whole, (ast.GeneratorExp, ast.ListComp)) else whole


class Patched(Reading):
    """The text of one rule, and the rule after an edit."""

    def __init__(
        self,
        subject: Subject,
        probes: list[Probe],
        tries: int = MOST_TRIED,
        elsewhere: Sequence[Point] = (),
        others: Sequence[Probe] = (),
    ) -> None:
        assert subject.rule is not None
        self.subject, self.probes, self.tries = subject, probes, tries
        # The same probes in the order in which edits are tried at them.
        self._asked = sorted(probes, key=lambda probe: probe.failure is not None)
        self.almost = ""  # a change that is right at every probe but not elsewhere, in words
        self.nearest: Edit | None = None  # and that change
        self.watched: list[Point] = []  # where the rule had effects that no correction may have
        self.accused: frozenset[str | None] = frozenset()  # arguments whose cotangents are wrong
        self.each: dict[str, Edit] = {}  # changes that make one of several cotangents right
        self._is_nan = False
        self.perhaps: Edit | None = None  # a change that is right where it is surely intended
        self._is_doubtful = False  # whether the last change tried is such a change
        self.unseen, self._limit = Unseen(subject, probes, elsewhere, others), Limit(SECONDS)
        self.rule = subject.rule
        self.anatomy: Anatomy = anatomy_of(self._stated(), subject.primal)
        self.function, self._slots = self.anatomy.rule.function, Slots(self.anatomy.node)
        super().__init__(self.anatomy.source, (*self.anatomy.pullbacks, self.anatomy.node), self.function)

    @property
    def is_forward(self) -> bool:
        """Whether this is a handwritten forward rule."""
        return self.rule.mode == "frule" and self.rule.partials is None

    @cached_property
    def answering(self) -> tuple[Any, ...]:
        """The functions that compute cotangents: the pullbacks; for a forward rule, all of it."""
        return (self.anatomy.node,) if self.is_forward else tuple(self.anatomy.pullbacks)

    @cached_property
    def tangent_names(self) -> dict[str, str]:
        """The names of the arguments' tangents in a forward rule: `_, dx, dy = tangents`."""
        arguments = self.anatomy.node.args
        first = next((a.arg for a in (*arguments.posonlyargs, *arguments.args)), None)
        for node in own_nodes(self.anatomy.node):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            value = node.value if isinstance(node, ast.Assign) else None
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Name) and value.id == first:
                pairs = zip(self.subject.names, target.elts[1:])
                return {name: one.id for name, one in pairs if isinstance(one, ast.Name)}
        return {}

    def judged_cotangents(self) -> list[ast.expr]:
        """All cotangents except those of arguments that are held fixed, such as indices, which may be wrong
        as well.
        """
        judged = {re.split(r"[.[]", leaf.name)[0] for p in self.probes for leaf in p.truth.inputs}
        held = (name for name in self.anatomy.parameters if name not in judged)
        unknown = {id(node) for name in held for node in self.cotangents_of(name)}
        return [node for node in self.cotangents_of(None) if id(node) not in unknown]

    def _stated(self) -> Rule:
        """The rule with the function that its author wrote; for a scalar rule, that of the partials."""
        if self.rule.partials is None:
            return self.rule
        return dataclasses.replace(self.rule, function=self.rule.partials)

    def cotangents_of(self, argument: str | None) -> list[ast.expr]:
        """The expressions that compute the cotangent of an argument (None: of all arguments), the returned
        ones first.
        """
        root = argument.split(".")[0].split("[")[0] if argument else None
        found: list[ast.expr] = []
        if self.rule.partials is not None:
            found += self._partials(root)
        elif self.rule.mode == "frule":
            returned = [v for v in self.anatomy.returned if isinstance(v, ast.Tuple) and len(v.elts) == 2]
            found += [*self._made_of_tangent(root), *(v.elts[1] for v in returned)]
        else:
            for pullback in self.anatomy.pullbacks:
                for answer in self.anatomy.answers(pullback):
                    of_root = [node for name, node in answer.cotangents if root in (None, name)]
                    found += [self._part(node, argument) for node in of_root]
                    found += [_of_each(node) for _, node in answer.cotangents if self._is_of_rest(node, root)]
        return [node for node in found if not isinstance(node, ast.Starred)]

    def _made_of_tangent(self, root: str | None) -> list[ast.expr]:
        """The expressions that a forward rule assigns and that read the tangent of an argument."""
        name = self.tangent_names.get(root or "")
        assigned = (n for n in own_nodes(self.anatomy.node) if isinstance(n, (ast.Assign, ast.AugAssign)))
        return [node.value for node in assigned if name is not None and name in names_in(node.value)]

    def of_these_alone(self, names: list[str | None]) -> list[ast.expr]:
        """The expressions in a forward rule that use the tangents of some arguments and of no others."""
        if not self.is_forward:
            return []
        roots = {re.split(r"[.[]", name or "")[0] for name in names}
        others = {tangent for name, tangent in self.tangent_names.items() if name not in roots}
        own = [node for root in roots for node in self._made_of_tangent(root)]
        return [node for node in own if others.isdisjoint(names_in(node))]

    def _is_of_rest(self, node: ast.expr, root: str | None) -> bool:
        """Whether an expression is for all arguments that the rule takes as `*xs`, which `root` names."""
        rest = self.anatomy.node.args.vararg
        return isinstance(node, ast.Starred) and rest is not None and root in (None, rest.arg)

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

    def _changed(self, edits: list[Edit], known: dict[str, Any] | None = None) -> Subject | None:
        """The subject with the edited rule, or None if that cannot be run; `known` are additional globals."""
        return self._run_as(self._code_of(edits), known)

    def _run_as(self, code: types.CodeType | None, known: dict[str, Any] | None = None) -> Subject | None:
        """The subject with a rule that has this code, the same closure, and the same globals plus `known`.

        Only code is exchanged; no statement around the function is run, so that nothing is rebound.
        """
        function = function_of(code, self.function, {**self._emptied(), **(known or {})})
        return None if function is None or self.rule.requires else self._with(function)

    def _with(self, function: types.FunctionType) -> Subject:
        """The subject with another function in place of the author's."""
        target, rule = self.subject.primal, self.rule

        def ending() -> contextlib.AbstractContextManager[None]:
            if not self._may_go_on:
                return contextlib.nullcontext()
            return raising_if_endless(function, LINES_OF_A_CHANGE, (target, self.function))

        if rule.partials is not None:
            make = scalar_frule if rule.mode == "frule" else scalar_rrule
            built = make(target, rule.target_name, function)
            changed = dataclasses.replace(rule, function=built, partials=function, tags={})
        else:
            changed = dataclasses.replace(rule, function=function, tags={})

        def reverse(*inputs: Any, **keywords: Any) -> tuple[Any, Callable]:
            with ending():
                y, back = apply_rrule(changed, target, inputs, keywords)

            def answer(y_bar: Any) -> tuple:
                with ending():
                    return tuple(back(y_bar))[1:]

            answer.__wrapped__ = back  # type: ignore[attr-defined]
            return y, answer

        def forward(tangents: tuple, *inputs: Any, **keywords: Any) -> tuple[Any, Any]:
            with ending():
                return apply_frule(changed, target, (NoTangent(), *tangents), inputs, keywords)

        return dataclasses.replace(
            self.subject,
            reverse=None if self.subject.reverse is None else reverse,
            forward=None if self.subject.forward is None else forward,
            codes=(),
        )

    @cached_property
    def _may_go_on(self) -> bool:
        """Whether a change may make the rule, or what it calls, run endlessly; if not, no lines are counted.
        It may in a loop of theirs, or in that of a solver, for example, to which they pass a function.
        """
        codes = (*self.subject.codes, *self.subject.helpers)
        returned = {getattr(node, "name", "<lambda>") for node in self.anatomy.pullbacks}
        return any(has_loop(code) or makes_functions(code, returned) for code in codes) or gives_functions(
            self.anatomy.node, self.function.__globals__
        )

    def _code_of(self, edits: list[Edit]) -> types.CodeType | None:
        """The code of the author's function with some expressions changed; None if it cannot be compiled."""
        old = self.function
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # about code that we have generated
                if len(edits) == 1:
                    with self._slots.edited(edits[0]) as tree:
                        return code_of(tree, old.__code__)
                tree = ast.fix_missing_locations(with_edits(self.anatomy.node, edits))
                return code_of(tree, old.__code__)
        except (SyntaxError, ValueError, TypeError):
            return None

    def _emptied(self) -> dict[str, dict]:
        """Replacements for the global dicts that the rule writes to, which hold what the wrong rule has kept.
        The new ones contain only the numbers that the rule increments without setting them.
        """
        space = self.function.__globals__
        return {name: {key: space[name][key] for key in keys} for name, keys in self._dicts_filled.items()}

    @cached_property
    def _dicts_filled(self) -> dict[str, list[Any]]:
        """The names of those dicts, each with the keys of such counters: `CALLS["f"] += 1`."""
        cuts = [n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Subscript) and is_stored(n)]
        counting = {id(n.target) for n in ast.walk(self.anatomy.node) if isinstance(n, ast.AugAssign)}
        found: dict[str, list[Any]] = {}
        for node in cuts:
            name = node.value.id if isinstance(node.value, ast.Name) else ""
            held = self.function.__globals__.get(name)
            if type(held) is not dict or name in self.anatomy.local_names:
                continue
            keys, key = found.setdefault(name, []), getattr(node.slice, "value", None)
            if id(node) in counting and isinstance(node.slice, ast.Constant):
                keys += [key] if type(held.get(key)) in (int, float) else []  # `+=` would change arrays
        return found

    def diff(self, edits: list[Edit]) -> str:
        """The edits in the author's own lines, as a unified diff; empty if the text cannot show them."""
        source = self.anatomy.source
        lines = [line.rstrip("\n") for line in source.lines]
        if any((edit.old.end_lineno or 0) > len(lines) for edit in edits):
            return ""
        wanted = ast.dump(without_passes(with_edits(self.anatomy.node, edits), edits))
        name = Place(source.filename, 1).label().split(", line")[0]
        ordered = sorted(edits, key=lambda e: (e.old.lineno, e.old.col_offset), reverse=True)
        for form, is_bare in (("{}", True), ("{}", False), ("({})", False)):
            changed, fewer = lines, 0
            for edit in ordered:
                if isinstance(edit.new, ast.Pass):
                    last = edit.old.end_lineno or edit.old.lineno
                    changed = [*changed[: edit.old.lineno - 1], *changed[last:]]
                    fewer += last - edit.old.lineno + 1
                    continue
                text = form.format(_text(edit, lines))
                changed = [part for x in replaced(changed, edit.old, text, is_bare) for part in x.split("\n")]
                fewer += (edit.old.end_lineno or edit.old.lineno) - edit.old.lineno - text.count("\n")
            if dump_of(changed, self.anatomy.node, fewer) == wanted:
                made = difflib.unified_diff(lines, changed, name, f"{name}, corrected", lineterm="", n=0)
                return "\n".join(made)
        return ""


def _as_written(node: ast.expr | ast.stmt, lines: list[str]) -> str:
    """The text of a node, with the indentation of its first line removed from the others."""
    rows = [row.encode() for row in lines[node.lineno - 1 : node.end_lineno]]
    rows[-1] = rows[-1][: node.end_col_offset]
    return "\n".join(row[node.col_offset :].decode() for row in rows)


def _text(edit: Edit, lines: list[str]) -> str:
    """The text of an edit: a tuple without parentheses where the author wrote none, powers as the author
    writes them.
    """
    new = edit.new.body if isinstance(edit.new, ast.If) and is_block(edit.new) else [edit.new]
    parts = [_as_written(edit.old, lines) if part is edit.old else ast.unparse(part) for part in new]
    text = "\n".join(parts).replace("\n", "\n" + " " * edit.old.col_offset)
    if not any(" ** " in line for line in lines):
        text = text.replace(" ** ", "**")
    start = lines[edit.old.lineno - 1].encode()[edit.old.col_offset :]
    return text[1:-1] if isinstance(edit.new, ast.Tuple) and not start.startswith(b"(") else text
