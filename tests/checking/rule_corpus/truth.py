"""Whether a rule of the corpus is right, by differences of its function: none of rulelab's checks is asked.

A rule is asked at arguments its author means (`Rule.where`), of several sizes, in several layouts and dtypes,
with several cotangents, twice, with other calls in between, and what it writes to is looked at. The
derivative of the function is measured along every number by central differences, which are extrapolated;
where that does not settle, nothing is said. The answer of `faults` is the set of the ways in which the rule
is wrong.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import inspect
import warnings
from typing import NamedTuple

import numpy as np

from rulelab import Tangent, rrule, unthunk
from rulelab.tangents.zeros import AbstractZero

SIZES = (1, 2, 3, 5, 8)
STEPS = (2e-3, 1e-3, 5e-4)


class Draws:
    """What stands in `Rule.where`: vec(n), num(), ..."""

    def __init__(self, rng):
        self.rng = rng

    def real(self, *shape):
        values = self.rng.uniform(0.15, 2.9, shape) * self.rng.choice([-1.0, 1.0], shape)
        return values if shape else float(values)

    def positive(self, *shape):
        values = self.rng.uniform(0.1, 3.0, shape)
        return values if shape else float(values)

    def unit(self, *shape):
        values = self.rng.uniform(0.05, 0.95, shape)
        return values if shape else float(values)

    def between(self, *shape):
        values = self.rng.uniform(-0.95, 0.95, shape)
        return values if shape else float(values)

    def complex(self, *shape):
        return self.real(*shape) + 1j * self.real(*shape)

    def well(self, n):
        """A matrix far from a singular one, whose determinant has either sign."""
        return (self.rng.uniform(-1, 1, (n, n)) + 2.5 * np.eye(n)) * self.rng.choice([-1.0, 1.0], n)

    def sym(self, n):
        a = self.real(n, n)
        return a + a.T

    def spd(self, n):
        a = self.real(n, n)
        return a @ a.T + np.eye(n)

    def quat(self):
        return self.real(4)

    def names(self):
        kinds = {"": self.real, "p": self.positive, "u": self.unit, "s": self.between, "c": self.complex}
        made = {"well": self.well, "sym": self.sym, "spd": self.spd, "quat": self.quat}
        for letter, draw in kinds.items():
            made |= {f"{letter}num": draw, f"{letter}vec": draw, f"{letter}mat": draw}
        return made


SYMMETRIC = ("sym(", "spd(")


def load(rule, path):
    """The module of `rule`, written to `path` and imported."""
    path.write_text(rule.text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- numbers in arguments -----------------------------------------------------------------------------------


def parts(value):
    """The keys of what a structure is made of; None for a number or an array."""
    if dataclasses.is_dataclass(value):
        return [f.name for f in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(value._fields)
    return list(range(len(value))) if isinstance(value, (tuple, list)) else None


def part(value, key):
    return getattr(value, key) if isinstance(key, str) else value[key]


def numbers(value):
    """All real and imaginary parts in `value`, as one vector."""
    keys = parts(value)
    if keys is not None:
        return np.concatenate([numbers(part(value, k)) for k in keys])
    if isinstance(value, (int, np.integer)) and not isinstance(value, np.ndarray):
        return np.zeros(0)
    flat = np.asarray(value).reshape(-1)
    return np.concatenate([flat.real, flat.imag]) if np.iscomplexobj(flat) else flat.astype(float)


def results(value):
    """All numbers of a value, where a whole number is one too."""
    return numbers(tuple(v * 1.0 for v in value) if isinstance(value, tuple) else value * 1.0)


def rebuilt(value, vector):
    """The structure `value` with the numbers of `vector`, and what is left of that."""
    keys = parts(value)
    if keys is not None:
        made = []
        for key in keys:
            inner, vector = rebuilt(part(value, key), vector)
            made.append(inner)
        if dataclasses.is_dataclass(value) or hasattr(value, "_fields"):
            return type(value)(*made), vector
        return type(value)(made), vector
    if isinstance(value, (int, np.integer)) and not isinstance(value, np.ndarray):
        return value, vector
    size = np.size(value)
    if np.iscomplexobj(value):
        flat, rest = vector[:size] + 1j * vector[size : 2 * size], vector[2 * size :]
    else:
        flat, rest = vector[:size], vector[size:]
    if isinstance(value, np.ndarray):
        return flat.reshape(value.shape).copy(), rest
    return flat[0].item(), rest


def cotangent_numbers(value, x_bar):
    """The numbers of the cotangent `x_bar` of `value`; a ValueError where it does not fit."""
    x_bar = unthunk(x_bar)
    if x_bar is None or isinstance(x_bar, AbstractZero):
        return np.zeros(len(numbers(value)))
    keys = parts(value)
    if keys is not None:
        if isinstance(x_bar, Tangent):
            entries = [part(x_bar, key) for key in keys]
        else:
            entries = [part(x_bar, k) for k in keys]
        pairs = zip(keys, entries, strict=True)
        return np.concatenate([cotangent_numbers(part(value, key), entry) for key, entry in pairs])
    if np.shape(x_bar) != np.shape(value):
        raise ValueError(f"a cotangent of shape {np.shape(x_bar)} for {np.shape(value)}")
    if isinstance(value, (int, np.integer)) and not isinstance(value, np.ndarray):
        return np.zeros(0)
    flat = np.asarray(x_bar).reshape(-1)
    if np.iscomplexobj(value):
        flat = flat.astype(complex)
        return np.concatenate([flat.real, flat.imag])
    return flat.real.astype(float)


# --- derivatives --------------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """The derivatives by each direction, how far off they may be, and which could be measured."""

    columns: np.ndarray
    errors: np.ndarray
    settled: np.ndarray
    directions: list
    value: object


def measured(f, args, tied):
    """The derivatives of all numbers of f(*args) along the directions `tied`.

    Where the slopes on both sides differ (a kink, a tie, the edge of the domain), nothing is settled.
    """
    at, value = numbers(args), f(*copy.deepcopy(args))
    here = results(value)
    noise = 1e-12 * (1 + np.max(np.abs(here), initial=0.0)) / STEPS[-1]
    columns, errors, settled = [], [], []
    for direction in tied:
        wide = [difference(f, args, at, direction, h) for h in STEPS]
        first = [(4 * b - a) / 3 for a, b in zip(wide, wide[1:])]
        best = (16 * first[1] - first[0]) / 15
        scale = 1 + np.max(np.abs(best), initial=0.0)
        ahead = (results(f(*rebuilt(args, at + STEPS[-1] * direction)[0])) - here) / STEPS[-1]
        is_settled = np.all(np.abs(first[1] - best) <= 1e-6 * scale)
        smooth = is_settled and np.all(np.abs(ahead - best) <= 0.1 * scale)
        columns.append(best)
        errors.append(30 * np.abs(first[1] - best) + noise)
        settled.append(bool(smooth))
    return Measured(np.array(columns), np.array(errors), np.array(settled), tied, value)


def difference(f, args, at, direction, h):
    up, down = rebuilt(args, at + h * direction)[0], rebuilt(args, at - h * direction)[0]
    return (results(f(*up)) - results(f(*down))) / (2 * h)


def directions(args, where):
    """One direction for each number; among symmetric matrices, where these are meant, one for each pair."""
    count = len(numbers(args))
    symmetric = [any(word in piece for word in SYMMETRIC) for piece in _pieces(where)]
    start, made = 0, []
    for arg, tied in zip(args, symmetric, strict=True):
        size = len(numbers(arg))
        for i in range(size):
            direction = np.zeros(count)
            direction[start + i] = 1.0
            if tied:
                row, column = divmod(i, len(arg))
                if row < column:
                    continue
                direction[start + column * len(arg) + row] = 1.0
            made.append(direction)
        start += size
    return made


def _pieces(where):
    depth, piece, made = 0, "", []
    for letter in where:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            made.append(piece)
            piece = ""
        else:
            piece += letter
    return [*made, piece]


# --- a rule -------------------------------------------------------------------------------------------------


def asked(rule, function):
    """The rule as a function that gives (value, pullback without an entry for the function itself)."""
    if rule.through == "autograd":
        from autograd import make_vjp

        return lambda *args: _of_autograd(make_vjp, function, args)
    return lambda *args: _of_rule(function, args)


def _of_rule(function, args):
    y, back = rrule(function, *args)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(p.kind in positional for p in inspect.signature(function).parameters.values())

    def entries(y_bar):
        given = back(y_bar)
        if len(given) != count + 1:
            raise ValueError(f"{len(given)} cotangents for {count} parameters and the function")
        return given[1 : len(args) + 1]

    return y, entries


def _of_autograd(make_vjp, function, args):
    """autograd's cotangents of complex numbers are the conjugates of ours, those that come in too."""
    positions = tuple(range(len(args)))
    back, y = make_vjp(function, positions)(*args)

    def conjugated(y_bar):
        y_bar = np.conj(y_bar) if np.iscomplexobj(y_bar) else y_bar
        return tuple(np.conj(x) if np.iscomplexobj(x) else x for x in back(y_bar))

    return y, conjugated


