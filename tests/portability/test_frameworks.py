"""Rules in the words of other frameworks: what is written, what is refused, and what it answers."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import ExportError
from rulelab.portability import export
from rulelab.portability.autograd_rules import autograd_export
from rulelab.portability.chainrules import chainrules_export
from rulelab.portability.framework_targets import framework_text
from rulelab.portability.gathering import gathered
from rulelab.portability.jax_rules import jax_export
from rulelab.portability.torch_rules import torch_export
from rulelab.rules.registry import Registry

from .installed import framework as needed

pytestmark = pytest.mark.slow_file  # each imports a framework


def neighbour(name):
    """A module beside this file."""
    path = Path(__file__).with_name(f"{name}.py")
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


CORPUS = neighbour("framework_rules")
TABLE = neighbour("run_frameworks")
EXPORTS = {"jax": jax_export, "torch": torch_export, "autograd": autograd_export}
STRUCTURED = {"layer", "pair_product"}
# Either takes a second to be imported, and JAX compiles for each shape: the suite runs a few exports in each.
AS_A_CAMPAIGN = {name: pytest.param(name, marks=pytest.mark.campaign) for name in ("torch", "jax")}


def written(export_to, f, rule, **options):
    """The export of a function with one rule."""
    registry = Registry()
    rl.rrule_for(f, registry=registry)(rule)
    return export_to(gathered(f, registry=registry, **options))


@pytest.fixture(scope="module")
def texts():
    """What every export of every rule is: its text, or its refusal."""
    found = {}
    for name, f in CORPUS.RULES.items():
        one = gathered(f, registry=CORPUS.REGISTRY)
        for framework, export_to in EXPORTS.items():
            try:
                found[framework, name] = export_to(one)
            except ExportError as error:
                found[framework, name] = error
    return found


# --- what is written ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_structures_in_torch_are_refused(texts):
    """Of fifty rules each goes to each framework; PyTorch takes no dicts, tuples or forward rules, and
    the line
    says so.
    """
    refused = {key: e for key, e in texts.items() if isinstance(e, ExportError)}
    assert set(refused) == {("torch", name) for name in STRUCTURED | {"decay"}}
    for error in refused.values():
        assert error.place.line and "^" in str(error)
        assert "not tuples, lists or dicts" in error.found or "no reverse rule" in error.found


def test_numpy_runs_behind_what_has_no_counterpart(texts):
    """A handler of exceptions, a loop that depends on values: the export says what it costs, and which
    line it is.
    """
    behind = {key for key, one in texts.items() if not isinstance(one, ExportError) and not one.native}
    assert behind == {
        ("jax", "exception"),
        ("jax", "safe_sqrt"),
        ("torch", "exception"),
        ("torch", "safe_sqrt"),
        ("jax", "root"),
        ("autograd", "picked"),
    }
    for key in behind:
        assert "line " in texts[key].why and "NumPy" in texts[key].text


def test_exports_import_the_framework_and_numpy_alone(texts):
    """Nothing of rulelab's is needed where a rule goes."""
    for (framework, _), one in texts.items():
        if isinstance(one, ExportError):
            continue
        for node in ast.walk(ast.parse(one.text)):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                assert {n.partition(".")[0] for n in names} <= {framework, "numpy", "math", "functools"}
        assert "rl." not in one.text and "NoTangent" not in one.text


def test_what_the_pullback_captures_is_a_residual(texts):
    """JAX keeps what the pullback uses; a length is no residual, for a loop may need it, and is read
    off again.
    """
    text = texts["jax", "mse"].text
    assert "return out, (y, yh)" in text and "y, yh = residuals" in text
    assert "n = len(a)" in texts["jax", "stacked"].text.partition("def stacked_bwd")[2]


def test_torch_works_out_again_what_it_would_save_as_a_constant(texts):
    """Only arguments and the value are saved, so that second derivatives are right."""
    backward = texts["torch", "swish"].text.partition("def backward")[2]
    assert "s = 1 / (1 + torch.exp(-x))" in backward and "x, y = ctx.saved_tensors" in backward


def test_writes_become_new_arrays_in_jax(texts):
    """`x[i] = v` and `x[i] += v` are `.at[i].set(v)` and `.at[i].add(v)`."""
    assert "b = b.at[:].set(a + 1)" in texts["jax", "addone"].text
    assert "x_bar = x_bar.at[:-2].add(y_bar[1:-1] / 3)" in texts["jax", "smoothed"].text
    assert "x_bar = x_bar.at[index].add(y_bar)" in texts["jax", "picked"].text


