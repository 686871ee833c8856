"""What the right gradient of a workload is: by hand, or by differences of the function itself."""

import numpy as np
from contest import disagreement
from systems import numbers

STEP = 1e-5  # of the size of an argument
BY_HAND, BY_DIFFERENCES = 1e-9, 2e-6
# The map is at the edge of chaos: another order of the same operations moves the sixth digit.
TOLERANCES = {"logistic": 1e-4}


def tolerance(workload):
    exact = BY_HAND if workload.hand else BY_DIFFERENCES
    return TOLERANCES.get(workload.f.__name__, exact)


def gap(workload):
    """How far an answer is from the right gradient of a workload: a function of the answer and its call."""
    if workload.hand:
        wanted = workload.hand(*workload.arguments)
        return lambda answer, call: disagreement(numbers(answer, call), wanted)
    if workload.rows:
        wanted = rows(workload)
        return lambda answer, call: disagreement(numbers(answer, call), wanted)
    directions = [drawn(workload, seed) for seed in range(3)]
    slopes = [slope(workload, direction) for direction in directions]
    return lambda answer, call: along(numbers(answer, call), directions, slopes)


def size(x):
    """The size of an argument's numbers, of which steps are small parts."""
    return float(np.max(np.abs(x))) or 1.0


def drawn(workload, seed):
    """A direction for each of the arguments `wrt`, of its size."""
    rng = np.random.default_rng(seed)
    given = [workload.arguments[i] for i in workload.wrt]
    return [size(x) * rng.standard_normal(np.shape(x)) for x in given]


def moved(args, wrt, direction, step):
    args = list(args)
    for i, d in zip(wrt, direction, strict=True):
        args[i] = args[i] + step * d
        if not np.ndim(args[i]):
            args[i] = float(args[i])
    return args


def differences(f, args, wrt, direction):
    """The slope of `f` in a direction, from four of its values."""
    f_at = lambda step: np.asarray(f(*moved(args, wrt, direction, step)))  # noqa: E731
    near, far = (f_at(s) - f_at(-s) for s in (STEP, 2 * STEP))
    return (8 * near - far) / (12 * STEP)


def slope(workload, direction):
    return float(differences(workload.f, workload.arguments, workload.wrt, direction))


def along(gradient, directions, slopes):
    """How far the slopes that a gradient gives are from the wanted ones, relative to the latter."""
    shapes = [d.shape for d in directions[0]]
    if [g.shape for g in gradient] != shapes:
        return float("inf")
    found = [sum(float(np.sum(g * d)) for g, d in zip(gradient, direction)) for direction in directions]
    scale = max(abs(s) for s in slopes)
    return max(abs(a - b) for a, b in zip(found, slopes)) / scale


def rows(workload):
    """The gradients of both results at each of the arguments, entry by entry."""
    found = []
    for args in workload.arguments:
        sizes = [size(args[i]) for i in workload.wrt]
        columns = [differences(workload.f, args, (i,), [s]) / s for i, s in zip(workload.wrt, sizes)]
        found += [*(float(c[0]) for c in columns), *(float(c[1]) for c in columns)]
    return found
