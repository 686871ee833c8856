"""What is shown besides reports: source with colours, rules, what was stale, errors in six lines."""

import copy
import json
import pickle
import re
from types import SimpleNamespace

import numpy as np
import pytest
from IPython.lib.pretty import pretty

import rulelab as rl
from rulelab.advice import shown_in_magics, to_state
from rulelab.errors import ForeignCallError, MutationError, Place, RuleLabError
from rulelab.notebook.displays import (
    Defined,
    Gradient,
    Hessian,
    Jacobian,
    Refreshed,
    Rules,
    Source,
    Stub,
    error_lines,
)
from rulelab.rules.authoring import rrule_for
from rulelab.rules.registry import Registry

HOSTILE = 'def f(x):\n    return "<script>alert(1)</script>"  # <b>\n'


def test_source_is_coloured_and_escaped():
    """Colours come from the theme's variables; text in the source is never run."""
    html = Source(HOSTILE)._repr_html_()
    assert "<script" not in html and "&lt;script&gt;" in html and "<b>" not in html
    assert '<span class="rulelab-k">def</span>' in html and "var(--jp-mirror-editor-keyword-color" in html


def test_source_is_a_string():
    """It prints, splits and compiles as one."""
    assert str(Source(HOSTILE)) == HOSTILE
    compile(Source(HOSTILE), "f", "exec")


def test_source_without_pygments(monkeypatch):
    """Plain, but shown."""
    import sys

    monkeypatch.setitem(sys.modules, "pygments.lexers", None)
    assert "&lt;script&gt;" in Source(HOSTILE)._repr_html_()


def test_source_has_the_other_faces():
    """Fenced for Markdown and set as it is in LaTeX, whatever stands in it."""
    source = Source("f(x)  # ``` \\end{verbatim}\n")
    assert source.to_markdown() == f"````python\n{source.rstrip()}\n````"
    assert source.to_latex().count("\\end{verbatim}") == 1
    assert json.loads(source.to_json()) == source.to_dict() == {"source": str(source)}


def test_a_stub_is_its_source_and_shows_a_sentence():
    """The source is in the next cell already, so it is folded here."""
    stub = Stub(HOSTILE, "<b>f</b>")
    next_step = ": complete it, run it, and judge it with %rule_check"
    said = f"The skeleton of a rule for <b>f</b> is in the next cell{next_step} <b>f</b>."
    assert stub == HOSTILE and pretty(stub) == said
    assert f"rule for &lt;b&gt;f&lt;/b&gt; is in the next cell{next_step}" in stub._repr_html_()
    assert "<script" not in stub._repr_html_()
    assert stub.to_dict() == {"function": "<b>f</b>", "source": HOSTILE}


GRADIENT = (np.arange(8.0), None, 2.5, {"a": np.float32(1.0)})


def test_a_gradient_is_the_plain_tuple():
    """It unpacks, compares, prints and is pickled as one."""
    shown = Gradient(GRADIENT, "f", ("x", "y", "k", "p"))
    assert isinstance(shown, tuple) and shown == GRADIENT and len(shown) == 4
    assert str(shown) == repr(shown) == repr(GRADIENT) and pretty(shown) == pretty(GRADIENT)
    for again in (copy.copy(shown), pickle.loads(pickle.dumps(shown))):
        assert type(again) is Gradient and again.names == shown.names and again[2] == 2.5
    assert type(shown + (1,)) is tuple and type(shown[:1]) is tuple


def cells_of(report):
    """The HTML of a report without the attributes of its cells."""
    return re.sub(r' (data-label|class)="[^"]*"', "", report._repr_html_())


def test_a_gradient_names_the_arguments():
    """dtype, shape and the value, shortened where it is long; what nothing depends on is said."""
    shown = Gradient(GRADIENT, "f", ("x", "y", "k"))
    html = cells_of(shown)
    assert '<th scope="row">x</th><td>float64</td><td>8</td><td>[0., 1., ..., 6., 7.]</td>' in html
    assert '<th scope="row">k</th><td>float</td><td>scalar</td><td>2.5</td>' in html
    assert '<th scope="row">3[&#39;a&#39;]</th><td>float32</td><td>scalar</td><td>1</td>' in html
    assert "None: f does not depend on y." in html
    names = [row["argument"] for row in json.loads(shown.to_json())["gradients"]]
    assert names == ["x", "y", "k", "3"]
    assert shown.to_dict()["gradients"][0]["value"] == list(range(8))
    assert "| x" in shown.to_markdown() and "float64" in shown.to_latex()


