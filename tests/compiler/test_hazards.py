"""Programs that are easy to get wrong: the right gradient, or an error of ours; never a wrong number."""

import copy
import functools
import gc
import linecache
import math
import sys
import threading
import tracemalloc

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import (
    CatchBlockError,
    MutationError,
    NotDifferentiableError,
    RuleLabError,
    UnsupportedSyntaxError,
)

V = np.array([1.0, 2.0, 3.0])
M = np.array([[1.0, 2.0], [3.0, 4.0]])


def moved(x, step, number):
    """The argument with its entry `number` moved by `step`; arrays, lists of numbers and numbers."""
    x = copy.deepcopy(x)
    if isinstance(x, np.ndarray):
        x.ravel()[number] += step
        return x
    if isinstance(x, list):
        x[number] += step
        return x
    return x + step


def flat(x, like):
    return np.zeros(np.size(like)) if x is None else np.ravel(np.asarray(x, float))


def right(f, *args, tolerance=1e-6, step=1e-6):
    """The value is that of `f`, the gradient that of central differences."""
    value, gradient = rl.withgradient(f, *copy.deepcopy(args))
    plain = f(*copy.deepcopy(args))
    assert type(value) is type(plain) and value == plain
    for slot, x in enumerate(args):
        found = flat(gradient[slot], x)
        for number in range(np.size(x)):
            up, down = ([*args[:slot], moved(x, s, number), *args[slot + 1 :]] for s in (step, -step))
            slope = (f(*copy.deepcopy(up)) - f(*copy.deepcopy(down))) / (2 * step)
            assert found[number] == pytest.approx(float(slope), rel=tolerance, abs=tolerance), (slot, number)


def refused(kind, f, *args):
    """The error, of this class, that stands in the way of a wrong number."""
    with pytest.raises(kind) as caught:
        rl.gradient(f, *copy.deepcopy(args))
    assert isinstance(caught.value, RuleLabError)
    return caught.value


# --- lists that grow ---


def test_list_that_grows_after_being_read():
    """What was computed from a list before it grew depends on the items that it had then."""

    def program(x):
        items, s = [x], 0.0
        for i in range(3):
            s = s + np.sum(np.array(items) ** 2) + max(items) * min(items) + sum(items)
            items.append(x * i - 1)
        return s

    right(program, 2.0)


def test_stacked_arrays_that_grow_later():
    """np.stack and its kind may read a list of arrays that grows afterwards."""

    def program(x):
        rows, s = [np.ones(2) * x], 0.0
        for i in range(3):
            s = s + np.sum(np.stack(rows) ** 2) + np.sum(np.concatenate(rows)) + np.sum(np.vstack(rows) ** 3)
            rows.append(np.ones(2) * x * i)
        return s

    right(program, 2.0)


def test_loop_over_a_list_that_grows_later():
    """A loop over a list, whole or left early, and then an append, in turn."""

    def program(x):
        items, s = [x], 0.0
        for i in range(3):
            for v in items:
                s = s + v * v
                if s > 1000:
                    break
            s = s + sum([v * i for v in items])
            items.append(x * i + 0.1 * s)
        return s * items[-1]

    right(program, 2.0)


def test_list_that_grows_while_a_loop_runs_over_it():
    """Appending to the list of the loop makes the loop longer, as Python has it."""

    def program(x):
        items, s = [x], 0.0
        for v in items:
            if len(items) < 4:
                items.append(v * 2.0)
            s = s + v
        return s

    right(program, 2.0)


def test_max_of_two_lists_is_one_of_them():
    """max(a, b) of lists is a or b itself, so that an append to it shows."""

    def program(x):
        a, b = [x], [2.0 * x - 100]
        largest = max(a, b)
        a.append(x * x)
        return largest[1] * largest[0]

    right(program, 2.0)


def test_list_under_two_names():
    """An append is seen under every other name of the list, in the list, tuple or function that holds it."""

    def alias(x):
        a = [x]
        b = a
        b.append(x)
        return a[1]

    def inside(x):
        row = [x]
        rows = [row, row]
        row.append(x)
        return rows[0][1]

    def captured(x):
        a = [x]
        f = lambda: a[0]  # noqa: E731
        a.append(x)
        return f() * a[1]

    def chosen(x):
        a, b = [x], [2 * x]
        c = a if x > 1 else b
        c.append(x)
        return sum(a)

    for program in (alias, inside, captured, chosen):
        right(program, 2.0)


