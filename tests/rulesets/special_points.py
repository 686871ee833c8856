"""Second derivatives at special points: every forward rule where its arguments are zero, equal, whole, large,
on the border of a domain; alone and inside a smooth function, against differences of the primal.

    make points ARGS="[--count N] [--start SEED] [--only NAME]"

A point is smooth where the function, along all of several directions, has the same value, slope and second
derivative from both sides, and where these fit one linear and one quadratic form. There the number has to be
that of the form. Else it is a convention, or there is none. The oracle calls the primal alone.
"""

import argparse
import copy
import functools
import math
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rule_points import (  # noqa: E402
    at_path,
    by_function,
    entry,
    forward_cases,
    inner,
    is_complex,
    leaves,
    moved,
    outputs,
    put_at,
    widen_all,
)
from second_order import Frule, is_inexact, parts_of, tangent_of, varied_paths  # noqa: E402

from rulelab.ad.nested import PUSH  # noqa: E402
from rulelab.errors import RuleLabError  # noqa: E402
from rulelab.tangents.structural import Tangent  # noqa: E402
from rulelab.tangents.zeros import NoTangent, ZeroTangent  # noqa: E402

NO = NoTangent()


# --- the points ---------------------------------------------------------------------------------------------


def _some(change):
    """The change, made to some of the numbers of an array."""

    def changed(x, rng):
        return np.where(rng.random(np.shape(x)) < 0.5, change(x, rng), x) if np.ndim(x) else change(x, rng)

    return changed


def _zeros(x, rng):
    return np.zeros_like(x)


def _equal(x, rng):
    return np.full_like(x, np.ravel(x)[rng.integers(np.size(x))]) if np.size(x) else x


def _rows_equal(x, rng):
    return np.zeros_like(x) + x[:1] if np.ndim(x) > 1 and len(x) else _equal(x, rng)


def _whole(x, rng):
    return np.round(np.real(x)) + np.zeros_like(x)


CHANGES = {
    "as it is": lambda x, rng: x,
    "zeros": _zeros,
    "negative zeros": lambda x, rng: -_zeros(x, rng),
    "some zeros": _some(_zeros),
    "ones": lambda x, rng: np.ones_like(x),
    "some ones": _some(lambda x, rng: rng.choice([1.0, -1.0]) * np.ones_like(x)),
    "equal": _equal,
    "equal rows": _rows_equal,
    "whole": _whole,
    "halves": lambda x, rng: 0.5 * _whole(2 * x, rng),
    "large": lambda x, rng: 800.0 * rng.choice([1.0, -1.0], np.shape(x)) * np.ones_like(x),
}
"""What is made of the numbers of an argument."""

OUTER = {
    "itself": (lambda y: y, lambda y: np.ones_like(y), lambda y: np.zeros_like(y)),
    "squared": (lambda y: y * y, lambda y: 2 * y, lambda y: np.full_like(y, 2.0)),
    "cubed": (lambda y: y * y * y, lambda y: 3 * y * y, lambda y: 6 * y),
    "its cosine": (np.cos, lambda y: -np.sin(y), lambda y: -np.cos(y)),
}
"""What is made of each number of the result: smooth functions, with their first two derivatives."""


class SpecialPoint(NamedTuple):
    """A forward rule at special arguments, moved along `v` and `u`, and what is made of its result."""

    case: Any
    change: str
    outer: str
    v: dict
    u: dict
    weights: list

    def __str__(self):
        shown = ", ".join(str(np.asarray(leaf).tolist()) for _, leaf in leaves(self.case.args))
        return f"{self.case}, {self.change}, {self.outer}, at {shown}"[:400]


LEFT_OUT = ("np.real_if_close", "ndarray.tolist")
"""One leaps from complex to real at these points; the other hands on what nothing is made of."""


@functools.cache
def functions(only=""):
    """The check points in double precision, function by function."""
    wide = [
        case
        for case in forward_cases()
        if all(np.asarray(leaf).dtype.char in "dDl" for _, leaf in leaves(case.args))
        and only in str(case)
        and not any(name in str(case) for name in LEFT_OUT)
    ]
    return by_function(wide)


