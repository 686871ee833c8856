"""An exported rule stands by itself: written whole or not at all, it runs and answers what it answered."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import doctor
from rulelab.checking.batch.jobs import module_jobs, run_job
from rulelab.errors import ExportError
from rulelab.portability import checked, export, exports
from rulelab.portability.package_text import pyproject_text, readme_text
from rulelab.rules.registry import Registry

from ..checking.rule_corpus.campaign import RULES, truth
from . import leaving_rules

USERS = [rule for rule in RULES if rule.meant_right and rule.through == "rule"]
AT = {name: (args, {}) for name, args in leaving_rules.AT.items()}
OURS = str(Path(rl.__file__).parents[1])
ENVIRONMENT = os.environ | {"PYTHONPATH": OURS}


def run(*words, folder):
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """All the rules in one module, with the report."""
    folder = tmp_path_factory.mktemp("left")
    return export(leaving_rules.FUNCTIONS, "module", folder / "left_rules.py", at=AT, depth="quick")


@pytest.mark.every(3, slow=True)
@pytest.mark.parametrize("name", AT)
def test_an_export_agrees_with_ours_and_with_differences(everything, name):
    """In a process of its own, in float64 to 1e-10, and in float32 to 1e-4 where the rule takes it."""
    rows = [row for row in everything.rows if row.name == name]
    double = [row for row in rows if row.dtype == "float64"]
    assert double and all(row.verdict == "right" and row.points >= 3 for row in double)
    assert max(row.against_ours for row in double) <= 1e-10
    assert max(row.against_differences for row in double) <= 1e-8
    for row in rows:
        unconverted = row.dtype == "float32" and "cannot be converted to another precision" in row.why
        assert row.verdict == "right" or unconverted


@pytest.mark.slow
def test_the_report_says_what_was_written_and_found(everything):
    """Its files, the verdicts before it left, and the comparison after."""
    assert bool(everything)
    assert [file.name for file in everything.files] == ["left_rules.py", "test_left_rules.py"]
    assert "rrule of mse_cr" in str(everything) and "exported as a module: " in str(everything)
    assert {check.verdict for one in everything.checks for _, check in one.checks} == {"right"}


@pytest.mark.slow
def test_the_verdicts_of_an_export_have_their_signs(everything):
    """In both tables, as everywhere else."""
    tables = everything.page().tables
    assert len(tables) == 2
    for table in tables:
        assert table.verdicts == tuple(row[table.columns.index("verdict")] for row in table.rows)


def test_rulelab_check_asks_where_the_author_did(everything):
    """At the points that the module states, for instance with a struct that could not be drawn."""
    (job,) = module_jobs(str(everything.files[0]), ["energy"])
    told = run_job(job)
    assert told["verdict"] == "right"
    first = {"from": "given", "inputs": ["Spring(stiffness=2.0, length=0.5)", "1.25"]}
    assert first in told["report"]["points"]


@pytest.mark.campaign
def test_the_tests_of_an_export_pass(everything):
    """Those of all the rules; of one, the suite runs them."""
    told = run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", everything.files[1], folder=everything.files[1].parent
    )
    assert told.returncode == 0, told.stdout


@pytest.fixture
def cube():
    def cube(x):
        """Three times itself: \"\"\" and {{ and \\ and '''."""
        return x**3

    registry = Registry()
    rl.scalar_rule(cube, lambda out, x: 3 * x**2, registry=registry)
    return cube, registry


@pytest.mark.slow
def test_a_package_has_its_files_and_a_table_of_verdicts(cube, tmp_path, monkeypatch):
    """Project file, module, tests, and a README."""
    f, registry = cube
    folder = tmp_path / "cubes"
    with unrun(monkeypatch):
        report = export(f, "module", "cubes.py", package=folder, at=(2.0,), depth="quick", registry=registry)
    names = {str(path.relative_to(tmp_path / "cubes")) for path in report.files}
    assert names == {"pyproject.toml", "README.md", "src/cubes/__init__.py", "tests/test_cubes.py"}
    rows = (tmp_path / "cubes" / "README.md").read_text().replace(" ", "").splitlines()
    assert any(row.startswith("|rruleofcube|right|") for row in rows)
    assert rows.index("pipinstall./rulelab") < rows.index("pipinstall'.[test]'")


def test_a_package_has_one_name_in_all_of_its_files():
    """That of its project, also where the module begins with an underscore."""
    assert 'name = "my-cubes"' in pyproject_text("_my_cubes", ["numpy"])
    assert readme_text("_my_cubes", []).startswith("# my-cubes\n")


