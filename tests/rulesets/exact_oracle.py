"""The second witness of the rules for NumPy and Python: first and second derivatives by differences in fifty
digits of what the functions are, not of what the rules say of them, nor of what floats leave.

At each point a function is taken along one drawn direction of all its arguments; the rules are compared with
what comes out in both modes, and in the four orders of two modes. Where both sides differ there is a kink,
of which this says nothing.
"""

import copy
import functools
import inspect
from typing import Any, NamedTuple

import numpy as np
from exact_functions import DEFINITIONS
from exact_numbers import Exact, exact, number
from forms import FORMS, arrays_at, directed, floats_in, in_form
from library_calls import flat, flat_of_tangent, orders, paired, seed_of
from mpmath import mp
from rule_points import at_path, inner, leaves, put_at, rebuilt, rule_at, size_of

import rulelab as rl
from rulelab.rules.registry import DEFAULT

DIGITS = 50
STEP = mp.mpf(10) ** -12
DIFFERENT = 1e-9  # of the slopes on both sides, which differ by the step times the second derivative
WITHIN = {np.dtype(np.float16): 2e-2, np.dtype(np.float32): 1e-4, np.dtype(np.complex64): 1e-4}
DOUBLE = 1e-10


def definition_of(target):
    """What is called with exact numbers: the function itself, where it takes them."""
    try:
        return DEFINITIONS.get(target, target)
    except TypeError:  # it cannot be a key
        return target


def numbers_in(value):
    """The numbers in what an exact function gives, in order."""
    if isinstance(value, Exact):
        return [value.of]
    if isinstance(value, np.ndarray):
        return [number(x) for x in value.ravel()] if value.dtype.kind in "iufcO" else []
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in numbers_in(item)]
    if isinstance(value, (bool, np.bool_)) or value is None:
        return []
    return [number(value)] if isinstance(value, (int, float, complex, np.number)) else []


def moved(args, along, step):
    """The arguments as exact numbers, moved along a direction."""
    for path, leaf in list(leaves(args)):
        dot = at_path(along, path)
        if dot is None:
            continue
        there = exact(leaf) + exact(np.asarray(dot)) * Exact(step)
        there = np.asarray(there, object) if isinstance(leaf, np.ndarray) else _alone(there)
        args = put_at(args, path, there)
    return args


def _alone(x):
    return x.item() if isinstance(x, np.ndarray) else x


WRITTEN = {  # by which arguments vary, "x", and which are written in it, "-": a tuple of both would vary
    "x": lambda f: lambda x: f(x),
    "xx": lambda f: lambda x, y: f(x, y),
    "xxx": lambda f: lambda x, y, z: f(x, y, z),
    "xxxx": lambda f: lambda *xs: f(*xs),
    "xxxxx": lambda f: lambda *xs: f(*xs),
    "x-": lambda f, a: lambda x: f(x, a),
    "x--": lambda f, a, b: lambda x: f(x, a, b),
    "x---": lambda f, a, b, c: lambda x: f(x, a, b, c),
    "x----": lambda f, a, b, c, d: lambda x: f(x, a, b, c, d),
    "x-----": lambda f, a, b, c, d, e: lambda x: f(x, a, b, c, d, e),
    "xx-": lambda f, a: lambda x, y: f(x, y, a),
    "xx--": lambda f, a, b: lambda x, y: f(x, y, a, b),
    "xx---": lambda f, a, b, c: lambda x, y: f(x, y, a, b, c),
    "xxx-": lambda f, a: lambda x, y, z: f(x, y, z, a),
    "xxx-x": lambda f, a: lambda x, y, z, w: f(x, y, z, a, w),
    "-x": lambda f, a: lambda x: f(a, x),
    "-xxx": lambda f, a: lambda x, y, z: f(a, x, y, z),
    "-xx": lambda f, a: lambda x, y: f(a, x, y),
    "-x-": lambda f, a, b: lambda x: f(a, x, b),
    "-xx-": lambda f, a, b: lambda x, y: f(a, x, y, b),
    "--x": lambda f, a, b: lambda x: f(a, b, x),
    "---x": lambda f, a, b, c: lambda x: f(a, b, c, x),
    "x-x": lambda f, a: lambda x, y: f(x, a, y),
    "x-x-": lambda f, a, b: lambda x, y: f(x, a, y, b),
    "x-x--": lambda f, a, b, c: lambda x, y: f(x, a, y, b, c),
    "x--x": lambda f, a, b: lambda x, y: f(x, a, b, y),
    "x--xx": lambda f, a, b: lambda x, y, z: f(x, a, b, y, z),
}