def cotangents(y, rng):
    """Cotangents like `y`: any, one entry, ones, huge, tiny, in other layouts."""
    if isinstance(y, tuple):
        for _ in range(3):
            yield tuple(rng.normal(size=np.shape(p)) if np.ndim(p) else float(rng.normal()) for p in y)
        return
    shape = np.shape(y)

    def any_one():
        drawn = rng.normal(size=shape)
        drawn = drawn + 1j * rng.normal(size=shape) if np.iscomplexobj(y) else drawn
        return drawn if shape else drawn.item() if isinstance(drawn, np.ndarray) else drawn

    yield any_one()
    yield -any_one()
    yield np.ones(shape) if shape else 1.0
    yield np.zeros(shape) if shape else 0.0
    for scale in (1e5, 1e-5):
        yield any_one() * scale
    if shape:
        yield np.asfortranarray(any_one())
        wide = np.zeros([2 * n for n in shape], dtype=np.asarray(any_one()).dtype)
        every = wide[tuple(slice(None, None, 2) for _ in shape)]
        every[...] = any_one()
        yield every
        yield np.flip(np.flip(any_one()).copy())
        backwards = np.zeros(shape, dtype=wide.dtype)[tuple(slice(None, None, -1) for _ in shape)]
        backwards[...] = any_one()
        yield backwards


