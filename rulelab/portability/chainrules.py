"""A rule in Julia, as an `rrule`, `frule` or `@scalar_rule` of ChainRulesCore: for formulas whose arrays have
known numbers of axes.

Julia broadcasts along the first axes and NumPy along the last, and Julia counts from 1. Therefore the number
of axes of each value is computed from the points at which the rule is exported, and whatever mixes them is
refused.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..advice import OF_ONE_KIND
from ..errors import ExportError
from .anatomy import ForwardRule, Parameters, ReverseRule, Text, forward_rule, read, without_docstring
from .gathering import Gathered
from .pieces import FRULE, RRULE
from .translated import Subject, Translated, reason, speaks_of_complex, subject_of
from .translation import is_zero, unwrapped

_RESERVED = set(
    "baremodule begin break catch const continue do else elseif end export finally for "
    "function global if import let "
    "local macro module quote return struct try using while true false nothing missing im pi".split()
)
_USED = set(
    "sum length size zeros zero one fill copy abs exp log sqrt sin cos tan max min conj real "
    "imag transpose inv tr det "
    "norm sign tanh eltype ifelse mod fld cumsum hypot prod maximum minimum rrule typeof "
    "NoTangent ProjectTo ChainRulesCore LinearAlgebra Number".split()
)
_SAME = (
    "exp log sqrt sin cos tan sinh cosh tanh abs sign floor ceil conj real imag log1p expm1 log2 log10"
).split()
_ELEMENTWISE = {
    **{n: n for n in _SAME},
    **{f"arc{n}": f"a{n}" for n in "sin cos tan sinh cosh tanh".split()},
    "conjugate": "conj",
    "absolute": "abs",
}
_OF_TWO = {"maximum": "max", "minimum": "min", "hypot": "hypot", "arctan2": "atan"}
_SUMS = {
    "sum": "sum",
    "prod": "prod",
    "max": "maximum",
    "min": "minimum",
    "amax": "maximum",
    "amin": "minimum",
}
_MATRICES = {"inv": ("inv", 2), "det": ("det", 0), "norm": ("norm", 0)}
_TYPES = {0: "Number", 1: "AbstractVector", 2: "AbstractMatrix"}
_ADD, _MULTIPLY, _NEGATE, _POWER, _ATOM = 4, 5, 6, 7, 9  # binding strengths of texts
_OPERATORS = {
    ast.Add: ("+", _ADD),
    ast.Sub: ("-", _ADD),
    ast.Mult: ("*", _MULTIPLY),
    ast.Div: ("/", _MULTIPLY),
    ast.Pow: ("^", _POWER),
}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}

Said = tuple[str, int, int]  # a text, its binding strength, and the number of axes of its value


def chainrules_export(found: Gathered, native: bool | None = None) -> Translated:
    """The text of an `rrule`, an `frule` or a `@scalar_rule` in Julia. It has not been run, and says so.

    Raises ExportError, with the line, for what has no counterpart, and if no points show how many axes the
    arguments have. A scalar rule is for numbers, and Julia broadcasts it by `f.(x)`.
    """
    subject = subject_of(found, "Julia")
    reverse = None if subject.elementwise else subject.reverse
    forward = None if subject.forward is None or subject.elementwise else forward_rule(subject.forward)
    first = subject.reverse or forward
    if first is None:
        raise ExportError(f"{subject.name} has no rule that can be translated to Julia")
    remarks, modes = ["the Julia text was not run"], [RRULE] if subject.reverse else [FRULE]
    count = len(first.parameters.positional)
    kinds = (0,) * count if subject.elementwise else _kinds(found, first)
    julia = _Julia(subject, first.text)
    parts = []
    if subject.primal is not None:
        parts.append(julia.function(subject.primal, kinds, subject.name))
    if subject.partials is not None:
        parts.append(julia.scalar_rule(subject.partials))
        remarks.append("its rule is for numbers: for arrays, broadcast it, as in f.(x)")
    if reverse is not None:
        parts.append(julia.rule(reverse, kinds))
    if forward is not None:
        try:
            parts.append(julia.forward(forward, kinds))
            modes = list(dict.fromkeys([*modes, FRULE]))
        except ExportError as refused:
            if reverse is None:
                raise
            remarks.append(f"the forward rule is left out: {reason(refused)}")
    head = [
        f"# {subject.name} with its derivative rule, for ChainRulesCore. Exported by rulelab.",
        "# This code was translated and has not been run. Test it with ChainRulesTestUtils: "
        + " and ".join(f"test_{mode}" for mode in (modes if not subject.elementwise else ["scalar"]))
        + ".",
        "using ChainRulesCore" + (", LinearAlgebra" if julia.linear else ""),
    ]
    text = "\n\n".join(["\n".join(head), *julia.helpers.values(), *parts]) + "\n"
    return Translated("chainrules", subject.name, text, remarks=tuple(remarks), modes=tuple(modes))


def _kinds(found: Gathered, rule: ReverseRule | ForwardRule) -> tuple[int, ...]:
    """The numbers of axes of the positional arguments, which must be the same at all points."""
    every = set()
    for text in found.values:
        point = ast.parse(text, mode="eval").body
        if isinstance(point, ast.Tuple) and point.elts and isinstance(point.elts[0], ast.Tuple):
            every.add(tuple(_axes(x) for x in point.elts[0].elts))
    first = next(iter(every), ())
    if len(every) == 1 and -1 in first and len(first) == len(rule.parameters.positional):
        name = rule.parameters.positional[first.index(-1)]
        raise rule.text.refusal(
            rule.text.tree,
            f"{name} is neither a number nor an array: rules for Julia take numbers and arrays",
        )
    if len(every) != 1 or len(first) != len(rule.parameters.positional):
        raise rule.text.refusal(
            rule.text.tree,
            "the points do not say how many axes each argument has: Julia broadcasts along different "
            "axes from NumPy",
            (OF_ONE_KIND,),
        )
    return first


def _axes(node: ast.expr) -> int:
    """The number of axes of a literal; -1 for what is neither a number nor an array."""
    if isinstance(node, ast.UnaryOp):
        return _axes(node.operand)
    if isinstance(node, ast.BinOp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex))
    ):
        return 0
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr in ("float64", "complex128", "int64"):
            return 0
        inner, depth = node.args[0], 0
        while isinstance(inner, ast.List) and node.func.attr == "array":
            depth += 1
            inner = inner.elts[0] if inner.elts else ast.Constant(0.0)
        return depth or -1
    return -1


class _Julia:
    """Functions in Julia; `axes` maps each name of the current one to its number of axes."""

    def __init__(self, subject: Subject, rule: Text):
        self.subject, self.names = subject, subject.names
        self.helpers: dict[str, str] = {}
        self.known: dict[tuple[str, tuple[int, ...]], int] = {}
        self.linear = False
        self.axes: dict[str, int] = {}
        self.renamed: dict[str, str] = {}
        self.unfinished: set[tuple[str, tuple[int, ...]]] = set()  # begun, and not called since
        self.text: Text = subject.primal or rule
        self.returned = -1

    # --- functions ------------------------------------------------------------------------------------------

    def function(self, text: Text, kinds: Sequence[int], name: str) -> str:
        outer = self.text, self.axes
        self.text, self.axes, self.returned = text, {}, -1
        one = name, tuple(kinds)
        self.known[one] = 0  # if it calls itself, its value is assumed to be a number
        self.unfinished.add(one)
        head = self._head(text, kinds, name)
        body = self.block(without_docstring(text.tree.body), 1)
        if self.returned > 0 and one not in self.unfinished:
            raise self.refuse(text.tree, f"{name}, which calls itself and gives an array,")
        self.unfinished.discard(one)
        self.known[one] = self.returned
        self.text, self.axes = outer
        return "\n".join([head, *body, "end"])

    def _head(
        self,
        text: Text,
        kinds: Sequence[int],
        name: str,
        first: str = "",
        parameters: Parameters | None = None,
    ) -> str:
        parameters = parameters or Parameters.of(text)
        for p, kind in zip(parameters.positional, kinds):
            self.axes[self._name(p, text.tree)] = kind
        given = [first] if first else []
        given += [f"{p}::{_TYPES[k]}" for p, k in zip(parameters.positional, kinds)]
        keywords = []
        for p in parameters.keyword:
            self.axes[self._name(p, text.tree)] = 0
            default = parameters.defaults.get(p)
            keywords.append(p if default is None else f"{p}={self.said(default)[0]}")
        name = name if first else self._name(name, text.tree)
        return f"function {name}({', '.join(given)}{'; ' if keywords else ''}{', '.join(keywords)})"

    def rule(self, rule: ReverseRule, kinds: Sequence[int]) -> str:
        self.text, self.axes = rule.text, {}
        head = self._head(rule.text, kinds, "ChainRulesCore.rrule", f"::typeof({self.subject.name})")
        before = self.block(rule.before, 1)
        value, _, axes = self.said(rule.value)
        self.axes[self._name(rule.seed, rule.pullback)] = axes
        body = self.block(rule.body, 2)
        entries, complexes = ["NoTangent()"], speaks_of_complex(self.subject)
        for name, kind, x_bar in zip(rule.parameters.positional, kinds, rule.returned):
            if x_bar is None:
                entries.append("NoTangent()")
                continue
            entry, _, found = self.said(unwrapped(self.names, x_bar))
            if found != kind:
                raise rule.text.refusal(x_bar, f"a cotangent has {found} axes, but its argument {kind}")
            entries.append(f"ProjectTo({name})({entry})" if complexes else entry)
        pullback = self._name(rule.pullback.name, rule.pullback)
        inner = [
            f"    function {pullback}({rule.seed})",
            *body,
            f"        return {', '.join(entries)}",
            "    end",
        ]
        return "\n".join([head, *before, *inner, f"    return {value}, {pullback}", "end"])

    def forward(self, rule: ForwardRule, kinds: Sequence[int]) -> str:
        """The `frule`: the tangents come first, that of the function without a name."""
        self.text, self.axes = rule.text, {}
        asked = read([*rule.before, rule.value, rule.tangent])
        dots = [
            "_" if dot is None or dot not in asked else self._name(dot, rule.text.tree)
            for dot in rule.tangents
        ]
        self.axes |= {dot: kind for dot, kind in zip(dots, kinds) if dot != "_"}
        head = self._head(
            rule.text,
            kinds,
            "ChainRulesCore.frule",
            f"({', '.join(['_', *dots])}), ::typeof({self.subject.name})",
            rule.parameters,
        )
        before = self.block(rule.before, 1)
        value, tangent = self.said(rule.value), self.said(unwrapped(self.names, rule.tangent))
        if value[2] != tangent[2]:
            raise rule.text.refusal(
                rule.tangent, f"the tangent has {tangent[2]} axes, but the value {value[2]}"
            )
        return "\n".join([head, *before, f"    return {value[0]}, {tangent[0]}", "end"])

    def scalar_rule(self, text: Text) -> str:
        """The `@scalar_rule` of a function of numbers: it states both modes, and conjugates as rulelab
        does.
        """
        self.text, self.axes = text, {}
        parameters = Parameters.of(text)
        out, *xs = parameters.positional
        if parameters.keyword:
            raise self.refuse(text.tree.args, "a scalar rule with keywords")
        *before, last = without_docstring(text.tree.body)
        # Ensured when the rule was taken apart.
        assert isinstance(last, ast.Return) and last.value is not None
        self.axes = {self._name(x, text.tree): 0 for x in xs} | {out: 0}
        self.renamed = {out: "Ω"}
        steps = []
        for statement in before:
            if not (
                isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets)
            ):
                raise self.refuse(
                    statement, f"`{ast.unparse(statement).splitlines()[0][:50]}` in a scalar rule"
                )
            steps += self.statement(statement, 0)
        partials = list(last.value.elts) if isinstance(last.value, ast.Tuple) else [last.value]
        said = [
            "ZeroTangent()" if is_zero(self.names, p) else self.said(unwrapped(self.names, p))[0]
            for p in partials
        ]
        self.renamed = {}
        given = ", ".join(f"{x}::Number" for x in xs)
        setup = [f"@setup({', '.join(steps)})"] if steps else []
        listed = said[0] if len(said) == 1 else f"({', '.join(said)})"
        return f"@scalar_rule({', '.join([f'{self.subject.name}({given})', *setup, listed])})"

    def _name(self, name: str, node: ast.AST) -> str:
        if name in self.renamed:
            return self.renamed[name]
        if name in _RESERVED or name in _USED:
            raise self.text.refusal(node, f"{name} already has a meaning in the Julia file", ("rename it",))
        if not name.isascii() or not name.strip("_"):
            raise self.text.refusal(node, f"{name} may not be a name in Julia", ("use plain letters",))
        return name

    def refuse(self, node: ast.AST, what: str) -> ExportError:
        return self.text.refusal(node, f"{what} has no exact counterpart in Julia")

    # --- statements -----------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt], depth: int) -> list[str]:
        return [line for s in statements for line in self.statement(s, depth)]

    def statement(self, node: ast.stmt, depth: int) -> list[str]:
        pad = "    " * depth
        if isinstance(node, ast.Return) and node.value is not None:
            text, _, axes = self.said(node.value)
            if self.returned not in (-1, axes):
                raise self.refuse(node, "a value with a different number of axes")
            self.returned = axes
            return [f"{pad}return {text}"]
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return [pad + self._assigned(node.targets[0], node.value, node)]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            as_read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            return [
                pad
                + self._assigned(
                    node.target, ast.copy_location(ast.BinOp(as_read, node.op, node.value), node), node
                )
            ]
        if isinstance(node, ast.If):
            lines = [f"{pad}if {self._scalar(node.test)}", *self.block(node.body, depth + 1)]
            if node.orelse:
                lines += [f"{pad}else", *self.block(node.orelse, depth + 1)]
            return [*lines, f"{pad}end"]
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and not node.orelse:
            name = self._name(node.target.id, node.target)
            over = self._range(node.iter)
            self.axes[name] = 0
            return [f"{pad}for {name} in {over}", *self.block(node.body, depth + 1), f"{pad}end"]
        raise self.refuse(node, f"`{ast.unparse(node).splitlines()[0][:50]}`")

    def _assigned(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> str:
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return self._written(target, value)
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            pairs = [self._assigned(t, v, node).partition(" = ") for t, v in zip(target.elts, value.elts)]
            return f"{', '.join(p[0] for p in pairs)} = {', '.join(p[2] for p in pairs)}"
        if not isinstance(target, ast.Name):
            raise self.refuse(node, "this assignment")
        text, _, axes = self.said(value)
        name = self._name(target.id, target)
        if self.axes.get(name, axes) != axes:
            raise self.refuse(node, f"a different number of axes for {name}")
        self.axes[name] = axes
        return f"{name} = {text}"

    def _written(self, target: ast.Subscript, value: ast.expr) -> str:
        assert isinstance(target.value, ast.Name)
        makers = [
            n.value
            for n in ast.walk(self.text.tree)
            if isinstance(n, ast.Assign)
            for t in n.targets
            if isinstance(t, ast.Name) and t.id == target.value.id
        ]
        fresh = all(
            isinstance(m, ast.Call) and self._word(m) in ("zeros", "ones", "empty_like", "zeros_like", "copy")
            for m in makers
        )
        used_whole = [
            n
            for n in ast.walk(self.text.tree)
            if isinstance(n, ast.Assign)
            and isinstance(n.value, (ast.Name, ast.Subscript))
            and getattr(n.value, "id", getattr(getattr(n.value, "value", None), "id", "")) == target.value.id
        ]
        if not makers or not fresh or used_whole:
            raise self.refuse(target, "an element that is written")
        text, _, axes = self.said(value)
        index, left = self._index(target)
        if axes not in (0, left):
            raise self.refuse(target, "what is broadcast into a part of an array")
        whole = f"{target.value.id}[{index}]" if index != ":" else target.value.id
        return f"{whole} {'.=' if left else '='} {text}"

    def _range(self, node: ast.expr) -> str:
        if not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "range"
            and len(node.args) < 3
        ):
            raise self.refuse(node, "a loop over this")
        ends = [self.said(x) for x in node.args]
        first = "0" if len(ends) == 1 else self._bound(ends[0], _ADD)
        return f"{first}:{self._bound(ends[-1], _ADD)} - 1"

    # --- expressions ----------------------------------------------------------------------------------------

    def _scalar(self, node: ast.expr) -> str:
        text, level, axes = self.said(node)
        if axes:
            raise self.refuse(node, "a branch on an array")
        sure = isinstance(node, (ast.Compare, ast.BoolOp)) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        )
        return text if sure or text in ("true", "false") else f"{self._bound((text, level, axes), 3)} != 0"

    @staticmethod
    def _bound(said: Said, level: int) -> str:
        return said[0] if said[1] > level else f"({said[0]})"

    def said(self, node: ast.expr) -> Said:
        """An expression in Julia."""
        node = unwrapped(self.names, node)
        if is_zero(self.names, node):
            raise self.refuse(node, "a zero within a formula")
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return repr(node.value), _ATOM, 0
        if isinstance(node, ast.Constant) and type(node.value) is complex and not node.value.real:
            return f"{node.value.imag!r}im", _ATOM, 0
        if isinstance(node, ast.Constant) and type(node.value) is bool:
            return str(node.value).lower(), _ATOM, 0
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.Tuple):
            parts = [self.said(x) for x in node.elts]
            return f"({', '.join(p[0] for p in parts)})", _ATOM, 0 if len(parts) < 1 else -2
        if isinstance(node, ast.BinOp):
            return self._operated(node)
        if isinstance(node, ast.UnaryOp):
            inner = self.said(node.operand)
            if isinstance(node.op, ast.USub):
                return f"-{self._bound(inner, _NEGATE)}", _NEGATE, inner[2]
            if isinstance(node.op, ast.Not):
                return f"!({self._scalar(node.operand)})", _ATOM, 0
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if isinstance(node, ast.BoolOp):
            word = " && " if isinstance(node.op, ast.And) else " || "
            return word.join(f"({self._scalar(x)})" for x in node.values), 1, 0
        if isinstance(node, ast.IfExp):
            a, b = self.said(node.body), self.said(node.orelse)
            if a[2] != b[2]:
                raise self.refuse(node, "a branch that gives a different number of axes")
            return f"{self._scalar(node.test)} ? {self._bound(a, 1)} : {self._bound(b, 1)}", 0, a[2]
        if isinstance(node, ast.Subscript):
            return self._element(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            return self._called(node)
        raise self.refuse(node, f"`{ast.unparse(node)[:50]}`")

    def _named(self, node: ast.Name) -> Said:
        if node.id in self.axes:
            return self._name(node.id, node), _ATOM, self.axes[node.id]
        known = dict(self.subject.found.constants).get(node.id)
        try:
            number = ast.literal_eval(known) if known is not None else None
        except (ValueError, SyntaxError):
            number = None
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return repr(number), _ATOM if number >= 0 else _NEGATE, 0
        raise self.refuse(node, node.id)

    def _together(self, node: ast.AST, a: int, b: int) -> int:
        """The number of axes of two values that are broadcast: equal numbers, or one value is a number."""
        if a and b and a != b:
            raise self.refuse(node, f"what broadcasts {a} axes with {b}")
        return max(a, b)

    def _operated(self, node: ast.BinOp) -> Said:
        a, b = self.said(node.left), self.said(node.right)
        if isinstance(node.op, ast.MatMult):
            return self._product(node, a, b)
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            word = "fld" if isinstance(node.op, ast.FloorDiv) else "mod"
            axes = self._together(node, a[2], b[2])
            return f"{word}{'.' if axes else ''}({a[0]}, {b[0]})", _ATOM, axes
        if type(node.op) not in _OPERATORS:
            raise self.refuse(node, "this operator")
        sign, level = _OPERATORS[type(node.op)]
        axes = self._together(node, a[2], b[2])
        left = self._bound(a, level if sign == "^" else level - 1)
        right = self._bound(b, level)
        return f"{left} {'.' if axes else ''}{sign} {right}", level, axes

    def _product(self, node: ast.AST, a: Said, b: Said) -> Said:
        if (a[2], b[2]) == (1, 1):
            return f"sum({self._bound(a, _MULTIPLY - 1)} .* {self._bound(b, _MULTIPLY)})", _ATOM, 0
        if (a[2], b[2]) == (1, 2):
            return f"transpose({b[0]}) * {self._bound(a, _MULTIPLY)}", _MULTIPLY, 1
        if a[2] != 2 or b[2] not in (1, 2):
            raise self.refuse(node, "this product")
        return f"{self._bound(a, _MULTIPLY - 1)} * {self._bound(b, _MULTIPLY)}", _MULTIPLY, b[2]

    def _compared(self, node: ast.Compare) -> Said:
        if len(node.ops) > 1 or type(node.ops[0]) not in _COMPARISONS:
            sides = [self.said(x) for x in (node.left, *node.comparators)]
            if any(s[2] for s in sides) or any(type(op) not in _COMPARISONS for op in node.ops):
                raise self.refuse(node, "this comparison")
            words = [_COMPARISONS[type(op)] for op in node.ops]
            return " ".join([sides[0][0], *[f"{w} {s[0]}" for w, s in zip(words, sides[1:])]]), 3, 0
        a, b = self.said(node.left), self.said(node.comparators[0])
        axes = self._together(node, a[2], b[2])
        return (
            f"{self._bound(a, 3)} {'.' if axes else ''}{_COMPARISONS[type(node.ops[0])]} {self._bound(b, 3)}",
            3,
            axes,
        )

    def _element(self, node: ast.Subscript) -> Said:
        if (
            isinstance(node.value, ast.Attribute)
            and node.value.attr == "shape"
            and isinstance(node.slice, ast.Constant)
        ):
            x = self.said(node.value.value)
            if type(node.slice.value) is not int or not 0 <= node.slice.value < x[2]:
                raise self.refuse(node, "this axis")
            return f"size({x[0]}, {node.slice.value + 1})", _ATOM, 0
        index, left = self._index(node)
        return f"{self._bound(self.said(node.value), 8)}[{index}]", _ATOM, left

    def _index(self, node: ast.Subscript) -> tuple[str, int]:
        axes = self.said(node.value)[2]
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(parts) != axes:
            raise self.refuse(node, "an index for some of the axes")
        texts, left = [], 0
        for part in parts:
            if isinstance(part, ast.Slice):
                texts.append(self._slice(part))
                left += 1
            else:
                texts.append(self._position(part))
        return ", ".join(texts), left

    def _position(self, node: ast.expr) -> str:
        number = _number(node)
        if number is not None:
            return str(number + 1) if number >= 0 else ("end" if number == -1 else f"end - {-number - 1}")
        text, _, axes = self.said(node)
        counts = [
            n.target.id
            for n in ast.walk(self.text.tree)
            if isinstance(n, ast.For) and isinstance(n.target, ast.Name)
        ]
        if axes or not isinstance(node, ast.Name) or node.id not in counts:
            raise self.refuse(
                node, "an index that is not counted by a loop"
            )  # a negative index counts from the end
        return f"{text} + 1"

    def _slice(self, node: ast.Slice) -> str:
        low, high = (None if x is None else _number(x) for x in (node.lower, node.upper))
        if node.step is not None or (node.lower and low is None) or (node.upper and high is None):
            raise self.refuse(node, "this slice")
        if low is None and high is None:
            return ":"
        first = (
            "1" if low is None else str(low + 1) if low >= 0 else f"end - {-low - 1}" if low < -1 else "end"
        )
        last = "end" if high is None else str(high) if high >= 0 else f"end - {-high}"
        return f"{first}:{last}"

    def _attribute(self, node: ast.Attribute) -> Said:
        dotted = self.names.dotted(node, self.axes)
        if dotted in ("numpy.pi", "numpy.e"):
            return ("pi" if dotted == "numpy.pi" else "exp(1)"), _ATOM, 0
        if dotted is not None:
            raise self.refuse(node, ast.unparse(node))
        x = self.said(node.value)
        if node.attr == "T" and x[2] in (1, 2):
            return (f"transpose({x[0]})" if x[2] == 2 else x[0]), (_ATOM if x[2] == 2 else x[1]), x[2]
        if node.attr == "size":
            return f"length({x[0]})", _ATOM, 0
        if node.attr in ("real", "imag"):
            return f"{node.attr}{'.' if x[2] else ''}({x[0]})", _ATOM, x[2]
        raise self.refuse(node, f"the attribute {node.attr}")

    def _word(self, node: ast.Call) -> str:
        dotted = self.names.dotted(node.func, self.axes)
        if dotted is not None:
            return dotted.rpartition(".")[2]
        return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")

    def _called(self, node: ast.Call) -> Said:
        dotted = self.names.dotted(node.func, self.axes)
        if dotted is None and isinstance(node.func, ast.Name):
            return self._own(node)
        args = list(node.args)
        word = self._word(node)
        if dotted is None and isinstance(node.func, ast.Attribute):  # a method
            args = [node.func.value, *args]
        elif dotted is not None and dotted.rpartition(".")[0] not in ("numpy", "numpy.linalg"):
            raise self.refuse(node, ast.unparse(node.func))
        elif dotted is not None and dotted.startswith("numpy.linalg."):
            return self._matrix(node, word)
        if word in ("sum", "prod", "max", "min", "amax", "amin", "mean"):
            return self._summed(node, word, args)
        if word in ("zeros", "ones") and len(args) == 1 and not node.keywords:
            return self._made(node, word, args[0])
        if node.keywords or any(isinstance(a, ast.Starred) for a in args):
            raise self.refuse(node, f"an option of {word}")
        given = [self.said(a) for a in args]
        if word in _ELEMENTWISE and len(given) == 1:
            return f"{_ELEMENTWISE[word]}{'.' if given[0][2] else ''}({given[0][0]})", _ATOM, given[0][2]
        if word == "square" and len(given) == 1:
            return f"{self._bound(given[0], _POWER)} {'.' if given[0][2] else ''}^ 2", _POWER, given[0][2]
        if word in _OF_TWO and len(given) == 2:
            axes = self._together(node, given[0][2], given[1][2])
            return f"{_OF_TWO[word]}{'.' if axes else ''}({given[0][0]}, {given[1][0]})", _ATOM, axes
        if word == "where" and len(given) == 3:
            axes = self._together(node, self._together(node, given[0][2], given[1][2]), given[2][2])
            return f"ifelse{'.' if axes else ''}({', '.join(g[0] for g in given)})", _ATOM, axes
        if word in ("dot", "matmul") and len(given) == 2:
            return self._product(node, *given)
        if word == "outer" and len(given) == 2 and given[0][2] == given[1][2] == 1:
            return f"{self._bound(given[0], _MULTIPLY - 1)} * transpose({given[1][0]})", _MULTIPLY, 2
        if word == "trace" and given[0][2] == 2:
            self.linear = True
            return f"tr({given[0][0]})", _ATOM, 0
        if word == "transpose" and len(given) == 1 and given[0][2] == 2:
            return f"transpose({given[0][0]})", _ATOM, 2
        if word in ("copy", "zeros_like", "empty_like", "ones_like") and len(given) == 1:
            pattern = {"copy": "copy({})", "ones_like": "one.({})"}.get(word, "zero({})")
            return pattern.format(given[0][0]), _ATOM, given[0][2]
        if word == "cumsum" and given[0][2] == 1 and len(given) == 1:
            return f"cumsum({given[0][0]})", _ATOM, 1
        raise self.refuse(node, f"{word}()")

    def _matrix(self, node: ast.Call, word: str) -> Said:
        given = [self.said(a) for a in node.args]
        if (
            word == "solve"
            and len(given) == 2
            and given[0][2] == 2
            and given[1][2] in (1, 2)
            and not node.keywords
        ):
            return (
                f"{self._bound(given[0], _MULTIPLY)} \\ {self._bound(given[1], _MULTIPLY)}",
                _MULTIPLY,
                given[1][2],
            )
        if word not in _MATRICES or len(given) != 1 or node.keywords or (word != "norm" and given[0][2] != 2):
            raise self.refuse(node, f"np.linalg.{word}")
        self.linear = True
        return f"{_MATRICES[word][0]}({given[0][0]})", _ATOM, _MATRICES[word][1]

    def _summed(self, node: ast.Call, word: str, args: list[ast.expr]) -> Said:
        x = self.said(args[0])
        axis = next((k.value for k in node.keywords if k.arg == "axis"), args[1] if len(args) == 2 else None)
        kept = next((k.value for k in node.keywords if k.arg == "keepdims"), None)
        if len(args) > 2 or any(k.arg not in ("axis", "keepdims") for k in node.keywords):
            raise self.refuse(node, f"an option of {word}")
        name = "sum" if word == "mean" else _SUMS[word]
        if axis is None and kept is None:
            text = f"{name}({x[0]})"
            return (f"{text} / length({x[0]})", _MULTIPLY, 0) if word == "mean" else (text, _ATOM, 0)
        number = _number(axis) if axis is not None else None
        if (
            number is None
            or not 0 <= number < x[2]
            or (kept is not None and not isinstance(kept, ast.Constant))
        ):
            raise self.refuse(node, "this axis")
        text, left = f"{name}({x[0]}; dims={number + 1})", x[2]
        if not (isinstance(kept, ast.Constant) and kept.value is True):
            text, left = f"dropdims({text}; dims={number + 1})", x[2] - 1
        if word == "mean":
            return (
                f"{text} ./ size({x[0]}, {number + 1})" if left else f"{text} / size({x[0]}, {number + 1})",
                _MULTIPLY,
                left,
            )
        return text, _ATOM, left

    def _made(self, node: ast.Call, word: str, shape: ast.expr) -> Said:
        like = next((n for n, k in self.axes.items() if k), None)
        if isinstance(shape, ast.Attribute) and shape.attr == "shape":
            x = self.said(shape.value)
            return f"{'zero' if word == 'zeros' else 'one.'}({x[0]})", _ATOM, x[2]
        size = self.said(shape)
        if size[2] or like is None:
            raise self.refuse(node, f"np.{word} of this shape")
        return f"{word}(eltype({like}), {size[0]})", _ATOM, 1

    def _own(self, node: ast.Call) -> Said:
        assert isinstance(node.func, ast.Name)
        word = node.func.id
        if word == "len" and len(node.args) == 1:
            x = self.said(node.args[0])
            return f"size({x[0]}, 1)", _ATOM, 0
        if word == "abs" and len(node.args) == 1:
            x = self.said(node.args[0])
            return f"abs{'.' if x[2] else ''}({x[0]})", _ATOM, x[2]
        given = [self.said(a) for a in node.args]
        kinds = tuple(g[2] for g in given)
        texts = {
            t.name: t
            for t in (*self.subject.helpers, *([self.subject.primal] if self.subject.primal else []))
        }
        if word not in texts:
            raise self.refuse(node, f"{word}()")
        if (word, kinds) not in self.known:
            if any(name == word for name, _ in self.known):
                raise self.refuse(node, f"{word} of arguments with different numbers of axes")
            held = self.returned
            self.helpers[word] = self.function(texts[word], kinds, self._name(word, node))
            self.returned = held
        self.unfinished.discard((word, kinds))  # its number of axes was assumed
        keywords = "".join(f"{k.arg}={self.said(k.value)[0]}, " for k in node.keywords).rstrip(", ")
        inside = ", ".join(g[0] for g in given)
        return f"{word}({inside}{'; ' if keywords else ''}{keywords})", _ATOM, self.known[word, kinds]


def _number(node: ast.expr) -> int | None:
    """An integer literal, possibly negative."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None
