"""Text made from values that vary."""

import array
import ctypes
import io
import pickle
import struct

import numpy as np
import pytest

import rulelab as rl


def parse(text):
    return float(text)


def through_an_f_string(x):
    return float(f"{x}") * 2.0


def through_str(x):
    return float(str(x * x))


def through_format(x):
    text = "{:.17g}".format(x)
    return x + float(text.strip())


def through_a_helper(x):
    return parse(repr(x))


def through_a_branch(x):
    text = "1.0"
    if x > 0:
        text = f"{x}"
    return float(text)


def shown_only(x):
    print(f"x is {x:.1f}")
    if x < 0:
        raise ValueError(f"negative: {x}")
    return x * 2.0


class TooLarge(Exception):
    def __init__(self, message, limit=None):
        super().__init__(message)
        self.limit = limit


class Reading(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.read = float(message)


def refused_by_an_error_of_its_own(x):
    if x > 100.0:
        raise TooLarge(f"{x} is too large", limit=100.0)
    if x > 50.0:
        raise TooLarge("{:g} is too large".format(x)) from ValueError(str(x))
    return x * 2.0


def read_from_an_error(x):
    try:
        raise Reading(f"{x}")
    except Reading as error:
        return error.read * x


def kept_as_an_error(x):
    error = Reading(f"{x}")
    return error.read * x


def counted(x):
    return x * len(f"{x:.3f}")


def of_constants(x, unit="2.5"):
    return x * float(f"{unit}0")


@pytest.mark.parametrize(
    "f", [through_an_f_string, through_str, through_format, through_a_helper, through_a_branch]
)
def test_a_number_read_back_from_text_is_refused(f):
    """A gradient is never lost on the way through a text: the function is refused before it runs."""
    with pytest.raises(rl.NotDifferentiableError, match="converted to text") as caught:
        rl.gradient(f, 3.0)
    reader = parse if f is through_a_helper else f
    assert caught.value.place.function == reader.__name__
    assert len(str(caught.value).splitlines()) <= 6


@pytest.mark.parametrize(("f", "slope"), [(shown_only, 2.0), (counted, 5.0), (of_constants, 2.5)])
def test_text_that_is_only_text_is_fine(f, slope):
    """Printing, raising and measuring text, and reading constant text, do not stand in the way."""
    assert rl.gradient(f, 3.0) == (slope,)


def test_an_error_of_ones_own_may_tell_of_numbers():
    """Its message leaves the function with it; the numbers in it are those of the plain function."""
    assert rl.gradient(refused_by_an_error_of_its_own, 3.0) == (2.0,)
    assert rl.pushforward(refused_by_an_error_of_its_own, 3.0)(1.0) == 2.0
    with pytest.raises(TooLarge, match=r"^150.0 is too large$"):
        rl.gradient(refused_by_an_error_of_its_own, 150.0)


def fail(message):
    raise ValueError(message)


def refused_by_a_helper(x):
    if x > 100.0:
        fail(f"{x} is too large")
    if x > 50.0:
        fail("{:g} is too large".format(x))
    return x * x * x


def of_the_gradient(f):
    return lambda x: rl.gradient(f, x)[0]


def of_the_tangent(f):
    return lambda x: rl.pushforward(f, x)(1.0)


@pytest.mark.parametrize("inner", [of_the_gradient, of_the_tangent])
@pytest.mark.parametrize("outer", [of_the_gradient, of_the_tangent])
def test_a_helper_that_raises_may_tell_of_numbers(inner, outer):
    """In every order: nothing is made of what it would give."""
    once = inner(refused_by_a_helper)
    twice = outer(once)
    assert once(2.0) == 12.0 and twice(2.0) == 12.0 and of_the_tangent(twice)(2.0) == 6.0
    with pytest.raises(ValueError, match=r"^150.0 is too large$"):
        twice(150.0)


@pytest.mark.parametrize("inner", [of_the_gradient, of_the_tangent])
@pytest.mark.parametrize("outer", [of_the_gradient, of_the_tangent])
@pytest.mark.parametrize("f", [through_an_f_string, through_a_helper])
def test_a_number_read_back_is_refused_in_every_order(f, inner, outer):
    """A second derivative is not lost either."""
    with pytest.raises(rl.NotDifferentiableError, match="converted to text"):
        outer(inner(f))(3.0)


@pytest.mark.parametrize("f", [read_from_an_error, kept_as_an_error])
def test_a_number_read_from_an_error_is_refused(f):
    """Caught, or made and not raised: the derivative is not lost on the way through its message."""
    for derivative in (rl.gradient, lambda f, x: rl.pushforward(f, x)(1.0), rl.hessian):
        with pytest.raises(rl.RuleLabError):
            derivative(f, 3.0)


def test_a_function_may_capture_what_may_not_be_there():
    """A nested function with a variable that has a value on some paths only works where it has, and misses it
    in Python's words where it has not.
    """

    def f(x):
        if x > 10:
            a = x

        def g():
            return a * x

        return g() if x > 5 else x

    assert rl.gradient(f, 3.0) == (1.0,) and rl.gradient(f, 11.0) == (22.0,)
    with pytest.raises(NameError, match="free variable 'a'"):
        rl.gradient(f, 7.0)


def test_objects_with_slots_are_structs():
    """An object that keeps its numbers in slots gets a gradient by field."""

    class Pair:
        __slots__ = ("a", "b")

    pair = Pair()
    pair.a, pair.b = 2.0, 3.0
    (g,) = rl.gradient(lambda p: p.a * p.b, pair)
    assert (g.a, g.b) == (3.0, 2.0)


def test_a_cotangent_for_a_function_that_holds_nothing():
    """A pullback that returns its cotangents in the wrong order is told so."""

    def square(x):
        return x**2

    @rl.rrule_for(square)
    def square_rrule(x):
        def square_pullback(y_bar):
            return 2 * x * y_bar, rl.NoTangent()

        return x**2, square_pullback

    for f in (square, lambda x: square(x) + 1.0):
        with pytest.raises(rl.RuleError, match="itself, which holds no numbers"):
            rl.gradient(f, 3.0)


def test_bytes_may_not_be_swapped_in_place():
    """`byteswap` can write to its array, so it counts as a write."""

    def f(x):
        w = np.ones(3)
        y = np.sum(x * w)
        w.byteswap(True)
        return y

    with pytest.raises(rl.MutationError, match="byteswap"):
        rl.gradient(f, np.ones(3))


def spelled(x):
    return f"{x:.3f}"


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(spelled(x)),
        lambda x: sum(map(float, map(str, [x, 2 * x]))),
        lambda x: float([spelled(x)][0]) * x,
        lambda x: int(spelled(x)[0]) * x,
        lambda x: np.float64(spelled(x)),
    ],
)
def test_text_that_comes_from_elsewhere_is_not_read_as_a_number(f):
    """A number written by one function and read by another has lost its derivative: refused, never zero."""
    with pytest.raises(rl.NotDifferentiableError, match="converted to text"):
        rl.gradient(f, 2.0)