@pytest.mark.parametrize(
    "to, file, words",
    [("jax", "cubes.py", "only a module can be exported as a package, not jax"),
     ("module", "a/cubes.py", "named without a folder"),
     ("module", "würfel.py", "package cannot be called"), ("module", "__.py", "package cannot be called")],
)  # fmt: skip
def test_what_can_be_no_package_is_refused_at_once(to, file, words, cube, tmp_path, monkeypatch):
    """Before the rule is checked."""
    monkeypatch.setattr(exports, "gathered", None)
    with pytest.raises(ExportError, match=words):
        export(cube[0], to, file, package=tmp_path / "cubes", registry=cube[1])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.campaign
@pytest.mark.parametrize("rule", USERS, ids=lambda rule: rule.name)
def test_a_rule_as_users_write_them_leaves(rule, tmp_path):
    """Of numbers, arrays, matrices and objects: whatever is right here is right there."""
    f = getattr(truth.load(rule, tmp_path / "written.py"), rule.function)
    try:
        with np.errstate(all="ignore"):
            report = export(f, "module", tmp_path / "left_rules.py", depth="quick")
    except ExportError as refused:
        assert "no arguments were found" in refused.found
        return
    assert report and all(row.verdict == "right" for row in report.rows if row.dtype == "float64")


