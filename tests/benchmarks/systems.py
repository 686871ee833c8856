"""The systems that are timed: ours and its peers, each by what it makes of a workload.

A peer that is not installed is no entrant. What a peer cannot do fails when it is called, and that is a row
of the table: nothing is taught to it here. A workload is given to a peer with `np` and `math` replaced by
its own functions, the rest of the source as it is; where that is not how a user of the peer would write it,
`peer_code.py` has the function in the peer's own way.
"""

import contextlib
import importlib
import io
import types
import warnings
from functools import cache, partial

import numpy as np
import workloads

import rulelab as rl


class Missing(Exception):
    """The peer is not installed, or does not load here."""


@cache
def found(name):
    """The module of a peer."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ModuleNotFoundError:
        raise Missing("not installed") from None
    except Exception as error:
        raise Missing(f"does not load: {type(error).__name__}") from None


def rebound(f, names):
    """`f`, and the functions of the workloads that it calls, with other values for some global names."""
    if f.__module__ != workloads.__name__:
        return f
    others = {
        name: rebound(value, names)
        for name, value in f.__globals__.items()
        if name in names_in(f.__code__) and isinstance(value, types.FunctionType)
    }
    copy = types.FunctionType(
        f.__code__, {**f.__globals__, **others, **names}, f.__name__, f.__defaults__, f.__closure__
    )
    copy.__kwdefaults__ = f.__kwdefaults__
    copy.__module__ = f.__module__
    return copy


def names_in(code):
    """The global names that a function uses, those inside it included."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(names_in, inner))


class Spelled:
    """A library under NumPy's names: some of them stand for something else there."""

    def __init__(self, library, **names):
        self.__dict__.update(names)
        self._library = library

    def __getattr__(self, name):
        found = getattr(self._library, name)
        setattr(self, name, found)
        return found