def test_text_of_the_arguments_is_read_as_a_number():
    """What was text when it came in has nothing to lose."""
    assert rl.gradient(lambda x, s: float(s) * x, 2.0, "3.0") == (3.0, None)


# --- bytes --------------------------------------------------------------------------------------------------


def raw(x):
    return x.tobytes()


def summed(data):
    return np.sum(np.frombuffer(data) ** 2)


def kept_in_a_dict(x):
    kept = {}
    kept["raw"] = x.tobytes()
    return summed(kept["raw"])


def captured_bytes(x):
    data = x.tobytes()

    def inner():
        return summed(data)

    return inner()


def through_a_stream(x):
    stream = io.BytesIO()
    stream.write(x.tobytes())
    return summed(stream.getvalue())


def filled_from_bytes(x):
    numbers = array.array("d")
    numbers.frombytes(x.tobytes())
    return numbers[0] ** 2


def written_into_bytes(x):
    data = bytearray(24)
    struct.pack_into("3d", data, 0, *x)
    return summed(data)


def iterated_bytes(x):
    total = 0.0
    for byte in x.tobytes():
        total += byte
    return total * x[0]


THROUGH_BYTES = {
    "np.frombuffer": lambda x: np.sum(np.frombuffer(x.tobytes()) ** 2),
    "beside another path": lambda x: x.sum() + np.sum(np.frombuffer(x.tobytes()) ** 2),
    "the buffer of an array": lambda x: np.sum(np.frombuffer(x) ** 2),
    "np.ndarray": lambda x: np.sum(np.ndarray(3, buffer=x.tobytes()) ** 2),
    "slices and sums of bytes": lambda x: summed(x.tobytes()[8:] + x.tobytes()),
    "another function": lambda x: summed(raw(x)),
    "a dict": kept_in_a_dict,
    "a closure": captured_bytes,
    "a map": lambda x: sum(map(summed, map(np.ndarray.tobytes, [x]))),
    "a bound method": lambda x: (lambda write: summed(write()))(x.tobytes),
    "a stream": through_a_stream,
    "a loop over bytes": iterated_bytes,
    "memoryview": lambda x: memoryview(x)[0] ** 2,
    "bytes": lambda x: summed(bytes(x)),
    "bytearray": lambda x: summed(bytearray(x)),
    "x.data": lambda x: x.data[0] ** 2,
    "struct.unpack": lambda x: struct.unpack("3d", x.tobytes())[0] ** 2,
    "struct.pack": lambda x: struct.unpack("d", struct.pack("d", x[0]))[0] ** 2,
    "struct.pack_into": written_into_bytes,
    "array.array": lambda x: sum(array.array("d", x.tolist())) ** 2,
    "array.array of bytes": lambda x: array.array("d", x.tobytes())[0] ** 2,
    "array.frombytes": filled_from_bytes,
    "ctypes": lambda x: ctypes.c_double(x[0]).value ** 2,
    "ctypes arrays": lambda x: (ctypes.c_double * 3).from_buffer_copy(x)[0] ** 2,
    "int.from_bytes": lambda x: int.from_bytes(x.tobytes(), "little") * 1.0,
    "a view as bytes": lambda x: np.sum(x.view(np.uint8).view(np.float64) ** 2),
    "pickle": lambda x: np.sum(pickle.loads(pickle.dumps(x)) ** 2),
    "dumps": lambda x: np.sum(pickle.loads(x.dumps()) ** 2),
}