FAR = 1e6
"""Numbers from which on a step of differences is lost in rounding."""
LOUD = 30.0
"""Values from which on a cosine swings more quickly than the steps of differences can tell."""


def special_point(seed, only=""):
    """The point of a seed; drawn again where the function does not take the arguments."""
    rng = np.random.default_rng(seed)
    while True:
        groups = functions(only)
        cases = groups[rng.integers(len(groups))].cases
        point = drawn(rng, cases[rng.integers(len(cases))])
        if point is not None:
            return point


def drawn(rng, case):
    """What is made of a check point, or None where the function does not take the arguments."""
    change = str(rng.choice(list(CHANGES)))
    case = case._replace(args=_changed(case, change, rng))
    paths = varied_paths(case)
    try:
        with np.errstate(all="ignore"):
            parts = outputs(_called(case, case.args))
    except Exception:
        return None  # not in the domain
    if not paths or not parts or not all(np.all(np.isfinite(part)) for part in parts):
        return None
    if max(np.max(np.abs(at_path(case.args, path)), initial=0.0) for path in paths) > FAR:
        return None
    v = {path: _direction(at_path(case.args, path), rng) for path in paths}
    u = v if rng.random() < 0.5 else {path: _direction(at_path(case.args, path), rng) for path in paths}
    weights = [_direction(y, rng) if is_inexact(y) else np.zeros(np.shape(y)) for y in parts]
    outer = str(rng.choice(list(OUTER)))
    if outer == "its cosine" and max(np.max(np.abs(y), initial=0.0) for y in parts) > LOUD:
        outer = "squared"
    return SpecialPoint(case, change, outer, v, u, weights)


def _changed(case, change, rng):
    """The arguments with their numbers changed; in a third of the draws those of all arguments are equal."""
    args, common, paths = widen_all(case.args), None, varied_paths(case)
    together = rng.random() < 0.3
    for path in paths:
        leaf = at_path(args, path)
        new = CHANGES[change](leaf, rng)
        if together and np.size(new):
            common = np.ravel(new)[0] if common is None else common
            new = np.full_like(leaf, common if is_complex(leaf) else np.real(common))
        args = put_at(args, path, _like(leaf, new))
    return args