@pytest.mark.campaign
def test_a_package_installs_without_a_network(cube, tmp_path):
    """In an environment of its own that sees this one's libraries; its tests pass there."""
    f, registry = cube
    export(f, "module", "cubes.py", package=tmp_path / "cubes", at=(2.0,), registry=registry)
    assert run("-m", "venv", "--system-site-packages", tmp_path / "there", folder=tmp_path).returncode == 0
    python = tmp_path / "there" / "bin" / "python"
    mine = [path for path in sys.path if path.endswith("site-packages")]
    (next((tmp_path / "there").rglob("site-packages")) / "mine.pth").write_text("\n".join(mine))
    words = ["-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--no-index", "./cubes"]
    done = subprocess.run([python, *words], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    command = [python, "-m", "pytest", "-q", "tests"]
    told = subprocess.run(command, cwd=tmp_path / "cubes", env=ENVIRONMENT, capture_output=True, text=True)
    assert told.returncode == 0 and "4 passed" in told.stdout, told.stdout


@pytest.mark.first(1)
@pytest.mark.parametrize("step", ["run_export", "write_all"])
def test_an_export_that_is_interrupted_leaves_nothing(cube, tmp_path, monkeypatch, step):
    """Ctrl-C while it is run, or while it is written."""

    def interrupted(*given, **words):
        raise KeyboardInterrupt

    monkeypatch.setattr(exports, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        export(cube[0], "module", tmp_path / "cubes.py", at=(2.0,), depth="quick", registry=cube[1])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_export_that_is_interrupted_while_it_checks_ends(cube, tmp_path, monkeypatch):
    """A check tells what it has found by then, which is not enough for a rule to leave."""

    def first_points(check):
        report = check.result(interrupted=True)
        assert report.verdict != "wrong"
        return report

    monkeypatch.setattr(checked, "report_of_check", first_points)
    with pytest.raises(KeyboardInterrupt):
        export(cube[0], "module", tmp_path / "cubes.py", at=(2.0,), depth="quick", registry=cube[1])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", [None, "deep/inside"])
def test_a_folder_that_cannot_be_written_into_is_refused_at_once(cube, tmp_path, monkeypatch, package):
    """Before the rule is checked; also where it would have to be made first."""
    monkeypatch.setattr(exports, "gathered", None)
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExportError, match=re.escape(f"{tmp_path} cannot be written into")):
        export(
            cube[0], "module", "cubes.py" if package else tmp_path / "cubes.py",
            package=package and tmp_path / package, registry=cube[1],
        )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_what_gives_other_numbers_at_each_call_is_refused_as_that(tmp_path, monkeypatch):
    """Nobody is asked to report an export that differs from a function which differs from itself."""

    def shaken(x):
        return 2 * x + np.random.rand()

    registry = Registry()

    @rl.rrule_for(shaken, registry=registry)
    def shaken_rrule(x):
        return shaken(x), lambda y_bar: (rl.NoTangent(), 2 * y_bar)

    def differs(file, ours, *given, **words):
        return (exports.Row("shaken", "rrule", "plain", "float64", 1, verdict="wrong", why="off"),)

    monkeypatch.setattr(exports, "run_export", differs)
    with pytest.raises(ExportError, match="returns different numbers when it is called again") as refused:
        export(shaken, "module", tmp_path / "shaken_rules.py", at=(1.0,), depth="quick", registry=registry)
    assert refused.value.place.line == shaken_rrule.__code__.co_firstlineno + 1
    assert list(tmp_path.iterdir()) == []


class Doubling:
    """A class with a method that has a rule."""

    def times(self, x):
        return 2 * x


def test_arguments_that_do_not_fit_are_refused(cube, tmp_path):
    """By an error of ours, that says how they do not; so does a method that was bound to its object."""

    registry = Registry()

    @rl.rrule_for(Doubling.times, registry=registry)
    def times_rrule(self, x):
        return 2 * x, lambda y_bar: (rl.NoTangent(), rl.NoTangent(), 2 * y_bar)

    for f, at, known in ((cube[0], (2.0, 3.0), cube[1]), (Doubling().times, (2.0,), registry)):
        with pytest.raises(ExportError, match="these arguments"):
            export(f, "module", tmp_path / "cubes.py", at=at, registry=known)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_module_of_the_authors_need_not_lie_beside_the_file_yet(tmp_path, monkeypatch):
    """It is run with it, and the report says what to keep beside it."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "gains_of_mine.py").write_text("GAIN = 2.0\n\ndef twice(x):\n    return GAIN * x\n")
    monkeypatch.syspath_prepend(str(tmp_path / "mine"))
    import gains_of_mine

    def gained(x):
        return gains_of_mine.twice(x)

    registry = Registry()

    @rl.rrule_for(gained, registry=registry)
    def gained_rrule(x):
        return gained(x), lambda y_bar: (rl.NoTangent(), gains_of_mine.GAIN * y_bar)

    report = export(gained, "module", tmp_path / "gained.py", at=(2.0,), depth="quick", registry=registry)
    assert report and report.notes == ("it imports gains_of_mine, a file of yours: keep that beside it",)


def test_a_wrong_rule_does_not_leave(tmp_path, monkeypatch):
    """What is found wrong is refused with the mistake, and nothing is written."""

    def cube(x):
        return x**3

    registry = Registry()
    rl.scalar_rule(cube, lambda out, x: 2 * x**2, registry=registry)
    monkeypatch.setattr(doctor, "diagnose", lambda *_: ())
    with pytest.raises(ExportError, match="of cube is wrong"):
        export(cube, "module", tmp_path / "cubes.py", at=(2.0,), depth="quick", registry=registry)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_rule_that_is_wrong_for_whole_numbers_leaves_for_floats(tmp_path, monkeypatch):
    """Where floats are given; else it is said that they may be."""

    def weighed(x):
        return np.sum(x * x) / 3

    registry = Registry()

    @rl.rrule_for(weighed, registry=registry)
    def weighed_rrule(x):
        def weighed_pullback(y_bar):
            x_bar = np.zeros_like(x)
            x_bar[:] = 2 * y_bar * x / 3
            return rl.NoTangent(), x_bar

        return weighed(x), weighed_pullback

    monkeypatch.setattr(doctor, "diagnose", lambda *_: ())
    for args in ((), (np.array([2, 3, 5]),)):
        with pytest.raises(ExportError, match="wrong") as refused:
            export(weighed, "module", tmp_path / "own.py", at=args or None, registry=registry)
        assert any("for floats only" in fix for fix in refused.value.fixes)
    left = export(weighed, "module", tmp_path / "own.py", at=(np.array([2.5, 3.5]),), registry=registry)
    assert left and "wrong for arrays of whole numbers; it was exported for floats" in left.notes[0]


@pytest.mark.slow
def test_an_export_that_answers_something_else_is_not_written(cube, tmp_path, monkeypatch):
    """Whatever the reason: what was run has to agree with what was checked."""
    f, registry = cube
    text = exports.module_text
    monkeypatch.setattr(exports, "module_text", lambda *a: text(*a).replace("3 * x ** 2", "3.001 * x ** 2"))
    with pytest.raises(ExportError, match="gives a different answer"):
        export(f, "module", tmp_path / "cubes.py", at=(2.0,), depth="quick", registry=registry)
    assert list(tmp_path.iterdir()) == []


@contextlib.contextmanager
def unrun(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(exports, "run_export", lambda *a, **k: ())
        yield


@pytest.mark.slow
def test_a_file_that_is_there_stays_unless_forced(cube, tmp_path, monkeypatch):
    """Neither of two files is touched for the sake of the other."""
    f, registry = cube
    (tmp_path / "test_cubes.py").write_text("mine")
    with unrun(monkeypatch):
        with pytest.raises(ExportError, match=r"test_cubes.py already exists"):
            export(f, "module", tmp_path / "cubes.py", at=(2.0,), depth="quick", registry=registry)
        assert [path.name for path in tmp_path.iterdir()] == ["test_cubes.py"]
        export(f, "module", tmp_path / "cubes.py", at=(2.0,), depth="quick", registry=registry, force=True)
    assert {path.name for path in tmp_path.iterdir()} == {"test_cubes.py", "cubes.py"}
    assert "mine" != (tmp_path / "test_cubes.py").read_text()


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "file, words",
    [("cubes.txt", "end with .py"), ("x y.py", "is not a name"), ("a\nb.py", "is not a name"),
     ("import.py", "is not a name"), ("{{x}}.py", "is not a name"), ("numpy.py", "would hide"),
     ("random.py", "would hide"), ("", "must end with"), ("a\0b.py", "is not a name"),
     ("\u202ea.py", "is not a name"),
     ("conftest.py", "run by pytest"), ("__init__.py", "run by Python"),
     ("sitecustomize.py", "run by Python"), ("NUL.py", "on Windows"), ("cubes", "do: name it cubes.py")],
)  # fmt: skip
def test_a_hostile_file_name_is_refused(file, words, cube, tmp_path):
    """Before anything is looked at, and with nothing written."""
    f, registry = cube
    with pytest.raises(ExportError, match=words):
        export(f, "module", f"{tmp_path}/{file}", at=(2.0,), depth="quick", registry=registry)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "file, words",
    [("a\0b/cubes.py", "a folder cannot be called"), ("a\ud800b/cubes.py", "a folder cannot be called"),
     ("a" * 300 + ".py", "cannot be written")],
)  # fmt: skip
def test_a_place_that_cannot_be_is_refused(file, words, cube, tmp_path):
    """By an error of ours, and nothing is left."""
    with pytest.raises(ExportError, match=words):
        export(cube[0], "module", f"{tmp_path}/{file}", at=(2.0,), depth="quick", registry=cube[1])
    assert list(tmp_path.iterdir()) == []


def test_where_rules_cannot_go_is_said(cube, tmp_path):
    """With the places that there are."""
    with pytest.raises(ExportError, match="rules can be exported to one of module"):
        export(cube[0], "fortran", tmp_path / "cubes.f", registry=cube[1])


HOSTILE = "\"\"\"'''\\\n{{7*7}}\u202e\r__import__('os').abort()"


def hostile(x):
    """{{7*7}} \""" ''' \\ \u202e \r __import__('os').abort()"""
    return x * len(HOSTILE)


def test_hostile_texts_run_nothing(tmp_path, monkeypatch):
    """Docstrings and constants that look like code, quotes and templates are what they were."""
    registry = Registry()
    rl.scalar_rule(hostile, lambda out, x: 1.0 * len(HOSTILE), registry=registry)
    file = tmp_path / "hostile_rules.py"
    with unrun(monkeypatch):
        report = export(hostile, "module", file, at=(2.0,), depth="quick", registry=registry)
    space = {}
    exec(report.files[0].read_text(), space)
    assert space["HOSTILE"] == HOSTILE and space["hostile"].__doc__ == hostile.__doc__


class Powers:
    """Functions that stand in a class."""

    @staticmethod
    def square(x):
        return x * x


def test_a_static_method_leaves_with_its_class(tmp_path, monkeypatch):
    """By the name that it has in it."""
    registry = Registry()
    rl.scalar_rule(Powers.square, lambda out, x: 2 * x, registry=registry)
    file = tmp_path / "powers_rules.py"
    with unrun(monkeypatch):
        report = export(Powers.square, "module", file, at=(2.0,), depth="quick", registry=registry)
    assert report.names == ("Powers.square",) and "    @staticmethod\n" in file.read_text()


def test_what_has_no_text_as_an_argument_leaves_no_tests(tmp_path, monkeypatch):
    """The rule goes, and the report says that it goes without points."""

    class Odd(np.ndarray):
        pass

    def total(x):
        return float(np.sum(np.asarray(x)))

    registry = Registry()

    @rl.rrule_for(total, registry=registry)
    def total_rrule(x):
        return total(x), lambda y_bar: (rl.NoTangent(), np.full(np.shape(x), y_bar))

    report = export(
        total, "module", tmp_path / "totals.py", at=(np.ones(2000),), depth="quick", registry=registry
    )
    assert [file.name for file in report.files] in (["totals.py"], ["totals.py", "test_totals.py"])
    if len(report.files) == 1:
        assert "it has no tests" in report.notes[0] and not report