def test_new_arrays_have_the_precision_of_the_arguments(texts):
    """PyTorch's default is single precision and JAX's the widest: both would change what comes out."""
    assert (
        "torch.ones(len(a), dtype=torch.result_type(a, 1.0), device=a.device)"
        in texts["torch", "addone"].text
    )
    assert "jnp.ones(len(a), dtype=jnp.result_type(a, float))" in texts["jax", "addone"].text


# --- what is refused ----------------------------------------------------------------------------------------


def double(x):
    return 2 * x


def aliased(x):
    def pullback(y_bar):
        a = np.zeros(3)
        b = a
        b[0] = y_bar[0]
        return rl.NoTangent(), a

    return 2 * x, pullback


def into_its_argument(x):
    def pullback(y_bar):
        y_bar[0] = 0.0
        return rl.NoTangent(), y_bar

    return 2 * x, pullback


def chosen(x):
    def pullback(y_bar):
        return rl.NoTangent(), np.sum(y_bar[x > 0]) * x

    return 2 * x, pullback


def twice_the_same(x):
    i = np.array([0, 0, 1])

    def pullback(y_bar):
        x_bar = np.zeros(3)
        x_bar[i] += y_bar
        return rl.NoTangent(), x_bar

    return 2 * x, pullback


def middle(x):
    def pullback(y_bar):
        return rl.NoTangent(), np.median(y_bar) * x

    return 2 * x, pullback


def shortened(x):
    def pullback(y_bar):
        total = 0.0
        for v in np.unique(x):
            total = total + v
        return rl.NoTangent(), total * y_bar

    return 2 * x, pullback


@pytest.mark.parametrize(
    ("export_to", "rule", "text"),
    [
        (jax_export, aliased, "b = a"),
        (torch_export, aliased, "b = a"),
        (jax_export, into_its_argument, "y_bar[0] = 0.0"),
        (jax_export, chosen, "y_bar[x > 0]"),
        (jax_export, twice_the_same, "x_bar[i] += y_bar"),
        (torch_export, middle, "np.median(y_bar)"),
        (jax_export, shortened, "np.unique(x)"),
    ],
)
def test_what_has_no_counterpart_names_its_line(export_to, rule, text):
    """Where only the framework's own words are asked for, the line is shown with a caret under the spot."""
    registry = Registry()
    rl.rrule_for(double, registry=registry)(rule)
    with pytest.raises(ExportError) as refused:
        export_to(gathered(double, registry=registry), True)
    assert text in str(refused.value) and "^" in str(refused.value)


def fill(b, v):
    b[:] = v


def by_out(x):
    def pullback(y_bar):
        b = np.zeros(3)
        np.add(b, y_bar, out=b)
        return rl.NoTangent(), b

    return x + 1, pullback


def by_helper(x):
    def pullback(y_bar):
        b = np.zeros(3)
        done = fill(b, y_bar)
        return rl.NoTangent(), b

    return x + 1, pullback


def bound_anew(x):
    x = np.asarray(x)

    def pullback(y_bar):
        return rl.NoTangent(), y_bar * np.ones(len(x))

    return x + 1, pullback


def by_view(x):
    def pullback(y_bar):
        b = np.zeros(3)
        c = b.reshape(-1)
        c[:] = y_bar
        return rl.NoTangent(), b

    return x + 1, pullback


def more(x):
    return x + 1


