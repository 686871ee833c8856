"""A rule of another framework as a rule of rulelab that calls the framework's code."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..annotations import signature_of_callable
from ..checking.measuring.vectors import cotangent_vec, to_vec
from ..rules.authoring import rrule_for
from ..rules.registry import DEFAULT, Registry
from ..rules.twins import twin
from ..tangents.zeros import NoTangent, ZeroTangent
from .judges import (
    JudgeError,
    _conjugate,
    _each_number,
    _from_jax,
    _from_torch,
    _imported,
    _in_double,
    _is_floating,
    _is_subclass,
    _name,
    _names_of_apply,
    _shown,
    _tensor,
)

Answer = tuple[Any, Callable[[Any], Sequence[Any]]]


def import_rule(
    theirs: Any,
    framework: str,
    of: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    registry: Registry = DEFAULT,
) -> Callable[..., Any]:
    """Return a rulelab function whose rule is the derivative of a function of JAX, PyTorch or HIPS autograd.

    It takes and returns NumPy numbers and arrays; the code of the other framework does the work. In this way
    the rule can be compared, timed and checked like any other.

    Parameters
    ----------
    theirs : object
        A function that JAX differentiates, a subclass of `torch.autograd.Function` or a function of tensors,
        or a function of autograd.
    framework : {"jax", "torch", "autograd"}
        The framework it belongs to.
    of : callable, optional
        A function to copy; then only the rule is the framework's, and the value is that of the copy.
    name : str, optional
        The name of the result.
    registry : Registry
        Where the rule is registered.

    Returns
    -------
    callable
        The function, with its rule.

    Raises
    ------
    JudgeError
        If the framework is not installed, or `theirs` is none of these.

    Examples
    --------
    >>> from rulelab.portability import import_rule
    >>> import_rule(abs, "numpy")
    Traceback (most recent call last):
    ...
    rulelab.portability.judges.JudgeError: rules can be imported from jax, torch, autograd, not from 'numpy'
    """
    if framework not in _ANSWERS:
        raise JudgeError(f"rules can be imported from {', '.join(_ANSWERS)}, not from {framework!r}")
    answer = _ANSWERS[framework](theirs)

    def forward(*args: Any, **kwargs: Any) -> Any:
        return answer(args, kwargs)[0]

    forward.__signature__ = _signature(theirs, framework)  # type: ignore[attr-defined]  # used by `twin`
    forward.__name__ = f"{_name(theirs)} of {framework}"
    found = twin(of if of is not None else forward, name or f"{_plain(_name(of or theirs))}_{framework}")

    def imported_rrule(*args: Any, **kwargs: Any) -> Any:
        y, back = answer(args, kwargs)

        def imported_pullback(y_bar: Any) -> tuple:
            vector, whole = to_vec(y)
            seed = whole(cotangent_vec(y, y_bar)) if vector.size else y_bar
            return NoTangent(), *back(seed)

        return y, imported_pullback

    imported_rrule.__name__ = f"{found.__name__}_rrule"
    rrule_for(found, registry=registry)(imported_rrule)
    return found


def _plain(name: str) -> str:
    return name if name.isidentifier() and not keyword.iskeyword(name) else "rule"


def _signature(theirs: Any, framework: str) -> inspect.Signature:
    """The parameters of the framework's function; if they have no names, any number of arguments."""
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if framework == "torch" and isinstance(theirs, type):
        return inspect.Signature([inspect.Parameter(n, positional) for n in _names_of_apply(theirs)])
    try:
        given = signature_of_callable(getattr(theirs, "fun", theirs))
    except (TypeError, ValueError):
        return inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
    return inspect.Signature(
        [p.replace(annotation=inspect.Parameter.empty) for p in given.parameters.values()]
    )


def _moved(args: tuple) -> list[int]:
    """The positions of the arguments that contain floating-point numbers."""
    return [i for i, x in enumerate(args) if _is_floating(x)]


def _spread(args: tuple, moved: Sequence[int], given: Sequence[Any]) -> list[Any]:
    """Cotangents for all arguments, made from those of the moved ones; None means zero."""
    found: list[Any] = [NoTangent()] * len(args)
    for i, x_bar in zip(moved, given):
        found[i] = ZeroTangent() if x_bar is None else _as_shape(args[i], x_bar)
    return found


