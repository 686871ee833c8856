"""Counterexamples in words: the point, code to paste that shows it, and what is wrong with a cotangent."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from ..checking.measuring.shortening import index_text
from .cells import Array, ComplexNumber, Static, count_of, is_complex_sample
from .digits import agreeing_digits, is_close
from .plain_values import parts_that_move
from .scalars import CONTEXT
from .swap import same_shape_object_array
from .tracing import depends_on
from .verdicts import Counterexample, in_short


def counterexample_at(question, sample, y, seeds, where, expected, found, index, spelled=None):
    """The counterexample for a number that is wrong at `sample`; `y` is the function's plain result, and
    `spelled`, if given, writes a sample of one argument instead of `literal`.
    """
    shown = str(seeds[0]) if len(seeds) == 1 else str([str(s) for s in seeds])
    e, n = _decimals(expected), _decimals(found)
    should, gives = in_short(e, n)
    code = (
        code_to_paste(question, sample, seeds, index, y, spelled) + f"    # gives {gives}, should be {should}"
    )
    return Counterexample(
        exact_arguments(question, sample), shown, where, e, n, agreeing_digits(expected, found, 0), code
    )


def exact_arguments(question, sample):
    """The sample as exact text, by argument name."""
    return {name: _exact_text(value) for name, value in zip(question.names, sample, strict=True)}


def _exact_text(value):
    if isinstance(value, Static):
        held = value.value
        return repr(held.tolist()) if isinstance(held, np.ndarray) else value.shown()
    if isinstance(value, Array):
        return repr(same_shape_object_array([_exact_number(v) for v in value.entries], value.shape).tolist())
    return _exact_number(value)


LARGE = 10**6
"""The denominator from which on a fraction with a finite decimal expansion is written as a decimal."""


def _exact_number(value):
    """A number as exact text.

    >>> _exact_number(Fraction(29, 9)), _exact_number(Fraction("0.2607160525371862"))
    ('29/9', '0.2607160525371862')
    """
    if not isinstance(value, Fraction) or value.denominator <= LARGE:
        return str(value)
    left = value.denominator
    for prime in (2, 5):
        while left % prime == 0:
            left //= prime
    if left != 1:
        return str(value)
    with localcontext() as exactly:
        exactly.prec = len(str(value.numerator)) + len(str(value.denominator)) * 4
        return str(Decimal(value.numerator) / Decimal(value.denominator))


def exact_text(value):
    """A sample of one argument as exact text for display: an array without quotes around its entries."""
    text = _exact_text(value)
    return text.replace("'", "") if isinstance(value, Array) else text


def _decimals(number):
    """Twenty digits, in a form that `float` or `complex` reads."""
    if not isinstance(number, CONTEXT.mpc):
        return CONTEXT.nstr(number, 20)
    sign = "-" if number.imag < 0 else "+"
    return f"{CONTEXT.nstr(number.real, 20)}{sign}{CONTEXT.nstr(abs(number.imag), 20)}j"


# --- code to paste ------------------------------------------------------------------------------------------


def code_to_paste(question, sample, seeds, index, y, spelled=None):
    """Code that shows the counterexample; `y` is the function's plain result."""
    arguments = question.spelled([(spelled or literal)(value) for value in sample])
    seed = str(seeds) if isinstance(seeds, Fraction) else _seed_text(y, iter(seeds))
    own = question.code(arguments, index, seed)
    if own is not None:
        return own
    head = f"y, back = {question.ask}{arguments}{keywords_text(question.kwargs)})"
    if index == "value":
        return f"{head}\ny"
    if index is None:
        return f"{head}\nback({seed})"
    number, places = index
    parts = [f"back({seed}){question.place(number)}{index_text(place)}" for place in places]
    return f"{head}\n{' + '.join(parts)}"


def keywords_text(kwargs):
    """Keyword arguments as written after the others in a call."""
    return "".join(
        f", {name}={_array_text(value) if isinstance(value, np.ndarray) else repr(value)}"
        for name, value in kwargs.items()
    )


def literal(value):
    """A sample of one argument as an expression with floats.

    >>> literal(Static(np.array([0, 2]))), literal(Static(np.array([1, 0], np.int8)))
    ('np.array([0, 2])', "np.array([1, 0], dtype='int8')")
    """
    if isinstance(value, Static):
        return _array_text(value.value) if isinstance(value.value, np.ndarray) else value.shown()
    if isinstance(value, Array):
        entries = same_shape_object_array([_Bare(v) for v in value.entries], value.shape).tolist()
        return f"np.array({entries!r})"
    return repr(_Bare(value))


def _array_text(array):
    """An array that is held fixed, as an expression: its repr lacks the prefix of NumPy."""
    entries = array.tolist()
    dtype = "" if np.array(entries).dtype == array.dtype else f", dtype={array.dtype.name!r}"
    return f"np.array({entries!r}{dtype})"