class Unknown(Exception):
    """There is no exact number to compare with."""


class Program(NamedTuple):
    """A function of those of the arguments of a call that vary, the rest of which is written in it."""

    target: Any
    args: tuple
    kwargs: dict

    @property
    def places(self):
        """Where numbers are for which there is a derivative."""
        rule = rule_at(DEFAULT, self.target, self.args, "rrule")
        count = len(self.args) if rule is None or rule.leading is None else rule.leading
        return sorted({path[0] for path in floats_in(self.args) if path[0] < count})

    @property
    def varying(self):
        return tuple([self.args[i] for i in self.places])

    def function(self, target=None):
        """Of what varies, with the rest written in it."""
        args, kwargs, places = copy.deepcopy(self.args), copy.deepcopy(self.kwargs), self.places
        pattern = "".join("x" if i in places else "-" for i in range(len(args)))
        if pattern not in WRITTEN:
            raise Unknown(f"numbers vary in the places {pattern}")
        f = target = target or self.target
        if kwargs and (named := self._by_name()) is not None:
            return functools.partial(f, **named)
        if kwargs:
            f = lambda *xs: target(*xs, **rl.ignore_derivatives(kwargs))
        return WRITTEN[pattern](f, *[x for i, x in enumerate(args) if i not in places])

    def _by_name(self):
        """The keywords, and what follows the numbers that vary by the names of its parameters, if any."""
        places, count = self.places, len(self.args)
        if places != list(range(len(places))):
            return None
        try:
            names = list(inspect.signature(self.target).parameters.values())[len(places) : count]
        except (TypeError, ValueError):
            names = []
        if len(names) < count - len(places) or any(p.kind != p.POSITIONAL_OR_KEYWORD for p in names):
            return None
        following = copy.deepcopy(self.args[len(places) :])
        return {**{p.name: x for p, x in zip(names, following)}, **copy.deepcopy(self.kwargs)}


def takes(program):
    """Whether NumPy takes a call, and gives numbers."""
    try:
        return bool(np.all(np.isfinite(flat(program.function()(*copy.deepcopy(program.varying))))))
    except Unknown:
        raise
    except Exception:
        return False


class Slopes:
    """The value of a function at exact arguments, its slope and its curvature along a direction, and where it
    is smooth; of those of its results that are floats.
    """

    def __init__(self, program, along):
        f, args = program.function(definition_of(program.target)), program.varying
        plain = program.function()(*copy.deepcopy(args))
        floats = [np.full(np.size(x), np.asarray(x).dtype.kind in "fc") for _, x in leaves(plain)]
        kept = np.concatenate([np.zeros(0, bool), *floats])
        if not any(np.size(leaf) for _, leaf in leaves(args)):  # NumPy reads objects that are not there
            self.value = flat(plain)
            self.first = self.second = np.zeros_like(self.value)
            self.smooth = np.isfinite(self.value)
            return
        with mp.workdps(DIGITS):
            step = STEP * mp.mpf(max(1.0, np.floor(size_of(args))))
            at = lambda step: numbers_in(f(*moved(copy.deepcopy(args), along, step)))
            behind, here, ahead = (at(factor * step) for factor in (-1, 0, 1))
            if len(here) != len(kept):
                raise Unknown(f"{len(here)} numbers for {len(kept)}")
            left = [(y - x) / step for x, y in zip(behind, here, strict=True)]
            right = [(y - x) / step for x, y in zip(here, ahead, strict=True)]
            self.value = as_floats(here)[kept]
            self.first = as_floats([(x + y) / 2 for x, y in zip(left, right, strict=True)])[kept]
            self.second = as_floats([(y - x) / step for x, y in zip(left, right, strict=True)])[kept]
            apart = [abs(y - x) for x, y in zip(left, right, strict=True)]
            size = [1 + abs(x) + abs(y) for x, y in zip(left, right, strict=True)]
            smooth = [bool(x < DIFFERENT * s) for x, s in zip(apart, size, strict=True)]
            self.smooth = np.array(smooth, bool)[kept] & np.isfinite(self.value)


