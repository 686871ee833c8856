"""What cannot be differentiated is refused in the same words in both modes, at the same line."""

import array
import decimal
import fractions
import functools
import json
import math
import statistics
import struct
import sys
import types

import numpy as np
import pytest

import rulelab as rl

V, V_DOT = np.array([0.5, 1.5, 2.5]), np.array([1.0, 2.0, 3.0])
REFUSED = {}


def refused(x, words):
    """Decorator: a function that is refused at `x`, with these words among others."""

    def add(f):
        REFUSED[f.__name__] = (f, x, words)
        return f

    return add


def asked(f, x):
    """The refusals of the gradient and of the pushforward: what they say but for what was asked."""
    found = []
    for ask in (
        lambda: rl.gradient(f, x),
        lambda: rl.pushforward(f, x)(1.0 if isinstance(x, float) else V_DOT),
    ):
        with pytest.raises(Exception) as info:
            ask()
        error = info.value
        if not isinstance(error, rl.RuleLabError):
            found.append((type(error), str(error)))
            continue
        lines = tuple(place and place.line for place in (error.place, *error.chain))
        found.append((type(error), error.found, error.fixes, error.read, lines))
    return found


# --- foreign calls ---


@refused(V, "foreign call expression np.poly(float64[3])")
def function_of_a_library(x):
    return np.poly(x)[1]


@refused(2.0, "rulelab's own which_rule is called in a differentiated function")
def function_of_rulelab(x):
    return x * bool(rl.which_rule(math.sin, x))


@refused(V, "foreign call expression memoryview(float64[3])")
def class_of_c(x):
    return math.fsum(memoryview(x))


@refused(2.0, "foreign call expression Decimal(float)")
def class_of_a_library(x):
    return decimal.Decimal(x) * 2


@refused(2.0, "foreign call expression Fraction(float)")
def class_with_a_new(x):
    return fractions.Fraction(x)


@refused(V, "foreign call expression ndarray.tobytes(float64[3])")
def method_of_an_array(x):
    return float(np.frombuffer(x.tobytes())[0])


@refused(2.0, "foreign call expression Struct.pack(Struct, float)")
def method_of_an_object_of_c(x):
    packed = struct.Struct("d")
    return packed.unpack(packed.pack(x))[0]


@refused(2.0, "foreign call expression array(str, list)")
def container_of_c(x):
    return sum(array.array("d", [x]))


@refused(2.0, "foreign call expression dumps(list)")
def text_of_a_library(x):
    return json.loads(json.dumps([x]))[0]


@refused(2.0, "foreign call expression linear_regression(list, list)")
def python_of_a_library(x):
    return statistics.linear_regression([x, 2.0, 3.0], [1.0, 2.0, 3.0]).slope


@refused(V, "foreign call expression ndarray.view(float64[3], type)")
def rule_for_other_arguments(x):
    return np.sum(x.view(np.matrix))


@refused(V, "foreign call expression a ufunc object(float64[3])")
def object_without_a_name(x):
    return np.sum(np.frompyfunc(lambda v: v, 1, 1)(x))


def polynomial(x):
    return np.poly(x)[1]


@refused(V, "foreign call expression np.poly(float64[3])")
def in_a_function_that_is_called(x):
    return polynomial(x) * 2.0


@refused(V, "foreign call expression np.poly(float64[3])")
def in_a_partial(x):
    return functools.partial(np.poly)(x)[1]


@refused(V, "foreign call expression Fraction(float64, float64)")
def in_a_reduction(x):
    return functools.reduce(fractions.Fraction, [x[0], x[1]])


@refused(V, "foreign call expression Fraction(float)")
def in_a_map(x):
    return sum(map(fractions.Fraction, [float(v) for v in x]))


@refused(V, "called ndarray.partition(float64[3])")
def method_that_writes(x):
    return x.partition(2)


@refused(2.0, "unsupported operand type(s) for @")
def operator_that_fails_by_itself(x):
    return x @ [x]


# --- classes ---


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class OfMeta(metaclass=Meta):
    def __init__(self, x):
        self.x = x


class New:
    def __new__(cls, x):
        made = object.__new__(cls)
        made.x = x
        return made


class Float(float):
    pass


class Pair(tuple):
    __slots__ = ()


class Converted:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return self.x


@refused(2.0, "foreign call expression OfMeta(float)")
def class_with_a_metaclass(x):
    return OfMeta(x).x