def layouts(args):
    """The same numbers in other layouts, with a word for each."""

    def each(change):
        return tuple(change(a) if isinstance(a, np.ndarray) and a.ndim else a for a in args)

    def strided(a):
        wide = np.zeros([2 * n for n in a.shape], a.dtype)
        view = wide[tuple(slice(None, None, 2) for _ in a.shape)]
        view[...] = a
        return view

    def reverse(a):
        view = np.zeros(a.shape, a.dtype)[tuple(slice(None, None, -1) for _ in a.shape)]
        view[...] = a
        return view

    if any(isinstance(a, np.ndarray) for a in args):
        yield "layout", each(strided)
        yield "layout", each(reverse)
        yield "layout", each(np.asfortranarray)


def integers(args, where):
    """Whole numbers other than 0 in the place of the arrays; between 0 and 1 there are none."""
    if any(word in where for word in ("uvec", "svec", "unum", "snum", "umat")):
        return args

    def whole(a):
        if not isinstance(a, np.ndarray) or a.dtype.kind != "f":
            return a
        return (np.sign(a) * np.ceil(3 * np.abs(a))).astype(int)

    return tuple(whole(a) for a in args)


class Verdict(set):
    """The ways in which a rule is wrong; `.points` counts where it was asked, `.why` has examples."""

    def __init__(self):
        super().__init__()
        self.points, self.why = 0, {}

    def say(self, fault, why):
        self.add(fault)
        self.why.setdefault(fault, why)


def faults(rule, path, seeds=3, admitted=lambda args: True):
    """In which ways `rule` is wrong, as a Verdict; `admitted` says at which arguments to ask."""
    verdict = Verdict()
    module = load(rule, path)
    function = getattr(module, rule.function)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number, where in enumerate(rule.where.split("|")):
            for n in SIZES:
                for seed in range(seeds):
                    rng = np.random.default_rng([number, n, seed])
                    args = eval(f"({where},)", vars(module) | Draws(rng).names() | {"n": n})
                    if admitted(args):
                        _at(rule, function, args, where, rng, verdict, seed == 0)
    return verdict