def as_floats(values):
    return np.array([complex(x) for x in values], complex)


OTHER_FORMS = ("short", "strided", "empty", "empty last", "no axis", "one more axis", "stack", "complex")


def _short(x):
    return np.float32(x) if np.asarray(x).dtype == float else x


def forms_at(args):
    """The arguments as they are and in other forms, with their names."""
    yield "as it is", args
    paths = arrays_at(args)
    if paths:
        for name in OTHER_FORMS:
            yield name, in_form(args, FORMS[name], paths)
    elif floats_in(args):
        yield "short", in_form(args, _short, floats_in(args))


def tolerance(args, y):
    kinds = [np.asarray(leaf).dtype for _, leaf in (*leaves(args), *leaves(y))]
    return max([WITHIN.get(kind, DOUBLE) for kind in kinds], default=DOUBLE)


def near(found, wanted, within, what):
    found, wanted = np.asarray(found), np.asarray(wanted)
    size = 1.0 + float(np.max(np.abs(wanted), initial=0.0))
    np.testing.assert_allclose(found, wanted, rtol=within, atol=within * size, err_msg=what)


def direction_of(args):
    """Numbers for what varies, None for anything else."""
    if isinstance(args, (tuple, list)):
        return rebuilt(args, [direction_of(x) for x in args])
    if isinstance(args, dict):
        return {key: direction_of(x) for key, x in args.items()}
    return directed(args) if isinstance(args, (np.ndarray, np.number, float, complex, int)) else None


def check_first(program):
    """The value and both modes; gives what the second order goes on with."""
    f, args = program.function(), program.varying
    plain = flat(f(*copy.deepcopy(args)))
    along = direction_of(args)
    try:
        slopes = Slopes(program, along)
    except Unknown:
        raise
    except Exception as error:
        raise Unknown(f"{type(error).__name__}: {error}") from error
    y, back = rl.pullback(f, *copy.deepcopy(args))
    within = tolerance(args, y)
    if not np.allclose(slopes.value, plain, rtol=10 * within, atol=10 * within, equal_nan=True):
        raise Unknown("another value")
    dots = rl.pushforward(f, *copy.deepcopy(args))(*along)
    tangent = flat_of_tangent(dots, y)
    known = slopes.smooth
    near(tangent[known], slopes.first[known], within, "tangent")
    seed = masked_seed(y, known)
    bars = back(seed)
    wanted = inner(flat(seed), np.where(known, slopes.first, 0)) if plain.size else 0.0
    near(paired(args, bars, along), wanted, within * max(1, plain.size), "pullback")
    return slopes, along, within


def masked_seed(y, known):
    """A drawn seed in the form of a value, zero where nothing is known."""
    places, rng = iter(known), np.random.default_rng(4)

    def of(y):
        if isinstance(y, (tuple, list)):
            return rebuilt(y, [of(item) for item in y])
        seed = seed_of(y, rng)
        if seed is None:
            return None
        kept = np.array([next(places) for _ in range(np.size(y))], bool).reshape(np.shape(y))
        found = np.asarray(np.where(kept, seed, 0), np.asarray(seed).dtype)
        return found if np.ndim(y) else found[()]

    return of(y)


# -- the second order ----------------------------------------------------------------------------------------


def check_second(program, slopes, along, within):
    """All orders of two modes, along the direction twice."""
    if not slopes.value.size:
        return  # whole numbers
    f, args = program.function(), program.varying
    seed = masked_seed(f(*copy.deepcopy(args)), slopes.smooth)
    wanted = inner(flat(seed), np.where(slopes.smooth, slopes.second, 0))
    size = max(1.0, float(np.sum(np.abs(flat(seed)))))
    within = (1e3 if within == DOUBLE else 30) * within * size

    at_zero = any(np.any(np.asarray(leaf) == 0) for _, leaf in leaves(args))
    for name, found in orders(f, args, along, seed):
        if not (at_zero and np.isnan(found)):  # a kink that may not be one in what is made of it
            near(found, wanted, within, name)
