"""The implicit style: gradients with respect to arrays that the loss reads although they are not its
arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSet
from types import FunctionType
from typing import Any

import numpy as np

from ..annotations import signature_of_callable
from ..compiler.base.deriving import derives
from ..compiler.base.libraries import compile_too
from ..compiler.calls.borrowed import asks_for_copies, begin_again, needs_to_copy, sweeping
from ..compiler.calls.cache import DEFAULT as DEFAULT_CACHE
from ..compiler.calls.cache import Cache
from ..compiler.calls.pullbacks import Pullbacks
from ..compiler.implicit.watching import Sweep, Watched
from ..compiler.memory import heap
from ..compiler.memory.operands import describe
from ..errors import An, NotDifferentiableError, RuleLabError, RuleShapeError, ScalarOutputError, an
from ..rules.targets import name_of, resolve
from ..tables import Page, Report, Table
from ..tangents.algebra import is_number
from ..tangents.projection import to_natural
from .agreement import Compared
from .operator_arguments import WithGradient, complete_error, seed_of
from .uncallable import refuse_uncallable

_PULLBACKS = Pullbacks(DEFAULT_CACHE, implicit=True)


class Params(MutableSet):
    """Arrays that a loss depends on without taking them as arguments: an ordered set of them, by identity.

    `gradient(loss, Params([W, b]))` returns a `Grads`. The arrays are not copied: a training step writes to
    them between two gradients. An array and a view of it, or an equal array, are different members; a number
    is refused, since nothing distinguishes one 0.5 from another.

    `|`, `&`, `-` and `^` keep the order of the first operand; `==` tests for the same arrays in the same
    order, `<=` for a subset in any order. `to_vector` and `copy_from` convert to and from one flat vector, in
    C order.

    >>> W, b = np.ones((2, 2)), np.zeros(2)
    >>> params = Params([W, b])
    >>> W in params, np.ones((2, 2)) in params, params[1] is b, len(params)
    (True, False, True, 2)
    >>> params
    Params([float64[2, 2], float64[2]])
    """

    __slots__ = ("_arrays",)
    __hash__ = None  # type: ignore[assignment]  # it is mutable
    __array_ufunc__ = None

    def __init__(self, arrays: Iterable[np.ndarray] = ()) -> None:
        self._arrays: list[np.ndarray] = []
        if isinstance(arrays, (np.ndarray, str, bytes, Mapping)) or not isinstance(arrays, Iterable):
            found = describe(arrays)
            hint = "write Params(d.values())" if isinstance(arrays, Mapping) else "write Params([W, b])"
            raise NotDifferentiableError(
                f"Params takes a list of arrays, not one {found}", fixes=(hint,), read=_READ
            )
        for x in arrays:
            self.add(x)

    def add(self, value: np.ndarray) -> None:
        """Append an array, unless it is already a member."""
        if not isinstance(value, np.ndarray):
            raise _no_parameter(value)
        if type(value) not in (np.ndarray, np.memmap) or value.dtype.kind not in "fciu":
            raise NotDifferentiableError(
                f"{_article(value)} has no gradient, so it cannot be a parameter", read=_READ
            )
        if value in self:
            return
        for other in self._arrays:
            if (value.base is not None or other.base is not None) and np.shares_memory(value, other):
                raise NotDifferentiableError(
                    f"Two parameters share their memory, {describe(other)} and {describe(value)}: "
                    "one of them is a view",
                    fixes=("give the whole array, or the views, but not both",),
                    read=_READ,
                )
        self._arrays.append(value)

    def discard(self, value: np.ndarray) -> None:
        """Remove an array if it is a member."""
        self._arrays = [x for x in self._arrays if x is not value]

    def copy(self) -> Params:
        """Return a new set of the same arrays."""
        return Params(self._arrays)

    def to_vector(self) -> np.ndarray:
        """Return all elements in one new vector."""
        return _joined(list(self._arrays))

    def copy_from(self, vector: np.ndarray) -> Params:
        """Write the elements of a flat vector into the arrays; returns the set itself.

        Raises RuleShapeError, before anything is written, if the vector has a different number of elements.
        """
        for x, part in zip(self._arrays, _split(self._arrays, vector), strict=True):
            x[...] = np.reshape(part, x.shape)
        return self

    def __contains__(self, value: object) -> bool:
        return any(x is value for x in self._arrays)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, number: Any) -> Any:
        """The array at a position; for a slice, a set of the arrays in it."""
        return Params(self._arrays[number]) if isinstance(number, slice) else self._arrays[number]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Params):
            return NotImplemented
        return len(self) == len(other) and all(a is b for a, b in zip(self, other, strict=True))

    def __and__(self, other: Iterable[Any]) -> Params:
        wanted = {id(x) for x in other}
        return Params(x for x in self._arrays if id(x) in wanted)

    def __repr__(self) -> str:
        return f"Params([{', '.join(map(describe, self._arrays))}])"


compile_too(Params.__iter__, "hands out its arrays")


class Grads(Mapping, Report):
    """The gradients of a loss with respect to `Params`: `grads[W]` is the gradient for the array W.

    An entry has the shape of its parameter, and is None if no path leads from the parameter to the loss. Keys
    are the arrays themselves, by identity; iteration is over the keys, as in every Python mapping (in Zygote
    it is over the values: here `grads.values()`).

    `+`, `-`, `*` and `/` act entry by entry, with a number or another Grads of the same Params; None counts
    as zeros. `Grads(params, values)` makes one from your own values.

    >>> W = np.array([1.0, 2.0])
    >>> grads = gradient_of_params(lambda: np.sum(W**2), Params([W])).grad
    >>> grads[W], (grads * 0.5)[W], W in grads
    (array([2., 4.]), array([1., 2.]), True)
    """

    __slots__ = ("_params", "_values")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # so that a NumPy scalar leaves the arithmetic to this class

    def __init__(self, params: Params, values: Iterable[Any] = ()) -> None:
        self._params = params.copy()
        self._values = list(values)
        if len(self._values) != len(self._params):
            raise RuleShapeError(
                f"Grads of {len(self._params)} parameters got {len(self._values)} values",
                fixes=("give one array or None for each parameter, in their order",),
            )

    @property
    def params(self) -> Params:
        """The parameters, in order (a copy)."""
        return self._params.copy()

    def __getitem__(self, parameter: np.ndarray) -> Any:
        for x, value in zip(self._params, self._values, strict=True):
            if x is parameter:
                return value
        raise KeyError(f"{_article(parameter)} is not one of the parameters {self._params!r}")

    def __contains__(self, parameter: object) -> bool:
        return parameter in self._params

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grads):
            return NotImplemented
        return self._params == other._params and all(
            (a is None) is (b is None) and np.array_equal(a, b)
            for a, b in zip(self._values, other._values, strict=True)
        )

    # -- arithmetic ------------------------------------------------------------------------------------------

    def map(self, function: Callable[..., Any], *others: Grads) -> Grads:
        """Return a Grads with `function(g[x], h[x], …)` for each parameter x, where None is replaced by
        zeros.
        """
        rows = [self._filled(), *(self._same(other)._filled() for other in others)]
        return Grads(self._params, [function(*row) for row in zip(*rows, strict=True)])

    def merge(self, *others: Grads) -> Grads:
        """Return one Grads of the parameters of all. For a parameter that is in several, the last one
        counts.
        """
        found = {id(x): (x, value) for grads in (self, *others) for x, value in grads.items()}
        return Grads(Params(x for x, _ in found.values()), [value for _, value in found.values()])

    def to_vector(self) -> np.ndarray:
        """Return all entries in one new vector, in the order of the parameters."""
        return _joined(self._filled())

    def copy_to(self, vector: np.ndarray) -> np.ndarray:
        """Write all entries into a flat vector, in the order of the parameters; returns the vector."""
        for part, value in zip(_split(list(self._params), vector), self._filled(), strict=True):
            part[...] = value.ravel()
        return vector

    def _filled(self) -> list[np.ndarray]:
        pairs = zip(self._params, self._values, strict=True)
        return [np.zeros(x.shape, np.result_type(x, np.float16)) if g is None else g for x, g in pairs]

    def _same(self, other: Grads) -> Grads:
        if self._params <= other._params and other._params <= self._params:
            return Grads(self._params, [other[x] for x in self._params])
        raise RuleLabError(
            f"These two Grads belong to different Params, {self._params!r} and {other._params!r}",
            asked="arithmetic with Grads",
            fixes=("combine them with g.merge(h)",),
            read=_READ,
        )

    def _with(self, other: Any, operate: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, Grads):
            return self.map(operate, other)
        if is_number(other) or (isinstance(other, np.ndarray) and other.ndim == 0):
            return self.map(lambda value: operate(value, other))
        return NotImplemented

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __neg__(self) -> Grads:
        return self.map(lambda value: -value)

    # -- shown -----------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the entries as lists, numbered as the parameters are."""
        pairs = enumerate(zip(self._params, self._values, strict=True))
        return {
            "parameters": [
                {"number": k, "parameter": describe(x), "gradient": None if g is None else g.tolist()}
                for k, (x, g) in pairs
            ]
        }

    def page(self) -> Page:
        """Return a table with one row for each parameter."""
        rows = tuple(
            (str(k), describe(x), _shown(g))
            for k, (x, g) in enumerate(zip(self._params, self._values, strict=True))
        )
        return Page(tables=(Table("Gradients of parameters", ("number", "parameter", "gradient"), rows),))


