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


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%rrule --", ["--check", "--of", "--output", "--prove"]),
        ("%%rrule --h", ["--help"]),
        ("%gradient --output", ["--output"]),
        ("%%rrule -", ["--check", "--of", "--prove", "-o"]),
        ("%%rrule mse_cr --of m", ["mse"]),
        ("%%rrule ot", ["other"]),
        ("%grad_compare --", ["--without", "--at", "--output"]),
        ("%grad_compare mse oth", ["other"]),
        ("%grad_compare mse --without oth", ["other"]),
        ("%grad_compare mse other --a", ["--at"]),
        ("c = %grad_bench mse other --r", ["--rounds"]),
        ("%grad_refresh ", ["now", "auto", "manual", "-o"]),
        ("%grad_refresh ma", ["manual"]),
        ("%rule_symbolic add", ["addone"]),
        ("%rule_check add", ["addone"]),
        ("%rule_check mse --d", ["--deep", "--domain"]),
        ("%grad_check add", ["addone"]),
        ("x = 3\n%rule_stub add", ["addone"]),
        ("%gradient -", ["-o"]),
    ],
)
def test_options_choices_and_functions(offered, text, expected):
    """Options after a dash, choices, and the functions of the namespace."""
    assert sorted(offered(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%rrule np.hypo", ["np.hypot"]),
        ("%%rrule Bar.m", ["Bar.made", "Bar.method"]),
        ("%%rrule Bar.", ["Bar.made", "Bar.method"]),
        ("%%rrule bar.m", ["bar.made", "bar.method"]),
        ("%%rrule Ba", ["Bar"]),
        ("%rule_symbolic np.lina", ["np.linalg."]),
        ("%rule_symbolic np.linalg.nor", ["np.linalg.norm"]),
        ("%grad_compare loss --without np.hypo", ["np.hypot"]),
        ("%grad_compare np.hypo", ["np.hypot"]),
        ("%rule_stub no.such.th", ["no.such.th"]),
    ],
)
def test_functions_of_modules_and_classes(notebook, offered, text, expected):
    """Along the dots; what cannot be called is left out, and no property is run."""
    notebook.ok(
        "class Bar:\n    size = 3\n    def method(self, x):\n        return x\n"
        "    @staticmethod\n    def made(x):\n        return x\n"
        "    @property\n    def boom(self):\n        raise SystemExit\n"
        "    def _own(self):\n        pass\nbar = Bar()\n"
    )
    options = {"-o", "--of", "--check", "--at", "--without"}
    found = [text for text in offered(text) if text not in options | {"Bar.mro"}]
    assert sorted(found) == sorted(expected)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("text", "expected", "start"),
    [
        ("%grad_compare mse other --at y", {"y", "yh"}, 29),
        ("%grad_compare mse other --at ", {"y", "yh", "np"}, 29),
        ("%grad_compare mse other --at=y", {"y", "yh"}, 29),
        ("%grad_compare mse other --at y, np.linsp", {"linspace"}, 35),
        ("%grad_compare mse other --at table['a", {"ab"}, 36),
        ("%gradient ms", {"mse"}, 10),
        ("%gradient mse(y, y", {"y", "yh"}, 17),
        ("%gradient -o got mse(np.linsp", {"linspace"}, 24),
        ("%gradient mse('a  b', y", {"y", "yh"}, 22),
        ("%gradient mse(y,  y", {"y", "yh"}, 18),
        ("got = %gradient ms", {"mse"}, 16),
        ("x = 3\n%adjoint y.su", {"sum"}, 17),
        ("%%rrule mse\ndef mse_rrule(y, yh):\n    return np.linsp", {"linspace"}, 48),
    ],
)
def test_python_is_completed_as_python(notebook, text, expected, start):
    """Names, attributes and keys, where the rest of the line or the cell is Python."""
    notebook.ok("def other(x):\n    return x\ntable = {'ab': 1}")
    with provisionalcompleter():
        found = list(notebook.shell.Completer.completions(text, len(text)))
    assert expected <= {c.text for c in found if c.start == start}
    assert not any(c.text.startswith(("%", "-")) for c in found)


def test_python_is_completed_as_ipython_is_set(notebook):
    """Without jedi, too."""
    notebook.ok("%config IPCompleter.use_jedi = False")
    with provisionalcompleter():
        found = list(notebook.shell.Completer.completions("%gradient mse(y, np.linsp", 25))
    assert "linspace" in {c.text.split(".")[-1] for c in found}