@pytest.mark.parametrize("rule", [by_out, by_helper, bound_anew, by_view])
def test_writes_that_a_translation_would_lose_are_not_lost(rule):
    """By `out=`, by a helper, by a view, and arguments that are bound anew: NumPy runs behind the rule."""
    core = needed("autograd.core")
    registry = Registry()
    rl.rrule_for(more, registry=registry)(rule)
    found = gathered(more, registry=registry)
    for export_to in (jax_export, torch_export):
        assert not export_to(found).native
    space = {}
    exec(compile(autograd_export(found).text, "exported", "exec"), space)
    given = core.make_vjp(space["more"], np.zeros(3))[0](np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(given, [1.0, 2.0, 3.0])


def by_turns(x):
    def pullback(y_bar):
        for i in range(len(x)):
            if i == 0:
                m = x[0]
            else:
                if x[i] > m:
                    m = x[i]
        return rl.NoTangent(), m * y_bar

    return x + 1, pullback


def in_one_branch(x):
    def pullback(y_bar):
        if y_bar[0] > 0:
            g = 2.0
        return rl.NoTangent(), g * y_bar

    return x + 1, pullback


def test_a_branch_of_jax_keeps_what_turns_before_have_bound():
    """A name that a turn before has bound may be kept by a branch; one of a branch alone is refused."""
    registry = Registry()
    rl.rrule_for(more, registry=registry)(by_turns)
    text = jax_export(gathered(more, registry=registry), True).text
    assert "m = jax.lax.cond(x[i] > m, lambda: x[i], lambda: m)" in text
    rl.rrule_for(more, registry=registry)(in_one_branch)
    with pytest.raises(ExportError, match="g is bound in one branch only"):
        jax_export(gathered(more, registry=registry), True)


def test_pullbacks_of_another_form_are_refused():
    """One that is made elsewhere, or gives too few cotangents."""
    made_elsewhere = lambda y_bar: (rl.NoTangent(), 2 * y_bar)  # noqa: E731

    def elsewhere(x):
        return 2 * x, made_elsewhere

    def too_few(x):
        def pullback(y_bar):
            return (rl.NoTangent(),)

        return 2 * x, pullback

    for rule in (elsewhere, too_few):
        with pytest.raises(ExportError):
            written(jax_export, double, rule)


def test_a_rule_that_binds_the_name_of_the_framework_is_refused():
    """`jnp = …` in a rule would take the place of the module."""

    def rule(x):
        jnp = 2.0

        def pullback(y_bar):
            return rl.NoTangent(), jnp * y_bar

        return jnp * x, pullback

    with pytest.raises(ExportError, match="jnp is the name of jax.numpy"):
        written(jax_export, double, rule)


def test_hostile_docstrings_are_texts():
    """A docstring that would end itself stays one in every export."""

    def f(x):
        '''""" + __import__("os").abort() + """ \\" \\N{BULLET} $(run)'''
        return 2 * x

    def f_rrule(x):
        def pullback(y_bar):
            return rl.NoTangent(), 2 * y_bar

        return 2 * x, pullback

    registry = Registry()
    rl.rrule_for(f, registry=registry)(f_rrule)
    for export_to in EXPORTS.values():
        for native in (True, False):
            tree = ast.parse(export_to(gathered(f, registry=registry), native).text)
            calls = [
                n for n in ast.walk(tree) if isinstance(n, ast.Call) and "__import__" in ast.unparse(n.func)
            ]
            assert not calls
    julia = chainrules_export(gathered(f, registry=registry, values=[((1.0,), {})])).text
    assert "$" not in julia and "abort" not in julia


# --- Julia --------------------------------------------------------------------------------------------------


def test_julia_counts_from_one_and_broadcasts_with_dots():
    """Indices, slices, loops and operators of arrays; numbers keep plain operators."""
    corpus = CORPUS
    text = chainrules_export(
        gathered(corpus.mse, registry=corpus.REGISTRY, values=[corpus.POINTS["mse"][0]])
    ).text
    assert "for i in 0:n - 1" in text and "(y[i + 1] - yh[i + 1]) ^ 2.0" in text
    assert "g = 2 / size(y, 1) .* (y .- yh) .* out_bar" in text
    assert "has not been run" in text
    text = chainrules_export(
        gathered(corpus.sum3, registry=corpus.REGISTRY, values=[corpus.POINTS["sum3"][0]])
    ).text
    assert "array_bar[1:3] .= y_bar" in text


def test_julia_is_refused_where_broadcasting_would_differ():
    """A vector beside a matrix: NumPy repeats rows, Julia columns."""

    def f(a, b):
        return a + b

    def f_rrule(a, b):
        def pullback(y_bar):
            return rl.NoTangent(), y_bar, np.sum(y_bar, axis=0)

        return a + b, pullback

    with pytest.raises(ExportError, match="broadcasts 2 axes with 1"):
        written(chainrules_export, f, f_rrule, values=[((np.ones((2, 2)), np.ones(2)), {})])
    with pytest.raises(ExportError, match="do not say how many axes"):
        written(chainrules_export, f, f_rrule)


# --- what they answer ---------------------------------------------------------------------------------------


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("framework", "names"),
    [
        ("autograd", None),
        ("jax", ["mse", "safe_sqrt"]),
        pytest.param("jax", ["addone", "times", "softplus", "decay"], marks=pytest.mark.campaign),
        pytest.param(
            "torch", ["mse", "addone", "times", "softplus", "safe_sqrt"], marks=pytest.mark.campaign
        ),
    ],
    ids=["autograd", "jax", "more-jax", "torch"],
)
def test_exports_answer_what_our_rules_do(framework, names):
    """In a process of its own, in double and in single precision, beside our rule and differences."""
    needed(framework)
    rows, _, _ = TABLE.run(framework, names)
    for row in rows:
        assert row.verdict == "right" or (
            row.way in ("vmap", "gradgradcheck") and row.verdict == "not judged"
        ), row
    plain = {(row.name, row.dtype) for row in rows if row.way == "plain"}
    assert plain == {(n, d) for n in (names or CORPUS.RULES) for d in ("float64", "float32")}


