"""Whether a function computes the same on Python's own floats, and a version of it that does so.

Computing with NumPy's scalars takes three times as long as with Python's floats. If a function only
computes, the scalars it is given, and those it reads one by one from arrays, can be taken as Python floats:
sums, products and comparisons give the same numbers. Where the two differ, the attempt ends: Python raises
on division by zero, and an overflow shows as a non-finite value (`finite`). The caller then starts again
with NumPy's scalars, and no difference can be seen, since nothing else was done.

`x ** y` of Python's floats may turn complex, so its kind is not known, nor that of anything computed from it.
In the attempt it is `math.pow`, which gives the same number or raises (`settle_powers`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ...rules.kinds import ANY, F8, I8, INT, REAL, Array, Tuple, Type, are_floats, is_real
from ..base import ir
from ..base.copying import Copying
from ..base.liveness import reads_of, use_counts
from .elements import changed_list
from .types import Types

_ARITHMETIC = ("add", "sub", "mul", "truediv", "neg", "pos")


def read_as_floats(function: ir.Function, types: Types) -> bool:
    """Have the function read its scalar parameters as Python floats and, in loops, the items of its array
    parameters too, and treat its powers as real numbers; returns False if there are none of these.
    """
    if not function.body:
        return False
    _multiply_squares(function, types)
    powers = list(_powers(function))
    for power in powers:
        power.real = True
    numbers = [name for name in function.parameters if types(name) == F8]
    taken = {name: function.fresh(name) for name in numbers}
    copying = Copying(lambda name: taken.get(name, name))
    function.body[:] = copying.block(function.body)
    function.result = copying.atom(function.result)
    function.handed = list(map(copying.handed, function.handed))
    reads = list(_reads_in_loops(function, types))
    read = {str(one.value) for one in reads}
    views = {name: function.fresh(f"{name}_items") for name in function.parameters if name in read}
    for one in reads:
        one.value = views[str(one.value)]
    at = function.body[0].position
    function.body[:0] = [
        *(ir.Let(at, view, ir.Elements(name)) for name, view in views.items()),
        *(ir.Let(at, number, ir.Elements(name, of_number=True)) for name, number in taken.items()),
    ]
    return bool(views or taken or powers)


def _reads_in_loops(function: ir.Function, types: Types) -> Iterator[ir.Item | ir.Sequence]:
    """The reads of single numbers of array parameters in loops: by an index, or by a loop over a vector."""
    arrays = {name for name in function.parameters if _is_of_floats(types(name))}
    vectors = {name for name in arrays if types(name) == Array("f8", 1)}
    found: dict[int, ir.Item | ir.Sequence] = {}
    for loop in function.statements():
        if isinstance(loop, ir.For):
            leaves = ir.leaves(loop.iteration)
            found |= {id(x): x for x in leaves if isinstance(x, ir.Sequence) and x.value in vectors}
        if isinstance(loop, (ir.For, ir.While)):
            ops = [let.op for block in ir.blocks(loop) for let in ir.lets(block)]
            of_arrays = [op for op in ops if isinstance(op, ir.Item) and op.value in arrays]
            found |= {id(op): op for op in of_arrays if _is_one(types, op)}
    yield from found.values()


def _multiply_squares(function: ir.Function, types: Types) -> None:
    """Replace `x ** 2` by `x * x` for numbers: Python computes it in a third of the time."""
    for let in function.lets():
        op = let.op
        if isinstance(op, ir.Binary) and op.operator == "pow" and is_real(types(op.left)):
            if isinstance(op.right, ir.Const) and op.right.value == 2 and isinstance(op.left, str):
                let.op = ir.Binary("mul", op.left, op.left)


def _powers(function: ir.Function) -> Iterator[ir.Binary]:
    """The powers that may turn complex for Python's numbers: all but those with a constant whole exponent."""
    for let in function.lets():
        if isinstance(let.op, ir.Binary) and let.op.operator == "pow":
            exponent = let.op.right.value if isinstance(let.op.right, ir.Const) else 0.5
            if type(exponent) in (int, float) and not float(exponent).is_integer():
                yield let.op


def has_powers(function: ir.Function, types: Types) -> bool:
    """Whether a function has a power that may turn complex, with no operand known to be an array."""
    return any(not any(isinstance(types(atom), Array) for atom in op.operands()) for op in _powers(function))


def settle_powers(function: ir.Function, types: Types) -> bool:
    """Leave as real only powers that are certainly of Python's floats; and none if an operation of NumPy's
    might warn, since it would warn again when the call is repeated. Returns whether there are any.
    """
    powers = [op for op in _powers(function) if op.real]
    made = [let.target for let in function.lets() if not isinstance(let.op, (ir.Load, ir.Elements))]
    warns = any(kind in (F8, REAL) or isinstance(kind, Array) for kind in map(types, made))
    for op in powers:
        op.real = not warns and are_floats(*map(types, op.operands()))
    return any(op.real for op in powers)


def _is_of_floats(kind: Type) -> bool:
    return isinstance(kind, Array) and kind.dtype == "f8"


