"""Placeholder until the real one is merged."""
import types
from collections import deque
import numpy as np
from .projection import tangent_dtype
from .zeros import NoTangent, AbstractZero
from .thunks import unthunk


def zero_of(x):
    if isinstance(x, (bool, np.bool_)) or x is None or isinstance(x, str):
        return NoTangent()
    if isinstance(x, np.ndarray):
        d = tangent_dtype(x.dtype)
        return NoTangent() if d is None else np.zeros_like(x, dtype=d)
    if isinstance(x, (int, float, np.integer, np.floating)):
        return 0.0
    if isinstance(x, (complex, np.complexfloating)):
        return 0j
    if type(x) in (list, tuple):
        return type(x)(map(zero_of, x))
    if type(x) is dict:
        return {k: zero_of(v) for k, v in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(zero_of, x))
    if type(x).__flags__ & (1 << 9) and hasattr(x, "__dict__") and not callable(x):
        return types.SimpleNamespace(**{k: zero_of(v) for k, v in vars(x).items()})
    return NoTangent()


def inner(x, x_dot, name=""):
    x_dot = unthunk(x_dot)
    if x_dot is None or isinstance(x_dot, AbstractZero):
        return zero_of(x)
    if isinstance(x, np.ndarray):
        made = np.zeros_like(x, dtype=np.result_type(tangent_dtype(x.dtype), np.asarray(x_dot).dtype))
        made[...] = x_dot
        return made
    if type(x) in (list, tuple):
        return type(x)(inner(a, b) for a, b in zip(x, x_dot, strict=True))
    if type(x) is dict:
        return {k: inner(v, x_dot[k]) for k, v in x.items()}
    if isinstance(x, (int, float)):
        return float(x_dot)
    return x_dot


def natural(y, y_dot):
    if isinstance(y_dot, AbstractZero):
        return zero_of(y)
    return y_dot