def test_the_stored_run_agrees():
    """The stored table has every rule in every framework, plainly and under `jit` and `gradcheck`: all
    right.
    """
    stored = json.loads(TABLE.STORED.read_text())
    assert {"python", "numpy", "jax", "torch", "autograd"} <= set(stored["versions"])
    for framework, asked in {
        "jax": {"plain", "jit"},
        "torch": {"plain", "gradcheck"},
        "autograd": {"plain"},
    }.items():
        told = stored["frameworks"][framework]
        assert all(refusal["line"] for refusal in told["refused"].values())
        by_way = {}
        for row in told["rows"]:
            assert row["verdict"] == "right" or row["verdict"] == "not judged" and row["why"], row
            if row["verdict"] == "right":
                assert row["against_ours"] <= (1e-10 if row["dtype"] == "float64" else 1e-4)
                by_way.setdefault(row["way"], set()).add(row["name"])
        for way in asked:
            assert by_way[way] == set(CORPUS.RULES) - set(told["refused"])


# --- from end to end ----------------------------------------------------------------------------------------


def cube(x):
    """The third power."""
    return x**3


def inner(a, b):
    return np.sum(a * b)


def inner_rrule(a, b):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * b, y_bar * a

    return inner(a, b), pullback


def inner_frule(dots, a, b):
    _, a_dot, b_dot = dots
    return inner(a, b), np.sum(a_dot * b) + np.sum(a * b_dot)


def along(x, axis=0, *, scale=2.0):
    return scale * np.sum(x, axis=axis)


def along_rrule(x, axis=0, *, scale=2.0):
    def pullback(y_bar):
        x_bar = scale * np.expand_dims(y_bar, axis) * np.ones(np.shape(x))
        return rl.NoTangent(), x_bar, rl.NoTangent()

    return along(x, axis, scale=scale), pullback


LEAVING = Registry()
rl.scalar_rule(cube, lambda out, x: 3 * x**2, registry=LEAVING)
rl.rrule_for(inner, registry=LEAVING)(inner_rrule)
rl.frule_for(inner, registry=LEAVING)(inner_frule)
rl.rrule_for(along, registry=LEAVING)(along_rrule)
AT = {
    "cube": ((2.0,), {}),
    "inner": ((CORPUS.A, CORPUS.B), {}),
    "along": ((CORPUS.M, 1), {"scale": 0.5}),
}


def leave(names, framework, file, **options):
    functions = [globals()[name] for name in names]
    return export(functions, framework, file, at=AT, depth="quick", registry=LEAVING, **options)