@refused(2.0, "foreign call expression New(float)")
def class_of_the_authors_with_a_new(x):
    return New(x).x


@refused(2.0, "foreign call expression Float(float)")
def class_of_floats(x):
    return Float(x)


@refused(2.0, "foreign call expression Pair(tuple)")
def class_of_tuples(x):
    return Pair((x, 1.0))[0]


class Spelled(Converted):
    def __float__(self):
        return str(self.x)


@refused(2.0, "Spelled.__float__ returned non-float (type str)")
def conversion_to_another_kind(x):
    return x * float(Spelled(x))


@refused(2.0, "math.sin reads a Converted through its __float__")
def conversion(x):
    return math.sin(Converted(x))


@refused(2.0, "np.asarray reads a Converted through its __float__")
def conversion_to_an_array(x):
    return np.sin(np.asarray(Converted(x), dtype=float))


# --- attributes ---


class Looks:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Degrees(float):
    unit = "degree"

    def __init__(self, value):
        self.turns = value / 360.0


@refused(2.0, "The attributes of a Looks, which has a __getattribute__")
def attribute_that_is_computed(x):
    return Looks(x).x


@refused(V, "There is no rule for the attribute ctypes of float64[3]")
def attribute_of_an_array(x):
    return x.ctypes.data


@refused(V, "There is no rule for the attribute data of float64[3]")
def memory_of_an_array(x):
    return x.data[0]


@refused(Degrees(2.0), "There is no rule for the attribute turns of Degrees")
def attribute_of_a_number(x):
    return x * x.turns


# --- operators ---


class LikeAnArray:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0, 3.0])

    def __radd__(self, other):
        return 100.0 * other


@refused(V, "There is no rule for float64[3] + LikeAnArray")
def operator_of_an_array(x):
    return np.sum(x + LikeAnArray())


# --- keywords and lost arguments of built-in rules ---


@refused(V, "got an unexpected keyword argument 'nothing'")
def keyword_that_is_not_known(x):
    return np.sum(x, axis=0, nothing=1)


@refused(V, "The rule of np.exp does not cover the argument subok=")
def keyword_of_a_ufunc(x):
    return np.sum(np.exp(x, subok=False))


@refused(V, "The rule of np.add does not cover the argument where=")
def keyword_of_a_ufunc_that_varies(x):
    return np.sum(np.add(x, x, where=x > 1))


@refused(V, "The rule of Generator.normal does not cover the argument shuffle=")
def keyword_of_a_method(x):
    return np.random.default_rng(0).normal(x[0], x[1], shuffle=3)


@refused(V, "The rule of np.percentile gives no derivative for its argument q")
def lost_by_position(x):
    return np.percentile(x, x[0])


@refused(V, "The rule of np.percentile gives no derivative for its argument q")
def lost_by_name(x):
    return np.percentile(x, q=x[0])


@refused(V, "The rule of np.percentile gives no derivative for its argument q")
def lost_in_a_list(x):
    return np.sum(np.percentile(x, [x[0], 50.0]))


@refused(V, "The rule of np.percentile gives no derivative for its argument q")
def lost_in_a_list_of_tuples(x):
    return np.sum(np.percentile(x, q=[(10.0, x[0])]))


@refused(V, "The rule of np.gradient gives no derivative for its argument args[1]")
def lost_among_further_arguments(x):
    return np.sum(np.gradient(x, [0.0, x[0], 4.0]))


@refused(V, "The rule of np.max gives no derivative for its argument initial")
def lost_initial_value(x):
    return np.max(x, initial=x[0])


@refused(V, "The rule of np.nan_to_num gives no derivative for its argument nan")
def lost_filling(x):
    return np.sum(np.nan_to_num(x, nan=x[0]))


@refused(V, "The rule of np.einsum gives no derivative for its argument optimize")
def lost_option(x):
    return np.einsum("i,i", x, x, optimize=x[0])


@refused(V, "The rule of np.linalg.matrix_power gives no derivative for its argument n")
def lost_exponent(x):
    return np.linalg.matrix_power(x, x)


# --- rules of the author's ---


def product(x, y):
    return x * y


@rl.rrule_for(product)
def product_rrule(x, y):
    return product(x, y), lambda y_bar: (rl.NoTangent(), y_bar * y, y_bar * x)


