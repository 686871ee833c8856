"""`else`, `finally`, `except*`, `with`, `match`, `import`: what runs, in which order and what is raised is
Python's."""

import random
import textwrap

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import CatchBlockError, ForeignCallError, NotDifferentiableError, UnsupportedSyntaxError

from ...differences import gradient_by_differences

TRACE = []


pytestmark = pytest.mark.usefixtures("run_once")


def note(*what):
    """Leaves a trace; its rule makes it a constant to the AD, so that it may."""
    TRACE.append(what)
    return True


@rl.rrule_for(note)
def note_rrule(*what):
    return note(*what), lambda y_bar: (rl.NoTangent(), *[rl.NoTangent()] * len(what))


class Manager:
    """Notes how it is entered and left; swallows the exceptions of `swallowed`."""

    def __init__(self, name, *swallowed):
        self.name = name
        self.swallowed = swallowed

    def __enter__(self):
        note("enter", self.name)
        return self

    def __exit__(self, kind, error, trace):
        note("exit", self.name, None if kind is None else kind.__name__, str(error), trace is not None)
        return kind is not None and issubclass(kind, self.swallowed)


PLAIN, DEAF = Manager("plain"), Manager("deaf", KeyError, ForeignCallError)


def outcome(f, *args):
    """(the value, or what was raised; the trace)."""
    TRACE.clear()
    try:
        found = f(*args)
    except (KeyError, ValueError, UnboundLocalError, TypeError, ImportError) as error:
        found = f"{type(error).__name__}: {error}"
    return found, list(TRACE)


def as_in_python(f, *args):
    """Value or exception and the trace of the forward sweep are those of the function; gives `back`."""
    wanted = outcome(f, *args)
    backs = []

    def forward(*args):
        y, back = rl.pullback(f, *args)
        backs.append(back)
        return y

    assert outcome(forward, *args) == wanted
    return backs[0] if backs else None


# --- random programs ---


def program(seed):
    """A random function of every statement that is rewritten; its trace and result tell the path it took."""
    rng = random.Random(seed)
    counter = iter(range(1000))

    def block(depth, looping, final=False):
        lines = [line for _ in range(rng.randint(1, 2)) for line in statement(depth, looping, final)]
        return lines + (jump(looping) if not final and rng.random() < 0.4 else [])

    def jump(looping):
        ways = ["return y", f"return y * {rng.randint(2, 9)}.0", "raise KeyError(n)"]
        return [rng.choice([*ways, *(["break", "continue"] * 2 if looping else [])])]

    def statement(depth, looping, final):
        mark = [f"note({next(counter)}, n)", "n = n + 1", f"y = y * 0.5 + x * {rng.randint(2, 99)}.0"]
        kinds = ["mark", "if", "for", "while", "try", "finally", "with", "match"]
        kind = rng.choice(kinds) if depth else "mark"
        inner = lambda loop=looping: indented(block(depth - 1, loop, final))  # noqa: E731
        test = f"(n + k) % {rng.randint(2, 4)} == {rng.randint(0, 1)}"
        if kind == "mark":
            return mark
        if kind == "if":
            return [f"if {test}:", *inner(), *(["else:", *inner()] if rng.random() < 0.5 else [])]
        if kind in ("for", "while"):
            head = f"for i{depth} in range({rng.randint(0, 3)}):"
            if kind == "while":
                head = f"while (n := n + 1) < {rng.randint(2, 15)}:"
            body = indented([*mark, *block(depth - 1, not final, final)])
            return [head, *body, *(["else:", *inner()] if rng.random() < 0.6 else [])]
        if kind == "try":
            catch = ["except KeyError:", *inner()]
            return ["try:", *inner(), *catch, *(["else:", *inner()] if rng.random() < 0.6 else [])]
        if kind == "finally":
            last = jump(looping) if not final and rng.random() < 0.3 else []
            catch = ["except KeyError:", *inner()] if rng.random() < 0.5 else []
            end = indented([*block(depth - 1, looping, True), *last])
            return ["try:", *inner(), *catch, "finally:", *end]
        if kind == "with":
            heads = ["with PLAIN as m, DEAF:", "with DEAF:", "with PLAIN:"]
            return [rng.choice(heads), *inner()]
        cases = ["case 0, _:", "case _, 1 | 2:", f"case a, b if {test}:", "case (2 as c, *d):", "case _:"]
        chosen = sorted(rng.sample(range(5), rng.randint(1, 5)))
        arms = [line for number in chosen for line in (f"    {cases[number]}", *indented(inner()))]
        return ["match n % 3, k:", *arms]

    return "\n".join(["def f(x, k):", *indented(["n = 0", "y = x", *block(3, False), "return y"])]) + "\n"