def assert_tests_pass(file, passed=True, said="passed"):
    """pytest runs the tests of an export where nothing of rulelab's is to be found."""
    hidden = file.parent / "hidden"
    hidden.mkdir(exist_ok=True)
    (hidden / "rulelab.py").write_text("raise ImportError('not needed')")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:rulelab", file.name]
    environment = {**os.environ, "PYTHONPATH": str(hidden), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    told = subprocess.run(
        [*command, "-rs"], cwd=file.parent, env=environment, capture_output=True, text=True, timeout=300
    )
    assert (told.returncode == 0) is passed and said in told.stdout, told.stdout


@pytest.mark.first(1)
@pytest.mark.parametrize("framework", ["autograd", *AS_A_CAMPAIGN.values()])
def test_export_writes_what_a_framework_answers(framework, tmp_path):
    """By partials, with a rule of each mode, with keywords, several in one file: checked, written, run."""
    needed(framework)
    file = tmp_path / "powers.py"
    report = leave(AT, framework, file)
    assert report and report.files == (file, tmp_path / "test_powers.py")
    assert_tests_pass(tmp_path / "test_powers.py")
    said = {(row.name, row.mode): set() for row in report.rows}
    for row in report.rows:
        said[row.name, row.mode].add(row.verdict if row.verdict == "right" else row.why)
    left_out = {"the forward rule is not in the export"}
    assert said == {
        ("cube", "rrule"): {"right"},
        ("cube", "frule"): left_out,
        ("inner", "rrule"): {"right"},
        ("inner", "frule"): {"right"} if framework == "autograd" else left_out,
        ("along", "rrule"): {"right"},
    }


@pytest.mark.every(3)
@pytest.mark.parametrize("framework", EXPORTS)
def test_all_rules_fit_into_one_file(framework, texts):
    """Each function and each helper once, the imports first, and with each rule what is said of it."""
    names = [n for n in CORPUS.RULES if not isinstance(texts[framework, n], ExportError)]
    found = [gathered(CORPUS.RULES[n], registry=CORPUS.REGISTRY) for n in names] + [
        gathered(cube, registry=LEAVING)
    ]
    made = framework_text(found, EXPORTS[framework])
    statements = ast.parse(made.text).body[1:]
    kinds = [isinstance(s, (ast.Import, ast.ImportFrom)) for s in statements]
    assert kinds == sorted(kinds, reverse=True) and kinds[0]
    defined = [s.name for s in statements if hasattr(s, "name")]
    assert len(defined) == len(set(defined)) and set(made.names.values()) <= set(defined)
    behind = [n for n in names if not texts[framework, n].native]
    assert [n for n in names if f"# For {n}:\n# " in made.text] == behind


def test_two_meanings_of_one_name_do_not_go_into_one_file():
    """What one imports may not be what the other defines."""
    ones = [gathered(CORPUS.softplus, registry=CORPUS.REGISTRY), gathered(cube, registry=LEAVING)]

    def translated(found):
        one = jax_export(found)
        return (
            replace(one, text=f"from math import exp as softplus\n\n\n{one.text}")
            if one.name == "cube"
            else one
        )

    with pytest.raises(ExportError, match="softplus has two meanings here"):
        framework_text(ones, translated)


def hostile(x):
    'Quotes """ and \'\'\', a \\, \\N{BULLET}, {{7*7}} $(run)\n# code: """\n__import__(0)\n\\'
    return 2 * x


def hostile_rrule(x):
    def pullback(y_bar):
        return rl.NoTangent(), 2 * y_bar

    return 2 * x, pullback


@pytest.mark.first(1)
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("framework", EXPORTS)
def test_a_hostile_docstring_is_the_docstring_there(framework, several):
    """Quotes, backslashes, braces and lines that look like code: nothing of them runs, and each is kept."""
    registry = Registry()
    rl.rrule_for(hostile, registry=registry)(hostile_rrule)
    found = [gathered(hostile, registry=registry)]
    found += [gathered(cube, registry=LEAVING)] if several else []
    for native in (None,) if several else (None, False):
        tree = ast.parse(framework_text(found, lambda one: EXPORTS[framework](one, native)).text)
        docstrings = {s.name: ast.get_docstring(s) for s in tree.body if isinstance(s, ast.FunctionDef)}
        assert docstrings["hostile"] == inspect.cleandoc(hostile.__doc__)
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "__import__"]


@pytest.mark.first(1)
@pytest.mark.parametrize("framework", ["autograd", *AS_A_CAMPAIGN.values()])
def test_several_in_one_file_answer_as_each_does(framework, tmp_path):
    """In the framework's words and with NumPy behind, of numbers, arrays and complex numbers."""
    needed(framework)
    several = ["softplus", "safe_sqrt", "times", "picked", "exception"]
    report = export(
        [CORPUS.RULES[name] for name in several],
        framework,
        tmp_path / "several.py",
        at={name: CORPUS.POINTS[name][0] for name in several},
        depth="quick",
        registry=CORPUS.REGISTRY,
    )
    assert report and {row.name for row in report.rows if row.verdict == "right"} == set(several)
    assert_tests_pass(tmp_path / "test_several.py")


@pytest.mark.every(3)
@pytest.mark.parametrize("framework", ["autograd", "torch", "jax"])
def test_a_framework_that_is_missing_is_not_run(framework, tmp_path, monkeypatch):
    """The file is written; the table says that it was not run, and what to install."""
    (tmp_path / "hidden").mkdir()
    absent = f"raise ModuleNotFoundError('No module named {framework}', name={framework!r})"
    (tmp_path / "hidden" / f"{framework}.py").write_text(absent)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hidden"))
    report = leave(["inner"], framework, tmp_path / "powers.py")
    assert not report and (tmp_path / "powers.py").is_file()
    told = {(row.mode, row.verdict) for row in report.rows}
    assert told == {("rrule", "not judged"), ("frule", "not judged")}
    assert "Not run\n" in str(report) and "Run in a process of its own" not in str(report)
    assert "not run: " in str(report) and f"is not installed: pip install {framework}" in str(report)
    assert_tests_pass(tmp_path / "test_powers.py", passed=False, said=f"pip install {framework}")