class _Bare:
    """A fraction whose repr is a Python expression for a float."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        whole = not isinstance(self.value, ComplexNumber) and self.value.denominator == 1
        return f"{self.value}.0" if whole else _exact_number(self.value)


def _seed_text(y, seeds):
    """The seeds, as a cotangent in the form of the result `y`."""
    if isinstance(y, (tuple, list)):
        parts = [_seed_text(part, seeds) if parts_that_move([part]) else "None" for part in y]
        return f"({', '.join(parts)},)"
    if np.shape(y) == ():
        return repr(_Bare(next(seeds)))
    entries = [_Bare(next(seeds)) for _ in range(np.size(y))]
    return f"np.array({same_shape_object_array(entries, np.shape(y)).tolist()!r})"


def position(sample, i):
    """(number, indices): the number of the cotangent that leaf `i` belongs to, and its indices in it."""
    for number, value in enumerate(sample, 1):
        if isinstance(value, Static):
            continue
        if i < count_of(value):
            i //= 2 if is_complex_sample(value) else 1
            index = value.leaf_indices()[i] if isinstance(value, Array) else ()
            return number, [index, index[::-1]] if _is_doubled(value, index) else [index]
        i -= count_of(value)
    raise AssertionError("no such leaf")


def _is_doubled(value, index):
    return isinstance(value, Array) and value.symmetric and index[0] != index[1]


# --- what is wrong ------------------------------------------------------------------------------------------


def diagnosis(i, leaves, found, expected, seeds):
    """What is wrong with cotangent `i`, in words."""
    name, e, n = leaves[i].args, expected[i], found[i].shadow
    if not CONTEXT.isfinite(n):
        return f"the cotangent of {name} is {CONTEXT.nstr(n)}"
    if not depends_on(found[i], seeds) and n != 0:
        right = len(seeds) == 1 and is_close(n * seeds[0].shadow, e)
        extra = ": it is right for y_bar = 1 only" if right else ", and is wrong for y_bar = 1 too"
        return f"the cotangent of {name} ignores the incoming cotangent y_bar{extra}"
    if n == 0:
        return wrongly_zero_message(name)
    if e == 0:
        return f"the cotangent of {name} is not zero, but the derivative is"
    if is_close(n, -e):
        return f"the cotangent of {name} has the wrong sign"
    for j, other in enumerate(expected):
        if j != i and is_close(n, other) and is_close(found[j].shadow, e):
            return f"the cotangents of {name} and {leaves[j].args} are swapped"
    digits = agreeing_digits(e, n, 0)
    close = f": only {digits} digits agree" if digits >= 2 else ""
    return f"the cotangent of {name} is not y_bar times the derivative{close}"


def wrongly_zero_message(name):
    """The message for a cotangent that is wrongly zero."""
    return f"the cotangent of {name} is zero, but the result depends on {name}"


def complex_diagnosis(name, expected, given, parts, seeds):
    """What is wrong with the cotangent of a complex number, in words."""
    if not CONTEXT.isfinite(given):
        return f"the cotangent of {name} is {CONTEXT.nstr(given)}"
    if given != 0 and not any(depends_on(part, seeds) for part in parts):
        return f"the cotangent of {name} ignores the incoming cotangent y_bar"
    if given == 0:
        return wrongly_zero_message(name)
    if expected == 0:
        return f"the cotangent of {name} is not zero, but the derivative is"
    seed = CONTEXT.mpc(*[s.shadow for s in seeds]) if len(seeds) in (1, 2) else None
    conjugate = CONTEXT.conj
    hints = [
        (-expected, "has the wrong sign"),
        (conjugate(expected), "is the conjugate of the right one"),
        (CONTEXT.mpc(expected.real), "is only the real part of the right one"),
        (1j * expected, "is i times the right one"),
        (-1j * expected, "is -i times the right one"),
    ]
    if seed is not None:
        slope = conjugate(expected / seed)
        hints.append((slope * seed, "uses the derivative itself instead of its conjugate"))
        hints.append((conjugate(slope) * seed.real, "uses only the real part of y_bar"))
    for number, words in hints:
        if is_close(given, number):
            return f"the cotangent of {name} {words}"
    ratio = Fraction(float((given / expected).real)).limit_denominator(12)
    if ratio and is_close(given, CONTEXT.mpf(ratio.numerator) / ratio.denominator * expected):
        return f"the cotangent of {name} is {ratio} times the right one"
    digits = agreeing_digits(expected, given, 0)
    close = f": only {digits} digits agree" if digits >= 2 else ""
    return f"the cotangent of {name} is not conj(df/d{name}) * y_bar + df/dconj({name}) * conj(y_bar){close}"
