"""What is known of each value before the pass runs: a real scalar, an array of a dtype and dimension, a
known object.
"""

from __future__ import annotations

import builtins
import math
import types as python_types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...rules.signatures import weakly
from ..base import ir
from ..base.libraries import IMMORTAL
from ..base.liveness import joins_of


@dataclass(frozen=True)
class Kind:
    """A type by name. `real` is any of float, int and f8 (np.float64): their derivatives may be written
    out.
    """

    name: str


@dataclass(frozen=True)
class Array:
    """Exactly numpy.ndarray, of at least one dimension, native byte order."""

    dtype: str
    ndim: int


@dataclass(frozen=True)
class Tuple:
    items: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Known:
    """One certain object, guarded by identity."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


Type = Kind | Array | Tuple | Known


def may_hold_list(kind: Type) -> bool:
    """Whether a value of this type is a list that code has shown to be one, or a tuple with one in it."""
    return any_part(kind, lambda part: part == LIST)


ANY, FLOAT, INT, BOOL, F8, REAL = (Kind(n) for n in ("any", "float", "int", "bool", "f8", "real"))
STR, NONE, LIST, SLICE, FUNCTION = (Kind(n) for n in ("str", "none", "list", "slice", "function"))
DICT, CELL = Kind("dict"), Kind("cell")
NUMERIC = Kind("numeric")  # arrays and numbers, and tuples of them: what holds no container that can change
_REALS = frozenset({FLOAT, INT, F8, REAL})
_OF_CLASS = {
    float: FLOAT,
    int: INT,
    bool: BOOL,
    np.float64: F8,
    str: STR,
    type(None): NONE,
    list: LIST,
    dict: DICT,
    slice: SLICE,
    complex: NUMERIC,
}
_NATIVE = {np.dtype(float): "f8", np.dtype(int): "i8"}

Signature = tuple[Any, ...]


def signature_of(value: Any) -> Any:
    """The part of a value that a compiled pass depends on; hashable, keeps neither the value nor a class of
    the author's alive.
    """
    kind = type(value)
    if kind is np.ndarray:
        return (value.dtype, value.ndim)
    if kind is tuple:
        return (tuple, *map(signature_of, value))
    return weakly(kind)


def any_part(kind: Type, test: Callable[[Type], bool]) -> bool:
    """Whether the test holds of a type, or of any item of the tuple that it is."""
    return any(any_part(item, test) for item in kind.items) if isinstance(kind, Tuple) else test(kind)


def type_of_signature(signature: Any) -> Type:
    """The type of every value with this signature."""
    if signature == "cell":
        return CELL
    if isinstance(signature, tuple):
        if signature[0] is tuple:
            return Tuple(tuple(map(type_of_signature, signature[1:])))
        dtype, ndim = signature
        if dtype in _NATIVE and ndim:
            return Array(_NATIVE[dtype], ndim)
        return NUMERIC if dtype.kind in "fciub" else ANY
    if signature is python_types.FunctionType:
        return FUNCTION
    if isinstance(signature, type) and issubclass(signature, np.number) and signature is not np.float64:
        return NUMERIC
    return _OF_CLASS.get(signature, ANY)


def type_of(value: Any) -> Type:
    """The type of a value that the pass may take for granted under a guard."""
    if isinstance(
        value, (python_types.ModuleType, np.ufunc, python_types.MethodDescriptorType, type(np.sum))
    ):
        return Known(value)
    if isinstance(value, python_types.BuiltinFunctionType) and isinstance(
        value.__self__, (python_types.ModuleType, type(None))
    ):
        return Known(value)
    if isinstance(value, (type, python_types.FunctionType)):
        # A pass may not keep the author's functions and classes alive: it takes nothing for granted of them.
        return (
            Known(value)
            if str(value.__module__).partition(".")[0] in IMMORTAL
            else type_of_signature(type(value))
        )
    return type_of_signature(signature_of(value))


def is_real(kind: Type) -> bool:
    """Whether values of this type are Python or NumPy real scalars (bool is not)."""
    return kind in _REALS


def is_numeric(kind: Type | None) -> bool:
    """Whether values of this type are numbers or arrays, and hold no container that can change."""
    return isinstance(kind, Array) or kind == NUMERIC or kind in _REALS


def join(left: Type | None, right: Type | None) -> Type:
    """The least type that both have."""
    if left is None or right is None:
        return left or right or ANY
    if left == right:
        return left
    if left in _REALS and right in _REALS:
        return REAL
    if isinstance(left, Tuple) and isinstance(right, Tuple) and len(left.items) == len(right.items):
        return Tuple(tuple(join(a, b) for a, b in zip(left.items, right.items, strict=True)))
    return NUMERIC if is_numeric(left) and is_numeric(right) else ANY


class Types:
    """The type of every name of a lowered function."""

    def __init__(
        self, function: ir.Function, given: dict[str, Type], find_global: Callable[[str], Any]
    ) -> None:
        self.of: dict[str, Type] = dict(given)
        self._find_global = find_global
        for _ in range(12):
            before = dict(self.of)
            self._block(function.body)
            if before == self.of:
                return
        for statement in ir.walk(function.body):  # no fixed point in sight: claim nothing of what is carried
            for phi in getattr(statement, "carried", ()):
                self.of[phi.target] = ANY
        self._block(function.body)

    def __call__(self, atom: ir.Atom) -> Type:
        if isinstance(atom, ir.Const):
            return ANY if atom.value is ir.UNBOUND else type_of(atom.value)
        return self.of.get(atom, ANY)

    def known(self, atom: ir.Atom) -> Any:
        """The object that the atom certainly is, or UNBOUND."""
        kind = self(atom)
        return kind.value if isinstance(kind, Known) else ir.UNBOUND

    def callee(self, op: ir.Call | ir.Apply) -> Any:
        """The object that the call certainly calls, without a self to pass, or UNBOUND."""
        value = self.known(op.function)
        if op.method is None:
            return value
        if isinstance(value, (python_types.ModuleType, type)):
            return getattr(value, op.method, ir.UNBOUND)
        return ir.UNBOUND

    def _maybe(self, atom: ir.Atom) -> Type | None:
        """The type as far as it is known in this round; None for names not reached yet and for no value."""
        if isinstance(atom, ir.Const):
            return None if atom.value is ir.UNBOUND else type_of(atom.value)
        return self.of.get(atom)

    def _block(self, block: ir.Block) -> None:
        for statement in block:
            if isinstance(statement, ir.Let):
                self._let(statement)
                continue
            self._join(statement)
            if isinstance(statement, ir.For):
                self._iteration(statement.iteration)
            elif isinstance(statement, ir.Try):
                self.of.update((handler.name, ANY) for handler in statement.handlers if handler.name)
            for inner in ir.blocks(statement):
                self._block(inner)
            self._join(statement)

    def _let(self, statement: ir.Let) -> None:
        atoms = statement.op.operands()
        if all(isinstance(atom, ir.Const) or atom in self.of for atom in atoms):
            self.of[statement.target] = self._result(statement.op)  # else: it is reached in the next round

    def _join(self, statement: ir.Statement) -> None:
        """A name that is given at a join has a type of all that is known to be its value."""
        for name, atoms in joins_of(statement):
            for kind in map(self._maybe, atoms):
                if kind is not None:
                    self.of[name] = join(self.of.get(name), kind)

    def _iteration(self, iteration: ir.Iteration) -> None:
        self.of.update(dict.fromkeys(ir.counters(iteration), INT))
        for leaf in ir.leaves(iteration):
            self.of[leaf.item] = INT if isinstance(leaf, ir.Count) else self._element(self(leaf.value))

    def _element(self, kind: Type) -> Type:
        if isinstance(kind, Array):
            return (
                Array(kind.dtype, kind.ndim - 1) if kind.ndim > 1 else F8 if kind.dtype == "f8" else NUMERIC
            )
        return NUMERIC if kind == NUMERIC else ANY

    # -- operations ------------------------------------------------------------------------------------------

    def _result(self, op: ir.Op) -> Type:
        method = getattr(self, f"_of_{type(op).__name__.lower()}", None)
        return _CERTAIN.get(type(op), ANY) if method is None else method(op)

    def _of_load(self, op: ir.Load) -> Type:
        value = self._find_global(op.name)
        return ANY if value is ir.UNBOUND else type_of(value)

    def _of_move(self, op: ir.Move | ir.Indexable) -> Type:
        return self(op.value)

    def _of_binary(self, op: ir.Binary) -> Type:
        left, right = self(op.left), self(op.right)
        if op.operator == "add" and isinstance(left, Tuple) and isinstance(right, Tuple):
            return Tuple((*left.items, *right.items))
        return _arithmetic(op.operator, left, right, op.right)

    def _of_augmented(self, op: ir.Augmented) -> Type:
        left, right = self(op.left), self(op.right)
        return (
            _arithmetic(op.operator, left, right, op.right)
            if is_real(left) and is_real(right)
            else (left if isinstance(left, Array) and (is_real(right) or isinstance(right, Array)) else ANY)
        )

    def _of_unary(self, op: ir.Unary) -> Type:
        kind = self(op.value)
        if (is_real(kind) or isinstance(kind, Array)) and op.operator in ("neg", "pos"):
            return kind
        return BOOL if op.operator == "not_" else NUMERIC if is_numeric(kind) else ANY

    def _of_compare(self, op: ir.Compare) -> Type:
        if op.symbol in ("is", "is not", "in", "not in") or (
            is_real(self(op.left)) and is_real(self(op.right))
        ):
            return BOOL
        return NUMERIC if is_numeric(self(op.left)) and is_numeric(self(op.right)) else ANY

    def _of_attribute(self, op: ir.Attribute) -> Type:
        owner = self(op.value)
        if isinstance(owner, Known) and isinstance(owner.value, (python_types.ModuleType, type)):
            value = getattr(owner.value, op.name, ir.UNBOUND)
            return ANY if value is ir.UNBOUND else type_of(value)
        if isinstance(owner, Array):
            known: dict[str, Type] = {
                "shape": Tuple((INT,) * owner.ndim),
                "size": INT,
                "ndim": INT,
                "T": owner,
            }
            if op.name in known:
                return known[op.name]
        if is_numeric(owner) and op.name in ("T", "mT", "real", "imag"):
            return NUMERIC
        return ANY

    def _of_item(self, op: ir.Item) -> Type:
        owner, index = self(op.value), self(op.index)
        if isinstance(owner, Tuple):
            if (
                isinstance(op.index, ir.Const)
                and isinstance(op.index.value, int)
                and -len(owner.items) <= op.index.value < len(owner.items)
            ):
                return owner.items[op.index.value]
            if index == INT and owner.items and all(item == owner.items[0] for item in owner.items):
                return owner.items[0]
        if isinstance(owner, Array):
            return _indexed(owner, index)
        return NUMERIC if owner == NUMERIC else ANY

    def _of_build(self, op: ir.Build) -> Type:
        if op.kind == "tuple":
            return Tuple(tuple(map(self, op.items)))
        return {"list": LIST, "dict": DICT}.get(op.kind, ANY)

    def _of_unpack(self, op: ir.Unpack) -> Type:
        kind = self(op.value)
        if isinstance(kind, Array):
            return kind
        fits = isinstance(kind, Tuple) and (op.or_more or len(kind.items) == op.count)
        return kind if fits else ANY

    def _of_ask(self, op: ir.Ask) -> Type:
        answer = getattr(op.function, "__annotations__", {}).get("return", "")
        return {"bool": BOOL, "str": STR}.get(answer, ANY)

    _of_indexable = _of_move

    def _of_call(self, op: ir.Call) -> Type:
        if isinstance(op.function, ir.Const) and getattr(op.function.value, "gives_pair", False):
            return Tuple((ANY, ANY))
        callee = self.callee(op)
        if callee is ir.UNBOUND:
            return self._of_method(op)
        found = result_of_call(callee, [self(a) for a in op.args], bool(op.keywords))
        return NUMERIC if found == ANY and gives_arrays(callee) else found

    def _of_method(self, op: ir.Call) -> Type:
        owner = self(op.function)
        if isinstance(owner, Array) and owner.dtype == "f8" and not op.args and not op.keywords:
            if op.method in ("sum", "mean", "max", "min", "prod", "std", "var"):
                return F8
            if op.method == "copy":
                return owner
        if (isinstance(owner, Array) or owner == NUMERIC) and op.method in _ARRAY_METHODS:
            return NUMERIC
        return ANY


_CERTAIN: dict[type, Type] = {
    ir.Append: LIST,
    ir.Collect: DICT,
    ir.Format: STR,
    ir.MakeCell: CELL,
    ir.MakeFunction: FUNCTION,
    ir.Publish: NONE,
    ir.Slice: SLICE,
}


def _arithmetic(operator: str, left: Type, right: Type, exponent: ir.Atom) -> Type:
    otherwise = NUMERIC if is_numeric(left) and is_numeric(right) else ANY
    if operator not in ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv"):
        return otherwise
    if is_real(left) and is_real(right):
        if operator == "pow" and not _plain_power(left, right, exponent):
            return otherwise
        if F8 in (left, right):
            return F8
        if left == INT and right == INT:
            return FLOAT if operator == "truediv" else REAL if operator == "pow" else INT
        return FLOAT if REAL not in (left, right) else REAL
    arrays = [kind for kind in (left, right) if isinstance(kind, Array)]
    others = [kind for kind in (left, right) if not isinstance(kind, Array)]
    if not arrays or not all(map(is_real, others)):
        return otherwise
    if any(a.dtype == "f8" for a in arrays):
        return Array("f8", max(a.ndim for a in arrays))
    return otherwise


def _plain_power(base: Type, exponent: Type, atom: ir.Atom) -> bool:
    """Whether the power of two real scalars is certainly real: Python's own turns complex for (-8.0) **
    (1/3).
    """
    return F8 in (base, exponent) or (isinstance(atom, ir.Const) and float(atom.value).is_integer())


def _indexed(owner: Array, index: Type) -> Type:
    parts = index.items if isinstance(index, Tuple) else (index,)
    if not all(part in (INT, SLICE) for part in parts) or len(parts) > owner.ndim:
        return NUMERIC
    left = owner.ndim - sum(part == INT for part in parts)
    if left:
        return Array(owner.dtype, left)
    return F8 if owner.dtype == "f8" else NUMERIC


_ARRAY_METHODS = frozenset(name for name in dir(np.ndarray) if name[0] != "_" and name != "tolist")
# The functions of NumPy that give lists of arrays, and those that call what they are given.
_LISTING = frozenset(
    {"split", "array_split", "hsplit", "vsplit", "dsplit", "unstack", "broadcast_arrays", "meshgrid", "ix_"}
    | {"atleast_1d", "atleast_2d", "atleast_3d", "gradient", "apply_along_axis", "piecewise", "fromiter"}
    | {"array", "asarray", "vectorize", "apply_over_axes", "fromfunction"}
)


def gives_arrays(target: Any) -> bool:
    """Whether a function of NumPy gives arrays or numbers, and no list of them."""
    if isinstance(target, python_types.MethodDescriptorType):
        return target.__objclass__ is np.ndarray and target.__name__ in _ARRAY_METHODS
    if isinstance(target, np.ufunc):
        return True
    module = str(getattr(target, "__module__", None)).partition(".")[0]
    return (
        module == "numpy"
        and not isinstance(target, (type, python_types.ModuleType))
        and callable(target)
        and getattr(target, "__name__", "array") not in _LISTING
    )


_TO_F8 = frozenset({np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.std, np.var, np.median})
_REAL_MATH = frozenset(
    value
    for name, value in vars(math).items()
    if callable(value)
    and name
    not in (
        "floor",
        "ceil",
        "trunc",
        "gcd",
        "lcm",
        "comb",
        "perm",
        "isqrt",
        "factorial",
        "frexp",
        "modf",
        "isnan",
        "isinf",
        "isfinite",
        "isclose",
        "dist",
        "fsum",
        "prod",
        "sumprod",
    )
)
_INT_CALLS = frozenset({builtins.len, builtins.int, math.gcd, math.comb, math.factorial})


def result_of_call(callee: Any, args: list[Type], keywords: bool) -> Type:
    """The type of a call of a known function, where it is certain."""
    if not _hashable(callee):
        return ANY
    if callee in _INT_CALLS:
        return INT
    if keywords or not args:
        return ANY
    if callee in _REAL_MATH and all(map(is_real, args)):
        return FLOAT
    if callee is tuple and isinstance(args[0], Tuple):
        return args[0]
    if callee is float and is_numeric(args[0]):
        return FLOAT
    if callee is abs and is_numeric(args[0]):
        return args[0]
    if callee in (max, min) and len(args) > 1 and all(map(is_real, args)):
        return args[0] if all(a == args[0] for a in args) else REAL
    if callee in _TO_F8 and len(args) == 1 and isinstance(args[0], Array) and args[0].dtype == "f8":
        return F8
    if (
        isinstance(callee, np.ufunc)
        and callee.nout == 1
        and callee.nin == len(args)
        and callee.signature is None
        and "d" * callee.nin + "->d" in callee.types
    ):  # those with a signature (matmul) take whole axes away
        return _ufunc(args)
    return ANY


def _ufunc(args: list[Type]) -> Type:
    arrays = [a for a in args if isinstance(a, Array)]
    if not all(is_real(a) or isinstance(a, Array) for a in args) or any(a.dtype != "f8" for a in arrays):
        return ANY
    if arrays:
        return Array("f8", max(a.ndim for a in arrays))
    return F8 if all(a in (FLOAT, F8) for a in args) else ANY


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:  # some classes say so only when asked
        return False
    return True