def indented(lines):
    return textwrap.indent("\n".join(lines), "    ").splitlines()


@pytest.mark.every(8)
@pytest.mark.parametrize("start", range(0, 80, 10))
def test_random_programs(cells, start):
    """Of 10 programs, each does and gives what Python does; its gradient is right, or a handler ran."""
    cells.names |= {"note": note, "PLAIN": PLAIN, "DEAF": DEAF}
    right = 0
    for seed in range(start, start + 10):
        text = program(seed)
        f = cells.run(text)["f"]
        for k in range(2):
            try:
                back = as_in_python(f, 2.0, k)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, k = {k}\n{text}\n{error}") from None
            y = outcome(f, 2.0, k)[0]
            if isinstance(y, float):
                try:
                    x_bar, k_bar = back(1.0)
                except CatchBlockError:
                    continue
                # On every path y is a multiple of x.
                assert x_bar == pytest.approx(y / 2.0), f"seed {seed}, k = {k}\n{text}"
                assert k_bar is None
                right += 1
    assert right > 6


# --- except* ---


def told(error):
    """An exception, and what is in it."""
    if isinstance(error, BaseExceptionGroup):
        return type(error).__name__, error.message, [told(part) for part in error.exceptions]
    return f"{type(error).__name__}: {error}"


def of_groups(text, seed):
    """A random program whose handlers are `except*`; None if a block of theirs has a jump, which none may."""
    rng, parts = random.Random(seed), text.split("except KeyError:")
    raised = ("raise KeyError(n)", "raise ExceptionGroup('g', [KeyError(n), ValueError(k)])")
    kinds = ("except* KeyError:", "except* (KeyError, OSError) as e:", "except* LookupError as e:")
    made = parts[0] + "".join(rng.choice(kinds) + part for part in parts[1:])
    made = "".join(part + rng.choice(raised) for part in made.split("raise KeyError(n)"))
    made = made.removesuffix(raised[0]).removesuffix(raised[1])
    try:
        compile(made, "made", "exec")
    except SyntaxError:
        return None
    return made if len(parts) > 1 else None


@pytest.mark.every(8, slow=True)
@pytest.mark.parametrize("start", range(0, 400, 50))
def test_random_programs_of_groups(cells, start):
    """Clauses of `except*` take what they take in Python, what is raised goes on as there; its gradient is
    right, or a handler ran.
    """
    cells.names |= {"note": note, "PLAIN": PLAIN, "DEAF": DEAF}
    texts = {seed: of_groups(program(seed), seed) for seed in range(start, start + 50)}
    right = 0
    for seed, text in texts.items():
        if text is None:
            continue
        f = cells.run(text)["f"]
        for k in range(2):
            try:
                right += gives_what_python_gives(f, k)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, k = {k}\n{text}\n{error}") from None
    assert right > 6


def without_traces(notes):
    """What `__exit__` is given of a group that goes on from `except*` in the same frame has no traceback yet
    in Python, and has one in a pass.
    """
    return [what[:-1] if what[0] == "exit" else what for what in notes]


def gives_what_python_gives(f, k):
    """Whether there is a gradient, which is right: on every path y is a multiple of x."""
    TRACE.clear()
    try:
        wanted = f(2.0, k)
    except Exception as error:
        wanted = told(error)
    traced = list(TRACE)
    TRACE.clear()
    back = None
    try:
        found, back = rl.pullback(f, 2.0, k)
    except Exception as error:
        found = told(error)
    assert (found, without_traces(TRACE)) == (wanted, without_traces(traced))
    if back is None or not isinstance(found, float):
        return False
    try:
        x_bar, _ = back(1.0)
    except CatchBlockError:
        return False
    assert x_bar == pytest.approx(found / 2.0)
    return True


GROUP = ExceptionGroup("g", [ValueError(1), KeyError(2), ExceptionGroup("h", [ValueError(3), OSError(4)])])


def takes_shares(x):
    try:
        raise GROUP
    except* ValueError as share:
        note(told(share))
    except* (KeyError, OSError) as share:
        note(told(share))
    return x


