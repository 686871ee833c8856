"""The text of each refusal: class, headline, the user's own line, what to do, in six lines at most."""

import ctypes
import linecache
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import (
    CatchBlockError,
    ForeignCallError,
    MutationError,
    RuleLabError,
    ScalarOutputError,
    SourceMismatchError,
    SourceNotFoundError,
    UnsupportedSyntaxError,
)

FILE = __file__.rsplit("/", 1)[-1]


def refusal(kind, f, *args, **kwargs):
    """The text of the error of `gradient(f, *args)`, after what holds of every error text was checked."""
    with pytest.raises(kind) as caught:
        rl.gradient(f, *args, **kwargs)
    return checked_text(caught.value)


def checked_text(error):
    assert isinstance(error, RuleLabError)
    text = str(error)
    lines = text.splitlines()
    assert 1 <= len(lines) <= 6, text
    assert all(len(line) <= 160 for line in lines), text
    return text


def line_of(f, fragment):
    """The line number in this file of the first line of `f` that holds `fragment`."""
    start = f.__code__.co_firstlineno
    for number in range(start, start + 40):
        if fragment in linecache.getline(__file__, number):
            return number
    raise LookupError(fragment)


def assert_points_at(text, f, fragment, function=None):
    """The text shows the user's line, its file, its number and the function it stands in."""
    assert fragment in text, text
    assert FILE in text, text
    assert str(line_of(f, fragment)) in text, text
    assert (function or f).__name__ in text, text


# --- mutation ---


def writes_item(x):
    y = x * 1.0
    y[0] = 5.0
    return y.sum()


def writes_item_of_argument(x):
    x[1] = 2.0
    return x.sum()


def writes_slice(x):
    out = np.zeros(3)
    out[:] = x + 1.0
    return out.sum()


def adds_in_place(x):
    x += 1.0
    return (x * x).sum()


def adds_in_place_to_alias(x):
    y = x
    y += 1.0
    return (x * y).sum()


def adds_to_item(x):
    s = np.zeros(3)
    for i in range(3):
        s[i] += x[i]
    return s.sum()


def uses_out(x):
    y = np.empty(3)
    np.multiply(x, 2.0, out=y)
    return y.sum()


def uses_out_of_sum(x):
    y = np.zeros(())
    np.sum(x, out=y)
    return y * 1.0


def uses_copyto(x):
    y = np.empty(3)
    np.copyto(y, x)
    return y.sum()


def sorts_in_place(x):
    x.sort()
    return x[0]


def fills(x):
    x.fill(3.0)
    return x.sum()


def puts(x):
    x.put([0], [3.0])
    return x.sum()


def writes_through_view(x):
    v = x[::2]
    v[0] = 1.0
    return x.sum()


def adds_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 1, 1], x)
    return y.sum()


@pytest.mark.parametrize(
    "f, fragment, called",
    [
        (writes_item, "y[0] = 5.0", "__setitem__"),
        (writes_item_of_argument, "x[1] = 2.0", "__setitem__"),
        (writes_slice, "out[:] = x + 1.0", "__setitem__"),
        (adds_in_place, "x += 1.0", ""),
        (adds_in_place_to_alias, "y += 1.0", ""),
        (adds_to_item, "s[i] += x[i]", ""),
        (uses_out, "np.multiply(x, 2.0, out=y)", "multiply"),
        (uses_out_of_sum, "np.sum(x, out=y)", "sum"),
        (uses_copyto, "np.copyto(y, x)", "copyto"),
        (sorts_in_place, "x.sort()", "sort"),
        (fills, "x.fill(3.0)", "fill"),
        (puts, "x.put([0], [3.0])", "put"),
        (writes_through_view, "v[0] = 1.0", "__setitem__"),
        (adds_at, "np.add.at(y, [0, 1, 1], x)", "at"),
    ],
)
def test_mutation_is_refused_before_the_write(f, fragment, called):
    """A write to an array is refused with its line, the call and the array, before it happens."""
    x = np.array([3.0, 1.0, 2.0])
    text = refusal(MutationError, f, x)
    assert "Mutating arrays is not supported" in text.splitlines()[0]
    assert called in text and "float64" in text
    assert_points_at(text, f, fragment)
    assert x.tolist() == [3.0, 1.0, 2.0]