def test_rows_made_anew():
    """A row that is made anew in each turn may grow and be kept."""

    def program(x):
        rows = []
        for i in range(3):
            row = []
            for j in range(2):
                row.append(x * i + j)
            rows.append(row)
        return sum([sum(r) * r[0] for r in rows])

    right(program, 3.0)


def test_list_plus_equals():
    """`l += [..]` works on a list of one's own; `l += (..)` with something active in it is refused where it
    is not certain that `l` is one.
    """

    def program(x):
        items = []
        for i in range(3):
            items += [x * i, x]
        return sum(items) * items[2]

    def with_tuple(x, y):
        items = [x]
        items += (y, x)
        return items[0] * items[1]

    def perhaps_with_tuple(x, y):
        if y > 0:
            items = [x]
        items += (y, x)
        return items[0] * items[1]

    def with_array(x, y):
        items = [x, y]
        items += np.array([1.0, 2.0])
        return items[0] * len(items)

    right(program, 3.0)
    right(with_tuple, 3.0, 4.0)
    refused(NotDifferentiableError, perhaps_with_tuple, 3.0, 4.0)
    right(with_array, 3.0, 4.0)


# --- arrays that change ---


def test_own_array_plus_equals():
    """`s += v` on an array of one's own is a rebinding, whatever read it before."""

    def program(x):
        s, t = np.zeros(3), 0.0
        for i in range(3):
            t = t + np.sum(s * x)
            s += x * i
        s += s
        s *= s
        return np.sum(s) + t

    right(program, V)


def test_change_that_another_name_sees():
    """A change in place that a view, a row, an alias or a container would show is refused."""

    def view(x):
        y = x * 2
        v = y[:2]
        v += 1.0
        return np.sum(y * x)

    def behind_a_view(x):
        y = x * 2
        v = y.reshape(3, 1)
        y += 1.0
        return np.sum(v)

    def in_a_list(x):
        s, kept = np.zeros(3), []
        for _ in range(3):
            s += x
            kept.append(s)
        return np.sum(kept[0] * kept[1])

    def not_copied(x):
        y = x * 2
        z = np.array(y, copy=False)
        z += 1.0
        return np.sum(y * z)

    def first_of(x):
        s = x * 2
        t = sum([s])
        s += 1.0
        return np.sum(t * s)

    def row_of(x):
        m = np.outer(x, x)
        row = max(m, key=len)
        m += 1.0
        return np.sum(row)

    for program in (view, behind_a_view, in_a_list, not_copied, first_of, row_of):
        refused(MutationError, program, V)


def test_positional_out():
    """The third argument of np.add is written to, as out= is: refused."""

    def fresh(x):
        c = np.zeros(3)
        np.add(x, 1.0, c)
        return np.sum(c * x)

    def active(x):
        y = x * 2
        np.maximum(y, 3.0, y)
        return np.sum(y * x)

    def constant(x):
        w = np.ones(3)
        y = x * w
        np.add(w, 5.0, w)
        return np.sum(y * w)

    def total(x):
        w = np.zeros(3)
        y = w * x
        np.cumsum(np.ones(3), 0, None, w)
        return np.sum(y)

    for program in (fresh, active, constant, total):
        refused(MutationError, program, V)


def test_constant_writes():
    """Items of a constant array may be set before anything active read it, and not after."""

    def before(x):
        w = np.zeros(3)
        w[1] = 2.0
        return np.sum(w * x)

    def after(x):
        w = np.zeros(3)
        y = w * x
        w[1] = 2.0
        return np.sum(y * x)

    def in_turn(x):
        w, s = np.zeros(3), 0.0
        for i in range(3):
            w[i] = 2.0
            s = s + np.sum(w * x)
        return s

    right(before, V)
    refused(MutationError, after, V)
    refused(MutationError, in_turn, V)


class Counter:
    def __init__(self):
        self.n = 0

    def __iadd__(self, other):
        self.n += other
        return self

    def __add__(self, other):
        made = Counter()
        made.n = self.n + 100 * other
        return made