def leaves_a_part(x):
    try:
        raise GROUP
    except* ValueError as share:
        note(told(share))
        raise
    except* KeyError as share:
        raise share
    except* IndexError:
        note("never")


def raises_another(x):
    try:
        raise GROUP
    except* ValueError as share:
        raise TypeError(len(share.exceptions)) from share
    except* OSError:
        try:
            raise KeyError
        except KeyError:
            note("inner")


def takes_one(x):
    try:
        raise ValueError("one")
    except* KeyError:
        note("never")
    except* ValueError as share:
        note(told(share))
        raise
    finally:
        note("finally")


def takes_no_class(x):
    try:
        raise GROUP
    except* 3:
        note("never")


def takes_groups(x):
    try:
        raise GROUP
    except* (ValueError, ExceptionGroup):
        note("never")


@pytest.mark.parametrize(
    "f", [takes_shares, leaves_a_part, raises_another, takes_one, takes_no_class, takes_groups]
)
def test_each_clause_takes_its_share_of_a_group(f):
    """And what is left, or raised meanwhile, goes on as in Python, in both modes."""
    assert gives_what_python_gives(lambda x, k: f(x), 0) in (True, False)
    TRACE.clear()
    try:
        wanted = f(2.0)
    except Exception as error:
        wanted = told(error)
    traced = list(TRACE)
    TRACE.clear()
    try:
        rl.pushforward(f, 2.0)(1.0)
    except Exception as error:
        assert told(error) == wanted
    assert TRACE == traced


def test_a_clause_that_ran_is_refused():
    """The value is there; a cotangent is refused at the first clause. Else nothing changes."""

    def program(x):
        try:
            y = x * x
            if x < 0:
                raise ValueError
        except* ValueError:
            y = -x
        return y

    assert rl.gradient(program, 3.0) == (6.0,)
    y, back = rl.pullback(program, -3.0)
    assert y == 3.0
    with pytest.raises(CatchBlockError, match="except\\* ValueError"):
        back(1.0)
    assert rl.pushforward(program, -3.0)(1.0) == -1.0


def carries_in_a_group(x):
    try:
        raise ExceptionGroup("g", [ValueError(x * x)])
    except* ValueError as share:
        y = share.exceptions[0].args[0]
    return y


def carries_in_a_group_that_is_caught(x):
    try:
        raise ExceptionGroup("g", [ValueError(x * x)])
    except ExceptionGroup as group:
        return group.exceptions[0].args[0]


def carries_in_a_list(x):
    try:
        raise ValueError([x * x])
    except ValueError as error:
        return error.args[0][0]


@pytest.mark.parametrize("f", [carries_in_a_group, carries_in_a_group_that_is_caught, carries_in_a_list])
def test_a_number_in_an_exception_is_not_lost(f):
    """Forward mode gave no derivative at all, where there is one: 2 x."""
    with pytest.raises(NotDifferentiableError, match="carries a number"):
        rl.pushforward(f, 3.0)(1.0)


def test_a_clause_never_sees_a_refusal():
    """Nor does it end up in a group."""

    def program(x):
        try:
            return np.apply_over_axes(np.sum, x, 0)
        except* Exception:
            note("caught")
        finally:
            note("finally")

    TRACE.clear()
    with pytest.raises(ForeignCallError):
        rl.gradient(program, 0.5)
    assert TRACE[-1:] == [("finally",)] and ("caught",) not in TRACE


# --- with ---


def test_exit_sees_the_exception():
    """Class, exception and traceback; once, from the inside out; what is raised goes on."""

    def program(x):
        with PLAIN, DEAF as deaf:
            note(deaf.name)
            raise ValueError("no")

    as_in_python(program, 1.0)


def test_what_with_cannot_take():
    """A value without the methods is Python's own TypeError, before anything is entered."""

    def program(x):
        with PLAIN, x:
            note("never")
        return x

    as_in_python(program, 1.0)


@pytest.mark.parametrize("ending", [True, False])
def test_a_refusal_leaves_every_block(ending):
    """A refusal of ours runs `finally` and `__exit__`, and goes on even where both would swallow it."""

    def program(x):
        for _ in range(2):
            try:
                with PLAIN, DEAF:
                    return np.apply_over_axes(np.sum, x, 0)
            except Exception:
                note("caught")
            else:
                note("else")
            finally:
                note("finally")
                break  # noqa: B012

    def returns(x):
        try:
            with DEAF:
                return np.apply_over_axes(np.sum, x, 0)
        finally:
            note("finally")

    TRACE.clear()
    with pytest.raises(ForeignCallError):
        rl.gradient(program if ending else returns, 0.5)
    left = [what[:2] for what in TRACE if what[0] != "enter"]
    assert left == [("exit", "deaf"), *([("exit", "plain")] if ending else []), ("finally",)]


