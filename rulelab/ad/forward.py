"""Forward mode for callers: the pushforward, and `forwarddiff`, which uses forward mode for a part of a
function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..compiler.base.deriving import derives
from ..compiler.base.places import tell_bodies
from ..compiler.calls.call import Call
from ..compiler.calls.holders import CALLING
from ..compiler.calls.pushing import check_count
from ..compiler.implicit.hidden import refuse_reading
from ..compiler.memory.crossings import through_rule
from ..compiler.memory.handlers import Handler, Uncached
from ..compiler.memory.heap import LEAVES, enter, is_running, leave
from ..errors import NotDifferentiableError, RuleLabError
from ..own_code import runs_out_of_sight
from ..tangents.shadows import inner, natural
from ..tangents.tracked import readable, tracked
from ..tangents.zeros import AbstractZero, NoTangent
from .agreement import agree
from .argument_snapshots import ArgumentSnapshot
from .directions import Direction, copied, directions, gathered, pairing
from .free_phases import run_checking_phases
from .nested_functions import pushforward_
from .operator_arguments import PULLBACKS, complete_error
from .uncallable import refuse_uncallable

runs_out_of_sight(__name__)

NO = NoTangent()


def pushforward(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Return the function of tangents in forward mode: `pushforward(f, x, y)(x_dot, y_dot)` is the derivative
    of f(x, y) when x moves along x_dot and y along y_dot.

    f runs once for each call, with the tangents alongside the values; it may write to arrays.

    Parameters
    ----------
    f : callable
        The function to differentiate.
    *args
        Its positional arguments.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    callable
        It takes one tangent for each positional argument, of its shape and structure; None means zero. It
        returns the derivative in the shape and structure of `f(*args)`, with None for parts that cannot vary.

    Raises
    ------
    RuleError
        For a wrong number of tangents.
    RuleShapeError, RuleDtypeError
        For a tangent that does not fit its argument.
    RuleLabError
        If f does what cannot be differentiated; the class of the error says what.

    Examples
    --------
    >>> pushforward(lambda x, y: x * y, 2.0, 3.0)(1.0, 0.5)
    4.0
    >>> pushforward(lambda x, y: x * y, 2.0, 3.0)(None, 1.0)
    2.0
    """

    def push(*tangents: Any) -> Any:
        __tracebackhide__ = True
        return jvp(f, args, tangents, kwargs)[1]

    push.differentiated_as = pushforward_(f, args, **kwargs)  # type: ignore[attr-defined]
    return push