def test_mutation_headline():
    """The headline names the method, the dtype and the shape."""
    text = refusal(MutationError, writes_item, np.array([3.0, 1.0, 2.0]))
    assert "called ndarray.__setitem__(float64[3])" in text


def fills_buffer(buffer, x):
    buffer[:] = x + 1.0


def calls_a_writer(x):
    b = np.empty_like(x)
    fills_buffer(b, x)
    return b.sum()


def calls_a_caller(x):
    return calls_a_writer(x) * 2.0


@pytest.mark.parametrize("f", [calls_a_writer, calls_a_caller])
def test_mutation_in_a_callee_shows_the_chain(f):
    """A write in a callee shows its own line and the calls that led there."""
    text = refusal(MutationError, f, np.array([3.0, 1.0, 2.0]))
    assert_points_at(text, fills_buffer, "buffer[:] = x + 1.0")
    assert f.__name__ in text and "calls_a_writer" in text


def test_mutation_offers_a_rule():
    """The fixes name a rule for the function in which the write stands."""
    text = refusal(MutationError, writes_slice, np.ones(3))
    assert "rule" in text and "writes_slice" in text


@pytest.mark.parametrize("missing", ["Buffer", "forwarddiff"])
def test_fixes_exist(missing):
    """A message names only what exists."""
    text = refusal(MutationError, writes_slice, np.ones(3))
    assert hasattr(rl, missing) or missing not in text


def appends_to_argument(xs):
    xs.append(1.0)
    return xs[0] * xs[1]


def test_list_argument_changed():
    """A list argument that is changed: right, or refused with the line and unchanged."""
    xs = [2.0, 3.0]
    try:
        (g,) = rl.gradient(appends_to_argument, xs)
    except RuleLabError as error:
        assert_points_at(checked_text(error), appends_to_argument, "xs.append(1.0)")
        assert xs == [2.0, 3.0]
        return
    assert list(g)[:2] == [3.0, 2.0]


def constant_table(x):
    table = np.zeros(3)
    table[1] = 2.0
    return (table * x).sum()


def test_writing_a_constant_array_nobody_has_read():
    """An array without gradient may be written while nothing active has read it."""
    assert rl.gradient(constant_table, np.ones(3))[0].tolist() == [0.0, 2.0, 0.0]


def constant_written_after_read(x):
    table = np.ones(3)
    y = (table * x).sum()
    table[1] = 50.0
    return y + (table * x).sum()


def test_writing_a_constant_array_after_it_was_read():
    """After it was read a write would change what was saved: right or refused."""
    try:
        (g,) = rl.gradient(constant_written_after_read, np.ones(3))
    except MutationError as error:
        assert_points_at(checked_text(error), constant_written_after_read, "table[1] = 50.0")
        return
    assert g.tolist() == [2.0, 51.0, 2.0]


def rebinding(x):
    s = np.zeros(3)
    for k in range(3):
        s += x * k
    return (s * s).sum()


def test_accumulating_in_an_own_array():
    """`s += v` on an array that nobody else holds is a rebinding and works."""
    assert rl.gradient(rebinding, np.ones(3))[0].tolist() == [18.0, 18.0, 18.0]


# --- foreign calls ---

half = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda v: 0.5 * v)


def calls_c(x):
    return half(x) * 2.0


def calls_c_in_callee(x):
    return calls_c(x * x)


def test_foreign_call():
    """A C function without a rule, called with a differentiable argument, is refused with its line."""
    text = refusal(ForeignCallError, calls_c, 2.0)
    assert "Can't differentiate foreign call expression" in text.splitlines()[0]
    assert_points_at(text, calls_c, "return half(x) * 2.0")
    assert "rule" in text


def test_foreign_call_in_a_callee():
    """A foreign call in a callee shows its own line and names the caller."""
    text = refusal(ForeignCallError, calls_c_in_callee, 2.0)
    assert_points_at(text, calls_c, "return half(x) * 2.0")
    assert "calls_c_in_callee" in text


def calls_gamma_of_library(x):
    return math.nextafter(x, 1.0) * 2.0