def test_a_swallowed_exception_is_a_handler_that_ran():
    """What the block gave until then is the value; a cotangent that reaches it is refused at the `with`."""

    def program(x):
        y = x
        with DEAF:
            y = x * x
            raise KeyError
        return y

    y, back = rl.pullback(program, 3.0)
    assert y == 9.0
    with pytest.raises(CatchBlockError, match="with DEAF:"):
        back(1.0)


# --- finally ---


@pytest.mark.parametrize("jump", ["return x", "break", "continue"])
def test_a_conditional_jump_in_finally_is_refused(cells, jump):
    """With the place, and before anything runs."""
    body = "for i in [1]:\n    try:\n        note()\n    finally:\n        if x:\n"
    body += f"            {jump}\nreturn x"
    cells.names["note"] = note
    f = cells.run("def f(x):\n" + textwrap.indent(body, "    "))["f"]
    TRACE.clear()
    with pytest.raises(UnsupportedSyntaxError, match=f"conditional {jump.split()[0]} in finally") as caught:
        rl.gradient(f, 1.0)
    assert caught.value.place.line == 6 and not TRACE


# --- a break that is taken back: the loop goes on, and its `else` runs ---


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return True


class Raising:
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        raise KeyError(1)


def continued(x):
    y = x
    for i in range(3):
        try:
            y = y * x
            if i == 0:
                break
        finally:
            continue
    else:
        y = y + 7.0 * x
    return y


def continued_in_while(x):
    y, n = x, 0
    while n < 3:
        n += 1
        try:
            y = y * x
            break
        finally:
            continue
    else:
        y = y + 7.0 * x
    return y


def raised_in_finally(x):
    y = x
    for i in range(3):
        try:
            try:
                y = y * x
                if i == 0:
                    break
            finally:
                if i == 0:
                    raise KeyError(1)
        except KeyError:
            y = y + x
    else:
        y = y + 7.0 * x
    return y


def swallowed_on_leaving(x):
    y = x
    for i in range(3):
        with Swallowing():
            try:
                y = y * x
                if i == 0:
                    break
            finally:
                if i == 0:
                    raise KeyError(1)
    else:
        y = y + 7.0 * x
    return y


def raised_on_leaving(x):
    y = x
    for _ in range(2):
        try:
            with Raising():
                y = y * x
                break
        except KeyError:
            y = y + x
    else:
        y = y + 7.0 * x
    return y


def raised_as_a_group(x):
    y = x
    for _ in range(2):
        try:
            try:
                y = y * x
                break
            finally:
                raise KeyError(1)
        except* KeyError:
            y = y + x
    else:
        y = y + 7.0 * x
    return y


def taken_back_once(x):
    """The next one is not."""
    y = x
    for i in range(4):
        try:
            try:
                y = y * x
                break
            finally:
                if i < 2:
                    raise KeyError(1)
        except KeyError:
            y = y + x
    else:
        y = y + 7.0 * x
    return y


def of_the_inner_loop(x):
    y = x
    for _ in range(2):
        for i in range(2):
            try:
                if i == 0:
                    break
            finally:
                continue
        else:
            y = y * x
            break
    else:
        y = y + 7.0 * x
    return y


TAKEN_BACK = [
    *(continued, continued_in_while, raised_in_finally, swallowed_on_leaving, raised_on_leaving),
    *(raised_as_a_group, taken_back_once, of_the_inner_loop),
]


@pytest.mark.parametrize("f", TAKEN_BACK, ids=lambda f: f.__name__)
def test_a_break_that_is_taken_back_lets_the_else_run(f):
    wanted = (f(0.7 + 1e-5) - f(0.7 - 1e-5)) / 2e-5
    assert rl.pushforward(f, 0.7)(1.0) == pytest.approx(wanted, rel=1e-6)
    try:
        assert rl.gradient(f, 0.7)[0] == pytest.approx(wanted, rel=1e-6)
    except CatchBlockError:  # a handler ran, as it says
        assert f not in (continued, continued_in_while, of_the_inner_loop)


# --- match ---


