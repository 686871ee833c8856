"""A wrong rule with one expression changed: tried at every probe, shown as a diff if it is right there."""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import difflib
import itertools
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import Place, RuleLabError
from ...parsing import parse
from ...rules.calling import apply_frule, apply_rrule
from ...rules.rule import Rule
from ...rules.scalar import scalar_frule, scalar_rrule
from ...tangents.zeros import NoTangent
from ..anatomy import Anatomy, anatomy_of, assigned_once, names_in, own_nodes
from ..closeness import Tolerance, closeness
from ..effects import effects_of
from ..kinks import kink_findings
from ..probes import Probe, probe_forward, probe_reverse
from ..subjects import Subject
from ..vectors import to_vec
from .edits import (
    OTHER_COMPARISONS,
    OTHER_OPERATORS,
    Edit,
    code_of,
    dump_of,
    is_stored,
    left_out,
    other_calls,
    replaced,
    with_edits,
)  # fmt: skip
from .evidence import Seen

MOST_TRIED = 160
"""Single changes of a rule that are tried."""
SECONDS = 1.0
"""How long to look for a correction, where the caller does not say."""


class Surgery:
    """The text of one rule, and what becomes of it after an edit."""

    def __init__(self, subject: Subject, probes: list[Probe], seconds: float | None = None) -> None:
        assert subject.rule is not None
        self.subject, self.probes, self.seconds = subject, probes, seconds
        self.rule = subject.rule
        self.anatomy: Anatomy = anatomy_of(self._stated(), subject.primal)
        self.function = self.anatomy.rule.function

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
                    found += [node for name, node in answer.cotangents if root in (None, name)]
        return [node for node in found if not isinstance(node, ast.Starred)]

    def _partials(self, root: str | None) -> list[ast.expr]:
        node = self.anatomy.node
        if not isinstance(node, ast.Lambda):
            return []
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)][1:]
        parts = node.body.elts if isinstance(node.body, ast.Tuple) else [node.body]
        wanted = list(self.subject.names)
        pairs = zip(wanted if len(wanted) == len(parts) else names, parts)
        return [part for name, part in pairs if root in (None, name)]

    def place_of(self, argument: str | None) -> Place | None:
        """The expression of a cotangent in the author's text."""
        nodes = self.cotangents_of(argument)
        if not nodes:
            return None
        node = nodes[0]
        if isinstance(node, ast.Name):
            node = self._made(node) or node
        return self.anatomy.source.place(node)

    def _made(self, name: ast.Name) -> ast.expr | None:
        for scope in (*self.anatomy.pullbacks, self.anatomy.node):
            value = None if isinstance(scope, ast.Lambda) else assigned_once(scope).get(name.id)
            if value is not None:
                return value
        return None

    # -- what may be changed ---------------------------------------------------------------------------------

    def edits(self, seen: Seen) -> Iterator[Edit]:
        """Changes to try, the likeliest first: those of the mistake, then small ones anywhere in the rule."""
        targets = self.cotangents_of(seen.argument)
        bars = self._bars()
        if seen.mistake in ("sign", "factor"):
            for node in targets:
                yield from left_out(node)
        for node in targets:
            made = self._made(node) if isinstance(node, ast.Name) else None
            for it in (node, *([made] if made is not None else ())):
                if seen.mistake == "swapped_arguments":
                    yield from (Edit(it, other) for other in self.cotangents_of(None) if other is not node)
                for bar in bars:
                    for text in seen.edits:
                        new = self._filled(text, it, bar)
                        if new is not None:
                            yield Edit(it, new)
        for node in self._expressions(targets):
            for new in self._neighbours(node):
                yield Edit(node, new)

    def _bars(self) -> list[str]:
        """What the pullbacks call the cotangent they are handed."""
        names = [p.args.args[0].arg for p in self.anatomy.pullbacks if p.args.args]
        return list(dict.fromkeys(names)) or [""]

    def _numpy(self) -> str | None:
        space = self.function.__globals__
        return next((name for name, value in space.items() if value is np and name.isidentifier()), None)

    def _filled(self, text: str, it: ast.expr, bar: str) -> ast.expr | None:
        """A template with IT, BAR and NP filled in; None where something of it has no name in the rule."""
        node = parse(text, mode="eval").body
        bar_node = ast.Name(bar, ast.Load())
        known = {"IT": it, "BAR": bar_node, "y_bar": bar_node}
        numpy = self._numpy()
        if numpy is not None:
            known["NP"] = known["np"] = ast.Name(numpy, ast.Load())

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

    def _expressions(self, targets: list[ast.expr]) -> Iterator[ast.expr]:
        """The expressions of the rule in which a mistake may be: those of the cotangents, then the others."""
        seen: set[int] = set()
        waiting: list[ast.AST] = list(targets)
        scopes: list[ast.AST] = [*self.anatomy.pullbacks, self.anatomy.node]
        for root in itertools.chain(waiting, (n for scope in scopes for n in own_nodes(scope))):
            for node in ast.walk(root):
                if isinstance(node, ast.expr) and id(node) not in seen and not is_stored(node):
                    seen.add(id(node))
                    yield node

    def _neighbours(self, node: ast.expr) -> Iterator[ast.expr]:
        """What an author may have meant by an expression: the same with one small thing changed."""
        if isinstance(node, ast.BinOp):
            for operator in OTHER_OPERATORS.get(type(node.op), ()):
                yield ast.BinOp(node.left, operator(), node.right)
            if isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult, ast.Pow)):
                yield ast.BinOp(node.right, node.op, node.left)
            if isinstance(node.op, (ast.Mult, ast.Add, ast.Sub, ast.Div)):
                yield node.left
                yield node.right
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield node.operand
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            number: Any = node.value
            for value in (number + 1, number - 1, 2 * number, -number, number / 2):
                yield ast.Constant(value)
            for name in self.anatomy.parameters:
                yield parse(f"len({name})", mode="eval").body
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            for operator in OTHER_COMPARISONS:
                if not isinstance(node.ops[0], operator):
                    yield ast.Compare(node.left, [operator()], node.comparators)
        elif isinstance(node, ast.Call):
            yield from other_calls(node)
        elif isinstance(node, ast.Attribute) and node.attr == "T":
            yield node.value
        elif isinstance(node, ast.Name):
            yield from self._other_names(node)
        if isinstance(node, (ast.Name, ast.BinOp)) and self._is_array(node):
            yield ast.Attribute(node, "T", ast.Load())
        if isinstance(node, (ast.Name, ast.BinOp, ast.Call)) and not isinstance(node, ast.Constant):
            yield ast.UnaryOp(ast.USub(), node)
            numpy = self._numpy()
            if numpy is not None and self._is_complex():
                yield ast.Call(ast.Attribute(ast.Name(numpy, ast.Load()), "conj", ast.Load()), [node], [])

    def _other_names(self, node: ast.Name) -> Iterator[ast.expr]:
        known = {*self.anatomy.parameters, *self._bars(), *self.anatomy.values}
        if node.id in known:
            for name in dict.fromkeys((*self.anatomy.parameters, *self._bars(), *self.anatomy.values)):
                if name and name != node.id:
                    yield ast.Name(name, ast.Load())

    def _is_array(self, node: ast.expr) -> bool:
        return any(isinstance(x, np.ndarray) and x.ndim == 2 for p in self.probes for x in p.point.inputs)

    def _is_complex(self) -> bool:
        return any(
            leaf.dtype.kind == "c" for p in self.probes for leaf in (*p.truth.inputs, *p.truth.outputs)
        )

    # -- trying ----------------------------------------------------------------------------------------------

    def correction(
        self, seen: list[Seen], clock: Callable[[], float] = time.perf_counter
    ) -> tuple[list[Edit], str] | None:
        """Edits, one for each argument that is wrong, with which the rule is right at every probe, and the
        diff that shows them; None where none was found in time.
        """
        end = clock() + (SECONDS if self.seconds is None else self.seconds)
        if len({one.argument for one in seen}) < 2:
            found = self._searched(seen[0], None, lambda: clock() < end)
            edits = [found] if found is not None else []
        else:
            each = [self._searched(one, one.argument, lambda: clock() < end) for one in seen]
            edits = list({id(e.old): e for e in each if e is not None}.values())
            if any(e is None for e in each) or not self._is_right(edits, None):
                return None
        text = self.diff(edits) if edits else ""
        return (edits, text) if text else None

    def _searched(self, seen: Seen, argument: str | None, in_time: Callable[[], bool]) -> Edit | None:
        """The first edit that makes the cotangent of an argument right (None: the whole rule)."""
        for edit in itertools.islice(self.edits(seen), MOST_TRIED):
            if not in_time():
                return None
            if self._is_right([edit], argument) and self.diff([edit]):
                return edit
        return None

    def _is_right(self, edits: list[Edit], argument: str | None) -> bool:
        changed = self._changed(edits)
        if changed is None:
            return False
        first = self.probes[0]
        return all(is_right_at(changed, p, argument, p is first) for p in self.probes)

    def _changed(self, edits: list[Edit]) -> Subject | None:
        """The subject with the rule so edited, or None where that cannot be run."""
        function = self._rebuilt(edits)
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
            return y, lambda y_bar: tuple(back(y_bar))[1:]

        def forward(tangents: tuple, *inputs: Any, **keywords: Any) -> tuple[Any, Any]:
            return apply_frule(changed, target, (NoTangent(), *tangents), inputs, keywords)

        return dataclasses.replace(
            self.subject,
            reverse=None if self.subject.reverse is None else reverse,
            forward=None if self.subject.forward is None else forward,
            codes=(),
        )

    def _rebuilt(self, edits: list[Edit]) -> types.FunctionType | None:
        """The author's function with one expression changed, over the same globals and the same cells.

        Only its code is compiled; no statement around it is run, so that nothing is bound anew.
        """
        tree = with_edits(self.anatomy.node, edits)
        try:
            code = code_of(tree, self.function.__code__)
        except (SyntaxError, ValueError, TypeError):
            return None
        old = self.function
        cells = dict(zip(old.__code__.co_freevars, old.__closure__ or ()))
        if code is None or not set(code.co_freevars) <= set(cells):
            return None
        closure = tuple(cells[name] for name in code.co_freevars)
        made = types.FunctionType(code, old.__globals__, old.__name__, old.__defaults__, closure)
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
                changed = replaced(changed, edit.old, form.format(ast.unparse(edit.new)))
                fewer += (edit.old.end_lineno or edit.old.lineno) - edit.old.lineno
            if dump_of(changed, self.anatomy.node, fewer) == wanted:
                made = difflib.unified_diff(lines, changed, name, f"{name}, corrected", lineterm="", n=0)
                return "\n".join(made)
        return ""