def test_foreign_call_of_math():
    """A function of math without a rule is named with its module, never taken for a constant."""
    if rl.has_rrule(math.nextafter, 1.0, 1.0):
        pytest.skip("math.nextafter has a rule")
    text = refusal(ForeignCallError, calls_gamma_of_library, 2.0)
    assert "math.nextafter" in text
    assert_points_at(text, calls_gamma_of_library, "math.nextafter(x, 1.0)")


def test_foreign_call_asked_directly():
    """A C function without a rule asked for directly is refused too."""
    text = refusal(ForeignCallError, half, 2.0)
    assert "foreign call" in text


def constant_foreign(x):
    return half(3.0) * x


def test_foreign_call_with_constants_only():
    """With constant arguments only, a foreign call is a constant."""
    assert rl.gradient(constant_foreign, 2.0) == (1.5,)


# --- catch blocks ---


def safe_sqrt(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return 0.0 * x


def safe_sqrt_plus(x):
    return safe_sqrt(x) + x


def reads_handler_constant(x):
    try:
        scale = [1.0][3]
    except IndexError:
        scale = 2.0
    return scale * x


def test_handler_that_did_not_run():
    """As long as nothing is thrown the gradient is that of the body."""
    assert rl.gradient(safe_sqrt, 4.0) == (0.25,)


def test_handler_that_ran():
    """If the handler ran, the value is returned and only `back` raises, with the place of the handler."""
    y, back = rl.pullback(safe_sqrt, -1.0)
    assert y == 0.0
    with pytest.raises(CatchBlockError) as caught:
        back(1.0)
    text = checked_text(caught.value)
    assert "Can't differentiate code that ran in an except block at" in text
    assert FILE in text and "safe_sqrt" in text
    spots = ("try:", "except ValueError", "return 0.0 * x")
    assert any(str(line_of(safe_sqrt, spot)) in text for spot in spots)
    assert "rule" in text


def test_handler_that_ran_in_a_callee():
    """A handler that ran in a callee gives the same error from the caller's `back`."""
    y, back = rl.pullback(safe_sqrt_plus, -1.0)
    assert y == -1.0
    with pytest.raises(CatchBlockError) as caught:
        back(1.0)
    assert "safe_sqrt" in checked_text(caught.value)
    refusal(CatchBlockError, safe_sqrt_plus, -1.0)


def test_handler_after_the_handler_ran_elsewhere():
    """A pullback whose handler ran says nothing about the next call."""
    with pytest.raises(CatchBlockError):
        rl.gradient(safe_sqrt, -1.0)
    assert rl.gradient(safe_sqrt, 4.0) == (0.25,)


def handler_not_reached_by_a_cotangent(x):
    note = 0.0
    try:
        note = math.sqrt(-x)
    except ValueError:
        note = -1.0
    return x * x if note < 0 else x


def test_handler_no_cotangent_reaches():
    """Where no cotangent reaches what the handler affected, `back` answers or refuses; it is never wrong."""
    y, back = rl.pullback(handler_not_reached_by_a_cotangent, 3.0)
    assert y == 9.0
    try:
        assert back(1.0) == (6.0,)
    except CatchBlockError as error:
        checked_text(error)


def test_handler_that_gave_a_constant():
    """A handler that set a constant: right or refused."""
    try:
        assert rl.gradient(reads_handler_constant, 3.0) == (2.0,)
    except CatchBlockError as error:
        checked_text(error)


def swallows_mutation(x):
    try:
        x[0] = 1.0
    except Exception:
        pass
    return (x * x).sum()


def swallows_foreign(x):
    try:
        y = half(x)
    except Exception:
        y = 0.0
    return y + x


def swallows_everything(x):
    try:
        y = half(x)
    except:  # noqa: E722
        y = 0.0
    return y + x


def swallows_in_caller(x):
    try:
        y = calls_c(x)
    except Exception:
        y = 0.0
    return y + x


@pytest.mark.parametrize(
    "f, x, kind",
    [
        (swallows_mutation, np.ones(3), MutationError),
        (swallows_foreign, 2.0, ForeignCallError),
        (swallows_everything, 2.0, RuleLabError),
        (swallows_in_caller, 2.0, ForeignCallError),
    ],
)
def test_handlers_do_not_swallow_refusals(f, x, kind):
    """`except Exception` in the user's function does not swallow a refusal of ours."""
    refusal(kind, f, x)


# --- syntax ---

RAN = []


def with_yield(x):
    RAN.append(1)
    yield x * x


async def with_async(x):
    RAN.append(1)
    return x * x


def with_global_write(x):
    global COUNTER
    RAN.append(1)
    COUNTER = x
    return x * x


def with_frames(x):
    RAN.append(1)
    return x * len(locals())


def with_jump_in_finally(x):
    RAN.append(1)
    try:
        y = x * x
    finally:
        if x > 1:
            return x
    return y


def with_generator(x):
    RAN.append(1)
    pair = ((w := v * v) for v in [x]), 1.0
    return next(pair[0]) + w


def with_class(x):
    RAN.append(1)

    class Local:
        k = 2.0

    return Local.k * x


def with_nonlocal(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v
        return total

    add(x)
    return total * 2.0


UNSUPPORTED = [
    (with_yield, "yield x * x", "yield"),
    (with_async, "async def with_async", "async"),
    (with_global_write, "global COUNTER", "global"),
    (with_frames, "locals()", "locals"),
    (with_jump_in_finally, "if x > 1", "finally"),
    (with_generator, "(w := v * v) for v", "generator expression"),
    (with_class, "class Local", "class"),
]


@pytest.mark.parametrize("f, fragment, word", UNSUPPORTED, ids=[f.__name__ for f, _, _ in UNSUPPORTED])
def test_unsupported_syntax(f, fragment, word):
    """What is not taken is refused by name with line and caret, before anything of the function ran."""
    RAN.clear()
    text = refusal(UnsupportedSyntaxError, f, 2.0)
    assert word in text.lower()
    assert_points_at(text, f, fragment)
    assert "^" in text
    assert RAN == []


def test_caret_stands_under_the_culprit():
    """The caret stands under the construct it speaks of."""
    lines = refusal(UnsupportedSyntaxError, with_generator, 2.0).splitlines()
    shown = next(k for k, line in enumerate(lines) if "w := v * v" in line)
    assert lines[shown + 1].index("^") == lines[shown].index("((w := v * v) for")


def test_nonlocal_is_right_or_refused():
    """A captured variable that is rebound by an inner function: right or refused, never lost."""
    try:
        assert rl.gradient(with_nonlocal, 3.0) == (2.0,)
    except RuleLabError as error:
        assert "with_nonlocal" in checked_text(error) or "add" in str(error)


def with_late_capture(x):
    late = [lambda v: v * i for i in range(3)]
    return late[0](x) + late[1](x)


def with_rebound_capture(x):
    k = x
    scale = lambda v: v * k  # noqa: E731
    k = x * x
    return scale(x)


@pytest.mark.parametrize("f, wanted", [(with_late_capture, 4.0), (with_rebound_capture, 27.0)])
def test_late_capture_is_right_or_refused(f, wanted):
    """A captured variable that is bound again later counts as Python has it, or is refused with its line."""
    try:
        assert rl.gradient(f, 3.0) == (wanted,)
    except UnsupportedSyntaxError as error:
        assert_points_at(checked_text(error), f, "lambda v")


def callee_with_class(x):
    return with_class(x) * 2.0


def test_unsupported_syntax_in_a_callee():
    """A construct that is not taken in a callee shows the callee's line."""
    text = refusal(UnsupportedSyntaxError, callee_with_class, 2.0)
    assert_points_at(text, with_class, "class Local")


def swallows_syntax(x):
    try:
        return with_class(x)
    except Exception:
        return 0.0 * x


def test_handlers_do_not_swallow_unsupported_syntax():
    """`except Exception` round a call of such a callee does not swallow the refusal."""
    refusal(UnsupportedSyntaxError, swallows_syntax, 2.0)


# --- source ---


def test_source_not_found():
    """A function made by exec without text is refused by name."""
    names = {}
    exec("def made_by_exec(x):\n    return x * x\n", names)
    text = refusal(SourceNotFoundError, names["made_by_exec"], 2.0)
    assert "made_by_exec" in text


def test_source_not_found_in_a_callee():
    """A callee without text is refused by name, and so is the line that calls it."""
    names = {}
    exec("def made_by_exec(x):\n    return x * x\n", names)
    g = names["made_by_exec"]

    def calls_it(x):
        return g(x)

    text = refusal(SourceNotFoundError, calls_it, 2.0)
    assert "made_by_exec" in text


def test_a_text_without_a_name_is_not_taken_for_another(monkeypatch):
    """All that exec compiles is called <string>: the text found there, that of `python -c`, is not shown."""
    others = "exec('def made_by_exec(x): return x / x')\n"
    monkeypatch.setitem(linecache.cache, "<string>", (len(others), None, [others], "<string>"))
    names = {"rl": rl}
    exec("def made_by_exec(x):\n    return x * x\n", names)
    text = refusal(SourceNotFoundError, names["made_by_exec"], 2.0)
    assert "x / x" not in text
    exec("def its_rule(x):\n    return x * x, lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)\n", names)
    rl.rrule_for(names["made_by_exec"])(names["its_rule"])
    assert rl.gradient(names["made_by_exec"], 3.0) == (6.0,)
    with pytest.raises(RuleLabError, match="cannot be found"):
        rl.adjoint_source(names["made_by_exec"], 3.0)


def test_source_mismatch():
    """Text that was edited under the running function is refused, with the file and the line."""
    name = "<cell-of-errors-edited>"
    names = {}

    def put(text):
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)

    text = "def edited(x):\n    return 2.0 * x\n"
    put(text)
    exec(compile(text, name, "exec"), names)
    put("def edited(x):\n    return 6.0 * x\n")
    text = refusal(SourceMismatchError, names["edited"], 3.0)
    assert "edited" in text


# --- outputs and attributes of an error ---


def returns_array(x):
    return x * 2.0


def test_scalar_output():
    """An array output is refused with the line that returned."""
    text = refusal(ScalarOutputError, returns_array, np.ones(3))
    assert_points_at(text, returns_array, "return x * 2.0")


def test_parts_are_attributes():
    """A displayer can lay the parts out itself: place, fixes and headline are attributes."""
    with pytest.raises(MutationError) as caught:
        rl.gradient(writes_item, np.ones(3))
    error = caught.value
    assert "Mutating arrays" in error.found
    assert error.place.line == line_of(writes_item, "y[0] = 5.0")
    assert error.place.filename.endswith(FILE)
    assert error.place.function == "writes_item"
    assert len(error.fixes) >= 1


def test_traceback_of_a_users_error_points_at_the_users_line():
    """The traceback of an error of the user's own shows the user's file and line."""

    def divides(x):
        y = x * 2.0
        return y / 0.0

    with pytest.raises(ZeroDivisionError) as caught:
        rl.gradient(divides, 1.0)
    line = line_of(divides, "return y / 0.0")
    assert any(entry.lineno + 1 == line and str(entry.path).endswith(FILE) for entry in caught.traceback)


class Kept:
    def __init__(self, a):
        self.a = a


def made_by_the_handler(x, y):
    try:
        raise TypeError
    except TypeError:
        kept = Kept(y)
    return kept.a * kept.a + x


def made_before_the_exception(x, y):
    kept = None
    try:
        kept = Kept(x * y)
        raise TypeError
    except TypeError:
        pass
    return kept.a * x


def held_by_what_the_handler_made(x, y):
    try:
        raise TypeError
    except TypeError:
        pair = (Kept(y), 1.0)
    return pair[0].a * x


def made_where_nothing_is_caught(x, y):
    before = Kept(x)
    try:
        kept = Kept(y)
    except TypeError:
        kept = before
    return kept.a * kept.a * before.a


def test_an_object_that_outlives_an_except_block_is_not_lost():
    """Its cotangent is kept beside the sweep, not in a variable."""
    for f in (made_by_the_handler, made_before_the_exception, held_by_what_the_handler_made):
        for _ in range(2):
            refusal(CatchBlockError, f, 2.0, 3.0)
    for _ in range(2):
        assert rl.gradient(made_where_nothing_is_caught, 2.0, 3.0) == (9.0, 12.0)
