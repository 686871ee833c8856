"""Is a rule that was written for another framework right? It gets the same report as a rule of rulelab."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..annotations import signature_of_callable
from ..checking.calling.subjects import Written, codes_of
from ..checking.judgement.reports import RuleCheck
from ..checking.measuring.vectors import leaves, to_vec
from ..checking.probing.perturb import WithTangent
from ..checking.reading.parameters import positional_names
from ..checking.testing.testers import report_of_check
from ..checking.testing.vjps import check_vjp, vjp_checking
from ..errors import Place, RuleLabError
from ..shown_options import shows_options_of
from ..tangents.holding import captured
from ..tangents.zeros import AbstractZero


class JudgeError(RuleLabError):
    """The object passed is not a rule of the given framework, or the framework is not installed."""


@shows_options_of(check_vjp, but=("by",))
def judge_jax(
    f: Callable[..., Any],
    *args: Any,
    primal: Callable[..., Any] | None = None,
    **options: Any,
) -> RuleCheck:
    """Whether the rule of a function with `jax.custom_vjp` is right; any function that JAX differentiates is
    accepted.

    Everything is done in double precision, using JAX's own switch for it.

    Parameters
    ----------
    f : callable
        The function.
    *args
        Numbers, NumPy or JAX arrays, or tuples, lists and dicts of them. What contains no floating-point
        number (a static argument, an index) is passed on unchanged.
    primal : callable, optional
        The function to take differences of, with the same arguments in NumPy; by default `f` itself.
    **options
        Those of `rule_check`.

    Returns
    -------
    RuleCheck
        The report.

    Raises
    ------
    JudgeError
        If JAX is not installed, or `f` is not a function.

    Examples
    --------
    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> bool(judge_jax(jnp.sin, 1.0))  # doctest: +SKIP
    True
    """
    jax = _imported("jax", "JAX")
    if not callable(f):
        raise JudgeError(f"judge_jax takes a function, not {_shown(f)}")
    call = Call.of(f, args, _from_jax, _is_floating)
    each = jax.tree_util.tree_map

    def vjp(*inputs: Any, **kwargs: Any) -> tuple[Any, Callable]:
        with _in_double(jax):
            y, back = jax.vjp(lambda *some: f(*call.whole(some), **kwargs), *_arrays_of_jax(jax, inputs))

        def jax_pullback(y_bar: Any) -> tuple:
            with _in_double(jax):
                seed = each(lambda one, s: _conjugate(jax.numpy.asarray(s, one.dtype)), y, y_bar)
                return tuple(each(lambda x: _conjugate(np.array(x)), x_bar) for x_bar in back(seed))

        return _from_jax(y), jax_pullback

    def plainly(*whole: Any, **kwargs: Any) -> Any:
        with _in_double(jax):
            held = [_arrays_of_jax(jax, x) if i in call.moved else x for i, x in enumerate(whole)]
            return _from_jax(f(*held, **kwargs))

    bwd = getattr(f, "bwd", None)
    by = "JAX's derivative" if bwd is None else "the custom_vjp"
    held = tuple(getattr(f, "nondiff_argnums", ()))
    written = () if bwd is None else (_of_all(bwd, call, held),)
    authors = (bwd, getattr(f, "fwd", None))
    return _judged(f, call, primal or plainly, vjp, by, authors, options, written)


@shows_options_of(check_vjp, but=("by",))
def judge_torch(
    function: Any,
    *args: Any,
    primal: Callable[..., Any] | None = None,
    **options: Any,
) -> RuleCheck:
    """Whether the `backward` of a `torch.autograd.Function` subclass is right.

    Parameters
    ----------
    function : type
        The subclass.
    *args
        Those of `apply`. Arrays, tensors and NumPy scalars become tensors that require a gradient, in their
        own precision; Python numbers and anything else are passed on unchanged and have no gradient, as in
        PyTorch.
    primal : callable, optional
        The function to take differences of, with the same arguments in NumPy; by default `apply` itself.
    **options
        Those of `rule_check`.

    Returns
    -------
    RuleCheck
        The report.

    Raises
    ------
    JudgeError
        If PyTorch is not installed, or `function` is not such a class.

    Examples
    --------
    >>> bool(judge_torch(MyFunction, np.ones(3)))  # doctest: +SKIP
    True
    """
    torch = _imported("torch", "PyTorch")
    if not _is_subclass(function, torch.autograd.Function):
        raise JudgeError(f"judge_torch takes a subclass of torch.autograd.Function, not {_shown(function)}")

    def as_numpy(x: Any) -> Any:
        return _from_torch(torch, x)

    call = Call.of(function, args, as_numpy, _is_numpy_floating, _names_of_apply(function))

    def vjp(*inputs: Any) -> tuple[Any, Callable]:
        tensors = [_tensor(torch, x).requires_grad_() for x in inputs]
        with torch.enable_grad():
            y = function.apply(*call.whole(tensors))

        def backward(y_bar: Any) -> tuple:
            pairs = zip(y, y_bar) if isinstance(y, tuple) else [(y, y_bar)]
            known = [(one, seed) for one, seed in pairs if _has_gradient(torch, one)]
            if not known:
                return (None,) * len(tensors)
            seeds = [torch.as_tensor(np.array(seed), dtype=one.dtype) for one, seed in known]
            outputs = [one for one, _ in known]
            given = torch.autograd.grad(outputs, tensors, seeds, retain_graph=True, allow_unused=True)
            return tuple(map(as_numpy, given))

        return as_numpy(y), backward

    def plainly(*whole: Any) -> Any:
        tensors = [_tensor(torch, np.array(x)) if _is_numpy_floating(x) else x for x in whole]
        with torch.no_grad():
            return as_numpy(function.apply(*tensors))

    authors = (function.backward, function.forward)  # the first of them provides the place
    written = (_of_all(function.backward, call),)
    return _judged(function, call, primal or plainly, vjp, "the backward", authors, options, written)


@shows_options_of(check_vjp, but=("by",))
def judge_autograd(
    primitive: Callable[..., Any], *args: Any, primal: Callable[..., Any] | None = None, **options: Any
) -> RuleCheck:
    """Whether the vjps of a HIPS autograd primitive, stated with `defvjp`, are right.

    Parameters
    ----------
    primitive : callable
        The primitive.
    *args
        Numbers, arrays, or tuples, lists and dicts of them; what contains no floating-point number is passed
        on unchanged.
    primal : callable, optional
        The function to take differences of; by default `primitive` itself.
    **options
        Those of `rule_check`.

    Returns
    -------
    RuleCheck
        The report.

    Raises
    ------
    JudgeError
        If autograd is not installed, or `primitive` is not callable.

    Examples
    --------
    >>> import autograd.numpy as anp  # doctest: +SKIP
    >>> bool(judge_autograd(anp.sin, 1.0))  # doctest: +SKIP
    True
    """
    make_vjp = _imported("autograd.core", "HIPS autograd").make_vjp
    if not callable(primitive):
        raise JudgeError(f"judge_autograd takes a primitive, not {_shown(primitive)}")
    function = getattr(primitive, "fun", primitive)  # the wrapped function, whose parameters are known
    call = Call.of(function, args, lambda x: x, _is_floating)

    def vjp(*inputs: Any, **kwargs: Any) -> tuple[Any, Callable]:
        def back_to(position: int) -> Callable:
            def of_one(x: Any) -> Any:
                return primitive(*call.whole([*inputs[:position], x, *inputs[position + 1 :]]), **kwargs)

            return make_vjp(of_one, inputs[position])[0]

        backs = [back_to(position) for position in range(len(inputs))]

        def vjps(y_bar: Any) -> tuple:
            seed = _each_number(_conjugate, y_bar)
            return tuple(_each_number(_conjugate, back(seed)) for back in backs)

        return primitive(*call.whole(inputs), **kwargs), vjps

    makers = _vjpmakers(primitive)
    names = dict(zip(call.moved, call.names))
    written = tuple(Written(makers[i], ((names[i], 0),), 1, True) for i in call.moved if i in makers)
    authors = tuple(makers[i] for i in call.moved if i in makers)
    return _judged(primitive, call, primal or primitive, vjp, "the vjp", authors, options, written)


def _vjpmakers(primitive: Any) -> dict[int, Callable]:
    """What was passed to `defvjp` for a primitive, by the position of the argument; only functions with
    source text.
    """
    known = _imported("autograd.core", "HIPS autograd").primitive_vjps.get(primitive)
    makers = captured(known).get("vjps_dict", {})
    return {i: maker for i, maker in makers.items() if codes_of(maker)}


def _of_all(function: Callable, call: Call, held: tuple[int, ...] = ()) -> Written:
    """A function that returns one cotangent for each argument of the call except those in `held`."""
    whole = [i for i in range(len(call.args)) if i not in held]
    pairs = [(name, whole.index(i)) for i, name in zip(call.moved, call.names) if i in whole]
    return Written(function, tuple(pairs), alone=len(whole) == 1)


# --- what they share ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Call:
    """The arguments of a call: those at the positions `moved` are judged, the others are held fixed."""

    args: tuple
    moved: tuple[int, ...]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        f: Any,
        args: tuple,
        as_numpy: Callable[[Any], Any],
        is_moved: Callable[[Any], bool],
        names: tuple[str, ...] | None = None,
    ) -> Call:
        """The call of `f` with these arguments; an argument given as with_tangent(x, NoTangent()) is held
        fixed too.

        Raises JudgeError if nothing is moved.
        """
        fixed = {i for i, x in enumerate(args) if isinstance(x, WithTangent) and _is_zero(x.tangent)}
        plain = tuple(as_numpy(x.value if isinstance(x, WithTangent) else x) for x in args)
        moved = tuple(i for i, x in enumerate(plain) if i not in fixed and is_moved(x))
        if not moved:
            raise JudgeError(
                f"there is no floating-point number among the arguments at which {_name(f)} is to be judged",
                fixes=("give them after the function: f, 2.0, np.ones(3)",),
            )
        names = positional_names(f) if names is None else names
        padded = (*names, *(f"argument {i + 1}" for i in range(len(names), len(args))))
        return cls(plain, moved, tuple(padded[i] for i in moved))

    @property
    def inputs(self) -> tuple:
        """The arguments that are moved."""
        return tuple(self.args[i] for i in self.moved)

    def whole(self, inputs: Sequence[Any]) -> list[Any]:
        """All arguments, with `inputs` in place of the moved ones."""
        whole = list(self.args)
        for position, x in zip(self.moved, inputs, strict=True):
            whole[position] = x
        return whole


def _judged(
    f: Any,
    call: Call,
    primal: Callable,
    vjp: Callable,
    by: str,
    authors: tuple,
    options: dict[str, Any],
    written: tuple[Written, ...],
) -> RuleCheck:
    """The report on a vjp that stands for the rule of another framework. The places are in the code of its
    `authors`, and its cotangents are computed where they are `written`.
    """

    def moved_primal(*inputs: Any, **kwargs: Any) -> Any:
        return primal(*call.whole(inputs), **kwargs)

    seconds = options.pop("seconds", None)
    check = vjp_checking(moved_primal, vjp, *call.inputs, by=by, names=call.names, **options)
    codes = tuple(dict.fromkeys(code for author in authors for code in codes_of(author)))
    place = next((Place.of_function(author) for author in authors if codes_of(author)), None)
    check.subject = dataclasses.replace(
        check.subject, name=_name(f), place=place, codes=codes, written=written
    )
    check.asks_whole_numbers = False
    report = report_of_check(check, seconds)
    held = [repr(x)[:40] for i, x in enumerate(call.args) if i not in call.moved]
    notes = [f"held fixed: {', '.join(held)}"] if held else []
    if coarse := next((name for p in check.probes[:1] for name in _coarse(p.truth.y)), None):
        notes.append(f"{_name(f)} returns {coarse}: judged with the tolerance of that precision")
    return dataclasses.replace(report, notes=(*report.notes, *notes))


def _coarse(y: Any) -> Iterator[str]:
    """The dtypes of an output that are below double precision."""
    for leaf in leaves(y, "y"):
        if np.dtype(leaf.dtype) in (np.float32, np.complex64, np.float16):
            yield np.dtype(leaf.dtype).name


def _imported(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise JudgeError(f"{name} is not installed here", fixes=(f"pip install {package}",)) from None


def _name(f: Any) -> str:
    return getattr(f, "__name__", None) or type(f).__name__


def _shown(x: Any) -> str:
    return f"the class {x.__name__}" if isinstance(x, type) else f"an object of class {type(x).__name__}"


def _is_subclass(function: Any, kind: Any) -> bool:
    return isinstance(function, type) and issubclass(function, kind)


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, AbstractZero)


def _is_floating(x: Any) -> bool:
    """Whether a value contains a floating-point number that can be moved."""
    return not callable(x) and to_vec(x)[0].size > 0


def _is_numpy_floating(x: Any) -> bool:
    return isinstance(x, np.inexact) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def _each_number(change: Callable, x: Any) -> Any:
    """The numbers and arrays in nested tuples, lists and dicts, changed."""
    if isinstance(x, dict):
        return {key: _each_number(change, part) for key, part in x.items()}
    if isinstance(x, (tuple, list)):
        parts = [_each_number(change, part) for part in x]
        make: Any = getattr(type(x), "_make", type(x))
        return make(parts)
    return change(x)


def _conjugate(x: Any) -> Any:
    """JAX and autograd use the conjugates of the cotangents that rulelab and PyTorch use."""
    return x.conjugate() if np.iscomplexobj(x) else x


@contextlib.contextmanager
def _in_double(jax: Any) -> Iterator[None]:
    """Context in which JAX computes in double precision."""
    switch = getattr(jax, "enable_x64", None)
    if switch is None:  # older versions have it elsewhere
        switch = importlib.import_module("jax.experimental").enable_x64
    with switch(True):
        yield


def _arrays_of_jax(jax: Any, x: Any) -> Any:
    """Python's floats and complex numbers as JAX arrays: a rule may access their dtype."""
    return _each_number(lambda one: jax.numpy.asarray(one) if type(one) in (float, complex) else one, x)