def test_object_with_its_own_plus_equals():
    """`c += 2` is not read as `c + 2` where the class says otherwise."""

    def program(x):
        c = Counter()
        c += 2
        return x * c.n

    right(program, 3.0)


# --- matrix products and indices ---


def test_matmul_called_by_name():
    """np.matmul(A, v) has fewer axes than A: its items are numbers with a gradient."""

    def indexed(a, v):
        r = np.matmul(a, v)
        return r[0] * r[1]

    def looped(a, v):
        r, s = np.matmul(a, v), 0.0
        for i in range(2):
            s += r[i] ** 2
        return s

    right(indexed, M, np.array([0.5, 0.7]))
    right(looped, M, np.array([0.5, 0.7]))
    right(lambda x: np.matmul(x, x) * 2.0, V)


WINDOW = slice(0, 2)


def test_global_slice_that_becomes_an_index(monkeypatch):
    """A global that was a slice and is a number now: the pass is made anew."""

    def program(x):
        return np.sum(x[WINDOW] * 2.0)

    assert np.array_equal(rl.gradient(program, V)[0], [2.0, 2.0, 0.0])
    monkeypatch.setitem(program.__globals__, "WINDOW", 1)
    assert np.array_equal(rl.gradient(program, V)[0], [0.0, 2.0, 0.0])


# --- loops and jumps ---


def test_while_test_reads_what_a_loop_may_not_have_bound():
    """A variable bound by a loop, then read in the head of a while."""

    def program(x, n):
        for _ in range(int(n)):
            y = x * 1.0
        while y < 10:
            y = y * 2
        return y

    assert rl.gradient(program, 3.0, 2)[0] == 4.0
    with pytest.raises(UnboundLocalError, match="'y'"):
        rl.gradient(program, 3.0, 0)


def test_jumps_at_every_depth():
    """break, continue and return in nested loops."""

    def program(x):
        s = 0.0
        for i in range(5):
            for j in range(5):
                if j == 3:
                    break
                if (i + j) % 2:
                    continue
                for k in range(3):
                    if k == 2:
                        break
                    if i == 4 and k == 1:
                        return s * x[0]
                    s += x[j] * x[k] * i
                s *= 1.1
            if i == 1:
                continue
            s += x[0]
        return s

    right(program, V, tolerance=1e-5)


def test_many_early_returns():
    """A function with more early returns than Python reads levels of indentation."""
    lines = [f"    if x > {200 - k}:\n        return x * {k}.0\n" for k in range(150)]
    ladder = defined("def ladder(x):\n" + "".join(lines) + "    return x * x\n", "ladder")
    assert [rl.gradient(ladder, x)[0] for x in (3.0, 60.5, 180.5, 300.0)] == [6.0, 140.0, 20.0, 0.0]


def test_many_jumps_in_a_loop():
    """A loop body with a long ladder of continue and break."""
    rung = "        if i == {0}:\n            s += x * {0}\n            continue\n"
    body = "".join(rung.format(k) for k in range(120))
    text = f"def ladder(x):\n    s = 0.0\n    for i in range(200):\n{body}"
    text += "        if i > 130:\n            break\n        s += x * x\n    return s\n"
    right(defined(text, "ladder"), 3.0)


def test_three_hundred_statements():
    """A long straight function."""
    middle = "".join(f"    a = a * 1.01 + x * {k}.0\n" for k in range(300))
    right(defined(f"def long(x):\n    a = x\n{middle}    return a\n", "long"), 1.5)


def defined(text, name):
    """A function from a text, as a cell defines it."""
    filename = f"<hazard {name} {len(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"math": math, "np": np}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def test_swaps_and_loop_variables():
    """Variables that change places, and loop variables used after the loop."""

    def program(x):
        a, b, c = x, 1.0, x * x
        for i in range(5):
            a, b, c = c, a, b * x
            unused = a * i  # noqa: F841
        return a * b + c * i

    right(program, 1.3)


def test_variable_of_many_types():
    """A variable that is a number, then an array, then a list, then a number again."""

    def program(x):
        y = x
        for i in range(3):
            if i == 0:
                y = np.array([y, x])
            elif i == 1:
                y = [y[0], y[1] * x]
            else:
                y = y[0] * y[1]
        return y

    right(program, 2.0)


# --- try and except ---


