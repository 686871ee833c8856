"""Read array code as a list of operations on arrays: one for each step of the author's statements, with the
shape of its result as far as the code alone determines it.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..compiler.base.source import find_source
from ..errors import RuleLabError
from .plain_values import without_warnings_or_output

# Step functions, positions and counts: their derivative is zero where it exists.
CONSTANT = frozenset(
    "argmax argmin argpartition argsort bool ceil count_nonzero digitize empty_like fix flatnonzero floor int"
    " isfinite isinf isnan len lexsort ndim nonzero ones_like range rint round searchsorted shape sign"
    " signbit size trunc zeros_like".split()
)
FACTS = ("shape", "size", "ndim", "dtype")
METHODS = ("sum", "mean", "max", "min", "dot", "cumsum", "transpose")
OPERATORS = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power",
    ast.MatMult: "matmul",
}  # fmt: skip


class Unreadable(Exception):
    """The reason why statements cannot be read as operations on arrays, and the node that causes it."""

    def __init__(self, why: str, node: ast.AST | None = None):
        super().__init__(why)
        self.why, self.node = why, node


@dataclass(frozen=True, eq=False)
class Value:
    """The value of a name or an expression: its syntax tree, its sample value, and whether it carries a
    derivative.

    `dims` has for each dimension a text that computes its length, or the length itself if it is fixed; it is
    None if the code alone does not determine the lengths. `sure` says that the number of dimensions is the
    same for all arguments with as many dimensions as in the sample.
    """

    tree: ast.expr
    sample: Any
    active: bool = False
    dims: tuple | None = None
    sure: bool = False

    @property
    def text(self):
        return ast.unparse(self.tree)

    @property
    def rank(self):
        return np.ndim(self.sample)

    @property
    def is_number(self):
        """Whether it is a single number, for all arguments."""
        return self.sure and self.rank == 0


@dataclass(eq=False)
class Step:
    """One operation, `target = text`, with its operands."""

    value: Value
    target: str
    tree: ast.expr
    kind: str  # a NumPy name, "item", "array", or "call" for what is left to the AD
    operands: tuple[Value, ...]
    options: dict[str, Any] = field(default_factory=dict)


class Reading:
    """The steps of a function at sample arguments, in order; `results` is what it returns: several values if
    it `returns_a_tuple`.

    `equal` are pairs of lengths that are combined elementwise and therefore must be equal.
    """

    def __init__(self, f: types.FunctionType, names, args, shape="np.shape"):
        self.f, self.names = f, tuple(names)
        self.scope = f.__globals__
        self.steps: list[Step] = []
        self.lines: list[Any] = []  # the steps, and (name, tree) of values without a derivative, in order
        self.own: set[str] = set()  # the author's names among them
        self.equal: dict[tuple, None] = {}
        self._known: dict[str, Value] = {}
        self.source = self._sourced()
        named = [n for n in ast.walk(self.source.node) if isinstance(n, ast.Name)]
        self.bound = {*self.names, *(n.id for n in named if not isinstance(n.ctx, ast.Load))}
        self.taken = {*self.bound, *(n.id for n in named), f.__name__}
        self._numbers = itertools.count(1)
        self.samples: dict[str, Any] = {}
        self.env: dict[str, Value] = {}
        for name, arg in zip(self.names, args, strict=True):
            dims = tuple(f"{shape}({name})[{axis}]" for axis in range(np.ndim(arg)))
            active = isinstance(arg, float) or (isinstance(arg, np.ndarray) and arg.dtype.kind == "f")
            self.samples[name] = arg
            self.env[name] = Value(_name(name), arg, active, dims, True)
        self.parameters = dict(self.env)
        self.returns_a_tuple = False
        self.results = self._read()

    def _sourced(self):
        if self.f.__closure__:
            raise Unreadable("it reads variables of an enclosing function")
        try:
            return find_source(self.f.__code__)
        except RuleLabError as error:
            raise Unreadable(str(error).splitlines()[0]) from None

    def free_name(self, wanted):
        """A name that is not used yet."""
        for word in itertools.chain([wanted], (f"{wanted}_{i}" for i in itertools.count(1))):
            if word not in self.taken and word not in self.scope and not hasattr(builtins, word):
                self.taken.add(word)
                return word
        raise AssertionError

    def env_of(self, name):
        """The initial value of a parameter."""
        return self.parameters[name]

    # --- statements ---

    def _read(self) -> tuple[Value, ...]:
        node = self.source.node
        if isinstance(node, ast.Lambda):
            return self._returned(node.body)
        body = list(node.body)
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        for statement in body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self._returned(statement.value)
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._assign(statement.targets[0], statement.value)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                self._assign(statement.target, statement.value)
            else:
                raise Unreadable(_what(statement), statement)
        raise Unreadable("it returns nothing")

    def _returned(self, node) -> tuple[Value, ...]:
        if not isinstance(node, ast.Tuple):
            return (self.value(node, self._name_of_the_result()),)
        found = tuple(self.value(part, self._name_of_the_result()) for part in node.elts)
        active = [value.text for value in found if value.active]
        if len(active) > len(set(active)):
            raise Unreadable("a tuple with the same value twice", node)
        self.returns_a_tuple = True
        return found

    def _name_of_the_result(self):
        return self.free_name(
            next(n for n in ("y", "out", "result", "value", "t") if n not in self.taken)
        )

    def _assign(self, target, node):
        if isinstance(target, ast.Name):
            self.env[target.id] = self._kept(self.value(node, target.id), target.id)
        elif isinstance(target, ast.Tuple) and all(isinstance(t, ast.Name) for t in target.elts):
            names = [t.id for t in target.elts if isinstance(t, ast.Name)]
            if isinstance(node, ast.Tuple) and len(node.elts) == len(names):
                found = [
                    self._kept(self.value(part, name), name)
                    for part, name in zip(node.elts, names, strict=True)
                ]
            else:
                found = self._parts(self.value(node), len(names), node)
            self.env.update(zip(names, found, strict=True))
        else:
            raise Unreadable("an assignment to an element or an attribute", target)

    def _parts(self, value, count, node):
        if value.active:
            raise Unreadable("an assignment of one value to several names", node)
        whole = self._named(value)
        if len(whole.sample) != count:
            raise Unreadable("an assignment of one value to several names", node)
        return [
            Value(ast.Subscript(whole.tree, ast.Constant(i), ast.Load()), part)
            for i, part in enumerate(whole.sample)
        ]

    # --- expressions ---

    def value(self, node, wanted=None) -> Value:
        """The value of an expression; the steps that lead to it are recorded."""
        if isinstance(node, ast.Name):
            return self._of_name(node)
        if isinstance(node, ast.Constant):
            return Value(node, node.value, False, (), True)
        method = getattr(self, f"_of_{type(node).__name__}", None)
        if method is not None:
            return method(node, wanted)
        return self._plain(node)

    def _of_name(self, node):
        if node.id in self.env:
            return self.env[node.id]
        known = self.scope.get(node.id, getattr(builtins, node.id, self))
        if known is self:
            raise Unreadable(f"{node.id} is not defined", node)
        number = isinstance(known, (bool, int, float))
        return Value(node, known, False, () if number else None, number)

    def _of_BinOp(self, node, wanted):
        left, right = self.value(node.left), self.value(node.right)
        word = OPERATORS.get(type(node.op))
        tree = ast.BinOp(left.tree, node.op, right.tree)
        if word is None or not (left.active or right.active):
            if left.active or right.active:
                raise Unreadable(f"`{ast.unparse(node)}`, an operator that has no derivative here", node)
            dims = self._broadcast(left, right) if word != "matmul" else _contracted(left, right)
            return self._constant(tree, dims, left, right)
        return self.step(word, tree, (left, right), wanted, node)

    def _of_UnaryOp(self, node, wanted):
        inner = self.value(node.operand)
        tree = ast.UnaryOp(node.op, inner.tree)
        if not inner.active or isinstance(node.op, ast.Not):
            return self._constant(tree, inner.dims, inner)
        if isinstance(node.op, ast.UAdd):
            return inner
        return self.step("negative", tree, (inner,), wanted, node)

    def _of_Attribute(self, node, wanted):
        inner = self.value(node.value)
        tree = ast.Attribute(inner.tree, node.attr, ast.Load())
        if node.attr == "T" and isinstance(inner.sample, np.ndarray):
            if not inner.active:
                return self._constant(tree, None if inner.dims is None else inner.dims[::-1], inner)
            return self.step("transpose", tree, (inner,), wanted, node)
        if inner.active and node.attr not in FACTS:
            raise Unreadable(f"the attribute .{node.attr} of an array", node)
        return self._constant(tree, None, inner)

    def _of_Subscript(self, node, wanted):
        owner = self.value(node.value)
        index, parts = self._index(node.slice)
        if any(part.active for part in parts):
            raise Unreadable("an index that is computed from a number with a derivative", node)
        tree = ast.Subscript(owner.tree, index, ast.Load())
        if not owner.active:
            return self._constant(tree, None, owner, *parts, items=(owner, index, parts))
        return self.step("item", tree, (owner,), wanted, node, index=index, parts=parts)

    def _index(self, node):
        """(the tree of an index, its parts): calls in it are bound to names, so that they run once."""
        if isinstance(node, ast.Tuple):
            found = [self._index(part) for part in node.elts]
            return ast.Tuple([tree for tree, _ in found], ast.Load()), [p for _, ps in found for p in ps]
        if isinstance(node, ast.Slice):
            ends = [None if e is None else self.value(e) for e in (node.lower, node.upper, node.step)]
            trees = [None if e is None else e.tree for e in ends]
            return ast.Slice(*trees), [e for e in ends if e is not None]
        part = self.value(node)
        part = part if part.active else self._named(part)
        return part.tree, [part]

    def _of_Call(self, node, wanted):
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise Unreadable("a call with * or **", node)
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if owner.active or isinstance(owner.sample, np.ndarray):
                return self._of_method(node, owner, wanted)
        callee = self.value(node.func)
        args = [self._argument(a) for a in node.args]
        keywords = [(k.arg, self.value(k.value)) for k in node.keywords]
        tree = ast.Call(callee.tree, [a.tree for a in args], [ast.keyword(k, v.tree) for k, v in keywords])
        word = _word(callee.sample)
        if word in CONSTANT or not any(v.active for v in (*args, *(v for _, v in keywords))):
            return self._constant(tree, self._dims_of_call(word, args, dict(keywords)), *args)
        if any(v.active for _, v in keywords):
            raise Unreadable("a keyword argument with a derivative", node)
        return self._called(node, callee, word, tree, args, dict(keywords), wanted)

    def _argument(self, node):
        """An argument; a list or tuple of numbers is one value, whose parts are the operands."""
        if not isinstance(node, (ast.List, ast.Tuple)):
            return self.value(node)
        parts = [self.value(part) for part in node.elts]
        kind = ast.List if isinstance(node, ast.List) else ast.Tuple
        tree = kind([p.tree for p in parts], ast.Load())
        if not any(p.active for p in parts):
            return self._constant(tree, None, *parts)
        return _Parts(tree, [p.sample for p in parts], True, None, False, tuple(parts))

    def _called(self, node, callee, word, tree, args, keywords, wanted):
        if any(isinstance(a, _Parts) for a in args):
            one = args[0]
            if word != "array" or len(args) != 1 or keywords or not all(p.is_number for p in one.parts):
                raise Unreadable("a call with a list of arrays", node)
            return self.step("array", tree, one.parts, wanted, node)
        if word in _REDUCTIONS and len(args) == 2 and "axis" not in keywords:
            args, keywords = args[:1], {"axis": args[1], **keywords}
            tree = ast.Call(callee.tree, [args[0].tree], _keyword_trees(keywords))
        if word is None:
            if not callable(callee.sample):
                raise Unreadable(f"a call of `{ast.unparse(node.func)}`", node)
            word = "call"
        return self.step(word, tree, tuple(args), wanted, node, callee=callee, keywords=keywords)

    def _of_method(self, node, owner, wanted):
        if not isinstance(node.func, ast.Attribute):
            raise AssertionError
        name = node.func.attr
        args = [self.value(a) for a in node.args]
        keywords = {k.arg: self.value(k.value) for k in node.keywords if k.arg}
        if name in _REDUCTIONS and len(args) == 1 and "axis" not in keywords:
            args, keywords = [], {"axis": args[0], **keywords}
        function = ast.Attribute(owner.tree, name, ast.Load())
        tree = ast.Call(function, [a.tree for a in args], _keyword_trees(keywords))
        if not any(v.active for v in (owner, *args, *keywords.values())) or name in CONSTANT:
            return self._constant(tree, None, owner, *args)
        if name not in METHODS or any(v.active for v in keywords.values()) or (args and name != "dot"):
            raise Unreadable(f"the method .{name} of an array", node)
        return self.step(name, tree, (owner, *args), wanted, node, keywords=keywords, method=True)

    def _plain(self, node):
        """Any other expression without a derivative, as it is written."""
        inner = list(ast.iter_child_nodes(node))
        if isinstance(node, (ast.Tuple, ast.List)):
            parts = [self.value(part) for part in node.elts]
            if any(p.active for p in parts):
                raise Unreadable("a list or tuple of values with a derivative", node)
            return self._constant(type(node)([p.tree for p in parts], ast.Load()), None, *parts)
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return self._plain_test(node)
        raise Unreadable(_what(node), inner[0] if inner and not hasattr(node, "lineno") else node)

    def _plain_test(self, node):
        if isinstance(node, ast.BoolOp):
            parts = [self.value(part) for part in node.values]
            return self._constant(ast.BoolOp(node.op, [p.tree for p in parts]), None, *parts)
        left, rest = self.value(node.left), [self.value(part) for part in node.comparators]
        tree = ast.Compare(left.tree, node.ops, [p.tree for p in rest])
        dims = self._broadcast(left, rest[0]) if len(rest) == 1 else None
        return self._constant(tree, dims, left, *rest)

    # --- recording ---

    def _run(self, tree, node=None):
        code = compile(ast.fix_missing_locations(ast.Expression(tree)), "<a step>", "eval")
        with without_warnings_or_output():
            try:
                return eval(code, self.scope, self.samples)
            except Exception as error:
                raise Unreadable(f"it raised {type(error).__name__} at these arguments", node) from None

    def _constant(self, tree, dims, *parts, items=None):
        sample = self._run(tree)
        tree = _as_literal(tree, sample)
        if items is not None:
            dims = self._picked(*items)
        if isinstance(sample, (bool, int, float)):
            dims = ()
        elif dims is not None and len(dims) != np.ndim(sample):
            dims = None
        return Value(tree, sample, False, dims, dims is not None)

    def _kept(self, value, name):
        """Record a value that the author binds to a name, under this name."""
        if value.active or isinstance(value.tree, (ast.Name, ast.Constant)):
            return value
        return self._named(value, name if name not in self.names and name not in self.samples else None)

    def _named(self, value, wanted=None):
        """The value bound to a name, unless its text is as short as a name."""
        if wanted is None and not any(isinstance(n, _WORTH_A_NAME) for n in ast.walk(value.tree)):
            return value
        if value.text in self._known:
            return self._known[value.text]
        target = wanted or self.free_name(f"t{next(self._numbers)}")
        self.samples[target] = value.sample
        self.own |= {wanted} - {None}
        self.lines.append((target, value.tree))
        named = self._known[value.text] = Value(_name(target), value.sample, False, value.dims, value.sure)
        return named

    def step(self, kind, tree, operands, wanted, node, **options) -> Value:
        """Record an operation, unless it is already recorded, and return its result."""
        if "callee" in options and not _is_path(options["callee"].tree):
            raise Unreadable(f"a call of `{ast.unparse(options['callee'].tree)}`", node)
        operands = tuple(v if v.active else self._named(v) for v in operands)
        text = ast.unparse(tree)
        if text in self._known:
            return self._known[text]
        sample = self._run(tree, node)
        if not (isinstance(sample, (float, np.ndarray)) and np.asarray(sample).dtype.kind == "f"):
            raise Unreadable(f"`{ast.unparse(node)}` is not an array or number of floats", node)
        tree = _with_operands(tree, operands, options)
        own = wanted is not None and wanted not in self.names and wanted not in self.samples
        target = wanted if own and wanted is not None else self.free_name(f"t{next(self._numbers)}")
        self.samples[target] = sample
        self.own |= {target} if own else set()
        dims, sure = self._shape(kind, operands, sample, options)
        found = self._known[text] = Value(_name(target), sample, True, dims, sure)
        made = Step(found, target, tree, kind, operands, options)
        self.steps.append(made)
        self.lines.append(made)
        return found

    # --- shapes ---

    def _shape(self, kind, operands, sample, options):
        dims = self._dims(kind, operands, options)
        if dims is not None and len(dims) != np.ndim(sample):
            raise AssertionError(kind)  # the table of shapes is wrong
        sure = dims is not None or (kind in _ELEMENTWISE and all(v.sure for v in operands))
        return dims, sure

    def _dims(self, kind, operands, options):
        first = operands[0]
        if kind in _ELEMENTWISE and not options.get("keywords"):
            if len(operands) == 1:
                return first.dims
            return self._broadcast(*operands) if len(operands) == 2 else None
        if kind in ("matmul", "dot"):
            return _contracted(*operands) if len(operands) == 2 else None
        if kind == "transpose":
            return None if first.dims is None else first.dims[::-1]
        if kind == "item":
            return self._picked(first, options["index"], options["parts"])
        if kind == "array":
            return None
        return self._dims_of_call(kind, operands, options.get("keywords", {}))

    def _dims_of_call(self, word, args, keywords=None):
        """The dimensions of the result of some calls, if those of the arguments determine them."""
        keywords, first = keywords or {}, args[0] if args else None
        if word in _REDUCTIONS and len(args) == 1:
            return _reduced(first, keywords)
        if first is None or first.dims is None:
            return self._counted(word, args, keywords)
        if word in ("argsort", "cumsum") and not keywords and len(args) == 1:
            return first.dims if first.rank == 1 else None
        if word == "cross" and len(args) == 2 and not keywords:
            return self._crossed(*args)
        if word == "diag" and len(args) == 1 and not keywords:
            return first.dims[:1] if first.rank == 2 and first.dims[0] == first.dims[1] else None
        if word in ("inv", "cholesky") and len(args) == 1:
            return first.dims if first.rank == 2 else None
        if word == "solve" and len(args) == 2 and first.rank == 2:
            return args[1].dims if args[1].rank in (1, 2) else None
        if word == "outer" and len(args) == 2 and args[1].dims is not None:
            return (*first.dims, *args[1].dims) if first.rank == args[1].rank == 1 else None
        if word in ("zeros_like", "ones_like", "floor", "sign", "abs") and not keywords:
            return first.dims
        return self._counted(word, args, keywords)

    def _counted(self, word, args, keywords):
        """The dimensions of `np.arange(len(x))` and `np.eye(len(x))`."""
        if word not in ("arange", "eye") or keywords or len(args) != 1:
            return None
        call = args[0].tree
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "len" and len(call.args) == 1):
            return None
        counted = call.args[0]
        dims = self.env[counted.id].dims if isinstance(counted, ast.Name) and counted.id in self.env else None
        return None if not dims else dims[:1] * (2 if word == "eye" else 1)

    def _crossed(self, left, right):
        """The dimensions of the cross product of two vectors of three numbers."""
        if any(v.dims is None or np.shape(v.sample) != (3,) for v in (left, right)):
            return None
        for value in (left, right):
            if value.dims[0] != 3:
                self.equal[value.dims[0], 3] = None
        return (3,)

    def _broadcast(self, left, right):
        """The dimensions of an elementwise result; dimensions of parameters that are combined must be
        equal.
        """
        if left.dims is None or right.dims is None:
            return None
        sizes = [np.shape(left.sample), np.shape(right.sample)]
        wide = max(len(left.dims), len(right.dims))
        pairs = [
            ((1,) * (wide - len(v.dims)) + v.dims, (1,) * (wide - len(s)) + s)
            for v, s in zip((left, right), sizes, strict=True)
        ]
        found = []
        for a, b, m, n in zip(pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1], strict=True):
            if a == b or b == 1:
                found.append(a)
            elif a == 1:
                found.append(b)
            elif m == n:
                self.equal[(b, a) if isinstance(a, int) else (a, b)] = None
                found.append(a)
            else:
                return None
        return tuple(found)

    def _picked(self, owner, index, parts):
        """The dimensions of `owner[index]`, for ints, slices, None and a single array of positions."""
        if owner.dims is None:
            return None
        items = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        left, found, arrays = list(owner.dims), [], 0
        by_text = {p.text: p for p in parts}
        for item in items:
            if isinstance(item, ast.Constant) and item.value is None:
                found.append(1)
            elif not left:
                return None
            elif isinstance(item, ast.Slice):
                length = _sliced(left.pop(0), item)
                if length is None:
                    return None
                found.append(length)
            else:
                part = by_text.get(ast.unparse(item))
                if part is None or part.dims is None or np.asarray(part.sample).dtype.kind not in "iu":
                    return None
                arrays += part.rank > 0
                if arrays and (arrays > 1 or part.rank != 1 or found):
                    return None
                left.pop(0)
                found += part.dims
        return (*found, *left)


@dataclass(frozen=True, eq=False)
class _Parts(Value):
    """A list of values with derivatives, which only some calls accept."""

    parts: tuple[Value, ...] = ()


_WORTH_A_NAME = (ast.Call, ast.BinOp, ast.Compare, ast.Subscript)
_BUILTINS = types.SimpleNamespace(abs=abs, bool=bool, float=float, int=int, len=len, range=range, round=round)
_OF_MATH = {"fabs": "abs", "atan": "arctan", "atanh": "arctanh", "asinh": "arcsinh", "pow": "power"}
_REDUCTIONS = ("sum", "mean", "max", "min", "amax", "amin", "prod")
_ELEMENTWISE = frozenset(
    "add subtract multiply divide power negative exp log sqrt sin cos tan tanh square log1p expm1 sinh cosh"
    " arctan abs absolute fabs reciprocal float".split()
)


def is_elementwise(kind):
    return kind in _ELEMENTWISE


def _name(word):
    return ast.Name(word, ast.Load())


def _keyword_trees(keywords):
    return [ast.keyword(name, value.tree) for name, value in keywords.items()]


def _is_path(tree):
    """Whether this is `a` or `a.b.c`."""
    while isinstance(tree, ast.Attribute):
        tree = tree.value
    return isinstance(tree, ast.Name)


def _as_literal(tree, sample):
    """The value of an expression of literals, if it is not longer: Python computes the same value."""
    parts = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant)
    if type(sample) not in (int, float) or not all(isinstance(node, parts) for node in ast.walk(tree)):
        return tree
    literal = repr(sample)
    if not np.isfinite(sample) or len(literal) > len(ast.unparse(tree)):
        return tree
    return ast.parse(literal, mode="eval").body


def _sliced(length, item):
    """The length of `:`, `::-1`, `2:` or `:-2` of a dimension; None for other slices."""
    if item.step is not None and (item.lower or item.upper or ast.unparse(item.step) not in ("1", "-1")):
        return None
    if item.lower is None and item.upper is None:
        return length
    lower, upper = (None if end is None else ast.unparse(end) for end in (item.lower, item.upper))
    if lower is not None and lower.isdigit() and upper is None:
        return f"{length} - {lower}"
    if lower is None and upper is not None and upper[0] == "-" and upper[1:].isdigit():
        return f"{length} - {upper[1:]}"
    return None


def _word(function: Callable[..., Any]) -> str | None:
    """The name of a function of NumPy or `math`, or of a builtin; None for any other."""
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return None
    home = {"math": "math", "builtins": "builtins"}.get(getattr(function, "__module__", "") or "")
    if home == "builtins":
        return name if getattr(_BUILTINS, name, None) is function else None
    if home == "math":
        return _OF_MATH.get(name, name) if getattr(math, name, None) is function else None
    for module in (np, np.linalg):
        if getattr(module, name, None) is function:
            return name
    return None


def _contracted(left, right):
    if left.dims is None or right.dims is None:
        return None
    if not (left.rank in (1, 2) and right.rank in (1, 2)):
        return None
    return (*left.dims[:-1], *(right.dims[1:] if right.rank == 2 else ()))


def _reduced(value, keywords):
    """The dimensions of a reduction over an axis that is a literal."""
    if not {*keywords} <= {"axis", "keepdims"}:
        return None
    axis = keywords["axis"].sample if "axis" in keywords else None
    keepdims = bool(keywords["keepdims"].sample) if "keepdims" in keywords else False
    if not all(isinstance(v.tree, (ast.Constant, ast.UnaryOp)) for v in keywords.values()):
        return None
    if axis is None and not keepdims:
        return ()
    if value.dims is None:
        return None
    if axis is None:
        return (1,) * value.rank
    if not isinstance(axis, int) or not -value.rank <= axis < value.rank:
        return None
    axis %= value.rank
    kept = (1,) if keepdims else ()
    return (*value.dims[:axis], *kept, *value.dims[axis + 1 :])


def _with_operands(tree, operands, options):
    """The tree with the names that its operands have been bound to."""
    trees = [v.tree for v in operands]
    if isinstance(tree, ast.BinOp):
        return ast.BinOp(trees[0], tree.op, trees[1])
    if isinstance(tree, ast.Call) and "callee" in options and _is_path(tree.func):
        called = options["callee"].tree
        if ast.unparse(tree.func) == ast.unparse(called):
            return ast.Call(tree.func, trees, tree.keywords)
    return tree


def _what(node):
    """A statement or expression in words."""
    words = {
        ast.For: "a loop",
        ast.While: "a loop",
        ast.If: "an `if`",
        ast.IfExp: "a choice by `if … else`",
        ast.AugAssign: "an assignment like `+=`",
        ast.FunctionDef: "a function defined inside",
        ast.Lambda: "a lambda",
        ast.Try: "a `try`",
        ast.With: "a `with`",
        ast.Return: "it returns nothing",
        ast.Expr: "a statement that is not an assignment",
        ast.Assign: "an assignment with several targets",
    }
    for kind, said in words.items():
        if isinstance(node, kind):
            return said
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)):
        return "a comprehension"
    return f"`{ast.unparse(node)}`"