def is_right_at(
    subject: Subject, probe: Probe, argument: str | None = None, with_effects: bool = False
) -> bool:
    """Whether a rule is right at a probe of another: value, cotangents, kinks, and with effects if so asked.

    For an `argument`, whether its cotangent is, whatever the others are.
    """
    rng = np.random.default_rng(7)
    forward = subject.reverse is None
    again = (probe_forward if forward else probe_reverse)(subject, probe.point, probe.truth, rng)
    if again.failure is not None:
        return False
    close = closeness(again, Tolerance.of(again), forward)
    if argument is not None:
        return all(leaf.name != argument for leaf in close.wrong_leaves())
    if close.wrong.any() or not _same_value(again):
        return False
    if any(True for _ in kink_findings(subject, again, close, rng)):
        return False
    return not with_effects or not any(True for _ in effects_of(subject, again, None))


def _same_value(probe: Probe) -> bool:
    try:
        one, other = to_vec(probe.truth.y)[0], to_vec(probe.y)[0]
    except (TypeError, ValueError):  # an edit may have made anything of the value
        return False
    if one.shape != other.shape or _array_shape(probe.truth.y) != _array_shape(probe.y):
        return False
    limit = Tolerance.of(probe)
    return bool(np.allclose(one, other, rtol=limit.rtol, atol=limit.atol * 1e-3, equal_nan=True))


def _array_shape(y: Any) -> tuple[int, ...] | None:
    """The shape of an array; None for a number, which an array of no dimensions is not."""
    return y.shape if isinstance(y, np.ndarray) else None


def surgery(subject: Subject, probes: list[Probe], seconds: float | None = None) -> Surgery | None:
    """The rule's text, ready to be changed; None where there is no rule of an author's, or no text.

    Corrections are tried at the probes in this order: those first at which the rule is wrong. `seconds`
    limits how long.
    """
    rule = subject.rule
    if rule is None or rule.house:
        return None
    try:
        return Surgery(subject, probes, seconds)
    except (RuleLabError, AttributeError):
        return None