def test_value_that_only_the_handler_gives():
    """A handler that ran and gave an active value: refused, not None."""

    def program(x):
        try:
            int("zz")
            y = 2.0
        except ValueError:
            y = x
        return y

    refused(CatchBlockError, program, 3.0)


def risky(v):
    if v > 3:
        raise ValueError("big")
    return v * v


def test_try_inside_and_around_loops():
    """Nothing thrown: right. Thrown: refused where the handler decides, right where it does not."""

    def inside(x):
        s = 0.0
        for i in range(3):
            try:
                if i == 2:
                    break
                s = s + risky(x[i] * 0.5)
                continue
            except ValueError:
                s = s - 1.0
        return s

    def around(x):
        s = 0.0
        try:
            for i in range(2):
                try:
                    s += risky(x[i] * 0.5) * x[i]
                except KeyError:
                    return s
        except ValueError:
            s = 0.0
        return s

    def only_a_flag(x):
        good = True
        try:
            risky(x[2] * 10)
        except ValueError:
            good = False
        return x[0] if good else x[0] * x[0]

    right(inside, V)
    right(around, V)
    right(only_a_flag, V)
    refused(CatchBlockError, inside, V * 10)


def test_error_raised_again():
    """What the function raises, raised again or from another, is its own error."""

    def program(x):
        try:
            return risky(x)
        except ValueError as error:
            raise KeyError(str(error)) from error

    with pytest.raises(KeyError, match="big"):
        rl.gradient(program, 5.0)


# --- functions that hold variables ---


def identity(v):
    return v


def test_function_kept_from_an_inner_loop():
    """A lambda of the inner loop holds a variable of the outer one, and sees it change."""

    def program(x):
        kept = []
        for i in range(3):
            a = x * i
            for _ in range(2):
                kept.append(lambda: a)  # noqa: B023
        return sum([f() for f in kept])

    right(program, 3.0)


def test_function_kept_by_way_of_a_call():
    """A lambda that a call hands back sees its variable change, like one that is only called."""

    def kept(x):
        functions = []
        for i in range(3):
            f = identity(lambda: x * i)  # noqa: B023
            functions.append(f)
        return sum([f() for f in functions])

    def called(x):
        s = 0.0
        for i in range(3):
            s = s + apply(lambda v: v * i * x, 2.0)  # noqa: B023
        return s

    right(kept, 3.0)
    right(called, 3.0)


def apply(f, v):
    return f(v) * f(v)


def test_function_made_in_one_turn_only():
    """A def under an if in a loop is called in later turns, when its variable has changed."""

    def program(x):
        s = 0.0
        for i in range(3):
            a = x * i
            if i == 0:

                def f():
                    return a  # noqa: B023

            s += f()
        return s

    right(program, 3.0)


def test_function_whose_own_name_is_given_away():
    """A recursive function calls what its name stands for when it is called."""

    def program(x):
        def product(n):
            return x if n == 0 else n * product(n - 1)

        first = product
        product = lambda n: 1.0  # noqa: E731
        return first(3)

    def wrapped(x):
        p = lambda n: x  # noqa: E731
        p = identity(lambda n: x * p(n - 1) if n else 1.0)
        return p(3)

    right(program, 3.0)
    right(wrapped, 3.0)


def test_functions_that_call_themselves():
    """Recursion of inner functions, by def and by lambda."""

    def program(x):
        power = lambda n: 1.0 if n == 0 else x * power(n - 1)  # noqa: E731

        def fib(n):
            return x if n < 2 else fib(n - 1) + fib(n - 2) * x

        return power(3) + fib(5)

    right(program, 1.5)


def test_functions_in_lists_and_in_functions():
    """Closures returned, kept in lists, and three levels deep."""

    def program(x):
        def outer(a):
            def inner(b):
                def innermost(c):
                    return a * b * c * x

                return innermost(b)

            return inner(a) * 0.1

        def adder(a):
            return lambda b: a + b * x

        functions = [math.sin, adder(x * 2), outer, lambda v, k=3: v * k * x]
        s = 0.0
        for f in functions:
            s += f(x)
        return s

    right(program, 1.3)