class Pair:
    __match_args__ = ("left", "right")

    def __init__(self, left, right):
        self.left, self.right = left, right


class Sub(dict):
    def __missing__(self, key):
        note("missing", key)
        return 1.0


@pytest.mark.parametrize(
    "subject",
    [
        1,
        True,
        1.0,
        "ab",
        b"ab",
        None,
        [],
        [1],
        (1, 2),
        [1, [2, 3, 4]],
        range(3),
        {},
        {"a": 1},
        {"a": 1, "b": 2, "c": 3},
        Sub(b=2),
        Pair(1, 2),
        Pair(Pair(1, 5), 2),
        Pair("l", [0.5]),
        {1, 2},
    ],
    ids=lambda v: repr(v).partition(" at 0x")[0],
)
def test_match_takes_the_case_that_python_takes(subject):
    """Sequences, mappings, classes, alternatives, guards; names are bound when the whole pattern fits."""

    def program(x, subject):
        found = one = None
        match subject:
            case True | None:
                found = "single"
            case int(n) if note("guard", n) and n > 5:
                found = "large"
            case int() | float() as n:
                found = ("number", n)
            case "ab" | b"ab":
                found = "text"
            case [] | {"a": 1, "b": 2} if note("empty or not") and not subject:
                found = "empty"
            case [one, [two, *some, last]]:
                found = (one, two, some, last)
            case [one, *_] if note("one", one) and one == 0:
                found = "zero"
            case [1] | (1, _):
                found = "ones"
            case {"b": b, **rest}:
                found = (b, rest)
            case {"a": 2} | {"z": _}:
                found = "never"
            case Pair(Pair(one, 5), right=two) | Pair(left=(1 as one), right=two):
                found = (one, two)
            case Pair([*_]):
                found = "never"
            case Pair():
                found = "pair"
            case _:
                found = "nothing"
        note(str(found), str(one))
        return x * x

    back = as_in_python(program, 3.0, subject)
    assert back(1.0)[0] == 6.0


@pytest.mark.parametrize(
    "pattern",
    ["note()", "int(a, b)", "Pair(a, b, c)", "Odd(a)", "Odder(a)", "{'a': 1, KEYS.a: 2}", "nowhere.x"],
)
def test_wrong_patterns_raise_as_in_python(cells, pattern):
    """Too many parts, no class, bad `__match_args__`, a key twice."""
    subjects = {"Pair": "Pair(1, 2)", "Odd": "Odd()", "Odder": "Odder()", "{'a'": "{'a': 1, 'b': 2}"}
    subject = subjects.get(pattern.partition("(")[0].partition(":")[0], "5")
    cells.names |= {"Pair": Pair, "note": note, "KEYS": type("KEYS", (), {"a": "a"})}
    cells.names |= {"Odd": type("Odd", (), {"__match_args__": ["x"]})}
    cells.names |= {"Odder": type("Odder", (), {"__match_args__": (1,)})}
    text = (
        f"def f(x):\n    match {subject}:\n        case {pattern}:\n            return x\n    return 2 * x\n"
    )
    f = cells.run(text)["f"]
    with pytest.raises((TypeError, ValueError, NameError)) as wanted:
        f(1.0)
    with pytest.raises(type(wanted.value)) as found:
        rl.gradient(f, 1.0)
    assert str(found.value) == str(wanted.value)


def test_match_differentiates_into_objects_and_mappings():
    """Cotangents reach the parts that a pattern takes out, with None for the others."""

    def program(subject, x):
        match subject:
            case Pair(a, [b, *_]):
                return a * b * x
            case {"k": k, **rest}:
                return k * rest["q"] * x
            case (_, *some):
                return sum(some) * x

    pair_bar, x_bar = rl.gradient(program, Pair(2.0, [3.0, 4.0]), 5.0)
    assert (pair_bar.left, pair_bar.right, x_bar) == (15.0, [10.0, None], 6.0)
    d_bar, x_bar = rl.gradient(program, {"k": 2.0, "q": 3.0, "z": 4.0}, 5.0)
    assert (d_bar, x_bar) == ({"k": 15.0, "q": 10.0, "z": None}, 6.0)
    assert rl.gradient(program, [1.0, 2.0, 3.0], 5.0) == ([None, 5.0, 5.0], 5.0)


def pair_or_square(a):
    match a:
        case [first, second]:
            return first * first * second
        case np.ndarray(shape=(2,)):
            return (a * a).sum()