_READ = "limitations#implicit-parameters"


def _shown(value: Any) -> str:
    if value is None:
        return "None: the loss does not depend on it"
    with np.printoptions(threshold=8, edgeitems=2, precision=4, suppress=True):
        return " ".join(str(value).split())


def _article(x: Any) -> str:
    name = f"array {describe(x)}" if isinstance(x, np.ndarray) else describe(x)
    return An(name)


def _no_parameter(x: Any) -> NotDifferentiableError:
    kind = describe(x)
    fixes: tuple[str, ...]
    if is_number(x) or isinstance(x, (bool, np.bool_)):
        found = (
            f"Only arrays can be differentiated with Params: {_article(x).lower()} cannot be told apart from "
            "another with the same value"
        )
        fixes = (
            "use an array without dimensions: np.array(0.5)",
            "use the explicit style: gradient(loss, x)",
        )
    elif isinstance(x, (str, bytes)):
        found = f"Only arrays can be differentiated with Params: got {an(kind)}"
        fixes = ("give a list of arrays: Params([W, b])",)
    else:
        found = f"Only arrays can be differentiated with Params: got {_article(x).lower()}"
        fixes = ("list the arrays in it instead: Params([*layers, W, b])",)
    return NotDifferentiableError(found, fixes=fixes, read=_READ)


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.ravel(x) for x in arrays]) if arrays else np.zeros(0)


