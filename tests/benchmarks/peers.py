"""The other systems that a benchmark can run where they are installed, as calls of a gradient."""

import contextlib
import importlib
import io
import warnings


def found(name):
    """The module, or None where it is not installed or does not load."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except Exception:  # a peer that is broken on this machine is a peer that is not there
        return None


def autograd_entrant(make, *args, wrt):
    """A call of HIPS autograd's gradient of `make(numpy)`, or nothing."""
    autograd = found("autograd")
    if autograd is None:
        return {}
    derivative = autograd.grad(make(found("autograd.numpy")), wrt)
    return {"autograd": lambda: derivative(*args)}


def tangent_entrant(f, *args, wrt):
    """A call of tangent's gradient of `f` (PyPI: tangent-ad), or nothing; made at its first call."""
    tangent = found("tangent")
    if tangent is None:
        return {}
    made = []

    def call():
        if not made:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                made.append(tangent.grad(f, wrt=wrt))
        result = made[0](*args)
        return result if isinstance(result, tuple) else (result,)

    return {"tangent": call}


def torch_entrant(make, *args, wrt):
    """A call of PyTorch's backward of `make(torch)`, or nothing."""
    torch = found("torch")
    if torch is None:
        return {}
    torch.set_num_threads(1)
    f = make(torch)
    tensors = [torch.tensor(a, dtype=torch.float64) if not isinstance(a, int) else a for a in args]
    active = [tensors[i].requires_grad_(True) for i in wrt]

    def call():
        return tuple(g.detach().numpy() for g in torch.autograd.grad(f(*tensors), active))

    return {"PyTorch": call}
