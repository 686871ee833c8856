"""Functions and rules that want all time or all memory, and what may be said of each."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np

from rulelab.tangents.zeros import NoTangent

NOTHING = NoTangent()


def rule_from(f, *cotangents):
    def rule(*xs):
        y = f(*xs)
        return y, lambda y_bar: (NOTHING, *(c(y_bar, y, *xs) for c in cotangents))

    return rule


def _tower(x):
    return x**x**x**x**x**x


def _tower_of_constants(x):
    return x * 9**9**9


def _factorial(x):
    return x * math.factorial(10**7)


def _float_of_factorial(x):
    return x / float(math.factorial(10**4) // math.factorial(10**4 - 1))


def _power_of_sum(x, y):
    return (x + y + 1.0) ** 200


def _powers_of_sums(x, y):
    return ((x + y + 1) ** 200 - (x - y + 2) ** 200) / (x * y + 3) ** 200


def _nested(x):
    for _ in range(400):
        x = math.sin(x)
    return x


def _deep_quotients(x):
    y = x
    for _ in range(200):
        y = 1 / (1 + y * y)
    return y


def _swell(x):
    for _ in range(60):
        x = x * x + 0.1 - x
    return x


def _product_of_sums(x):
    y = 1.0
    for k in range(300):
        y = y * (x + k + math.exp(x / (k + 1))) / (k + 1 + x * x)
    return y


def _huge_loop(x):
    for _ in range(10**9):
        x = x + 0.0
    return x


def _huge_int(x):
    return x * (7 ** (10**7) % 5)


def _huge_exponent(x):
    return x ** (10**6)


def _recursive(x):
    return _recursive(x) + 1


def _mutual(x):
    return [_mutual_too(x)][0]


def _mutual_too(x):
    return _mutual(x) * 2


def _memory_of_array(x):
    return x * np.zeros(10**10).size


def _memory_of_list(x):
    kept = []
    while True:
        kept.append(bytearray(10**7))


def _memory_of_text(x):
    return x * len("a" * 10**11)


def _for_ever(x):
    while True:
        pass


def _for_ever_whatever_comes(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


def _asleep(x):
    time.sleep(3600)
    return x


def _deaf(x):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)


def _in_c(x):
    return x * sum(range(10**12))


def _in_a_thread(x):
    thread = threading.Thread(target=_for_ever, args=(x,))
    thread.start()
    thread.join()
    return x


def _in_another_process(x):
    subprocess.run([sys.executable, "-c", "import time; time.sleep(3600)"])
    return x


def _locked(x):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
    return x


def _ends_the_process(x):
    os._exit(0)


def _aborts(x):
    signal.signal(signal.SIGABRT, signal.SIG_DFL)  # pytest's own handler would print
    os.abort()


def _kills_itself(x):
    os.kill(os.getpid(), signal.SIGKILL)


def _leaves(x):
    sys.exit("over")


def _raises_an_interrupt(x):
    raise KeyboardInterrupt


def _raises_what_cannot_be_shown(x):
    class Mute(Exception):
        def __str__(self):
            raise Mute

    raise Mute


def _twice(b, y, *xs):
    return 2 * b


def _one(b, y, *xs):
    return b


def _asleep_back(b, y, x):
    time.sleep(3600)
    return b


def _squares(x):
    return x**2


BOMBS = {
    f.__name__.strip("_"): (f, (_one,) * f.__code__.co_argcount)
    for f in (
        _tower,
        _tower_of_constants,
        _factorial,
        _float_of_factorial,
        _power_of_sum,
        _powers_of_sums,
        _nested,
        _deep_quotients,
        _swell,
        _product_of_sums,
        _huge_loop,
        _huge_int,
        _huge_exponent,
        _recursive,
        _mutual,
        _memory_of_array,
        _memory_of_list,
        _memory_of_text,
        _for_ever,
        _for_ever_whatever_comes,
        _asleep,
        _deaf,
        _in_c,
        _in_a_thread,
        _in_another_process,
        _locked,
        _ends_the_process,
        _aborts,
        _kills_itself,
        _leaves,
        _raises_an_interrupt,
        _raises_what_cannot_be_shown,
    )
} | {
    "a pullback asleep": (_squares, (_asleep_back,)),
    "a right power of a sum": (_power_of_sum, (lambda b, y, p, q: 200 * (p + q + 1.0) ** 199 * b,) * 2),
    "a right tower": (
        lambda x: x**x**x,
        (lambda b, y, x: y * x**x * ((math.log(x) + 1) * math.log(x) + 1 / x) * b,),
    ),
    "a right large product": (
        lambda x, y: (x + y) ** 150 * (x - y) ** 150,
        (
            lambda b, v, x, y: 150 * (x * x - y * y) ** 149 * 2 * x * b,
            lambda b, v, x, y: -150 * (x * x - y * y) ** 149 * 2 * y * b,
        ),
    ),
    "a right nest": (
        lambda x: math.exp(math.sin(math.exp(math.sin(math.exp(math.sin(x)))))),
        (
            lambda b, y, x: (
                b
                * y
                * math.cos(math.exp(math.sin(math.exp(math.sin(x)))))
                * math.exp(math.sin(math.exp(math.sin(x))))
                * math.cos(math.exp(math.sin(x)))
                * math.exp(math.sin(x))
                * math.cos(x)
            ),
        ),
    ),
}