@pytest.mark.parametrize("use_jedi", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_call_of_ours_is_completed_with_its_options(notebook, use_jedi):
    """What `rule_check` hands on, too: the options are many, and nobody remembers them all."""
    notebook.ok(f"import rulelab as rl\n%config IPCompleter.use_jedi = {use_jedi}")
    text = "report = rl.rule_check(mse, y, d"
    with provisionalcompleter():
        found = {c.text for c in notebook.shell.Completer.completions(text, len(text))}
    assert {"depth=", "domain="} <= found


def test_an_expression_begins_with_a_function(offered):
    """From `%gradient ` Tab lists functions, and the options."""
    assert {"mse", "other", "np.", "-o"} <= set(offered("%gradient "))


@pytest.mark.parametrize("text", ["ms", "%timeit --", "% mod"])
def test_what_is_not_ours_is_left_to_ipython(offered, text):
    """Python and other magics."""
    assert offered(text) == []


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("%grad_compare mse -o ", ["result"]),
        ("%gradient -o ", ["result"]),
        ("%grad_bench mse other --rounds ", ["1", "10", "60"]),
        ("%grad_bench mse other --rounds=", ["1", "10", "60"]),
        ("%grad_profile --seconds 0", ["0"]),
        ("%gradient -o m", ["m"]),
        ("%rule_check mod", ["mod"]),
        ("%jacobian --mode=", ["forward", "reverse"]),
        ("%jacobian --mode=r", ["reverse"]),
        ("%rule_check mse --order=", ["1", "2"]),
        ("%rule_check mse --domain pos", ["positive"]),
        ("%rule_check mse --domain=pos", ["positive"]),
        ('%rule_check mse --domain "pos', ['"positive', '"positive definite']),
        ('%rule_check mse --domain "positive vec', ['"positive vector']),
        ('%rule_check mse --domain "x: pos', ['"x: positive', '"x: positive definite']),
        ("%grad_compare mse --without=oth", ["other"]),
        ("%rule_export mse --to m", ["module"]),
        ("%rule_export mse --to j", ["jax"]),
        ("%rule_export --to module rules.py ms", ["mse"]),
        ("%rule_export other ms", ["mse"]),
        ("%sym_check --wrt y", ["y", "yh"]),
        ("%rule_import torch ot", ["other"]),
        ("%rules log1", ["log10", "log1p"]),
        ("%rule_docs limitations#syn", ["limitations#syntax"]),
        ("%rule_docs limitati", ["limitations"]),
        ("%rule_docs rule_che", ["rule_check"]),
        ("%rule_docs softm", ["softmax"]),
    ],
)
def test_values_are_offered_where_they_are_known_and_examples_of_numbers_and_new_names(
    notebook, offered, text, there
):
    """By us alone: IPython would list all it knows. A word that nothing fits stays as it is."""
    with provisionalcompleter():
        found = [c.text for c in notebook.shell.Completer.completions(text, len(text))]
    assert found == there


def test_files_and_folders_are_offered_where_one_is_to_be_named(offered, tmp_path, monkeypatch):
    """Hidden ones only where the name begins with a dot; no name that would need quotes."""
    monkeypatch.chdir(tmp_path)
    for name in ("my_rules.py", ".hidden", "two words.py", "m\nb.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "one.py").write_text("")
    assert offered("%rule_export mse --to module m") == ["models/", "my_rules.py"]
    assert offered("%rule_export mse --to module models/") == ["models/one.py"]
    assert offered("%rule_export mse --to module .h") == [".hidden"]
    assert offered("%rule_export mse --package m") == ["models/"]
    assert offered("%rule_export mse --to module none/") == ["none/"]


def test_what_is_meant_most_often_comes_first(notebook, offered):
    """Functions with a rule, other functions, classes, modules, and options after them all; of Python what
    the user has made: parameters, numbers, the rest.
    """
    notebook.ok(
        "%%rrule other\ndef other_rrule(x):\n    return x, None\n"
        "class Able:\n    pass\na_list = []\nbeta = 1.0\n"
    )
    found = offered("%rule_check ")
    order = ["other", "addone", "Able", "np.", "-o", "--at"]
    assert [name for name in found if name in order] == order
    with provisionalcompleter():
        text = "%gradient mse(y, "
        found = [c.text for c in notebook.shell.Completer.completions(text, len(text))]
    order = ["yh=", "beta", "a_list", "abs"]
    assert [name for name in found if name in order] == order


def test_functions_for_a_rule(offered):
    """From `%%rrule ` Tab lists the functions of the namespace, and modules as the way to theirs."""
    found = set(offered("%%rrule "))
    assert {"mse", "addone", "other", "np.", "rl."} <= found
    assert not found & {"y", "yh", "exit", "get_ipython", "In"}


def test_names_with_a_rule_are_offered(notebook, offered):
    """Where the namespace has them."""
    notebook.ok("%%rrule np.hypot\ndef hypot_rrule(x, y):\n    return np.hypot(x, y), None\n")
    assert offered("%rule_symbolic np") == ["np.hypot", "np."]
    assert offered("%rules np.hypo") == ["np.hypot"]
    notebook.ok("rl.remove_rule(np.hypot)\nkeep = np\ndel np")
    assert offered("%grad_compare loss --without np") == ["np"]


def test_keys_that_are_no_names_are_not_offered(notebook, offered):
    """They could not be typed, and taking one up would put its text into the cell."""
    notebook.ok("globals()['msx\\nimport os'] = globals()['ms<b>'] = mse")
    assert offered("%rule_symbolic ms") == ["mse"]