def test_a_gradient_of_an_object_has_a_row_for_each_field():
    """A long list is one row: nobody reads a thousand."""
    lens = rl.gradient(lambda p: p.focus * np.sum(p.curve), SimpleNamespace(focus=2.0, curve=np.ones(2)))
    html = cells_of(Gradient(lens, "f", ("lens",)))
    assert '<th scope="row">lens.focus</th><td>float</td><td>scalar</td><td>2</td>' in html
    assert '<th scope="row">lens.curve</th><td>float64</td><td>2</td><td>[2., 2.]</td>' in html
    assert '<th scope="row">x</th><td>list</td>' in cells_of(Gradient(([1.0] * 1000,), "f", ("x",)))


def test_a_jacobian_is_the_plain_tuple():
    """It unpacks into the arrays, prints and is pickled as one."""
    J = np.arange(6.0).reshape(2, 3)
    shown = Jacobian((J, None), "f", ("x", "s"), (np.ones(3), "s"), np.ones(2))
    by_x, by_s = shown
    assert by_x is J and by_s is None and isinstance(shown, tuple)
    assert str(shown) == repr((J, None)) and pretty(shown) == pretty((J, None))
    for again in (copy.copy(shown), pickle.loads(pickle.dumps(shown))):
        assert type(again) is Jacobian and again.shapes == shown.shapes and again.output == (2,)


def test_a_small_jacobian_is_shown_whole():
    """With the index of the output before each row and that of the argument above each column."""
    J = np.arange(8.0).reshape(4, 2)
    shown = Jacobian((J, None), "f", ("x", "s"), (np.ones(2), "s"), np.ones((2, 2)))
    html = cells_of(shown)
    assert '<th scope="row">f[1, 0]</th><td>4</td><td>5</td>' in html and '<th scope="col">x[1]</th>' in html
    assert "<td>1 of 8</td>" in html and "None: s is neither a number nor an array of numbers." in html
    assert r"J_{x} = \begin{bmatrix} 0 & 1 \\ 2 & 3" in shown.to_latex()
    assert [row["argument"] for row in shown.to_dict()["jacobians"]] == ["x", "s"]
    vector = Jacobian((np.ones(3),), "f", ("x",), (2.0,), np.ones(3))
    assert '<th scope="col">x</th>' in cells_of(vector)


def test_a_large_jacobian_is_summed_up():
    """Shape, norm and how many zeros there are, and no table of numbers."""
    html = cells_of(Jacobian((2.0 * np.eye(30),), "f", ("x",), (np.ones(30),), np.ones(30)))
    assert "<td>30×30</td><td>10.954</td><td>870 of 900</td>" in html and "x[1]" not in html
    shaped = Jacobian((np.ones((2, 2, 2)),), "f", ("x",), (np.ones(2),), np.ones((2, 2)))
    assert "2×2×2" in shaped._repr_html_() and "tabular" in shaped.to_latex()


def test_a_hessian_is_taken_for_its_array():
    """By NumPy, by indexing and by going through its rows."""
    matrix = np.array([[2.0, 1.0], [1.0, 2.0]])
    shown = Hessian(matrix, "f", "x", np.ones(2))
    assert shown.matrix is matrix and np.linalg.eigvalsh(shown).tolist() == [1.0, 3.0]
    assert shown[0, 1] == 1.0 and len(shown) == 2 and [row.tolist() for row in shown] == matrix.tolist()
    assert np.array_equal(np.array(shown) @ np.ones(2), [3.0, 3.0])
    assert not np.shares_memory(np.array(shown), matrix)