def last_with_the_rest(a):
    match a:
        case [first, *rest] if len(rest) > 1:
            return (first * rest[-1] + sum(rest)).sum()
        case _:
            return 3.0 * a.sum()


def nested_rows(a):
    match a:
        case [[p, q], [r, s], *_]:
            return p * q * r * s
        case _:
            return (a * a * a).sum()


@pytest.mark.parametrize("x", [np.array([1.0, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])])
@pytest.mark.parametrize("program", [pair_or_square, last_with_the_rest, nested_rows])
def test_an_array_takes_the_case_that_it_takes_in_python(program, x):
    """With NumPy 2.5 and later an array matches `[first, *rest]`, before only what asks for its class."""
    if program is pair_or_square and x.ndim == 2:
        x = x[0]

    expected = np.ravel(gradient_by_differences(program, x, 1e-5))
    np.testing.assert_allclose(np.ravel(rl.gradient(program, x)), expected, rtol=1e-7)
    forwards = [rl.pushforward(program, x)(one.reshape(x.shape)) for one in np.eye(x.size)]
    np.testing.assert_allclose(forwards, expected, rtol=1e-7)


def test_a_part_that_nobody_uses_may_be_taken_out():
    """An attribute of an object that varies is read, not handed out of sight."""

    def program(pair, x):
        match pair:
            case Pair(a, b):
                return a * x

    assert rl.gradient(program, Pair(2.0, 3.0), 5.0)[1] == 2.0


# --- import ---


def test_imports_bind_what_python_binds():
    """Modules, modules within modules, attributes, other names; the module may be new."""

    def program(x):
        import xml.dom.minidom
        import xml.etree as tree
        from collections import OrderedDict, abc
        from os import path as p

        note(xml.dom.minidom.__name__, tree.__name__, OrderedDict.__name__, abc.__name__, p.__name__)
        return x * x

    assert as_in_python(program, 3.0)(1.0) == (6.0,)


@pytest.mark.parametrize(
    "line",
    [
        "import no_such_module",
        "from math import nothing",
        "from os import nothing",
        "from . import y",
        "import os.no",
    ],
)
def test_failing_imports_raise_as_in_python(cells, line):
    """Class and text of the error."""
    cells.names |= {"__package__": None, "__spec__": None}
    f = cells.run(f"def f(x):\n    {line}\n    return x\n")["f"]
    with pytest.raises(ImportError) as wanted:
        f(1.0)
    with pytest.raises(type(wanted.value)) as found:
        rl.gradient(f, 1.0)
    assert str(found.value) == str(wanted.value)


def test_an_import_that_is_not_reached_does_not_happen():
    """Nothing is imported when the pass is made."""

    def program(x):
        if x > 100:
            import no_such_module

            return no_such_module.f(x)
        return x * x

    assert rl.gradient(program, 3.0) == (6.0,)


def test_a_module_imported_inside_is_differentiated_by_rule():
    """`import math` inside a function is as good as at the top of the file."""

    def program(x):
        import math

        return math.sin(x)

    assert rl.gradient(program, 0.0) == (1.0,)
    assert "find" not in rl.adjoint_source(program, 0.0)


def test_what_an_import_binds_is_looked_up_anew(monkeypatch):
    """A function put into a module in place of another one counts from then on."""
    import math

    def program(x):
        from math import sin

        return sin(x) * x

    assert rl.gradient(program, 0.0) == (0.0,)
    monkeypatch.setattr(math, "sin", math.cos)
    assert rl.gradient(program, 0.0) == (1.0,)


def test_types_outlive_a_block():
    """What a `with` or `try` gives is known to be a real number, so the loop after it is written out."""

    def program(x):
        with np.errstate(all="ignore"):
            y = x * x
        try:
            z = y * x
        finally:
            y = y + 1.0
        for _ in range(3):
            z = z * y
        return z

    assert "find" not in rl.adjoint_source(program, 2.0)
    assert rl.gradient(program, 2.0)[0] == pytest.approx(3 * 4 * 125 + 8 * 3 * 25 * 4)


def test_no_flag_where_every_handler_raises():
    """After such a `try` there is nothing to refuse, and nothing in the pass that asks."""

    def program(x):
        try:
            y = x * x
        except ValueError as error:
            raise KeyError from error
        finally:
            note("finally")
        return y * x

    assert "caught" not in rl.adjoint_source(program, 2.0)
    assert as_in_python(program, 2.0)(1.0) == (12.0,)