def _split(arrays: list[np.ndarray], vector: np.ndarray) -> list[np.ndarray]:
    """Split a flat vector into flat parts, one of the size of each array."""
    count = sum(x.size for x in arrays)
    if np.shape(vector) != (count,):
        raise RuleShapeError(
            f"The parameters have {count} elements, but the vector has shape {np.shape(vector)}",
            fixes=("give a flat vector with all elements, in the order of the parameters",),
        )
    found, start = [], 0
    for x in arrays:
        found.append(vector[start : start + x.size])
        start += x.size
    return found


# --- gradients ----------------------------------------------------------------------------------------------


def implicit_params(asked: str, args: tuple[Any, ...], argnums: Any, kwargs: dict[str, Any]) -> Params | None:
    """Return the Params of a call of `asked(f, *args)` in the implicit style; None for any other call.

    Raises RuleLabError if Params are given together with other arguments.
    """
    if not any(isinstance(x, Params) for x in (*args, *kwargs.values())):
        return None
    if len(args) == 1 and not kwargs and argnums is None:
        return args[0]
    raise RuleLabError(
        "Params must be the only argument: the loss takes none",
        asked=f"{asked}(loss, Params([…]))",
        fixes=(
            f"write {asked}(lambda: loss(x, y), params)",
            "use the explicit style, with the arrays as arguments",
        ),
        read=_READ,
    )


@sweeping
@derives
def gradient_of_params(
    loss: Callable[[], Any], params: Params, cache: Cache | None = None, several: bool = False
) -> WithGradient:
    """Return `WithGradient(val, grad)` for a loss without arguments, where grad is a Grads; `several` as in
    `withgradient`.
    """
    __tracebackhide__ = True
    sweep = Sweep(list(params))
    outer = heap.enter()
    try:
        with Watched(sweep):
            y, back = _forward(loss, cache)
            try:
                sweep.deposit(loss, back(seed_of(y, loss, (), several))[0])
            except RuleLabError as error:
                complete_error(error, loss, ())
                raise
    finally:
        heap.leave(outer)
    return WithGradient(y, Grads(params, _values(sweep, params)))