def _is_one(types: Types, op: ir.Item) -> bool:
    """Whether an item of an array is certainly a scalar."""
    owner, index = types(op.value), types(op.index)
    parts = index.items if isinstance(index, Tuple) else (index,)
    assert isinstance(owner, Array)
    return len(parts) == owner.ndim and all(part in (INT, I8) for part in parts)


def computes_alike(
    function: ir.Function, before: Types, after: Types, is_known: Callable[[ir.Call], bool]
) -> bool:
    """Whether a function with the types `before` does nothing but compute, and gives the same numbers with
    the types `after`; `is_known(call)` says whether a call has a built-in rule and no other.
    """
    other = made_otherwise(function, before, after)
    kind = after(function.result)
    results = kind.items if isinstance(kind, Tuple) else (kind,)
    return all(map(is_real, results)) and all(
        _is_plain(statement, after, is_known, set())
        and (_is_same(statement, other, after) or _is_result(statement, function))
        for statement in function.statements()
    )


def made_otherwise(function: ir.Function, before: Types, after: Types) -> set[str]:
    """The names that hold Python's numbers with the types `after`, and perhaps NumPy's with `before`."""
    other = {name for name, kind in after.of.items() if name in before.of and before(name) != kind}
    lets = function.lets()
    return other | {s.target for s in lets if isinstance(s.op, ir.Elements) and s.op.of_number}


def _is_result(statement: ir.Statement, function: ir.Function) -> bool:
    """Whether a statement builds the tuple that the function returns, which nothing else reads."""
    if not isinstance(statement, ir.Let) or statement.target != function.result:
        return False
    is_tuple = isinstance(statement.op, ir.Build) and statement.op.kind == "tuple"
    return is_tuple and use_counts(function)[statement.target] == 1


def only_computes(function: ir.Function, types: Types, is_known: Callable[[ir.Call], bool]) -> bool:
    """Whether a function certainly does nothing but compute, on numbers, arrays, tuples of these, and private
    lists of numbers or strings.
    """
    lists = types.lists_of_numbers() | types.lists_of_texts()
    lists |= {display for display, _ in types.displays().values()}
    return all(_is_plain(statement, types, is_known, lists) for statement in function.statements())


def _is_plain(
    statement: ir.Statement, types: Types, is_known: Callable[[ir.Call], bool], lists: set[str]
) -> bool:
    """Whether a statement has no effect but its value, except on one of these private lists."""
    if isinstance(statement, (ir.If, ir.While)):
        return not statement.asks
    if not isinstance(statement, ir.Let):
        return isinstance(statement, ir.For)
    op = statement.op
    if (changed := changed_list(op)) is not None and changed in types.written:
        return changed in lists and not (op.source or op.asks)
    if statement.target in lists and not (op.source or op.asks):
        return isinstance(op, (ir.Build, ir.Append, ir.Move)) or types.makes_list(op)
    if op.source or op.asks or (isinstance(op, ir.Build) and op.kind != "tuple"):
        return False
    if isinstance(op, ir.Load):
        return types(statement.target) != ANY
    if isinstance(op, ir.Call):
        return is_known(op)
    if isinstance(op, ir.Augmented) and not is_real(types(statement.target)):
        return False  # it may write to an array
    return isinstance(op, _PLAIN) and ANY not in map(types, (statement.target, *op.operands()))


_PLAIN = (
    *(ir.Move, ir.Binary, ir.Augmented, ir.Unary, ir.Compare),
    *(ir.Attribute, ir.Item, ir.Slice, ir.Build, ir.Unpack, ir.Elements),
)


def _is_same(statement: ir.Statement, other: set[str], types: Types) -> bool:
    """Whether a statement gives the same number, although the names in `other` have new types."""
    if isinstance(statement, ir.For):
        return not other.intersection(map(str, reads_of(statement, joins=False)))
    if not isinstance(statement, ir.Let) or other.isdisjoint(map(str, statement.op.operands())):
        return True
    op = statement.op
    if not all(is_real(types(atom)) or _is_of_floats(types(atom)) for atom in _numbers_in(op)):
        return False
    if isinstance(op, (ir.Binary, ir.Augmented, ir.Unary)):
        if isinstance(op, ir.Binary) and op.real:
            return True
        return op.operator in _ARITHMETIC or (op.operator == "pow" and _is_whole(op.operands()[1]))
    return isinstance(op, (ir.Move, ir.Compare, ir.Elements)) or (
        isinstance(op, ir.Call) and _takes_floats(types.callee(op))
    )


def _numbers_in(op: ir.Op) -> Iterator[ir.Atom]:
    yield from op.args if isinstance(op, ir.Call) else op.operands()


def _is_whole(exponent: ir.Atom) -> bool:
    return isinstance(exponent, ir.Const) and type(exponent.value) is int and exponent.value >= 0


def _takes_floats(function: object) -> bool:
    """Whether a function treats Python's and NumPy's numbers alike, and any overflow while computing its
    slope shows in the slope.
    """
    if function is float:
        return True
    if getattr(function, "__name__", "") not in _SHOWING_SLOPES:
        return False
    of_math = getattr(function, "__module__", "") == math.__name__
    return of_math or function is abs or isinstance(function, np.ufunc)


_SHOWING_SLOPES = frozenset(
    {"abs", "absolute", "fabs", "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "negative"}
)
