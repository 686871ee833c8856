"""Code that Python never runs, and makes no code for, changes neither the derivative nor what is accepted."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import UnsupportedSyntaxError


def guarded_def(x):
    if 0:

        def show():
            print(x)

        show()
    return x * x


def guarded_class(x):
    if False:

        class Shown:
            value = x

        print(Shown.value)
    return x * x


def guarded_async(x):
    if not __debug__:

        async def wait():
            await x

    return x * x


def guarded_import(x):
    if 0:
        import no_such_module
        from no_such_module import part

        x = no_such_module.f(part)
    return x * x


def guarded_return(x):
    if 0:
        return (lambda: 3.0 * x)()
    return x * x


def guarded_comprehension(x):
    if None:
        x = sum([(lambda t: t)(k * x) for k in range(3)])
    return x * x


def other_arm(x):
    if 1:
        y = x * x
    else:

        def y():
            return x

    return y


def debugging(x):
    if __debug__:
        y = x * x
    else:
        y = (lambda: 3.0 * x)()
    return y


def never_looping(x):
    while 0:
        step = lambda t: t * x
        x = step(x)
    else:
        x = x * 1.0
    return x * x


def always_looping(x):
    while True:
        x = x * x
        break
    else:
        x = (lambda: 7.0 * x)()
    return x


def never_left(x):
    while 1:
        return x * x
    return (lambda: 3.0 * x)()


def after_return(x):
    return x * x

    def more(y):
        return x + y

    return more(x)


def after_raise(x):
    if x < 0:
        raise ValueError("negative")
        x = (lambda: x)()
    return x * x


def after_break(x):
    y = 0.0
    for k in range(4):
        if k == 1:
            y = y + x * x
            break
            y = (lambda: k * x)()
        else:
            continue
            y = (lambda: k * x)()
    return y


def arm_of_a_choice(x):
    return (lambda: 3.0 * x)() if 0 else x * x


def other_arm_of_a_choice(x):
    return x * x if __debug__ else (lambda: 3.0 * x)()


def dead_and(x):
    return x * x + (0 and (lambda: x)())


def dead_or(x):
    return x * (x or 1.0) * (1 or (lambda: x)())


def chained(x):
    if x and 0 and (lambda: x)():
        return (lambda: 3.0 * x)()
    return x * x


def in_a_handler(x):
    try:
        y = x * x
    except ValueError:
        if 0:

            def again():
                return x

        y = 0.0
    finally:
        if 0:

            def last():
                return x

    return y


def in_a_match(x):
    match 1:
        case 1:
            if 0:

                def inner():
                    return x

            return x * x


def declared(x):
    n = 0.0

    def add(v):
        if 0:
            nonlocal n
        n = n + v

    add(x * x)
    return n


def keeps_a_local(x):
    np = x  # one that only dead code binds anew stays local
    if 0:
        np = lambda: x
    return np * x


WITH_DEAD_CODE = [
    guarded_def,
    guarded_class,
    guarded_async,
    guarded_import,
    guarded_return,
    guarded_comprehension,
    other_arm,
    debugging,
    never_looping,
    always_looping,
    never_left,
    after_return,
    after_raise,
    after_break,
    arm_of_a_choice,
    other_arm_of_a_choice,
    dead_and,
    dead_or,
    chained,
    in_a_handler,
    in_a_match,
    declared,
    keeps_a_local,
]


@pytest.mark.parametrize("f", WITH_DEAD_CODE, ids=lambda f: f.__name__)
def test_dead_code_changes_nothing(f):
    """A function that squares its argument has the derivatives of a square, whatever never runs in it."""
    assert f(3.0) == 9.0
    assert rl.gradient(f, 3.0) == (6.0,)
    assert rl.pushforward(f, 3.0)(1.0) == 6.0
    assert rl.hessian(f, 3.0) == 2.0


def test_what_dead_code_declares_holds():
    """A global that only dead code declares is a global all the same: writing to it is refused."""

    def counted(x):
        if 0:
            global COUNTER
        COUNTER = 1
        return x * x

    with pytest.raises(UnsupportedSyntaxError, match="a write to a global"):
        rl.gradient(counted, 3.0)


def test_a_name_that_only_dead_code_binds():
    """It is a local variable without a value, as in Python, and not the global of that name."""

    def unbound(x):
        if 0:
            np = x
        return x * np.pi

    for run in (unbound, lambda x: rl.gradient(unbound, x)):
        with pytest.raises(UnboundLocalError):
            run(3.0)


@pytest.mark.slow
def test_without_assertions(tmp_path):
    """Under `python -O` an assertion is not looked at, nor is what `__debug__` guards."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import rulelab as rl

            def f(x):
                assert (lambda: x < 0)(), "never"
                if __debug__:
                    return (lambda: 3.0 * x)()
                return x * x

            print(f(3.0), rl.gradient(f, 3.0)[0], rl.hessian(f, 3.0))
            """
        )
    )
    done = subprocess.run([sys.executable, "-O", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["9.0", "6.0", "2.0"]


def test_the_arm_that_runs_is_differentiated():
    """Of two arms with functions in them, the one that Python takes."""

    def f(x):
        if __debug__:
            scale = lambda t: np.sin(t)
        else:
            scale = lambda t: np.cos(t)
        return scale(x) if 1 else -scale(x)

    assert rl.gradient(f, 0.3)[0] == pytest.approx(np.cos(0.3))