@pytest.mark.slow
def test_the_tests_beside_an_export_see_another_number(tmp_path):
    """In the rule, or in the value."""
    needed("autograd")
    leave(["along"], "autograd", tmp_path / "powers.py")
    text = (tmp_path / "powers.py").read_text()
    for here, there in (
        ("scale * anp.expand_dims", "1.001 * scale * anp.expand_dims"),
        ("axis=axis)", "axis=axis) + 1"),
    ):
        assert here in text
        (tmp_path / "powers.py").write_text(text.replace(here, there, 1))
        assert_tests_pass(tmp_path / "test_powers.py", passed=False, said="failed")


@pytest.mark.first(1)
@pytest.mark.parametrize("framework", ["autograd", AS_A_CAMPAIGN["jax"]])
def test_the_tests_beside_a_forward_rule_ask_its_tangents(framework, tmp_path):
    """With a forward rule alone there are tests, too, and another tangent fails them."""
    needed(framework)
    file = tmp_path / "waning.py"
    at = {"decay": CORPUS.POINTS["decay"][0]}
    report = export([CORPUS.decay], framework, file, at=at, depth="quick", registry=CORPUS.REGISTRY)
    assert report and report.files == (file, tmp_path / "test_waning.py") and not report.notes
    assert_tests_pass(tmp_path / "test_waning.py")
    text = file.read_text()
    here = "t * rate_dot"
    assert text.count(here) == 1
    file.write_text(text.replace(here, f"1.001 * {here}"))
    assert_tests_pass(tmp_path / "test_waning.py", passed=False, said="failed")


def test_a_framework_that_cannot_be_imported_is_not_said_to_be_missing(tmp_path, monkeypatch):
    """To install it once more would not help: what it lacks is said."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "autograd.py").write_text("import the_absent")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hidden"))
    (row,) = leave(["along"], "autograd", tmp_path / "powers.py").rows
    assert row.verdict == "not judged" and "pip install" not in row.why
    assert "HIPS autograd cannot be imported: ModuleNotFoundError: No module named 'the_absent'" in row.why


def test_julia_is_written_and_not_run(tmp_path):
    """Nothing was run, so that the report is not true of anything, and says so."""
    report = leave(["inner"], "chainrules", tmp_path / "inner.jl")
    assert not report and report.rows == () and "the Julia text was not run" in str(report)
    assert "rrule(::typeof(inner)" in (tmp_path / "inner.jl").read_text()


@pytest.mark.first(1)
@pytest.mark.parametrize("framework", EXPORTS)
def test_partials_need_not_name_numpy(framework):
    """A scalar rule of plain operators goes as well; its `conj` is the framework's."""
    one = EXPORTS[framework](gathered(cube, registry=LEAVING))
    assert one.native and "import np" not in one.text and "rrule" in one.modes
    assert "frule" not in one.modes


def by_default(x, w=np.array([1.0, 2.0])):
    return np.sum(x * w)


def by_default_rrule(x, w=np.array([1.0, 2.0])):
    def pullback(y_bar):
        return rl.NoTangent(), w * y_bar, x * y_bar

    return by_default(x, w), pullback


def test_a_default_that_is_an_array_is_one_there_or_is_refused():
    """JAX and autograd take NumPy's arrays, and the file imports what it names; PyTorch takes none."""
    for export_to in (jax_export, autograd_export):
        text = written(export_to, by_default, by_default_rrule).text
        assert "w=np.array([1.0, 2.0], dtype='float64')" in text and "import numpy as np\n" in text
    for native in (None, True, False):
        with pytest.raises(ExportError, match="is NumPy's, and PyTorch takes tensors") as refused:
            registry = Registry()
            rl.rrule_for(by_default, registry=registry)(by_default_rrule)
            torch_export(gathered(by_default, registry=registry), native)
        assert refused.value.place.line == by_default.__code__.co_firstlineno


@pytest.mark.parametrize(
    "name, parameter", [("end", "x"), ("rrule", "x"), ("ChainRulesCore", "x"), ("f", "_"), ("f", "δ")]
)
def test_what_is_no_name_in_julia_is_refused(name, parameter, tmp_path):
    """Neither a word of the language nor one that the file uses, for a function or for an argument."""
    text = f"def {name}({parameter}):\n    return 2 * {parameter}\n"
    text += f"def {name}_rule({parameter}):\n"
    text += f"    return 2 * {parameter}, lambda y_bar: (NoTangent(), 2 * y_bar)\n"
    file = tmp_path / "named.py"
    file.write_text(text, encoding="utf-8")
    space = {"NoTangent": rl.NoTangent, "__name__": "named"}
    exec(compile(text, str(file), "exec"), space)
    with pytest.raises(ExportError, match="has a meaning in the Julia file|may not be a name in Julia"):
        written(chainrules_export, space[name], space[f"{name}_rule"], values=[((2.0,), {})])