@derives
def jvp(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    tangents: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Return `(y, y_dot)`: the value of f and its derivative along the tangents, in the form of
    `pushforward`.

    >>> jvp(lambda x: x**3, (2.0,), (1.0,))
    (8.0, 12.0)
    """
    __tracebackhide__ = True
    refuse_uncallable(f, "pushforward(f, *args)")
    check_count(args, tangents)
    words = kwargs or {}
    within, outer = is_running(), enter()
    try:
        dots = _inner_forms(args, tangents)
        given = (*args, *words.values())
        beside = (*dots, *(NO,) * len(words))
        still = tuple([x for x, x_dot in zip(given, beside) if x_dot is NO])

        def run() -> tuple[Any, Any]:
            with tracked(args, dots, readable(f, still), within):
                return PULLBACKS.push(f, NO, given, beside, tuple(words))

        y, y_dot = run_checking_phases(run, f, given, beside)
    except RuleLabError as error:
        complete_error(error, f, args, "pushforward")
        raise
    except Exception as error:
        tell_bodies(error)
        raise
    finally:
        leave(outer)
    return y, natural(y, y_dot)


def _inner_forms(args: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    found = []
    for number, (x, x_dot) in enumerate(zip(args, tangents, strict=True)):
        still = x_dot is None or isinstance(x_dot, AbstractZero)
        found.append(NO if still else inner(x, x_dot, f"argument {number + 1}"))
        for other, other_dot in zip(args[:number], found):  # an array given twice is written to as one
            if other is x and isinstance(x, np.ndarray) and np.array_equal(other_dot, found[-1]):
                found[-1] = other_dot
    return tuple(found)


def forwarddiff(f: Callable[..., Any], x: Any, *, chunk: int | None = None) -> Any:
    """Return `f(x)`; inside a differentiated function, differentiate it in forward mode, which allows f to
    write to arrays.

    In reverse mode its pullback is computed from the tangents of f, with one run of f for each number in x,
    and one for each number that f captures and that varies; so x should be small. The runs after the first
    get copies of x.

    Parameters
    ----------
    f : callable
        A function of one argument.
    x : number, array, tuple, list or dict
        The argument. The result may be any of these, too.
    chunk : int, optional
        How many runs are grouped. Any number gives the same result; None leaves the choice to rulelab.

    Returns
    -------
    object
        `f(x)`.

    Raises
    ------
    MutationError
        In reverse mode, if f changes x or an array that it captures: other code that holds these would not
        see the change.
    NotDifferentiableError
        If the runs return different values, because f changes something outside it or draws random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from rulelab import gradient
    >>> def squares(x):
    ...     out = np.zeros(2)
    ...     out[0] = x[0] ** 2
    ...     out[1] = x[0] * x[1]
    ...     return out
    >>> gradient(lambda x: np.sum(forwarddiff(squares, x)), np.array([3.0, 4.0]))
    (array([10.,  3.]),)
    """
    _check_chunk(chunk)
    return f(x)


def _check_chunk(chunk: Any) -> None:
    if chunk is None or (isinstance(chunk, int) and not isinstance(chunk, bool) and chunk > 0):
        return
    raise RuleLabError(
        f"chunk must be a positive integer, not {chunk!r}",
        asked="forwarddiff(f, x, chunk=…)",
        fixes=("give the number of directions to push at once", "leave chunk= out"),
    )


def columns_of(push: Any, f: Any, x: Any, captured: bool) -> tuple[Any, list[tuple[bool, Direction, Any]]]:
    """Return the value of f(x), and its derivative along each direction in which x can move, and, if
    `captured`, each direction in which what f captures can move: `(whether it is of f, direction, tangent)`.
    """
    __tracebackhide__ = True
    moves = [(False, direction) for direction in directions(x)]
    if captured:
        moves += [(True, direction) for direction in directions(f)]
    if not moves:
        return f(x), []
    entered, columns, value = copied(x), [], None
    for number, (of_f, direction) in enumerate(moves):
        given = x if number == 0 else copied(entered)
        f_dot, x_dot = (direction.tangent(f), NO) if of_f else (NO, direction.tangent(given))
        y, y_dot = _column(push, f, f_dot, given, x_dot)
        if number == 0:
            value = y
        elif not agree(y, value, exact=False):
            raise NotDifferentiableError(
                "The function given to forwarddiff returns a different value each time it runs",
                fixes=("pass what it depends on as x", "draw random numbers outside it"),
            )
        columns.append((of_f, direction, copied(y_dot)))
    return value, columns


def _column(push: Any, f: Any, f_dot: Any, x: Any, x_dot: Any) -> tuple[Any, Any]:
    """Return the value of f(x), and its derivative along a tangent of f and one of x."""
    __tracebackhide__ = True

    def run() -> tuple[Any, Any]:
        with tracked((f, x), (f_dot, x_dot), within=True):
            return push(f, f_dot, (x,), (x_dot,))

    return run_checking_phases(run, f, x, (f_dot, x_dot))


def _handler(pullbacks: Any, asked: Call) -> Handler:
    """Return the handler of a call of `forwarddiff` in reverse mode."""
    active, place, count = asked.active, asked.place, len(asked.kwargs)

    def call(f: Any, x: Any, *, chunk: int | None = None) -> Any:
        __tracebackhide__ = True
        _check_chunk(chunk)
        if pullbacks.implicit:
            refuse_reading("forwarddiff", (f, *_parts_with_code(x)), place)
        entered = copied(x)
        before = ArgumentSnapshot(f, x)
        outer = enter()
        try:
            y, columns = columns_of(pullbacks.push, f, x, active[1])
            before.check("forwarddiff")
        except RuleLabError:
            before.put_back()
            raise
        finally:
            leave(outer)

        def forwarddiff_pullback(y_bar: Any) -> Any:
            found = [(of_f, d.path, d.unit * pairing(y_bar, y_dot)) for of_f, d, y_dot in columns]
            of_f = gathered(f, [(path, value) for on, path, value in found if on])
            of_x = gathered(entered, [(path, value) for on, path, value in found if not on])
            return (NO, of_f, of_x, *(NO,) * count)

        return y, forwarddiff_pullback

    return through_rule(Uncached(call), "all", False, "forwarddiff")


def _parts_with_code(x: Any) -> Iterator[Any]:
    """Yield the parts of a value that may run code, which could read an implicit parameter."""
    if type(x) in (list, tuple):
        for part in x:
            yield from _parts_with_code(part)
    elif type(x) is dict:
        for part in x.values():
            yield from _parts_with_code(part)
    elif not isinstance(x, LEAVES):
        yield x


CALLING[forwarddiff] = _handler
