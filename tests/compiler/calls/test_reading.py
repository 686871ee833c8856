"""What `adjoint_source` shows is the code that runs, or the rule that applies, or why there is neither."""

import gc
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import DEFAULT, Cache
from rulelab.compiler.calls.reading import AdjointSource, adjoint_source
from rulelab.errors import ForeignCallError, MutationError, RuleLabError, UnsupportedSyntaxError


def poly(x, y=2.0):
    z = x * y
    return z + x


def test_shows_itself():
    """In a notebook the source is shown as it is, without quotes and escapes."""
    text = adjoint_source(poly, 1.0)
    assert isinstance(text, AdjointSource) and isinstance(text, str)
    assert repr(text) == str(text)
    assert text.startswith("def poly(x, y):\n") and "z = x * y" in text and "def poly_pullback(" in text


def test_is_what_runs():
    """The text, run by itself with its helpers, gives the value and the gradient."""
    from rulelab.compiler.memory import support

    names = {"NO": support.NO, "ZERO": support.ZERO}
    exec(str(adjoint_source(poly, 3.0, 2.0)), names)
    y, back = names["poly"](3.0, 2.0)
    assert y == poly(3.0, 2.0)
    assert back(1.0)[1:] == rl.gradient(poly, 3.0, 2.0)


def test_does_not_run_the_function(capsys):
    """Looking at the source calls nothing."""

    def loud(x):
        print("called")
        return x * 2.0

    adjoint_source(loud, 1.0)
    assert capsys.readouterr().out == ""


def test_depends_on_types():
    """For numbers the formula is written out; for arrays the rule is called."""
    f = lambda x, y: x * y
    numbers, arrays = adjoint_source(f, 1.0, 2.0), adjoint_source(f, np.ones(2), np.ones(2))
    assert "x_bar" in numbers and "* y" in numbers.split("pullback")[1]
    assert numbers != arrays


def test_only_the_positional_arguments_are_differentiated():
    """Keyword arguments and defaults are constants, as in `gradient`."""
    for text in (adjoint_source(poly, 1.0), adjoint_source(poly, 1.0, y=3.0)):
        assert "x_bar" in text and "y_bar" not in text.replace("t_1_bar", "")


def test_of_a_method():
    """A method's source takes its object first."""

    class Line:
        slope = 2.0

        def at(self, x):
            return self.slope * x

    assert adjoint_source(Line().at, 1.0).startswith("def at(self, x):")


def test_of_a_rule():
    """Where a rule applies, the source is the rule's, with where it stands."""

    def squared(x):
        return x * x

    @rl.rrule_for(squared)
    def squared_rrule(x):
        def squared_pullback(y_bar):
            return rl.NoTangent(), 2 * x * y_bar

        return x * x, squared_pullback

    text = adjoint_source(squared, 1.0)
    first, rest = text.split("\n", 1)
    assert first.startswith("# by rule: ") and "squared_rrule" in first and "test_reading.py" in first
    assert "return rl.NoTangent(), 2 * x * y_bar" in rest
    with rl.without_rule(squared):
        assert adjoint_source(squared, 1.0).startswith("def squared(x):")


def test_of_a_built_in_rule():
    """The source of the built-in rules can be read too."""
    text = adjoint_source(np.linalg.det, np.eye(2))
    assert text.startswith("# by rule: ") and "def det_rrule" in text
    assert adjoint_source(math.sin, 1.0).startswith("# by rule: ")


def test_of_a_rule_without_text():
    """A rule that was made without text is an error that says where it came from."""

    def f(x):
        return x

    names = {"rl": rl}
    exec("def f_rrule(x):\n    return x, lambda y_bar: (rl.NoTangent(), y_bar)\n", names)
    rl.rrule_for(f)(names["f_rrule"])
    with pytest.raises(RuleLabError, match="source of the rule of"):
        adjoint_source(f, 1.0)


def generates(x):
    yield x


@pytest.mark.parametrize(
    "f, args, kind, fragment",
    [
        (eval, ("1",), ForeignCallError, "eval"),
        (generates, (1.0,), UnsupportedSyntaxError, "yield"),
        (np.copyto, (np.ones(2), 1.0), RuleLabError, "copyto"),
    ],
    ids=["foreign", "generator", "mutator"],
)
def test_errors(f, args, kind, fragment):
    """What cannot be differentiated has no source; the error names it."""
    with pytest.raises(kind, match=fragment):
        adjoint_source(f, *args)


def test_wrong_arguments():
    """A call that Python would refuse is Python's error."""
    with pytest.raises(TypeError, match="poly"):
        adjoint_source(poly)


def test_cache():
    """With a cache given, nothing enters the default one."""
    own, f = Cache(), lambda x: x * 3.0
    gc.collect()  # what earlier tests let go leaves the default cache now, not in between
    before = len(DEFAULT)
    adjoint_source(f, 1.0, cache=own)
    assert len(own) == 1 and len(DEFAULT) <= before


def test_a_write_is_shown_where_it_is_refused():
    """A function whose write will be refused has a source; the refusal comes when it runs."""

    def writes(x):
        x[0] = 1.0
        return x.sum()

    assert "def writes(x):" in adjoint_source(writes, np.ones(2))
    with pytest.raises(MutationError):
        rl.gradient(writes, np.ones(2))


def test_each_line_knows_the_authors_line_it_came_from():
    """So that a reader can lay the pass beside the function; lines of ours belong to none."""
    text = adjoint_source(poly, 1.0)
    first = poly.__code__.co_firstlineno
    lines = str(text).splitlines()
    assert len(text.origins) == len(lines)
    of = dict(zip((line.strip() for line in lines), text.origins))
    assert of["z = x * y"] == first + 1
    assert of["def poly(x, y):"] is None
    assert set(text.origins) == {None, first + 1, first + 2}


def test_the_lines_of_a_rule_are_the_authors_own():
    """They count from the line where the rule is defined; the head that names the rule is ours."""

    def doubled(x):
        return 2.0 * x

    @rl.rrule_for(doubled)
    def doubled_rrule(x):
        return 2.0 * x, lambda y_bar: (rl.NoTangent(), 2.0 * y_bar)

    text = adjoint_source(doubled, 1.0)
    first = doubled_rrule.__code__.co_firstlineno
    assert text.origins[:2] == (None, first) and len(text.origins) == len(str(text).splitlines())
    rl.remove_rule(doubled)