def test_default_values_of_inner_functions():
    """A default value is part of the function: its gradient arrives, positional or keyword-only."""

    def program(x):
        f = lambda a, b=x * 2: a * b  # noqa: E731

        def g(a, *, c=x * x, d=2.0):
            return a * c * d * x

        return f(x) + f(1.0, x) + g(x) + g(x, d=x) + g(a=2.0, c=x)

    def in_turn(x):
        functions = [lambda v, k=x * k: v * k for k in range(3)]
        return sum([f(x) for f in functions])

    right(program, 1.3)
    right(in_turn, 1.3)


# --- names ---


class Private:
    __scale = 3.0

    def __init__(self):
        self.__offset = 2.0

    def loss(self, x):
        return self.__offset * x * x * self.__scale


class Child(Private):
    def loss(self, x):
        return super().loss(x) * 2


def test_private_names_of_a_class():
    """`self.__x` inside a class is `self._Class__x`."""
    private = Private()
    right(lambda x: private.loss(x), 3.0)


def test_calls_that_read_the_frame():
    """eval, exec, locals() and vars() look at their caller's variables: refused; super() is what it is."""
    child = Child()
    right(lambda x: child.loss(x), 3.0)

    def with_eval(x):
        return eval("x * x")

    def with_locals(x):
        return locals()["x"] * 2

    def with_vars(x):
        return vars()["x"] * 2

    for program in (with_eval, with_locals, with_vars):
        refused(UnsupportedSyntaxError, program, 3.0)


def test_names_that_we_use_too():
    """A user may call variables as the generated code calls its own."""

    def program(x, x_bar):
        tape = x
        back = tape * x_bar
        find = back * x
        add = find + 1
        ZERO = add * x
        NO = ZERO + x
        value = real = parts = NO * 2
        x_1 = t_1 = parts * x
        buffer = factory = function = _ = size = t_1
        for tape_1 in range(2):
            _ = _ * x + tape_1
            caught = [_ for bound in range(2)]
            caught.append(size)
            unpack, held, items = caught
        return _ + unpack * held * items + buffer * factory * function + value * real * x_1

    right(program, 1.1, 0.7, tolerance=1e-5)


# --- numbers ---


def test_division_by_zero():
    """Python's numbers raise, NumPy's divide; the reverse sweep does as the primal did."""
    with pytest.raises(ZeroDivisionError):
        rl.gradient(lambda x: x / 0.0, 2.0)

    def program(x, y):
        if x > 1.0:
            x = x * np.float64(1.0)
        return x / y

    with np.errstate(divide="ignore"):
        assert rl.gradient(lambda x: x / 0.0, np.float64(2.0)) == (np.inf,)
        assert rl.gradient(lambda x, y: x / y, np.float64(2.0), 0.0) == (np.inf, -np.inf)
        assert rl.gradient(lambda x, y: x / y, np.float64(2.0), np.float64(0.0))[0] == np.inf
        assert rl.gradient(lambda x: x / np.float64(0.0), 2.0) == (np.inf,)
        assert rl.gradient(program, 2.0, np.float64(0.0))[0] == np.inf
        assert rl.gradient(lambda x, n: x / n, np.float64(2.0), 0)[0] == np.inf
        assert rl.gradient(lambda x: x[0] / (len(x) - 1), np.ones(1))[0][0] == np.inf


def test_powers():
    """Negative, zero, whole and broken exponents; no overflow in the derivative alone."""
    right(lambda x, n: x**n + x**0 + x**1 + x**-2 + x**0.5 + 2.0**-x, 2.0, 3.0)
    right(lambda x: x**3 + x**-3 + x**2, -2.0)
    right(lambda x: abs(x ** (1 / 3)), -8.0)
    right(lambda x: np.sum(x**3 + 3**x + x**x + x**-1.0), V)
    assert rl.gradient(lambda x: x**2 + x**1 + x**0, 0.0) == (1.0,)
    assert rl.gradient(lambda x: x**-1, 1e-200) == (-np.inf,)


def test_truth_of_an_array():
    """`if x > 1` of an array is Python's own error."""
    with pytest.raises(ValueError, match="ambiguous"):
        rl.gradient(lambda x: x[0] if x > 1 else 0.0, V)


def test_and_or_chains():
    """Values of `and`, `or`, conditional expressions and chained comparisons."""

    def program(x, y):
        return (x and y * 2 + x) + (0.0 or x * x) + (x or y) + (x if 0 < x < 1 < 5 or y > 3 else y * y)

    right(program, 2.0, 1.5)