NAMED = {
    "the buffer of an array": r"foreign call .* np\.frombuffer\(",
    "memoryview": r"foreign call .* memoryview\(",
    "bytes": r"foreign call .* bytes\(",
    "bytearray": r"foreign call .* bytearray\(",
    "x.data": "attribute data of",
    "struct.pack": r"foreign call .* _struct\.pack\(",
    "struct.pack_into": r"foreign call .* _struct\.pack_into\(",
    "array.array": r"foreign call .* array\(str, list\)",
    "ctypes": r"foreign call .* c_double\(",
    "ctypes arrays": r"foreign call .*\.from_buffer_copy\(",
    "a view as bytes": r"foreign call .* ndarray\.view\(",
    "pickle": r"foreign call .* _pickle\.dumps\(",
    "dumps": r"foreign call .* ndarray\.dumps\(",
}
"""What is named where it is not `x.tobytes()`."""


@pytest.mark.parametrize("way", THROUGH_BYTES)
def test_a_number_read_back_from_bytes_is_refused(way):
    """Numbers that leave as bytes and come back have lost their derivative: refused in both modes, and the
    call or attribute that lost it is named.
    """
    f, x = THROUGH_BYTES[way], np.array([1.0, 2.0, 3.0])
    for derive in (lambda: rl.gradient(f, x), lambda: rl.pushforward(f, x)(np.ones(3))):
        with pytest.raises(rl.RuleLabError, match=NAMED.get(way, r"foreign call .* ndarray\.tobytes\(")):
            derive()


def test_bytes_of_constants_are_read():
    """Bytes that hold nothing that varies are data like any other."""
    scale = np.array([1.0, 2.0, 3.0])
    x = np.ones(3)
    assert rl.gradient(lambda x: np.sum(np.frombuffer(scale.tobytes()) * x), x)[0].tolist() == [1.0, 2.0, 3.0]
    assert rl.pushforward(lambda x: np.sum(np.frombuffer(scale.tobytes()) * x), x)(x) == 6.0
    key = lambda x: np.sum(x) * len(rl.ignore_derivatives(x).tobytes())
    assert rl.gradient(key, x)[0].tolist() == [24.0] * 3


# --- other ways of writing text -----------------------------------------------------------------------------


def kept_as_text(x):
    kept = {}
    kept["text"] = str(x[0])
    return float(kept["text"])


