"""The notebook on taking a rule along, run from top to bottom."""

import ast
from importlib.util import find_spec

import pytest

from rulelab.portability import stored_run

from .ran import check_clean, check_stored

FILE = "notebooks/07-taking-a-rule-with-you.ipynb"


def test_it_is_stored_as_it_should_be(stored):
    """Valid, without outputs, with names for its cells."""
    check_stored(stored)


@pytest.mark.rest
def test_no_cell_fails_and_none_prints_a_stray_warning(ran):
    """Run All goes through."""
    check_clean(ran)


@pytest.mark.rest
def test_the_rule_leaves_and_answers_what_it_answered(ran):
    """The table is of a run in a process of its own, and the tests of the file pass."""
    assert "right" in ran.text("export") and "wrong" not in ran.text("export")
    assert ran.text("pytest").strip() == "2 passed"


@pytest.mark.rest
def test_the_file_has_what_the_rule_names_and_nothing_else(ran):
    """The helper, the class, the constant to the last digit; the open file stays in the notebook."""
    text = ran.text("file")
    assert "WIDTH = 0.30000000000000004\n" in text and "class Peak:" in text and "def bell(t):" in text
    assert "unrelated" not in text and "def signal(peak, x):" in text


@pytest.mark.rest
def test_what_cannot_go_is_refused_by_its_line(ran):
    """And nothing is written."""
    shown = ran.text("refusal")
    assert "the value of generator cannot be written as text" in shown and "False" in shown
    assert "return x + generator.normal()" in shown
    assert "signal_wrong_rrule of signal_wrong is wrong" in ran.text("wrong")


@pytest.mark.rest
def test_the_package_has_its_files(ran):
    """Project, module, tests, and the table of verdicts."""
    assert "signals/pyproject.toml" in ran.text("project")
    assert "signals/src/signals/__init__.py" in ran.text("project")
    assert "rrule of signal" in ran.text("readme")


@pytest.mark.rest
@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_a_framework_answers_or_a_stored_run_is_shown_as_one(ran, framework):
    """Where it is installed the table is of this run; where not, both tables say that nothing was run."""
    text = ran.text(framework)
    assert "rrule of softplus" in text and "wrong" not in text and f"softplus_{framework}.py" in text
    if find_spec(framework):
        assert "Stored run" not in text and "not run" not in text and "plain" in text
    else:
        assert f"pip install {framework}" in text and "not judged" in text
        assert str(stored_run(framework)) in text


@pytest.mark.rest
def test_the_stored_run_is_of_the_file_that_is_written(ran):
    """The same function, rule and translation."""
    written = ast.parse(ran.text("torch-file"))
    assert ast.dump(written) == ast.dump(ast.parse(stored_run("torch").text))
