"""The emitted pass is Python that a person can read, at the author's lines, and takes none of his names."""

import ast
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.harness import all_cases  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import RuleLabError  # noqa: E402


def divides(x, k):
    total = 0.0
    for i in range(3):
        total = total + x / (k - i)
    return total


def calls_divides(x):
    y = 2.0 * x
    return divides(
        y,
        1,
    )


def reads_too_far(x):
    y = x * 2.0
    return [y[i] for i in (0, 7)][1]


def raises(x):
    if x > 0:
        raise ValueError(f"{x} is too large")
    return x


def in_a_handler(x):
    try:
        y = x[9]
    except IndexError:
        y = x["no such"]
    return y


def in_a_lambda(x):
    g = lambda u: u.missing
    return g(x)


@pytest.mark.parametrize(
    "f, args",
    [
        (divides, (1, 1)),
        (calls_divides, (1.0,)),
        (reads_too_far, (np.ones(3),)),
        (raises, (1.0,)),
        (in_a_handler, (np.ones(3),)),
        (in_a_lambda, ([1.0],)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_traceback(f, args):
    """An error in the author's function is his own; its traceback shows his files, lines and functions."""
    with pytest.raises(Exception) as pythons:
        f(*args)
    with pytest.raises(type(pythons.value)) as ours:
        rl.gradient(f, *args)
    assert str(ours.value) == str(pythons.value)

    def steps(caught):
        frames = traceback.extract_tb(caught.value.__traceback__)
        return [
            (s.name, s.lineno, s.line)
            for s in frames
            if s.filename == __file__ and not s.name.startswith("test_")
        ]

    own = [
        step for step in steps(pythons) if step[0] not in ("<lambda>", "<listcomp>")
    ]  # these become part of the pass
    assert [step for step in steps(ours) if step[0] in {name for name, _, _ in own}] == own


def test_traceback_in_the_reverse_sweep():
    """An error of a rule's pullback passes the line that called the function."""

    def ruled(x):
        return x

    @rl.rrule_for(ruled)
    def ruled_rrule(x):
        def ruled_pullback(y_bar):
            raise ArithmeticError("no")

        return x, ruled_pullback

    def caller(x):
        y = x * 2.0
        return ruled(y) + 1.0

    with pytest.raises(ArithmeticError) as caught:
        rl.gradient(caller, 1.0)
    lines = [s.line for s in traceback.extract_tb(caught.value.__traceback__) if s.name.startswith("caller")]
    assert lines == ["return ruled(y) + 1.0"]


def sources(part):
    for case in list(all_cases())[part::3]:
        try:
            yield case, rl.adjoint_source(case.function, *case.points[0], **case.kwargs)
        except RuleLabError:
            continue


@pytest.mark.every(3)
@pytest.mark.parametrize("part", range(3))
def test_the_corpus_is_readable(part):
    """The text of every pass is Python of ordinary lines, with the author's parameters in it."""
    count = 0
    for case, text in sources(part):
        tree = ast.parse(text)
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {
            a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)
        }
        code = getattr(case.function, "__code__", None)
        if code is None or text.startswith("# by rule"):
            continue
        count += 1
        (made,) = tree.body
        assert isinstance(made, ast.FunctionDef)
        assert set(code.co_varnames[: code.co_argcount]) <= names
        assert all(len(line) < 300 for line in text.splitlines()), case.name
        assert "\t" not in text and not any(line != line.rstrip() for line in text.splitlines())
    assert count > 40


def test_a_small_pass():
    """A pass is the function's own lines, then the pullback with the derivative of each, backwards."""

    def f(x, y):
        z = x * y
        return z - x

    assert rl.adjoint_source(f, 2.0, 3.0).splitlines() == [
        "def f(x, y):",
        "    # f(x: float, y: float): the value, and its pullback",
        "    #   ZERO: nothing flowed back; NO: nothing can",
        "    z = x * y",
        "    t_1 = z - x",
        "    def f_pullback(t_1_bar):",
        "        x_bar = -t_1_bar",
        "        x_bar += t_1_bar * y",
        "        y_bar = t_1_bar * x",
        "        return (NO, x_bar, y_bar,)",
        "    return t_1, f_pullback",
    ]


def one_of_two(x, y):
    z = x if y > 0 else -x
    near = y < 2 and x < 3
    if near:
        z = z * y
    else:
        z = z - y
    return z


def test_a_choice_on_one_line_stays_one():
    """Where the author wrote an expression for one of two values, the pass has one, in both sweeps; where
    he wrote a branch on lines of its own, these keep their places.
    """
    text = rl.adjoint_source(one_of_two, 2.0, 3.0)
    assert "    v1_1 = x if t_1 else -x\n" in text
    assert "    v2_1 = t_3 and x < 3\n" in text
    assert "    if v2_1:\n        z_2 = v1_1 * y\n    else:\n        z_2 = v1_1 - y\n" in text
    assert "        x_bar = v1_1_bar if t_1 else -v1_1_bar\n" in text
    for x, y in ((2.0, 3.0), (2.0, 1.0), (2.0, -3.0), (4.0, 1.5)):
        slope = (1.0 if y > 0 else -1.0) * (y if y < 2 and x < 3 else 1.0)
        assert rl.gradient(one_of_two, x, y)[0] == slope


def sum_of_powers(x, ns):
    total = 0
    for n in ns:
        total += x**n
    return total


def test_a_line_sets_what_the_next_turn_reads():
    """No other name, and no copy, stands between a value and the variable that takes it."""
    text = rl.adjoint_source(sum_of_powers, 2.0, [1, 2])
    assert "        total, iadd_back = iadd_at(total, t_1)(total, t_1)\n" in text
    assert "total = " not in text
    assert rl.gradient(sum_of_powers, 2.0, [1, 2])[0] == 5.0


def collides(function, partials, NO, add, value, tape, real, y_bar, x_bar, back, back_1, find, find_1, parts):
    factory = function * partials + NO * add
    for items in range(3):
        factory = factory * value + np.sum(np.array([tape, parts])) + y_bar * x_bar
    return np.sin(factory) + real * back_1 * find_1 * back * find


def test_names_of_ours_as_the_author_s():
    """An author may give his parameters and variables any name that our code uses."""
    args = tuple(0.1 * (k + 1) for k in range(14))
    value, gradient = rl.withgradient(collides, *args)
    assert value == collides(*args)
    for number in range(14):
        shifted = [list(args), list(args)]
        shifted[0][number] -= 1e-6
        shifted[1][number] += 1e-6
        assert gradient[number] == pytest.approx(
            (collides(*shifted[1]) - collides(*shifted[0])) / 2e-6, abs=1e-7
        )


def test_names_of_ours_as_globals(cells):
    """An author may call his globals and his function what our code calls its helpers."""
    text = (
        "import numpy as np\n"
        + "".join(f"def {name}(x):\n    return x * {k}.0\n" for k, name in enumerate(NAMES, 2))
        + "def factory(x):\n    return "
        + " + ".join(f"{name}(x)" for name in NAMES)
        + " + np.sin(x)\n"
    )
    f = cells.run(text)["factory"]
    wanted = sum(range(2, len(NAMES) + 2)) + np.cos(0.5)
    assert rl.gradient(f, 0.5) == (pytest.approx(wanted),)


NAMES = (
    "function",
    "find",
    "find_1",
    "back",
    "parts",
    "NO",
    "ZERO",
    "add",
    "value",
    "real",
    "partials",
    "tape",
    "t_1_bar",
    "factory_pullback",
)


def test_nothing_of_ours_enters_the_author_s_namespace(cells):
    """Differentiating a function adds no name to its globals."""
    names = cells.run(
        "import numpy as np\ndef f(x):\n    for i in range(2):\n        x = np.sin(x)\n    return x\n"
    )
    before = set(names)
    rl.gradient(names["f"], 0.5)
    assert set(names) - before <= {"__builtins__"}


def test_captured_variables_are_read_when_called():
    """A captured variable is read at each call, as Python does."""
    k = 2.0

    def f(x):
        return k * x

    assert rl.gradient(f, 1.0) == (2.0,)
    k = 5.0
    assert rl.gradient(f, 1.0) == (5.0,)