def captured_text(x):
    text = str(x[0])

    def inner():
        return float(text) * 2.0

    return inner()


def through_a_text_stream(x):
    stream = io.StringIO()
    stream.write(str(x[0]))
    return float(stream.getvalue())


def printed_to_a_stream(x):
    stream = io.StringIO()
    print(x[0], file=stream)
    return float(stream.getvalue())


def saved_in_memory(x):
    stream = io.BytesIO()
    np.save(stream, x)
    stream.seek(0)
    return np.sum(np.load(stream))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float("%.17g" % x[0]),
        lambda x: float("%s" % (x[0],)),
        lambda x: float(str.format("{}", x[0])),
        lambda x: float(np.array2string(x[0])),
        lambda x: np.sum(np.fromstring(np.array_str(x)[1:-1], sep=" ")),
        lambda x: float(np.format_float_positional(x[0])),
        lambda x: ord(chr(x.size * 0 + int(x[0]))) * 1.0,
        kept_as_text,
        captured_text,
        through_a_text_stream,
        printed_to_a_stream,
        saved_in_memory,
    ],
)
def test_every_way_of_writing_text_is_seen(f):
    """Whatever writes a number as text, and wherever the text is kept: reading it back is refused."""
    x = np.array([1.5, 2.0, 3.0])
    for derive in (lambda: rl.gradient(f, x), lambda: rl.pushforward(f, x)(np.ones(3))):
        with pytest.raises(rl.NotDifferentiableError, match="converted to text"):
            derive()


def logged(x, seen):
    seen.append(f"{x[0]:.1f}")
    lines = []
    lines.append("%d numbers" % x.size)
    print("at %.1f" % x[0], np.array2string(x))
    table = {"1.5": 2.0}
    return np.sum(x) * table[str(x[0])]


def test_text_is_still_written_and_looked_up(capsys):
    """A log, a message and a key of a table stand in nobody's way."""
    x = np.array([1.5, 2.0, 3.0])
    assert rl.gradient(lambda x: logged(x, []), x)[0].tolist() == [2.0, 2.0, 2.0]
    assert rl.pushforward(lambda x: logged(x, []), x)(np.ones(3)) == 6.0
    assert "at 1.5 [1.5 2.  3. ]" in capsys.readouterr().out


def written_out(x):
    return f"{x}"


def written_out_further(x):
    return written_out(2.0 * x)


def noted_in_a_list(x):
    notes = []
    note(notes, x)
    return float(notes[0])


def note(notes, x):
    notes.append(str(x))


def noted_in_a_dict(x):
    notes = {}
    note_as(notes, x)
    return float(notes["x"])


def note_as(notes, x):
    notes["x"] = f"{x}"


class Label:
    def __init__(self, x):
        self.text = f"{x!r}"


def listed(x):
    return [str(x)]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(written_out(x)),
        lambda x: x * float(written_out_further(x)),
        noted_in_a_list,
        noted_in_a_dict,
        lambda x: float(Label(x).text),
        lambda x: float(listed(x)[0]),
    ],
)
def test_text_written_by_another_function_is_not_read_as_a_number(f):
    """Forwards a text carries no tangent, so it is noted which ones may spell out what varies."""
    for derive in (lambda: rl.gradient(f, 2.0), lambda: rl.pushforward(f, 2.0)(1.0)):
        with pytest.raises(rl.NotDifferentiableError, match="converted to text"):
            derive()


def test_a_function_that_writes_a_message_gives_a_number():
    """What it gives is no text, and `float` of it is no reading."""

    def told(x):
        print(f"at {x}")
        return 2.0 * x

    assert rl.gradient(lambda x: x * float(told(x)), 3.0) == (12.0,)
    assert rl.pushforward(lambda x: x * float(told(x)), 3.0)(1.0) == 12.0


KEPT = []


def kept_for_all(x):
    KEPT.append(str(x))
    return float(KEPT.pop())


def test_text_kept_in_a_global_is_not_read_as_a_number():
    """Backwards the write to a global is refused, forwards the reading."""
    with pytest.raises(rl.MutationError):
        rl.gradient(kept_for_all, 2.0)
    with pytest.raises(rl.NotDifferentiableError, match="converted to text"):
        rl.pushforward(kept_for_all, 2.0)(1.0)