# --- objects and arguments ---


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return self.w * x


def test_object_that_can_be_called():
    """A callable object is a struct like any other: its fields get their gradient."""
    layer_bar, x_bar = rl.gradient(lambda m, x: m(x) * m.w, Layer(3.0), 2.0)
    assert layer_bar.w == 12.0 and x_bar == 9.0


def test_same_array_twice():
    """One cotangent per position, sharing memory with nothing."""
    first, second = rl.gradient(lambda x, z: np.sum(x + z), V, V)
    assert np.array_equal(first, np.ones(3)) and not np.shares_memory(first, second)
    inside = rl.gradient(lambda t: np.sum(t["a"] + t["b"][0]), {"a": V, "b": [V]})[0]
    assert not np.shares_memory(inside["a"], inside["b"][0])


def test_argnums_of_another_kind():
    """argnums that are no numbers are an error of ours."""
    for argnums in (1.5, "a", [0.0], object()):
        with pytest.raises(RuleLabError, match="argnums"):
            rl.gradient(lambda a: a, 2.0, argnums=argnums)


def test_arrays_of_other_classes():
    """Masked arrays and matrices mean other things by the same operators: refused at the door."""
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    matrix = np.asmatrix(M)
    for x in (masked, matrix):
        with pytest.raises(NotDifferentiableError, match=type(x).__name__):
            rl.gradient(lambda z: np.sum(z * z), x)


# --- depth, threads, leaks ---


def descend(x, n):
    if n == 0:
        return x
    return descend(x, n - 1) * 1.0001


def deepest(f):
    low, high = 10, 3000
    while high - low > 5:
        middle = (low + high) // 2
        try:
            f(middle)
            low = middle
        except RecursionError:
            high = middle
    return low


def test_recursion_goes_nearly_as_deep():
    """A gradient reaches nine tenths of the depth of the recursive function; then RecursionError."""
    assert deepest(lambda n: rl.gradient(descend, 2.0, n)) >= 0.9 * deepest(lambda n: descend(2.0, n))


def series(x, n):
    s = 0.0
    for i in range(n):
        s = s + x**i * math.sin(x * i)
    return s


def test_threads():
    """Eight threads that differentiate the same functions, and redefine others, get the right numbers."""
    wanted = rl.gradient(series, 1.3, 6)[0]
    wrong = []

    def work():
        for number in range(40):
            if rl.gradient(series, 1.3, 6)[0] != wanted:
                wrong.append("shared")
            if rl.gradient(lambda x: series(x, 6) * 1.0, 1.3)[0] != wanted:
                wrong.append("own")
            if number % 20 == 0:
                rl.refresh()

    threads = [threading.Thread(target=work) for _ in range(8)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


def test_redefinition_leaks_nothing():
    """A thousand functions that each hold 100 kB leave nothing behind."""

    def once(number):
        big = np.ones(12500)

        def held(x):
            return x * big[0] * number

        assert rl.gradient(held, 2.0)[0] == number

    for number in range(20):
        once(number)
    gc.collect()
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    for number in range(1000):
        once(number)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 1_000_000


@pytest.mark.parametrize("times", [100, pytest.param(1000, marks=pytest.mark.campaign)])
def test_cells_run_again_leak_nothing(times):
    """A cell that is run again and again in one namespace leaves one function behind."""
    namespace = {"np": np}

    def once(number):
        text = f"big = np.ones(12500)\ndef cell(x):\n    return x * {number}.0 * big[0]\n"
        filename = f"<hazard cell {number % 10}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        exec(compile(text, filename, "exec"), namespace)
        assert rl.gradient(namespace["cell"], 2.0)[0] == number

    for number in range(20):
        once(number)
    gc.collect()
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    for number in range(times):
        once(number)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 1_000_000


def test_wrapped_and_cached_functions():
    """A wrapped function is its wrapper; a cached one the function behind the cache."""

    @functools.wraps(series)
    def wrapper(x):
        return series(x, 3) * 3

    @functools.lru_cache
    def cached(x):
        return x * x

    right(wrapper, 1.2)
    right(lambda x: cached(x) * 2, 2.0)
    assert cached.cache_info().misses == cached.cache_info().currsize  # of the primal alone