def is_number(x):
    return isinstance(x, (float, np.floating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


# --- ours --------------------------------------------------------------------------------------------------


WITH_VALUE = {"mse", "logistic"}  # where the value could cost as much as the gradient


class Rulelab:
    """This package, given the functions as they stand."""

    name = "rulelab"
    module = "rulelab"

    def entrant(self, workload):
        """A call that gives the gradients in `wrt`."""
        f, wrt, args = workload.f, workload.wrt, workload.arguments
        if workload.rows:
            return partial(self.rows, f, args, wrt)
        numbers = tuple(i for i, x in enumerate(args) if is_number(x))
        if numbers == wrt and wrt == tuple(range(len(args))):
            return lambda: rl.gradient(f, *args)
        if numbers == wrt and wrt == tuple(range(len(wrt))):
            return lambda: rl.gradient(f, *args)[: len(wrt)]
        return lambda: rl.gradient(f, *args, argnums=wrt)

    @staticmethod
    def rows(f, observations, wrt):
        found = []
        for one in observations:
            _, back = rl.pullback(f, *one)
            found += [*back((1.0, 0.0))[wrt[0] :], *back((0.0, 1.0))[wrt[0] :]]
        return found

    def others(self, workload):
        """Further entrants of ours: all arguments at once, where the workload wants some of them only."""
        f, wrt, args = workload.f, workload.wrt, workload.arguments
        if workload.rows:
            return {}
        numbers = tuple(i for i, x in enumerate(args) if is_number(x))
        more = {}
        if f.__name__ in WITH_VALUE:
            more["rulelab, with value"] = lambda: picked(rl.withgradient(f, *args).grad, wrt)
        if numbers != wrt:
            more["rulelab, all arguments"] = lambda: picked(rl.gradient(f, *args), wrt)
        return more


def picked(gradients, wrt):
    return [gradients[i] for i in wrt]


# --- the peers ---------------------------------------------------------------------------------------------


class Autograd:
    name, module = "autograd", "autograd"

    def entrant(self, workload):
        autograd, anp = found("autograd"), found("autograd.numpy")
        f = rebound(workload.f, {"np": anp, "math": anp})
        if not workload.rows:
            gradient = autograd.grad(f, workload.wrt)
            return lambda: gradient(*workload.arguments)
        forward = autograd.make_vjp(lambda *c: anp.array(f(*c)), workload.wrt)
        up, down = np.array([1.0, 0.0]), np.array([0.0, 1.0])

        def each():
            rows = []
            for one in workload.arguments:
                back, _ = forward(*one)
                rows += [*back(up), *back(down)]
            return rows

        return each


class Tangent:
    """tangent, which reads source as we do (PyPI: tangent-ad)."""

    name, module = "tangent", "tangent"

    def entrant(self, workload):
        tangent = found("tangent")
        f = written_for("tangent", workload) or rebound(workload.f, {"math": np})
        made = []

        def call():
            if not made:
                with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                    warnings.simplefilter("ignore")
                    made.extend(tangent.grad(one, wrt=workload.wrt) for one in listed(f))
            return [g for one in self.arguments(workload) for d in made for g in as_tuple(d(*one))]

        return call

    @staticmethod
    def arguments(workload):
        return workload.arguments if workload.rows else [workload.arguments]


class Torch:
    """PyTorch, run eagerly."""

    name, module = "PyTorch", "torch"

    def entrant(self, workload):
        torch = found("torch")
        torch.set_num_threads(1)
        f = written_for("torch", workload) or rebound(workload.f, self.names(torch))
        if workload.rows:
            observations = [self.tensors(torch, one, workload.wrt) for one in workload.arguments]
            return partial(self.rows, torch.autograd.grad, f, observations)
        tensors, active = self.tensors(torch, workload.arguments, workload.wrt)
        return lambda: torch.autograd.grad(f(*tensors), active)

    @staticmethod
    def names(torch):
        def greatest(x, axis=None):
            return torch.max(x) if axis is None else torch.amax(x, axis)

        def array(values):
            numbers = not any(isinstance(v, torch.Tensor) for v in values)
            return torch.tensor(values, dtype=torch.float64) if numbers else torch.stack(values)

        return {"np": Spelled(torch, max=greatest, array=array), "math": torch}

    @staticmethod
    def tensors(torch, args, wrt):
        """The arguments with tensors for arrays and for what is differentiated, and the latter."""
        def tensor(x):
            return torch.tensor(x, dtype=torch.float64 if is_number(x) else None)

        given = [i in wrt or isinstance(x, np.ndarray) for i, x in enumerate(args)]
        tensors = [tensor(x) if one else x for one, x in zip(given, args, strict=True)]
        return tensors, [tensors[i].requires_grad_(True) for i in wrt]

    @staticmethod
    def rows(grad, f, observations):
        found = []
        for tensors, active in observations:
            up, down = f(*tensors)
            for result in (up, down):
                gradients = grad(result, active, retain_graph=result is up, allow_unused=True)
                found += [0.0 if g is None else g for g in gradients]
        return found


class Jax:
    """JAX under `jit`, with loops as its users write them: `peer_code.py` says where."""

    name, module = "JAX", "jax"

    def entrant(self, workload):
        jax, jnp = found("jax"), found("jax.numpy")
        jax.config.update("jax_enable_x64", True)
        f = written_for("jax", workload) or rebound(workload.f, {"np": jnp, "math": jnp})
        if workload.rows:
            return self.rows(jax, jnp, f, workload)
        gradient = jax.jit(jax.grad(f, workload.wrt))
        arguments = [jnp.asarray(x) for x in workload.arguments]
        return lambda: jax.block_until_ready(gradient(*arguments))

    @staticmethod
    def rows(jax, jnp, f, workload):
        """All observations at once, by `vmap`: nobody would call JAX for one after the other."""
        table = jnp.asarray(workload.arguments)
        jacobians = jax.jit(jax.vmap(jax.jacrev(lambda c: jnp.stack(f(*c)))))
        call = lambda: (jax.block_until_ready(jacobians(table)),)  # noqa: E731
        call.reads = lambda answer: list(np.asarray(answer[0])[:, :, workload.wrt[0] :].reshape(-1))
        return call


class Mygrad:
    name, module = "mygrad", "mygrad"

    def entrant(self, workload):
        mg = found("mygrad")
        names = Spelled(mg, arange=np.arange, eye=np.eye, array=partial(self.array, mg))
        f = rebound(workload.f, {"np": names, "math": mg})
        if workload.rows:
            both = [(one, k) for one in workload.arguments for k in (0, 1)]
            return lambda: [g for one, k in both for g in self.row(mg, f, one, k, workload.wrt)]
        tensors = self.tensors(mg, workload.arguments, workload.wrt)

        def call():
            f(*tensors).backward()
            return [tensors[i].grad for i in workload.wrt]

        return call

    @staticmethod
    def array(mg, values):
        return mg.stack(values) if any(isinstance(v, mg.Tensor) for v in values) else np.array(values)

    @staticmethod
    def tensors(mg, args, wrt):
        return [mg.tensor(x) if i in wrt else x for i, x in enumerate(args)]

    def row(self, mg, f, one, k, wrt):
        """Its graph is gone after one pass backwards: a second row is a second run."""
        tensors = self.tensors(mg, one, wrt)
        f(*tensors)[k].backward()
        return [tensors[i].grad for i in wrt]


def made(makers, make):
    """{name: a call} for each maker whose system is there; what cannot be made is a call that fails."""
    calls = {}
    for name, maker in makers.items():
        try:
            calls[name] = make(maker)
        except Missing:
            continue
        except Exception as error:
            calls[name] = partial(fail, error)
    return calls


def fail(error):
    raise error


def is_there(system):
    try:
        return found(system.module) is not None
    except Missing:
        return False


def written_for(system, workload):
    """The function as a user of a peer would write it, where that is not our own text."""
    import peer_code

    make = peer_code.WRITTEN.get((system, workload.f.__name__))
    return make and make(workload)


def listed(f):
    return f if isinstance(f, (list, tuple)) else [f]


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


OURS = Rulelab()
PEERS = (Autograd(), Tangent(), Torch(), Jax(), Mygrad())


def numbers(answer, call):
    """What a call gave, as a list of NumPy arrays."""
    reads = getattr(call, "reads", None)
    return [np.asarray(g, dtype=float) for g in (reads(answer) if reads else answer)]


def version(module):
    """The version of an installed peer."""
    from importlib.metadata import version

    names = {"tangent": "tangent-ad"}
    return version(names.get(module.__name__, module.__name__))
