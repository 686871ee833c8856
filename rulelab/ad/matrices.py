"""Jacobians and Hessians: all the partial derivatives of a function at once, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..advice import FORWARD, REVERSE
from ..compiler.memory.operands import describe
from ..errors import MutationError, NotDifferentiableError, RuleLabError, RuleShapeError, an
from ..rules.targets import name_of, resolve
from ..tangents.algebra import is_number
from ..tangents.projection import number_type, tangent_dtype
from ..tangents.zeros import AbstractZero
from . import forward
from .agreement import agree
from .allowance import Allowance, counted
from .implicit import Params, jacobian_of_params
from .keywords import refuse_shared
from .operator_arguments import numbers_asked, return_place, which_asked
from .progress import Progress
from .reverse import gradient, sweeps

_MODES = ("forward", "reverse")


class WithJacobian(NamedTuple):
    """The value of a function, and its Jacobians, one per argument.

    Attributes
    ----------
    val : object
        The value.
    grad : tuple of ndarray
        The Jacobians, with one entry per argument: a row for each number of the value, a column for each
        of the argument.

    Examples
    --------
    >>> found = withjacobian(lambda x: x * x, np.array([3.0, 4.0]))
    >>> found.val, found.grad
    (array([ 9., 16.]), (array([[6., 0.],
           [0., 8.]]),))
    """

    val: Any
    grad: tuple[Any, ...]


def jacobian(
    f: Callable[..., Any],
    *args: Any,
    argnums: int | tuple[int, ...] | None = None,
    mode: str | None = None,
    shaped: bool = False,
    **kwargs: Any,
) -> Any:
    """Return a tuple of the Jacobians of a function with respect to each positional argument.

    For an array argument x the entry is a matrix with J[k, i] = ∂y[k]/∂x[i], where y = `f(*args)` and x are
    flattened in C order. For a number x it is the vector of ∂y[k]/∂x. A number y has one row.

    Reverse mode runs one reverse sweep for each number in y, forward mode one run with tangents for each
    number in the arguments. In forward mode f runs many times and must return the same value each time.

    The entries are floats, in the precision of y and x. If y or x is complex, they are complex:

    - for a real x: ∂Re y/∂x + i ∂Im y/∂x;
    - for a real y and a complex x: ∂y/∂Re + i ∂y/∂Im, so that each row is a gradient;
    - for a complex y and a complex x: the complex derivative, so that J @ x_dot is y_dot. It exists only if f
      is holomorphic.

    Parameters
    ----------
    f : callable
        A function that returns a number or an array of numbers.
    *args
        Its positional arguments. For a function of no arguments and `Params` the result is a `Grads` of
        Jacobians.
    argnums : int or tuple of int, optional
        The positions of the arguments asked for; the result then has one entry for each.
    mode : {"forward", "reverse"}, optional
        By default the one that takes fewer runs.
    shaped : bool
        Whether an entry has the shape `y.shape + x.shape` instead of being a matrix.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    tuple
        An entry for each argument: zeros if y does not depend on it, None if it is neither a number nor an
        array of numbers, or is a bool.

    Raises
    ------
    NotDifferentiableError
        Unless f returns a number or an array of numbers, and where a complex f is not holomorphic.

    Examples
    --------
    >>> (J,) = jacobian(lambda a: 100 * a[:2] ** 2, np.array([1.0, 2.0, 3.0]))
    >>> J
    array([[200.,   0.,   0.],
           [  0., 400.,   0.]])
    >>> jacobian(lambda a, x: a**2 * x, np.array([1.0, 2.0]), 1.0)
    (array([[2., 0.],
           [0., 4.]]), array([1., 4.]))
    """
    __tracebackhide__ = True
    refuse_shared(f, "jacobian", argnums=argnums, mode=mode, shaped=shaped or None)
    if _is_implicit(args):
        _refuse_options(argnums, mode, shaped, kwargs)
        return jacobian_of_params(f, args[0])
    return _value_and_jacobian(f, args, kwargs, argnums, mode, shaped).grad


def withjacobian(
    f: Callable[..., Any],
    *args: Any,
    argnums: int | tuple[int, ...] | None = None,
    mode: str | None = None,
    shaped: bool = False,
    **kwargs: Any,
) -> WithJacobian:
    """Return the value and the Jacobians, as a named tuple `(val, grad)`.

    Parameters
    ----------
    f : callable
        A function that returns a number or an array of numbers.
    *args
        Its positional arguments.
    argnums : int or tuple of int, optional
        The positions of the arguments asked for.
    mode : {"forward", "reverse"}, optional
        By default the one that takes fewer runs.
    shaped : bool
        Whether an entry has the shape `y.shape + x.shape` instead of being a matrix.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    WithJacobian
        `val`, what f returned; `grad`, as from `jacobian`.

    Raises
    ------
    NotDifferentiableError
        Where `jacobian` raises it.

    Examples
    --------
    >>> withjacobian(lambda x, y: x / y, 1.0, 2.0)
    WithJacobian(val=0.5, grad=(array([0.5]), array([-0.25])))
    """
    __tracebackhide__ = True
    refuse_shared(f, "withjacobian", argnums=argnums, mode=mode, shaped=shaped or None)
    if _is_implicit(args):
        _refuse_options(argnums, mode, shaped, kwargs)
        return WithJacobian(f(), jacobian_of_params(f, args[0]))
    return _value_and_jacobian(f, args, kwargs, argnums, mode, shaped)


def hessian(f: Callable[..., Any], x: Any, *, mode: str | None = None, **kwargs: Any) -> Any:
    """Return the second derivatives of a real-valued function: H[i, j] = ∂²f/∂x[i]∂x[j].

    It is the Jacobian of the gradient in forward mode ("forward over reverse"), computed column by column.
    Therefore H is symmetric only up to rounding; it is not symmetrised afterwards.

    Parameters
    ----------
    f : callable
        A function that returns a real number.
    x : float or array
        The point: a real number, or an array of n real numbers, which is flattened in C order.
    mode : {"forward", "reverse"}, optional
        "reverse" is the mode of `hessian_reverse`; None means "forward".
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    float or array
        A number if x is one, else an n×n matrix.

    Raises
    ------
    ScalarOutputError
        Unless f returns a real number.
    NotDifferentiableError
        If x is complex, or neither a number nor an array of numbers.

    Examples
    --------
    >>> hessian(lambda x: x[0] ** 2 * x[1], np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    >>> hessian(lambda x, k: k * x**3, 2.0, k=2.0)
    24.0
    """
    __tracebackhide__ = True
    refuse_shared(f, "hessian", mode=mode)
    return _hessian(f, x, kwargs, "forward" if mode is None else mode)


def hessian_reverse(f: Callable[..., Any], x: Any, **kwargs: Any) -> Any:
    """Return what `hessian` does, by reverse mode over reverse mode, computed row by row.

    It is usually slower. A bug would affect the two differently, which makes it a check on `hessian`.

    Parameters
    ----------
    f : callable
        A function that returns a real number.
    x : float or array
        The point.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    float or array
        As from `hessian`.

    Raises
    ------
    ScalarOutputError
        Unless f returns a real number.
    NotDifferentiableError
        If x is complex, or neither a number nor an array of numbers.

    Examples
    --------
    >>> hessian_reverse(lambda x: x[0] ** 2 * x[1], np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    __tracebackhide__ = True
    return _hessian(f, x, kwargs, "reverse")


def diaghessian(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """Return the diagonals of the Hessians of a real-valued function: ∂²f/∂x[i]², for each positional
    argument x.

    It takes as long as the whole Hessian, but not its memory.

    Parameters
    ----------
    f : callable
        A function that returns a real number.
    *args
        Its positional arguments.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    tuple
        An entry for each positional argument: of the shape of the argument if that is a real number or an
        array of real numbers, else None.

    Raises
    ------
    ScalarOutputError
        Unless f returns a real number.
    NotDifferentiableError
        For a complex argument.

    Examples
    --------
    >>> diaghessian(lambda x, y: np.sum(x**3) * y**2, np.array([1.0, 2.0]), 3.0)
    (array([ 54., 108.]), 18.0)
    """
    __tracebackhide__ = True
    return tuple(_diagonal(f, args, kwargs, number) for number in range(len(args)))


def hvp(f: Callable[..., Any], x: Any, v: Any, **kwargs: Any) -> Any:
    """Return the product of the Hessian of a real-valued function with a vector: the derivative of the
    gradient in the direction v.

    It takes a few times as long as a gradient, and forms no matrix. For a complex x the gradient is ∂f/∂Re +
    i ∂f/∂Im, as elsewhere.

    Parameters
    ----------
    f : callable
        A function that returns a real number.
    x : object
        The point, which may be whatever `gradient` takes. For a function of several arguments give a tuple of
        them: `hvp(lambda p: f(*p), (x, y), (v, w))`.
    v : object
        The direction, with the structure of x.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    object
        The product, with the structure of x.

    Raises
    ------
    ScalarOutputError
        Unless f returns a real number.
    RuleShapeError
        If v does not fit x.

    Examples
    --------
    >>> hvp(lambda x: x[0] ** 2 * x[1], np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([4., 2.])
    """
    __tracebackhide__ = True
    v = _direction_of(x, v)
    task = _Task(gradient, (f, x), kwargs, (False, True), f, "Hessian", first=True)
    with _telling(task, "forward"):
        _, product = task.push(1, v)
    return _zeros_like(x) if _is_zero(product) and _is_numeric(x) else product


def jacobian_within(
    allowance: Allowance,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    mode: str | None,
) -> WithJacobian:
    """Return what `withjacobian` does, as far as the time allows: `allowance.words` says what is missing."""
    __tracebackhide__ = True
    if _is_implicit(args):
        return withjacobian(f, *args, mode=mode, **kwargs)
    return _value_and_jacobian(f, args, kwargs, None, mode, False, allowance)


def hessian_within(
    allowance: Allowance, f: Callable[..., Any], x: Any, kwargs: dict[str, Any], mode: str | None
) -> Any:
    """Return what `hessian` does, as far as the time allows."""
    __tracebackhide__ = True
    return _hessian(f, x, kwargs, "forward" if mode is None else mode, allowance)


# --- which sweeps, and how many -----------------------------------------------------------------------------


class _Task(NamedTuple):
    """A function to be differentiated, and the arguments with respect to which this is done (`on`).

    `first` says that its result is a tuple whose first entry counts, as with the gradient with respect to one
    argument. `author` is the function that an error is about, `called` the name of what was asked for.
    `allowance` is its time limit, if there is one.
    """

    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    on: tuple[bool, ...]
    author: Callable[..., Any]
    called: str = "Jacobian"
    first: bool = False
    allowance: Allowance | None = None

    def value(self) -> Any:
        """The output, from a plain call."""
        return self._counted(self.f(*_copies(self.args), **self.kwargs))

    def sweep(self) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """The output and its pullback, in reverse mode."""
        __tracebackhide__ = True
        y, back = sweeps(self.f, self.args, self.kwargs, self.on)
        return self._counted(y), (lambda y_bar: back((y_bar,))) if self.first else back

    def push(self, number: int, x_dot: Any) -> tuple[Any, Any]:
        """The output and its derivative when argument `number` moves along `x_dot`, in forward mode."""
        __tracebackhide__ = True
        tangents = [None] * len(self.args)
        tangents[number] = x_dot
        y, y_dot = forward.jvp(self.f, _copies(self.args), tuple(tangents), self.kwargs)
        return self._counted(y), None if _is_zero(y_dot) else self._counted(y_dot)

    def _counted(self, y: Any) -> Any:
        return y[0] if self.first else y

    def active(self) -> Iterator[tuple[int, Any]]:
        """The arguments with respect to which it is differentiated, with their positions."""
        return ((number, x) for number, x in enumerate(self.args) if self.on[number])

    def columns(self) -> int:
        """The number of runs with tangents that are needed: one for each real coordinate of the arguments."""
        return sum(np.size(x) * len(_units(x)) for _, x in self.active())


def _value_and_jacobian(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    argnums: Any,
    mode: Any,
    shaped: bool,
    allowance: Allowance | None = None,
) -> WithJacobian:
    __tracebackhide__ = True
    on = tuple(on and _is_numeric(x) for on, x in zip(which_asked(args, argnums), args, strict=True))
    y, entries = _differentiated(_Task(f, args, kwargs, on, f, allowance=allowance), mode, shaped)
    if argnums is None:
        return WithJacobian(y, entries)
    return WithJacobian(y, tuple(entries[number] for number in numbers_asked(args, argnums)))


def check_mode(mode: Any, asked: str | None = None) -> None:
    """Raise RuleLabError for a mode that does not exist."""
    if mode not in (None, *_MODES):
        raise RuleLabError(f'mode must be "forward", "reverse" or None, not {mode!r}', asked=asked)


def _differentiated(task: _Task, mode: str | None, shaped: bool = False) -> tuple[Any, tuple[Any, ...]]:
    """The output of a function, and its Jacobian with respect to each argument."""
    __tracebackhide__ = True
    check_mode(mode, _asked_words(task))
    with _telling(task, mode):
        y, back = (task.value(), None) if mode == "forward" or not any(task.on) else task.sweep()
        _need_numbers(y, task)
        if back is None or (mode is None and task.columns() < _rows(y)):
            return y, _by_columns(task, y, shaped)
        return y, _by_rows(task, y, back, shaped)


def _rows(y: Any) -> int:
    """The number of reverse sweeps that are needed: one for each real coordinate of the output.

    A reverse sweep takes about as long as a run with tangents in forward mode, twice a run of the function,
    so the smaller number wins. If the two are equal, reverse mode is used, since its forward sweep has
    already run.
    """
    return np.size(y) * len(_units(y))


def _units(x: Any) -> tuple[complex, ...]:
    """The directions in which each number of x can move."""
    return (1.0, 1j) if np.iscomplexobj(x) else (1.0,)


def _by_rows(task: _Task, y: Any, back: Callable[[Any], tuple[Any, ...]], shaped: bool) -> tuple[Any, ...]:
    """The Jacobians by reverse mode: row k is the pullback of the k-th unit vector."""
    __tracebackhide__ = True
    parts = {number: [_part(x, y) for _ in _units(y)] for number, x in task.active()}

    def row(k: int) -> None:
        for which, unit in enumerate(_units(y)):
            _fill_row(parts, which, k, back(_basis(y, k, unit)))

    done = counted(np.size(y), task.called, "rows", row, task.allowance)
    _mark_missing((part[done:] for found in parts.values() for part in found), task)
    return tuple(
        _laid_out(x, y, _from_rows(parts[number], x), shaped) if on else None
        for number, (x, on) in enumerate(zip(task.args, task.on, strict=True))
    )


def _fill_row(parts: dict[int, list[Any]], which: int, k: int, found: tuple[Any, ...]) -> None:
    """Write the result of one pullback into row k of each argument's Jacobian."""
    for number, part in parts.items():
        if found[number] is not None:
            part[which][k] = np.reshape(found[number], -1)


def _by_columns(task: _Task, y: Any, shaped: bool) -> tuple[Any, ...]:
    """The Jacobians by forward mode: column i is the derivative in the i-th unit direction."""
    __tracebackhide__ = True
    parts = {number: [_part(x, y) for _ in _units(x)] for number, x in task.active()}
    columns = [(number, x, i) for number, x in task.active() for i in range(np.size(x))]

    def column(which: int) -> None:
        number, x, i = columns[which]
        for part, unit in zip(parts[number], _units(x), strict=True):
            part[:, i] = _column(task, y, number, _basis(x, i, unit))

    done = counted(len(columns), task.called, "columns", column, task.allowance)
    _mark_missing((part[:, i] for number, _, i in columns[done:] for part in parts[number]), task)
    return tuple(
        _laid_out(x, y, _from_columns(parts[number], y), shaped) if on else None
        for number, (x, on) in enumerate(zip(task.args, task.on, strict=True))
    )


def _mark_missing(views: Iterator[Any], task: _Task) -> None:
    """Set the entries that were not computed for lack of time to nan."""
    if task.allowance is not None and task.allowance.is_partial:
        for view in views:
            view[...] = np.nan


def _column(task: _Task, y: Any, number: int, x_dot: Any) -> Any:
    """The derivative of the output y when argument `number` moves along `x_dot`, flattened."""
    __tracebackhide__ = True
    again, y_dot = task.push(number, x_dot)
    if not agree(again, y, exact=False):
        raise NotDifferentiableError(
            f"{_name(task.author)} returns a different value each time, so the columns of its "
            "matrix do not belong together",
            fixes=(REVERSE,),
        )
    if _is_zero(y_dot):
        return np.zeros(np.size(y))
    if np.shape(y_dot) != np.shape(y) or (np.iscomplexobj(y_dot) and not np.iscomplexobj(y)):
        raise RuleShapeError(f"The output is {describe(y)}, but its tangent is {describe(y_dot)}")
    return np.reshape(y_dot, -1)


def _copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with copies of their arrays, for a function that may write to them and is called
    again; an array that is passed twice remains one array.
    """
    copies = {id(x): np.copy(x, order="K") for x in args if type(x) is np.ndarray}
    return tuple(copies.get(id(x), x) for x in args)


# --- one matrix ---------------------------------------------------------------------------------------------


def _part(x: Any, y: Any) -> Any:
    """Zeros, with a row for each number in y and a column for each number in x."""
    return np.zeros((np.size(y), np.size(x)), _dtype(x, y))


def _dtype(x: Any, y: Any) -> Any:
    """The dtype that NumPy promotes y and x to; a Python number adopts the dtype of an array."""
    return np.result_type(
        *(v.dtype if isinstance(v, np.ndarray) else number_type(v)(0) for v in map(_moving, (x, y)))
    )


def _moving(value: Any) -> Any:
    """An empty array with the dtype of the derivatives of an array, float if it has ints; a number as it
    is.
    """
    if isinstance(value, np.ndarray):
        return np.empty(0, tangent_dtype(value.dtype))
    return value


def _basis(x: Any, i: int, unit: complex) -> Any:
    """A value of the shape of x that is zero except for its i-th number, which is `unit`."""
    if not isinstance(x, np.ndarray):
        return number_type(x)(unit)
    direction = np.zeros(x.shape, tangent_dtype(x.dtype))
    direction.reshape(-1)[i] = unit
    return direction


def _from_rows(parts: list[Any], x: Any) -> Any:
    """The Jacobian from the pullbacks p of 1 and q of i; the latter exists if the output is complex.

    With ẏ = A ẋ + B conj(ẋ) they are p = conj(A) + B and q = i (conj(A) − B); A is the complex derivative.
    """
    if len(parts) == 1:
        return parts[0]
    p, q = parts
    if not np.iscomplexobj(x):
        return p + 1j * q
    return _holomorphic(np.conj(p - 1j * q) / 2, (p + 1j * q) / 2)


def _from_columns(parts: list[Any], y: Any) -> Any:
    """The Jacobian from the derivatives a along 1 and b along i; the latter exists if the argument is
    complex.

    With ẏ = A ẋ + B conj(ẋ) they are a = A + B and b = i (A − B).
    """
    if len(parts) == 1:
        return parts[0]
    a, b = parts
    if not np.iscomplexobj(y):
        return a + 1j * b
    return _holomorphic((a - 1j * b) / 2, (a + 1j * b) / 2)


def _holomorphic(by_z: Any, by_conjugate: Any) -> Any:
    """The complex derivative; NotDifferentiableError if the derivative with respect to the conjugate exceeds
    rounding.
    """
    largest = np.nanmax(np.abs(by_z), initial=0.0)  # entries that were not computed are nan
    rounding = float(np.finfo(by_z.dtype).eps) ** (2 / 3) * largest
    if np.any(np.abs(by_conjugate) > rounding):
        raise NotDifferentiableError(
            "The function is not holomorphic here: one complex matrix cannot hold its derivative",
            fixes=(
                "ask for the Jacobians of its real and of its imaginary part",
                "give the real and the imaginary part of the argument as two arguments",
                "use rl.pullback, with 1 and with 1j",
            ),
        )
    return by_z


def _laid_out(x: Any, y: Any, matrix: Any, shaped: bool) -> Any:
    """The matrix in the shape that is returned, in its own memory."""
    columns = np.shape(x) if shaped or not isinstance(x, np.ndarray) else (np.size(x),)
    shape = (*(np.shape(y) if shaped else (np.size(y),)), *columns)
    if matrix.shape == shape and matrix.base is None:
        return matrix
    laid_out = np.empty(shape, matrix.dtype)
    laid_out.reshape(matrix.shape)[...] = matrix
    return laid_out


# --- second derivatives -------------------------------------------------------------------------------------


def _hessian(
    f: Callable[..., Any], x: Any, kwargs: dict[str, Any], mode: str, allowance: Allowance | None = None
) -> Any:
    __tracebackhide__ = True
    if not _is_numeric(x):
        raise NotDifferentiableError(
            f"A Hessian is taken with respect to one number or one array of numbers, not {describe(x)}",
            asked=f"the Hessian of {_name(f)}",
            fixes=("put the numbers into one array", "use rl.hvp, which takes any structure"),
        )
    _refuse_complex(f, x)
    task = _Task(gradient, (f, x), kwargs, (False, True), f, "Hessian", True, allowance)
    if _slope(task) is None:
        found = np.zeros((np.size(x), np.size(x)), _dtype(x, x))
    else:
        found = _differentiated(task, mode)[1][1]
    return found if isinstance(x, np.ndarray) else number_type(x)(found.item())


def _slope(task: _Task) -> Any:
    """The gradient at the point, by a plain call, so that an error names the author's function."""
    __tracebackhide__ = True
    with _telling(task, "forward"):
        return task.value()


def _diagonal(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], number: int) -> Any:
    """The diagonal of the Hessian with respect to one argument; the others are constants."""
    __tracebackhide__ = True
    x = args[number]
    if not _is_numeric(x):
        return None
    _refuse_complex(f, x)
    named = kwargs if len(args) == 1 else {"argnums": number, **kwargs}
    on = (False, *(position == number for position in range(len(args))))
    task = _Task(gradient, (f, *args), named, on, f, "diagonal of the Hessian", first=True)
    g = _slope(task)
    found = np.zeros(np.shape(x), _dtype(x, x))
    if g is not None:
        flat = found.reshape(-1)
        with Progress(np.size(x), "Diagonal of the Hessian") as progress, _telling(task, "forward"):
            for i in range(np.size(x)):
                flat[i] = _column(task, g, 1 + number, _basis(x, i, 1.0))[i]
                progress.step()
    return found if isinstance(x, np.ndarray) else number_type(x)(found.item())


def _direction_of(x: Any, v: Any) -> Any:
    """v as a tangent of x; RuleShapeError if x is a number or array that v does not fit."""
    if not _is_numeric(x):
        return v
    if np.shape(v) != np.shape(x):
        raise RuleShapeError(
            f"The argument has shape {np.shape(x)}, but the vector has shape {np.shape(v)}",
            asked="hvp(f, x, v)",
            fixes=("give a vector of the shape of the argument",),
        )
    if np.iscomplexobj(v) and not np.iscomplexobj(x):
        raise RuleShapeError(
            "The argument is real, but the vector is complex",
            asked="hvp(f, x, v)",
            fixes=("give its real part",),
        )
    return np.array(v, tangent_dtype(x.dtype)) if isinstance(x, np.ndarray) else number_type(x)(v)


# --- what is taken ------------------------------------------------------------------------------------------


def _is_numeric(x: Any) -> bool:
    """Whether there is a Jacobian with respect to x: it is a number or an array of numbers, and not a
    bool.
    """
    return x.dtype.kind in "fciu" if isinstance(x, np.ndarray) else is_number(x)


def _is_zero(tangent: Any) -> bool:
    return tangent is None or isinstance(tangent, AbstractZero)


def _zeros_like(x: Any) -> Any:
    return np.zeros(x.shape, tangent_dtype(x.dtype)) if isinstance(x, np.ndarray) else number_type(x)(0)


def _need_numbers(y: Any, task: _Task) -> None:
    """Raise NotDifferentiableError unless an output is a number or an array of numbers."""
    if _is_numeric(y):
        return
    fixes: tuple[str, ...] = ()
    if y is None:
        fixes = ("return a value on every path",)
    elif isinstance(y, (list, tuple)):
        fixes = ("return np.stack or np.concatenate of its parts", "ask for one part: lambda x: f(x)[0]")
    shown = "None" if y is None else an(describe(y))
    raise NotDifferentiableError(
        f"jacobian takes a function that returns a number or an array of numbers, not {shown}",
        place=return_place(task.author),
        fixes=fixes,
    )


def _refuse_complex(f: Callable[..., Any], x: Any) -> None:
    if np.iscomplexobj(x):
        raise NotDifferentiableError(
            "A Hessian with respect to complex numbers cannot be given as one complex matrix",
            asked=f"the Hessian of {_name(f)}({describe(x)})",
            fixes=("give the real and the imaginary part in one array of floats", "use rl.hvp"),
        )


@contextmanager
def _telling(task: _Task, mode: str | None) -> Iterator[None]:
    """Complete an error with what was asked, and with the mode that supports a function that writes to
    arrays.
    """
    __tracebackhide__ = True
    try:
        yield
    except RuleLabError as error:
        if error.asked is None or error.asked.startswith(("the gradient of ", "the pushforward of ")):
            error.asked = _asked_words(task)
        if isinstance(error, MutationError) and mode is None:
            error.fixes = (FORWARD, *error.fixes)
        raise


def _asked_words(task: _Task) -> str:
    return f"the {task.called} of {_name(task.author)}"


def _name(f: Callable[..., Any]) -> str:
    return name_of(resolve(f)[0])


def _is_implicit(args: tuple[Any, ...]) -> bool:
    """Whether a call is in the implicit style: its only argument is a `Params`."""
    return len(args) == 1 and isinstance(args[0], Params)


def _refuse_options(argnums: Any, mode: Any, shaped: bool, kwargs: dict[str, Any]) -> None:
    if argnums is not None or mode is not None or shaped or kwargs:
        raise RuleLabError(
            "With Params, a Jacobian has no options: the function has no arguments, and the mode is reverse",
            asked="jacobian(loss, Params)",
        )