def test_julia_has_forward_rules_and_those_of_numbers():
    """An `frule` beside the `rrule`; a `@scalar_rule` with its steps and the value as Ω."""

    def weighted(a, b, *, k=2.0):
        return k * (a @ b)

    def weighted_frule(dots, a, b, *, k=2.0):
        _, a_dot, b_dot = dots
        y = weighted(a, b, k=k)
        return y, k * (a_dot @ b + a @ b_dot)

    def weighted_rrule(a, b, *, k=2.0):
        return weighted(a, b, k=k), lambda y_bar: (rl.NoTangent(), k * y_bar * b, k * y_bar * a)

    registry = Registry()
    rl.rrule_for(weighted, registry=registry)(weighted_rrule)
    rl.frule_for(weighted, registry=registry)(weighted_frule)
    points = [((np.ones(2), np.full(2, 3.0)), {})]
    made = chainrules_export(gathered(weighted, registry=registry, values=points))
    assert made.modes == ("rrule", "frule") and "test_rrule and test_frule" in made.text
    head = "frule((_, a_dot, b_dot), ::typeof(weighted), a::AbstractVector, b::AbstractVector; k=2.0)"
    assert f"function ChainRulesCore.{head}\n    y = weighted(a, b; k=k)\n" in made.text
    assert "    return y, k * (sum(a_dot .* b) + sum(a .* b_dot))\nend" in made.text

    def raised(x, n):
        return x**n

    def raised_partials(y, x, n):
        slope = y / x
        return n * slope, rl.ZeroTangent()

    rl.scalar_rule(raised, raised_partials, registry=registry)
    made = chainrules_export(gathered(raised, registry=registry))
    rule = "@scalar_rule(raised(x::Number, n::Number), @setup(slope = Ω / x), (n * slope, ZeroTangent()))"
    assert rule in made.text and "test_scalar" in made.text and "f.(x)" in made.remarks[1]


def turned_frule(dots, x):
    _, x_dot = dots
    return np.sum(x), x_dot


def summed(x):
    return np.sum(x)


def summed_rrule(x):
    return np.sum(x), lambda y_bar: (rl.NoTangent(), y_bar * np.ones_like(x))


def test_a_forward_rule_without_a_counterpart_in_julia_is_left_out_with_a_remark():
    """Where it is the only one it is refused, by its line."""
    registry = Registry()
    rl.frule_for(summed, registry=registry)(turned_frule)
    with pytest.raises(ExportError, match="the tangent has 1 axes, but the value 0") as refused:
        chainrules_export(gathered(summed, registry=registry, values=[((np.ones(2),), {})]))
    assert refused.value.place.line == turned_frule.__code__.co_firstlineno + 2
    rl.rrule_for(summed, registry=registry)(summed_rrule)
    made = chainrules_export(gathered(summed, registry=registry, values=[((np.ones(2),), {})]))
    assert made.modes == ("rrule",) and "ChainRulesCore.frule" not in made.text
    assert "the forward rule is left out" in made.remarks[1]


CALLS = 0


def counted(x):
    global CALLS
    CALLS += 1
    return 2 * x


def shaken(x):
    return 2 * x + 0 * np.random.rand()


def shaken_anew(x):
    return 2 * x + 0 * np.random.default_rng().normal()


def seeded(x):
    return 2 * x + 0 * np.random.default_rng(3).normal()


def doubled_rrule(x):
    return 2 * x, lambda y_bar: (rl.NoTangent(), 2 * y_bar)


@pytest.mark.parametrize("export_to", [*EXPORTS.values(), chainrules_export])
@pytest.mark.parametrize("f", [counted, shaken, shaken_anew], ids=["counted", "shaken", "anew"])
def test_what_is_another_function_at_each_call_is_refused(f, export_to):
    """By the line: a framework calls a function once or many times, and keeps what it gave."""
    with pytest.raises(ExportError, match="may call a function any number of times") as refused:
        written(export_to, f, doubled_rrule, values=[((2.0,), {})])
    assert refused.value.place.line == f.__code__.co_firstlineno + 1


def test_a_generator_with_a_seed_gives_the_same_at_each_call():
    """So it goes along."""
    assert "default_rng(3)" in written(autograd_export, seeded, doubled_rrule).text


def factorial(n, x):
    return x if n <= 1 else x * n_factorial(n - 1, x)


def n_factorial(n, x):
    return factorial(n, x)


def factorial_rrule(n, x):
    def pullback(y_bar):
        return rl.NoTangent(), rl.NoTangent(), n * x ** (n - 1) * y_bar

    return factorial(n, x), pullback