def _like(leaf, new):
    return np.array(new, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(np.asarray(new).item())


def _direction(leaf, rng):
    """A direction: of all numbers, of one of them, or the same for all."""
    kind, step = rng.integers(4), rng.normal(size=np.shape(leaf))
    if kind == 1 and step.size:
        step = np.where(np.arange(step.size).reshape(step.shape) == rng.integers(step.size), step, 0.0)
    elif kind == 2:
        step = np.ones_like(step)
    step = step + 1j * rng.normal(size=step.shape) if is_complex(leaf) else step
    return np.asarray(step) if isinstance(leaf, np.ndarray) else np.asarray(step)[()]


def _called(case, args):
    return case.target(*copy.deepcopy(args), **copy.deepcopy(case.kwargs))


# --- the oracle ---------------------------------------------------------------------------------------------

REACHES = (0.7, 0.3, 0.12, 0.05, 0.02)
NODES = 0.5 - 0.5 * np.cos(math.pi * (np.arange(12) + 0.5) / 12)
"""Places in (0, 1), 0 not among them: what a function is said to be at a jump does not count."""
TO_JET = np.linalg.inv(np.vander(NODES, increasing=True))[:3]
TOLERANCE = 1e-4
ROUNDING = 1e-10
"""What is left of the digits of a value in a second derivative."""


def along(point, step):
    """`t -> the weighted sum of outer(f(x + t step))`, a plain function; NaN outside the domain, and where
    what was real is complex, as a power of a negative number whose exponent moves.
    """
    outer = OUTER[point.outer][0]
    real = [not is_complex(weight) for weight in point.weights]

    def psi(t):
        args = point.case.args
        for path, direction in step.items():
            args = put_at(args, path, moved(at_path(args, path), t * direction))
        try:
            parts = outputs(_called(point.case, args))
        except Exception:
            return math.nan
        if [np.shape(part) for part in parts] != [np.shape(w) for w in point.weights]:
            return math.nan
        if any(is_complex(part) and was_real for part, was_real in zip(parts, real, strict=True)):
            return math.nan
        return sum(inner(w, outer(part)) for w, part in zip(point.weights, parts, strict=True))

    return psi


def one_sided(psi, sign):
    """The value, slope and second derivative on one side of 0, by polynomials through values at several
    reaches; None where no two of these agree.
    """
    best, error, before = None, math.inf, None
    for reach in REACHES:
        h = sign * reach
        values = np.array([psi(h * node) for node in NODES])
        jet = TO_JET @ values * np.array([1.0, 1.0 / h, 2.0 / h**2])
        if before is not None and abs(jet[2] - before[2]) < error:
            best, error = jet, abs(jet[2] - before[2])
        before = jet
        if best is not None and error <= 1e-9 * np.max(np.abs(best)):
            break
    scale = 1.0 if best is None else max(1.0, np.max(np.abs(best)))
    return best if error <= 0.1 * TOLERANCE * scale else None


def jet_along(point, step):
    """The slope and second derivative of what is smooth along a direction; None where it is not."""
    psi = along(point, step)
    above = one_sided(psi, 1.0)
    below = None if above is None else one_sided(psi, -1.0)
    if below is None:
        return None
    size = max(1.0, np.max(np.abs(above)), np.max(np.abs(below)))
    here = psi(0.0)
    if np.max(np.abs(above - below)) > TOLERANCE * size or not abs(above[0] - here) <= TOLERANCE * size:
        return None
    return 0.5 * (above + below)[1:]


def _sum(v, u, sign=1.0):
    return {path: v[path] + sign * u[path] for path in v}


def _random_like(v, rng):
    return {path: _like(step, rng.normal(size=np.shape(step))) for path, step in v.items()}


def _is_linear(point, v, rng):
    """Whether the slope along the sum of `v` and another direction is that of both, by central differences.

    They do not see a kink that is the same on both sides, as that of a median of three equal numbers.
    """

    def slope(step):
        psi = along(point, step)
        return (psi(STEP) - psi(-STEP)) / (2 * STEP)

    by_v = slope(v)
    for _ in range(8):
        other = _random_like(v, rng)
        slopes = by_v, slope(other), slope(_sum(v, other))
        if not abs(slopes[0] + slopes[1] - slopes[2]) <= 1e-3 * max(1.0, *map(abs, slopes)):
            return False
    return True


def measured(point, rng):
    """The second derivative by `v` and `u`, and its error; None where the function is not twice
    differentiable, as far as its values along these directions and a third one tell.
    """
    v, u = point.v, point.u
    r = _random_like(v, rng)
    pairs = [(v, r), (u, r)] if u is v else [(v, u), (v, r), (u, r)]
    with np.errstate(all="ignore"):
        if not (_is_linear(point, v, rng) and _is_linear(point, u, rng)):
            return None
        for a, b in pairs[::-1]:
            jets = [jet_along(point, step) for step in (a, b, _sum(a, b), _sum(a, b, -1.0))]
            if any(jet is None for jet in jets):
                return None
            of_a, of_b, of_sum, of_difference = jets
            size = max(1.0, *(float(np.max(np.abs(jet))) for jet in jets))
            if abs(of_a[0] + of_b[0] - of_sum[0]) > TOLERANCE * size:
                return None
            if abs(of_sum[1] + of_difference[1] - 2 * (of_a[1] + of_b[1])) > 4 * TOLERANCE * size:
                return None
        found = of_a[1] if u is v else 0.25 * (of_sum[1] - of_difference[1])
        return found, TOLERANCE * size + ROUNDING * abs(along(point, v)(0.0)) / REACHES[-1] ** 2


NEAR, STEP = 2.0**-6, 2.0**-10
"""How far away the points are that are looked at beside one that is not smooth, and the step there."""


def near_by(point, rng):
    """The least and the largest second derivative by `v` and `u` at points close by, and 0, the convention.

    At one that is not smooth a rule may take any piece of the function, and how two of them are told apart is
    the order of the numbers or that of the arguments, as a rule; so these are among the ways to leave it. Any
    number will do where the function jumps: the signs of `qr` at a column that is zero below its diagonal are
    found there alone.
    """
    shift = {path: np.reshape(np.arange(1.0, np.size(a) + 1), np.shape(a)) for path, a in point.v.items()}
    found = [0.0]
    with np.errstate(all="ignore"):
        for k in range(20):
            if k == 2:
                shift = {path: np.full(np.shape(a), 1.0 + i) for i, (path, a) in enumerate(point.v.items())}
            elif k > 3:
                shift = {path: rng.normal(size=np.shape(a)) for path, a in point.v.items()}
            most = max(np.max(np.abs(a), initial=1.0) for a in shift.values())
            away = {path: NEAR * (-1) ** k * a / most for path, a in shift.items()}
            corners = [
                along(point, _sum(away, _sum(point.v, point.u, t), s * STEP))(1.0)
                for s, t in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
            ]
            found.append((corners[0] + corners[2] - corners[1] - corners[3]) / (4 * STEP**2))
            if _jumps(point, away):
                return -math.inf, math.inf
    found = [c for c in found if math.isfinite(c)]
    return (min(found), max(found)) if len(found) > 9 else (-math.inf, math.inf)  # there is nothing close by


def _jumps(point, away):
    """Whether the function comes to another value on the way from a point close by."""
    psi = along(point, away)
    here, far, near = psi(0.0), psi(1.0), psi(1e-6)
    return abs(near - here) > 1e-3 * max(1.0, abs(here)) and abs(near - here) > 0.1 * abs(far - here)


# --- what the rules say -------------------------------------------------------------------------------------


def reverse_over_forward(point):
    """The pullback of the forward rule along `v`, at the seeds that what is made of its result hands it."""
    frule = _frule(point)
    y, y_dot = frule(point.case.args, frule.dots)
    _, back = frule.pulled()
    seeds, dot_seeds = [], []
    for weight, part, dot, slope, bend in _by_part(point, y, parts_of(y_dot, y)):
        dot_seeds.append(np.conj(slope) * weight)
        seeds.append(np.conj(bend * dot) * weight)
    with np.errstate(all="ignore"):
        bars = back(Tangent(tuple, _seed(y, iter(seeds)), _seed(y, iter(dot_seeds))))
    total = 0.0
    for path, direction in point.u.items():
        bar = entry(bars, (2 + path[0], *path[1:]))
        if bar is not None and not isinstance(bar, (NoTangent, ZeroTangent)):
            total += _paired(bar, direction)
    return total


def forward_over_forward(point):
    """The tangent along `u` of the forward rule along `v`."""
    frule = _frule(point)
    args = copy.deepcopy(point.case.args)
    names, values = tuple(point.case.kwargs), tuple(point.case.kwargs.values())
    moving = tuple(tangent_of(a, (i,), point.u) for i, a in enumerate(args))
    with np.errstate(all="ignore"):
        given = (NO, *frule.dots), *args, *copy.deepcopy(values)
        (y, y_dot), dots = PUSH(frule.function, NO, given, (NO, *moving, *[NO] * len(names)), names, None)
        y_dot_u, y_ddot = (NO, NO) if isinstance(dots, (NoTangent, ZeroTangent)) else dots
        by_u, again = parts_of(y_dot_u, y), parts_of(y_ddot, y)
        rows = zip(_by_part(point, y, parts_of(y_dot, y)), by_u, again, strict=True)
        return sum(
            _paired(weight, bend * dot * dot_u + slope * ddot)
            for (weight, part, dot, slope, bend), dot_u, ddot in rows
        )


WAYS = {"reverse over forward": reverse_over_forward, "forward over forward": forward_over_forward}


def _frule(point):
    frule = Frule(point.case)
    frule.steps = point.v
    frule.dots = tuple(tangent_of(a, (i,), point.v) for i, a in enumerate(point.case.args))
    return frule


def _by_part(point, y, dots):
    """For each number or array of the result its weight, itself, its tangent, and the slope and the second
    derivative of what is made of it; zeros for what is no result in floats.
    """
    _, slope, bend = OUTER[point.outer]
    for weight, part, dot in zip(point.weights, outputs(y), dots, strict=True):
        with np.errstate(all="ignore"):
            exact = not is_inexact(part)
            yield (weight, part, dot, *((0.0 * weight,) * 2 if exact else (slope(part), bend(part))))


def _paired(bar, direction):
    """Their inner product, NaN if there is anything in the cotangent that is not finite and counts."""
    with np.errstate(all="ignore"):
        bar, direction = np.asarray(bar, complex), np.asarray(direction, complex)
        products = bar.real * direction.real + bar.imag * direction.imag
        return float(np.sum(np.where((direction == 0) & ~np.isfinite(bar), 0.0, products)))


def _seed(y, seeds):
    if isinstance(y, (tuple, list)):
        return Tangent(type(y), *[_seed(item, seeds) for item in y])
    if not list(leaves(y)):
        return ZeroTangent()
    seed = next(seeds)
    if not is_inexact(y):
        return ZeroTangent()
    seed = np.asarray(seed, complex if is_complex(y) else float)
    return seed if isinstance(y, np.ndarray) else seed[()]


def verdicts(seed, only=""):
    """What became of the point of a seed in each of the `WAYS`: `[(word, words for a person)]`.

    `wrong`, `crash`, `far off` (a number unlike all second derivatives close by) and `lost` (not finite where
    the function itself is smooth) are faults.
    """
    point, rng = special_point(seed, only), np.random.default_rng([seed, 1])
    found = measured(point, rng)
    near = near_by(point, rng) if found is None else None
    rows = []
    for way in WAYS:
        word, got = _judged(point, way, found, near)
        wanted = f"of {near[0]:.6g} to {near[1]:.6g}" if found is None else f"{found[0]:.9g} ± {found[1]:.1e}"
        rows.append((word, f"seed {seed}, {way}: {word}, {got}, not {wanted}: {point}"))
    return rows


FAULTS = ("wrong", "crash", "far off", "lost")


def _judged(point, way, found, near):
    """A word and the number or the message, against what was `found` by differences, or `near` by where the
    point is not smooth.
    """
    try:
        got = WAYS[way](point)
    except RuleLabError as error:
        return "refused", str(error).splitlines()[0]
    except Exception as error:
        return "crash", f"{type(error).__name__}: {error}"
    if not math.isfinite(got):
        return ("none" if found is None else "lost" if point.outer == "itself" else "not finite"), got
    if found is None:
        low, high = near
        slack = 0.05 * (1.0 + abs(high) + abs(low))
        return "convention" if low - slack <= got <= high + slack else "far off", got
    value, error = found
    return "right" if abs(got - value) <= error else "wrong", got


def main(given=None):
    parser = argparse.ArgumentParser(description="Judge second derivatives at special points.")
    parser.add_argument("--count", type=int, default=1000, help="points (default 1000)")
    parser.add_argument("--start", type=int, default=100_000, help="the first seed (default 100000)")
    parser.add_argument("--only", default="", help="functions with this in their name")
    options = parser.parse_args(given)
    counts, faults = Counter(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(options.start, options.start + options.count):
            for word, told in verdicts(seed, options.only):
                counts[word] += 1
                faults += [told] if word in FAULTS else []
    print(*faults, sep="\n")
    print(f"seeds {options.start} to {options.start + options.count - 1}: {dict(counts.most_common())}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