def _from_jax(x: Any) -> Any:
    """JAX arrays as NumPy arrays, in any nesting; everything else unchanged."""

    def one(part: Any) -> Any:
        known = (np.ndarray, np.generic, float, complex, int)
        return part if isinstance(part, known) or not hasattr(part, "__array__") else np.array(part)[()]

    return _each_number(one, x)


def _tensor(torch: Any, x: Any) -> Any:
    """An array as a tensor that shares its memory, so that writes into it are detected.

    Where PyTorch supports no such tensor, it is a tensor of a copy: for views with negative strides,
    read-only memory, and non-native byte order.
    """
    x = np.asarray(x)
    taken = x.flags.aligned and x.flags.writeable and x.dtype.isnative
    if not taken or any(step < 0 or step % x.itemsize for step in x.strides):
        x = np.array(x, x.dtype.newbyteorder("="))
    return torch.from_numpy(x)


def _from_torch(torch: Any, x: Any) -> Any:
    """PyTorch tensors as NumPy arrays of their own, in any nesting; everything else unchanged."""

    def one(part: Any) -> Any:
        if not isinstance(part, torch.Tensor):
            return part
        return np.array(part.detach().cpu().resolve_conj().resolve_neg().numpy())[()]

    return _each_number(one, x)


def _has_gradient(torch: Any, y: Any) -> bool:
    return isinstance(y, torch.Tensor) and y.requires_grad


def _names_of_apply(function: Any) -> tuple[str, ...]:
    """The names of the parameters of `apply`: those of `forward`, without the context of the older form."""
    names = list(signature_of_callable(function.forward).parameters)
    has_context = any("setup_context" in vars(cls) for cls in function.__mro__[:-1] if _is_users(cls))
    return tuple(names if has_context else names[1:])


def _is_users(cls: type) -> bool:
    return not cls.__module__.startswith("torch.")