def test_a_function_that_calls_itself_as_often_as_a_value_says_is_not_followed_by_jax():
    """It would follow both branches without end: NumPy runs behind it, and the file says for which line."""
    made = written(jax_export, factorial, factorial_rrule)
    assert (
        not made.native
        and f"line {factorial.__code__.co_firstlineno + 1}: factorial calls itself" in made.why
    )


def test_a_function_that_calls_itself_is_defined_once_in_julia():
    """With what it calls in between."""
    text = written(chainrules_export, factorial, factorial_rrule, values=[((3, 2.0), {})]).text
    assert text.count("function factorial(") == text.count("function n_factorial(") == 1


@pytest.mark.slow
def test_export_writes_several_to_a_module_of_a_framework(tmp_path):
    """What they share stands in it once."""
    needed("autograd")
    report = export(
        [CORPUS.mse, CORPUS.softplus],
        "autograd",
        tmp_path / "for_autograd.py",
        at={"mse": CORPUS.POINTS["mse"][0], "softplus": CORPUS.POINTS["softplus"][1]},
        registry=CORPUS.REGISTRY,
    )
    assert report and {row.name for row in report.rows} == {"mse", "softplus"}
    assert (tmp_path / "for_autograd.py").read_text().count("def _cotangent") == 1


def squares(parts):
    return sum(np.sum(p**2) for p in parts)


def squares_rrule(parts):
    return squares(parts), lambda g: (rl.NoTangent(), [2 * g * p for p in parts])


def halves(pair):
    return pair[0] * pair[1]


def halves_rrule(pair):
    return halves(pair), lambda g: (rl.NoTangent(), tuple(g * x for x in (pair[1], pair[0])))


def figures(x):
    return {"mean": np.mean(x), "sum": np.sum(x**2)}


def figures_rrule(x):
    def pullback(g):
        return rl.NoTangent(), g["mean"] / x.size + 2 * x * g["sum"]

    return figures(x), pullback


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "f, rule, words",
    [
        (squares, squares_rrule, "not tuples, lists or dicts"),
        (halves, halves_rrule, "not tuples, lists or dicts"),
        (figures, figures_rrule, "a tensor or a tuple of tensors"),
    ],
)
def test_structures_are_known_however_they_are_written(f, rule, words):
    """By a comprehension, by the name of their type, by the words that read them: PyTorch refuses them by
    their line, and JAX goes through them.
    """
    with pytest.raises(ExportError, match=words) as refused:
        written(torch_export, f, rule)
    assert refused.value.place.line > rule.__code__.co_firstlineno
    assert "jax.tree_util.tree_map(" in written(jax_export, f, rule).text.partition("_bwd(")[2]


def of_a_kind(x, kind):
    if kind == "square":
        y = x**2
    else:
        y = x**3
    return y


def of_a_kind_rrule(x, kind):
    slope = 2 * x if kind in ("square", "two") else 3 * x**2
    return of_a_kind(x, kind), lambda g: (rl.NoTangent(), g * slope, rl.NoTangent())


def of_a_kind_by_match(x, kind):
    match kind:
        case "square":
            slope = 2 * x
        case _:
            slope = 3 * x**2
    return of_a_kind(x, kind), lambda g: (rl.NoTangent(), g * slope, rl.NoTangent())


@pytest.mark.first(1)
@pytest.mark.parametrize("rule", [of_a_kind_rrule, of_a_kind_by_match])
def test_what_is_compared_with_words_is_no_array(rule):
    """JAX takes no words as arguments that it traces."""
    assert "nondiff_argnums=(1,)" in written(jax_export, of_a_kind, rule).text


def log_volume(A):
    """log det A of a symmetric positive definite A."""
    return 2 * np.sum(np.log(np.diag(np.linalg.cholesky(A))))


def log_volume_rrule(A):
    return log_volume(A), lambda g: (rl.NoTangent(), g * np.linalg.inv(A))


@pytest.mark.campaign
def test_gradcheck_moves_symmetric_matrices_among_themselves(tmp_path):
    """A rule of a function that reads half of a symmetric argument is right in PyTorch, too."""
    needed("torch")
    registry = Registry()
    rl.rrule_for(log_volume, registry=registry)(log_volume_rrule)
    a = np.array([[4.0, 0.5, -1.0], [0.5, 3.0, 0.25], [-1.0, 0.25, 5.0]])
    file = tmp_path / "volumes.py"
    report = export(log_volume, "torch", file, at=(a,), depth="quick", registry=registry)
    assert report and {row.verdict for row in report.rows} == {"right"}
    assert_tests_pass(tmp_path / "test_volumes.py")