@sweeping
@derives
def jacobian_of_params(loss: Callable[[], Any], params: Params, cache: Cache | None = None) -> Grads:
    """Return the Jacobian of a loss without arguments for each parameter: a Grads of matrices.

    `J[x][k, i]` is ∂y[k]/∂x[i] with y and x flattened in C order; a real number y has one row. If no path
    leads from a parameter to y, its matrix is zero. The forward sweep runs once, the reverse sweep once for
    each element of y.

    Raises ScalarOutputError unless y is a real number or an array of real numbers.

    >>> xs, ys = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 7.0, 9.0])
    >>> J = jacobian_of_params(lambda: ys[:2] + np.sum(xs**2), Params([xs, ys]))
    >>> J[ys]
    array([[1., 0., 0.],
           [0., 1., 0.]])
    >>> J[xs]
    array([[2., 4., 6., 8.],
           [2., 4., 6., 8.]])
    """
    __tracebackhide__ = True
    sweep = Sweep(list(params))
    outer = heap.enter()
    rows: list[list[Any]] = []
    try:
        with Watched(sweep):
            y, back = _forward(loss, cache)
            for seed in _unit_seeds(y):
                sweep.found = {}
                inner = heap.enter()
                try:
                    sweep.deposit(loss, back(seed)[0])
                except RuleLabError as error:
                    complete_error(error, loss, ())
                    raise
                finally:
                    heap.leave(inner)
                rows.append(_values(sweep, params))
    finally:
        heap.leave(outer)
    return Grads(params, [_stacked(x, [row[k] for row in rows]) for k, x in enumerate(params)])


def _stacked(x: np.ndarray, rows: list[Any]) -> np.ndarray:
    matrix = np.zeros((len(rows), x.size), x.dtype if x.dtype.kind in "fc" else float)
    for k, row in enumerate(rows):
        if row is not None:
            matrix[k] = np.ravel(row)
    return matrix


def _unit_seeds(y: Any) -> Iterator[Any]:
    if is_number(y) and not isinstance(y, (complex, np.complexfloating)):
        yield type(y)(1.0) if isinstance(y, np.floating) else 1.0
    elif isinstance(y, np.ndarray) and y.dtype.kind in "fiu":
        for k in range(y.size):
            seed = np.zeros(y.size, y.dtype if y.dtype.kind == "f" else float)
            seed[k] = 1.0
            yield seed.reshape(y.shape)
    else:
        raise ScalarOutputError(
            f"The Jacobian is defined for an array of real numbers, not for output {describe(y)}",
            asked="jacobian(loss, params)",
            read="limitations#scalar-output",
        )


def _values(sweep: Sweep, params: Params) -> list[Any]:
    return [to_natural(x, sweep.found.get(id(x))) for x in params]


def _forward(loss: Any, cache: Cache | None, keeps: bool = False) -> tuple[Any, Any]:
    __tracebackhide__ = True
    _need_no_arguments(loss)
    pullbacks = _PULLBACKS if cache is None else Pullbacks(cache, implicit=True)
    if keeps or needs_to_copy(pullbacks, loss):
        pullbacks = pullbacks.with_copies
    active = (type(loss) is not FunctionType,)  # a plain function handles its captures itself
    try:
        with Compared(pullbacks.cache, loss, (), {}, active, implicit=True, keeps=pullbacks.keeps) as run:
            run.found = pullbacks.find(loss, (), {}, active, None)()
        return run.found
    except RuleLabError as error:
        if asks_for_copies(error) and not pullbacks.keeps and not run.is_done:
            begin_again(pullbacks, loss)
            return _forward(loss, cache, keeps=True)
        complete_error(error, loss, ())
        raise


def _need_no_arguments(loss: Any) -> None:
    """Raise RuleLabError unless the loss can be called without arguments."""
    refuse_uncallable(loss, "gradient(loss, Params([…]))")
    if type(loss) is FunctionType:
        code = loss.__code__
        if code.co_argcount <= len(loss.__defaults__ or ()) and not code.co_kwonlyargcount:
            return
    try:
        signature = signature_of_callable(loss)
    except (TypeError, ValueError):  # a C function without a signature
        return
    try:
        signature.bind()
    except TypeError as error:
        name = name_of(resolve(loss)[0])
        shown = name if name.isidentifier() else "loss"
        raise RuleLabError(
            f"With Params the loss is called without arguments, but {name} takes {signature}: {error}",
            asked="gradient(loss, Params([…]))",
            fixes=(
                f"give a function without arguments: gradient(lambda: {shown}(x, y), params)",
                "use the explicit style, with the arrays as arguments",
            ),
            read=_READ,
        ) from None