def _at(rule, function, args, where, rng, verdict, thorough):
    plain = function if rule.through == "rule" else function.fun
    tied = directions(args, where)
    try:
        truth = measured(plain, copy.deepcopy(args), tied)
    except Exception as error:
        raise AssertionError(f"the function of {rule.name} fails at {args}: {error!r}") from error
    if not truth.settled.any():
        return
    _compare(rule, function, plain, args, truth, rng, verdict, _kind(args))
    if not thorough:
        return
    for word, laid_out in layouts(args):
        _compare(rule, function, plain, laid_out, truth, rng, verdict, word)
    whole = integers(args, where)
    if rule.through == "rule" and any(_is_whole(a) for a in whole):
        floats = tuple(a.astype(float) if _is_whole(a) else a for a in whole)
        try:
            truth = measured(plain, floats, tied)
            found = results(plain(*copy.deepcopy(whole)))
            same = np.allclose(found, results(truth.value), rtol=1e-12, atol=0)
        except Exception:  # the function does not take integers
            return
        if same and truth.settled.any():
            _compare(rule, function, plain, whole, truth, rng, verdict, "integers")


def _is_whole(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "i"


def _kind(args):
    dims = {np.ndim(a) for a in args if parts(a) is None}
    return "numbers" if dims == {0} else "matrices" if 2 in dims else "vectors" if dims else "structures"


def _compare(rule, function, plain, args, truth, rng, verdict, word):
    verdict.points += 1
    before = copy.deepcopy(args)
    try:
        y, back = asked(rule, function)(*args)
        if _changed(args, before):
            verdict.say("writes", "to an argument")
            return
        if not _same_value(y, truth.value):
            verdict.say("value", f"{y} for {truth.value} ({word})")
            return
        first = None
        for number, y_bar in enumerate(cotangents(y, rng)):
            lent = copy.deepcopy(y_bar) if not isinstance(y_bar, np.ndarray) else y_bar.copy()
            _one(args, back, y_bar, truth, verdict, word if number < 2 else f"{word}, cotangents")
            if _changed(y_bar, lent) or _changed(args, before):
                verdict.say("writes", "to the cotangent or an argument")
                return
            first = lent if first is None else first
        _remembers(rule, function, plain, args, back, first, truth, verdict, word)
    except Exception as error:
        if word != "integers":  # a rule that raises is loud, and one for floats may
            verdict.say(f"raises, {word}", repr(error))


def _remembers(rule, function, plain, args, back, y_bar, truth, verdict, word):
    """Whether what the rule answers depends on its other calls."""
    for number in range(len(args)):
        other = tuple(rebuilt(a, numbers(a) * 1.01)[0] if i == number else a for i, a in enumerate(args))
        y, other_back = asked(rule, function)(*other)
        with_other = plain(*copy.deepcopy(other))
        if np.all(np.isfinite(results(with_other))) and not _same_value(y, with_other):
            verdict.say("state", "the value of another call")
        other_back(copy.deepcopy(y_bar))
    _one(args, back, copy.deepcopy(y_bar), truth, verdict, f"{word}, asked again")
    held = [unthunk(b) for b in back(copy.deepcopy(y_bar))]
    kept = copy.deepcopy(held)
    back(2 * y_bar if not isinstance(y_bar, tuple) else tuple(2 * b for b in y_bar))
    for new, old in zip(held, kept, strict=True):
        if isinstance(new, np.ndarray) and not np.array_equal(new, old, equal_nan=True):
            verdict.say("state", "an answer changes with the next call")


def _same_value(y, value):
    y, value = results(y), results(value)
    return y.shape == value.shape and np.allclose(y, value, rtol=1e-7, atol=1e-9)


def _one(args, back, y_bar, truth, verdict, word):
    given = np.concatenate([cotangent_numbers(a, b) for a, b in zip(args, back(y_bar), strict=True)])
    seed = _like(y_bar, truth.columns)
    wanted, size = truth.columns @ seed, np.abs(seed)
    allowed = (truth.errors + 1e-12 * np.abs(truth.columns)) @ size
    got = np.array([np.sum(given[direction != 0]) for direction in truth.directions])
    off = ~(np.abs(got - wanted) <= allowed) & truth.settled
    if off.any():
        verdict.say(word, f"{got[off][:3]} for {wanted[off][:3]}")


def _like(y_bar, columns):
    """The numbers of a cotangent, with imaginary parts where the value has some."""
    vector = numbers(y_bar if isinstance(y_bar, tuple) else np.array(y_bar))
    return vector if len(vector) == columns.shape[1] else np.concatenate([vector, np.zeros(len(vector))])


def _changed(now, before):
    return not np.array_equal(numbers(now), numbers(before), equal_nan=True)
