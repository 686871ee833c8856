"""Corpus: for, while, break, continue, nested and early-returning loops."""

import numpy as np
from corpus.harness import case

A = np.array([0.5, -1.5, 2.0, 3.0])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])


@case((1.1, 5), (0.9, 0), (0.9, 1), wrt=(0,), inert=(1,))
def power_by_range(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y + x


@case((1.1,), (-0.5,))
def loop_index_used(x):
    s = 0.0
    for i in range(1, 8, 2):
        s += x**i / i
    return s


@case((1.1,))
def range_backwards(x):
    s = x
    for i in range(4, -1, -1):
        s = s * x + i
    return s


@case((A,), (A[:1],))
def loop_over_array(x):
    s = 0.0
    for v in x:
        s += v * v * v
    return s


@case((M,))
def loop_over_rows(m):
    s = 0.0
    for row in m:
        s = s + row.sum() * row[0]
    return s


@case(([1.0, 2.0, 3.0],), ([0.5],))
def loop_over_list(xs):
    p = 1.0
    for v in xs:
        p *= v
    return p


@case((A, A[::-1].copy()))
def loop_over_zip(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s += a * b * b
    return s


@case((A,))
def loop_over_enumerate(x):
    s = 0.0
    for i, v in enumerate(x):
        s += (i + 1) * v * v
    return s


@case((A, A * 2.0))
def enumerate_of_zip(x, y):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, y), start=1):
        s += i * a / b
    return s


@case((A,))
def loop_by_index(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i] * (i + 1)
    return s


@case((A,))
def neighbours(x):
    s = 0.0
    for i in range(1, len(x)):
        s += (x[i] - x[i - 1]) ** 2
    return s


@case((M,))
def nested_loops(m):
    s = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            s += m[i, j] ** 2 * (i + j + 1)
    return s


@case((1.3,))
def triangular_loops(x):
    s = 0.0
    for i in range(4):
        p = 1.0
        for j in range(i):
            p = p * x + j
        s += p
    return s


@case((3.0,), (20.0,))
def while_halving(x):
    n = 0
    while x > 1.0:
        x = x / 2.0
        n += 1
    return x * n + x


@case((2.0,), (10.0,))
def newton_sqrt(x):
    y = x
    while abs(y * y - x) > 1e-10:
        y = 0.5 * (y + x / y)
    return y


@case((0.5,))
def while_true_break(x):
    s = 0.0
    p = 1.0
    while True:
        s += p
        p *= x
        if p < 0.3:
            break
    return s


@case((A,))
def for_break(x):
    s = 0.0
    for v in x:
        if v > 1.9:
            break
        s += v * v
    return s + x[3]


@case((A,))
def for_continue(x):
    s = 0.0
    for v in x:
        if v < 0:
            continue
        s += v * v
    return s


@case((A,))
def break_and_continue(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            continue
        s = s * x[i] + x[i]
        if s > 1.2:
            break
        s = s + 0.1
    return s


@case((A, 1.0), (A, 10.0), wrt=(0,))
def return_from_loop(x, bound):
    s = 0.0
    for v in x:
        s += v * v
        if s > bound:
            return s * v
    return s


@case((M, 3.0), (M, 300.0), wrt=(0,))
def return_from_nested_loop(m, bound):
    s = 0.0
    for i in range(2):
        for j in range(3):
            s += m[i, j] ** 2
            if s > bound:
                return s * m[i, j]
        s = s * 0.5
    return s


@case((M,))
def break_inner_only(m):
    s = 0.0
    for row in m:
        for v in row:
            if v < 0:
                break
            s += v * v
        s *= 1.5
    return s


@case((0.3, 3.7, 8), (0.3, 2.8, 20))
def logistic_map(x, r, n):
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


@case((1.0,), (0.5,))
def two_carried(x):
    a, b = x, 1.0
    for _ in range(5):
        a, b = a * b, a + b * 0.5
    return a + b


@case((1.2,))
def variable_of_last_iteration(x):
    for i in range(4):
        last = x * i
    return last * x


@case((1.2,))
def loop_variable_after_loop(x):
    for i in range(5):
        x = x * 1.1
    return x * i


@case((A,))
def loop_rebinds_iterable(x):
    for v in x:
        x = x * 1.5 + v
    return x.sum()


@case((1.5,))
def nested_while(x):
    s, i = 0.0, 0
    while i < 3:
        j = 0
        while j <= i:
            s += x ** (i + j)
            j += 1
        i += 1
    return s


@case((1.3,))
def carried_list(x):
    state = [x, x * x]
    for _ in range(3):
        state = [state[1], state[0] * state[1]]
    return state[0] + state[1]


@case((A,))
def running_maximum(x):
    best = x[0]
    for v in x:
        if v > best:
            best = v
    return best * best


@case((1.4,))
def branches_in_loop(x):
    s = 0.0
    for i in range(6):
        if i % 3 == 0:
            s += x
        elif i % 3 == 1:
            s *= x
        else:
            s = s - x * i
    return s


@case((2.0,))
def loop_over_tuple_of_numbers(x):
    s = 0.0
    for k in (1.0, 2.5, -3.0):
        s += k * x**2
    return s


@case((np.array([1.0, 2.0, 3.0]),))
def loop_over_reversed(x):
    s = 0.0
    for v in reversed(x):
        s = s * 0.5 + v * v
    return s


@case((np.array([1.0, 2.0, 3.0]),))
def array_accumulator(x):
    total = np.zeros(3)
    for k in range(3):
        total = total + x * k
    return (total * total).sum()


@case((A, 1.0), (A, -1.0))
def break_in_a_loop_under_a_branch(x, y):
    s = y
    if y > 0:
        for v in x:
            if v > 1.9:
                break
            s += v * v
    else:
        i = 0
        while i < 4:
            i += 1
            if i == 2:
                continue
            s = s + x[i - 1] * y
    return s * y


@case((A,))
def bare_break(x):
    for v in x:
        y = v * v
        break
    return y + x[1]


@case((1.3,))
def loops_after_loops(x):
    s = 0.0
    for i in range(3):
        if i == 1:
            continue
        for j in range(3):
            if j == 2:
                break
            s += x ** (i + j)
        for j in range(2):
            s *= x
    return s


@case((A,))
def return_under_a_branch_in_a_loop(x):
    s = 0.0
    for v in x:
        if v > 0:
            if s > 0.1:
                return s * v
            else:
                s += v
        else:
            s = s * 2.0
    return -s