def _as_shape(x: Any, x_bar: Any) -> Any:
    """A cotangent in the form of its argument: a number for a number."""
    return x_bar[()] if isinstance(x_bar, np.ndarray) and not isinstance(x, np.ndarray) else x_bar


def _replaced(args: tuple, moved: Sequence[int], inputs: Sequence[Any]) -> list[Any]:
    whole = list(args)
    for i, x in zip(moved, inputs):
        whole[i] = x
    return whole


def _of_jax(theirs: Any) -> Callable[[tuple, dict], Answer]:
    jax = _imported("jax", "JAX")
    if not callable(theirs):
        raise JudgeError(f"what is imported from JAX must be a function, not {_shown(theirs)}")

    def answer(args: tuple, kwargs: dict) -> Answer:
        moved = _moved(args)
        with _in_double(jax):
            inputs = [_each_number(jax.numpy.asarray, args[i]) for i in moved]
            y, vjp = jax.vjp(lambda *some: theirs(*_replaced(args, moved, some), **kwargs), *inputs)
        value = _from_jax(y)

        def back(y_bar: Any) -> Sequence[Any]:
            with _in_double(jax):
                seed = jax.tree_util.tree_map(
                    lambda one, s: _conjugate(jax.numpy.asarray(s, one.dtype)), y, y_bar
                )
                given = [_each_number(lambda x: _conjugate(np.array(x)), x_bar) for x_bar in vjp(seed)]
            return _spread(args, moved, given)

        return value, back

    return answer


def _of_torch(theirs: Any) -> Callable[[tuple, dict], Answer]:
    torch = _imported("torch", "PyTorch")
    apply = theirs.apply if _is_subclass(theirs, torch.autograd.Function) else theirs
    if not callable(apply) or isinstance(apply, type):
        raise JudgeError(
            "what is imported from PyTorch must be a torch.autograd.Function or a function of tensors, "
            f"not {_shown(theirs)}"
        )

    def answer(args: tuple, kwargs: dict) -> Answer:
        moved = [i for i in _moved(args) if isinstance(args[i], (float, complex, np.generic, np.ndarray))]
        with torch.enable_grad():
            tensors = [_tensor(torch, np.array(args[i])).requires_grad_() for i in moved]
            whole = [_tensor(torch, x.copy()) if isinstance(x, np.ndarray) else x for x in args]
            y = apply(*_replaced(tuple(whole), moved, tensors), **kwargs)
        value = _from_torch(torch, y)

        def back(y_bar: Any) -> Sequence[Any]:
            pairs = list(zip(y, y_bar)) if isinstance(y, (tuple, list)) else [(y, y_bar)]
            known = [
                (one, seed) for one, seed in pairs if isinstance(one, torch.Tensor) and one.requires_grad
            ]
            if not known:
                return _spread(args, moved, [None] * len(moved))
            seeds = [torch.as_tensor(np.array(seed), dtype=one.dtype) for one, seed in known]
            outputs = [one for one, _ in known]
            given = torch.autograd.grad(outputs, tensors, seeds, retain_graph=True, allow_unused=True)
            return _spread(args, moved, [_from_torch(torch, x_bar) for x_bar in given])

        return value, back

    return answer


def _of_autograd(theirs: Any) -> Callable[[tuple, dict], Answer]:
    make_vjp = _imported("autograd.core", "HIPS autograd").make_vjp
    if not callable(theirs):
        raise JudgeError(f"what is imported from autograd must be a function, not {_shown(theirs)}")

    def answer(args: tuple, kwargs: dict) -> Answer:
        moved = _moved(args)

        def of_one(position: int) -> Callable:
            return lambda x: theirs(*_replaced(args, [position], [x]), **kwargs)

        found = [make_vjp(of_one(i), args[i]) for i in moved]
        value = found[0][1] if found else theirs(*args, **kwargs)

        def back(y_bar: Any) -> Sequence[Any]:
            seed = _each_number(_conjugate, y_bar)
            return _spread(args, moved, [_each_number(_conjugate, vjp(seed)) for vjp, _ in found])

        return value, back

    return answer


_ANSWERS: dict[str, Callable[[Any], Callable[[tuple, dict], Answer]]] = {
    "jax": _of_jax,
    "torch": _of_torch,
    "autograd": _of_autograd,
}