def scaled(x, *, by=1.0):
    return x * by


@rl.rrule_for(scaled)
def scaled_rrule(x, *, by=1.0):
    return scaled(x, by=by), lambda y_bar: (rl.NoTangent(), y_bar * by)


def spread(x, **words):
    return x * words["by"]


@rl.rrule_for(spread)
def spread_rrule(x, **words):
    return spread(x, **words), lambda y_bar: (rl.NoTangent(), y_bar * words["by"])


def forwards(x, *, by=1.0):
    return x * by


@rl.frule_for(forwards)
def forwards_frule(tangents, x, *, by=1.0):
    return forwards(x, by=by), tangents[1] * by


def alone(x):
    return x


@rl.rrule_for(alone)
def alone_rrule(x):
    return alone(x)


@refused(2.0, "missing 1 required positional argument: 'y'")
def too_few_for_a_rule(x):
    return product(x)


@refused(2.0, "takes 2 positional arguments but 3 were given")
def too_many_for_a_rule(x):
    return product(x, x, x)


@refused(2.0, "got an unexpected keyword argument 'z'")
def wrong_name_for_a_rule(x):
    return product(x, z=x)


@refused(2.0, "got multiple values for argument 'y'")
def given_twice_to_a_rule(x):
    return product(x, x, y=x)


@refused(2.0, "scaled was given a differentiable value for by=")
def keyword_that_varies(x):
    return scaled(x, by=x)


@refused(2.0, "spread was given a differentiable value for by=")
def one_of_any_keywords_that_varies(x):
    return spread(x, by=x)


@refused(2.0, "forwards was given a differentiable value for by=")
def keyword_of_an_frule_that_varies(x):
    return forwards(x, by=x)


@refused(2.0, "must return (y, pullback), not a float")
def rule_without_a_pullback(x):
    return alone(x)


# --- holders, texts, keys ---


@refused(V, "np.vectorize with a signature")
def vectorize_with_a_signature(x):
    return np.sum(np.vectorize(lambda v: v, signature="()->()")(x))


@refused(V, "np.vectorize of a function with several results")
def vectorize_with_several_results(x):
    return np.sum(np.vectorize(lambda v: (v, v))(x)[0])


@refused(V, "np.vectorize gives int64 here")
def vectorize_to_integers(x):
    return np.sum(np.vectorize(lambda v: v, otypes=[int])(x))


@refused(V, "np.vectorize with a signature, excluded arguments or keywords")
def vectorize_with_a_keyword(x):
    return np.sum(np.vectorize(lambda v: v)(v=x))


class Yielding:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        yield self.x


@refused(2.0, "Differentiating through yield is not supported")
def generator_of_a_class(x):
    return sum(Yielding(x))


def yielding(x):
    yield x


@refused(2.0, "Differentiating through yield is not supported")
def generator(x):
    return sum(yielding(x))


@refused(2.0, "positional argument" if sys.version_info < (3, 13) else "made from keywords")
def namespace_of_a_dict(x):
    return types.SimpleNamespace({"x": x}).x


@refused(2.0, "A number that varies is converted to text")
def text_read_again(x):
    return float(str(x))


@refused(2.0, "A number that varies is converted to text")
def formatted_text_read_again(x):
    return float(f"{x:.3f}") * x


@refused(V, "A number that varies bounds a slice")
def slice_by_a_number(x):
    return np.sum(np.r_[0 : x[0] : 3j])


@pytest.mark.parametrize("name", REFUSED)
def test_both_modes_refuse_in_the_same_words(name):
    """The type, what was found, what to do, where to read and the lines are those of the other mode."""
    f, x, words = REFUSED[name]
    reverse, forward = asked(f, x)
    assert words in reverse[1]
    if reverse[0] is rl.MutationError:  # forward mode takes writes, and offers no way around them
        reverse, forward = (error[:2] + error[3:] for error in (reverse, forward))
    assert reverse == forward


def test_what_the_class_of_a_number_has_is_constant():
    """A value that all numbers of the class share is read in both modes."""

    def named(x):
        return x * len(x.unit)

    assert rl.gradient(named, Degrees(2.0)) == (6.0,)
    assert rl.pushforward(named, Degrees(2.0))(1.0) == 6.0


def test_there_are_enough_of_them():
    """Each kind of call is there, and a kind that is taken now makes room for another."""
    assert len(REFUSED) >= 40