def test_a_hessian_says_what_a_reader_looks_for():
    """How far it is from symmetric, and between which eigenvalues it lies."""
    shown = Hessian(np.array([[2.0, 1.0], [1.0 + 2e-9, 2.0]]), "f", "x", np.ones(2))
    assert "1e-09" in str(shown) and "1 … 3" in str(shown) and "x[0]" in str(shown)
    assert r"H_{x} = \begin{bmatrix} 2 & 1 \\" in shown.to_latex()
    assert shown.to_dict()["value"][0] == [2.0, 1.0]
    large = Hessian(np.eye(300), "f", "x", np.ones(300))
    assert "300×300" in str(large) and "x[0]" not in str(large) and "tabular" in large.to_latex()
    assert "1 of 1" not in str(Hessian(-1.0, "sin", "x", 0.5)) and "-1" in str(Hessian(-1.0, "sin", "x", 0.5))
    assert "nan" in str(Hessian(np.array([[np.nan]]), "f", "x", np.ones(1)))
    assert "0×0" in str(Hessian(np.zeros((0, 0)), "f", "x", np.ones(0)))


@pytest.mark.parametrize("payload", ["<script>alert(1)</script>", "$x$ \\input{/etc} <img src=x onerror=a>"])
def test_names_are_never_markup(payload):
    """Whatever a function or an argument is called."""
    shows = Gradient((1.0,), payload, (payload,)), Defined(payload, payload, payload, payload, [payload])
    for shown in shows:
        assert "<script>" not in shown._repr_html_() and "<img" not in shown._repr_html_()
        assert "\\input" not in shown.to_latex() and "$x" not in shown.to_latex().replace("\\$", "")
        assert "<img" not in re.sub("`[^`]*`", "", shown.to_markdown().replace("\\<", "")) and str(shown)


def test_rules_name_target_kind_and_place():
    """Yours one by one; the built-in ones behind their number."""
    registry = Registry()

    def f(x):
        return x

    @rrule_for(f, registry=registry)
    def f_rrule(x):
        return x, None

    shown = Rules(registry)
    (row,) = shown.to_dict()["own"]
    assert (row["target"], row["kind"], row["rule"]) == ("f", "rrule", "f_rrule")
    assert row["defined at"].startswith("test_displays.py, line ")
    assert (
        "Built-in rules (0)" in str(shown)
        and "<details><summary>Built-in rules" in shown._repr_html_()
    )


def test_no_rules_yet():
    """The first step is named."""
    lead = "No rules of your own yet: %rule_stub f writes the skeleton of one."
    assert str(Rules(Registry())).startswith(lead)


def test_what_was_stale_is_listed_with_the_reason():
    """Function, argument types and why; or that nothing was."""
    stale = SimpleNamespace(
        function="loss", signature=("float", "ndarray"), reason="a rule for f was defined"
    )
    assert str(Refreshed(SimpleNamespace(mode="auto", stale=[]))) == "Mode auto. Nothing was stale."
    shown = Refreshed(SimpleNamespace(mode="manual", stale=[stale]))
    assert str(shown).startswith("Mode manual. 1 compiled pass was stale and has been dropped.")
    assert "loss        float, ndarray  a rule for f was defined" in str(shown)


def test_errors_are_at_most_six_lines():
    """The class, what was found, the line, what to do."""
    place = Place("model.py", 3, 4, 8, "addone", "    x[i] = 1")
    error = MutationError(
        "Mutating arrays is not supported",
        asked="gradient of loss",
        place=place,
        read="limits",
        fixes=["write it without mutation"],
        chain=[place],
    )
    lines = error_lines(error)
    assert len(lines) == 6 and lines[0] == "MutationError: Mutating arrays is not supported"
    assert lines[-1] == "do: write a rule; %rule_stub addone puts its skeleton in the next cell"


def test_the_stub_is_offered_once():
    """Where the error names it already, and for errors that no rule would help, nothing is added."""
    named = ForeignCallError("no rule for foo", fixes=["%rule_stub foo puts the skeleton in the next cell"])
    assert "\n".join(error_lines(named)).count("%rule_stub") == 1
    assert error_lines(RuleLabError("nothing to do with rules")) == ["RuleLabError: nothing to do with rules"]


def test_advice_to_state_a_rule_is_a_magic_in_a_notebook():
    """Where the error is told, a rule is a cell."""
    error = RuleLabError("f has no rrule", fixes=(to_state("rrule", "f"),))
    assert error_lines(shown_in_magics(error))[-1] == "do: state one with %%rrule f"
