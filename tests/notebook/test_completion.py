"""Tab after our magics offers what may stand there, and leaves Python alone."""

import pytest
from IPython.core.completer import provisionalcompleter


@pytest.fixture
def offered(notebook):
    """What Tab offers at the end of a text, by our matcher."""
    notebook.ok("def other(x):\n    return x\n")

    def ask(text):
        with provisionalcompleter():
            found = list(notebook.shell.Completer.completions(text, len(text)))
        return [c.text for c in found if c._origin == "rulelab.magics"]

    return ask


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%rrule --", ["--of"]),
        ("%%rrule mse_cr --of m", ["mse"]),
        ("%%rrule ot", ["other"]),
        ("%grad_compare --", ["--without", "--at"]),
        ("%grad_compare mse oth", ["other"]),
        ("%grad_compare mse --without oth", ["other"]),
        ("%grad_compare mse other --a", ["--at"]),
        ("c = %grad_bench mse other --r", ["--rounds"]),
        ("%grad_refresh ", ["now", "auto", "manual", "-o"]),
        ("%grad_refresh ma", ["manual"]),
        ("%rule_symbolic add", ["addone"]),
        ("x = 3\n%rule_stub add", ["addone"]),
        ("%gradient -", ["-o"]),
    ],
)
def test_options_choices_and_functions(offered, text, expected):
    """Options after a dash, choices, and the functions of the namespace."""
    assert sorted(offered(text)) == sorted(expected)


@pytest.mark.parametrize(
    "text", ["%grad_compare mse other --at y", "%gradient ms", "ms", "%timeit --", "%grad_compare mse -o "]
)
def test_python_is_left_to_ipython(offered, text):
    """Arguments, expressions, names to be made up and other magics are not ours."""
    assert offered(text) == []


def test_functions_for_a_rule(offered):
    """From `%%rrule ` Tab lists the functions of the namespace."""
    assert {"mse", "addone", "other"} <= set(offered("%%rrule "))


def test_names_with_a_rule_are_offered(notebook, offered):
    """Also dotted ones, which no namespace lists."""
    notebook.ok("%%rrule np.hypot\ndef hypot_rrule(x, y):\n    return np.hypot(x, y), None\n")
    assert offered("%rule_symbolic np") == ["np.hypot"]
    notebook.ok("rl.remove_rule(np.hypot)")
