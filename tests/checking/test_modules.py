"""A module is found by name or file, and the rules that it states are all found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rulelab.checking.batch.modules import (
    ModuleError,
    ModuleLocation,
    load_module,
    locate_module,
    rules_stated,
)
from rulelab.rules.targets import name_of

from .written_modules import RIGHT


def names(module: str) -> list[tuple[str, str]]:
    return [(name_of(s.target), s.rule.mode) for s in rules_stated(locate_module(module))]


def test_every_rule_of_a_file_is_found_in_its_order(write):
    """Reverse rules, forward rules and both halves of a scalar rule, in the order of the file."""
    assert names(write("some_rules", RIGHT)) == [("cube", "rrule"), ("scaled", "rrule"), ("scaled", "frule")]


def test_a_module_that_was_imported_before_still_tells_its_rules(write):
    """Asking twice gives the same rules: the second time none of them is new."""
    path = write("asked_twice", RIGHT)
    assert names(path) == names(path) != []


def test_rules_for_functions_of_others_and_of_imported_modules_count(write):
    """A module that states rules for another's functions, and imports one that states some, tells of all."""
    write("below", RIGHT)
    one = "rl.frule_for(below.cube)(lambda dots, x: (x ** 3, 0.0))"
    above = write("above", f"import below, rulelab as rl\n{one}\n")
    assert names(above) == [("cube", "rrule"), ("cube", "frule"), ("scaled", "rrule"), ("scaled", "frule")]


def test_a_file_within_a_package_goes_by_its_dotted_name(write, tmp_path):
    """Relative imports of a file in a package work, and so does the package itself."""
    package = tmp_path / "boxes"
    package.mkdir()
    (package / "__init__.py").write_text("from . import inner\n")
    (package / "inner.py").write_text(RIGHT)
    (package / "outer.py").write_text("from .inner import cube\n")
    assert locate_module(str(package / "outer.py")) == ModuleLocation("boxes.outer", str(tmp_path))
    assert locate_module(str(package)) == ModuleLocation("boxes", str(tmp_path))
    assert len(names(str(package))) == 3
    assert len(names(str(package))) == 3, "of a package imported before, those below its folder"


def test_a_dotted_name_is_found_from_the_folder_one_is_in(write, tmp_path):
    """`rulelab check my_rules` needs no installation: the present folder counts, as for `python -m`."""
    write("near_by", RIGHT)
    where = locate_module("near_by", tmp_path)
    assert len(rules_stated(where)) == 3 and str(where) == "near_by"


@pytest.mark.parametrize(
    "text, words",
    [
        ("no-name", "'no-name' is neither the dotted name of a module nor a file that ends with .py"),
        ("nowhere.py", "there is no file nowhere.py"),
        ("./", "./ is a folder: name a file in it"),
    ],
)
def test_what_is_no_module_is_said(text, words, tmp_path):
    """Text that can mean no module is refused before anything is imported."""
    with pytest.raises(ModuleError) as refused:
        locate_module(text, tmp_path)
    assert refused.value.found == words


@pytest.mark.parametrize(
    "text, words",
    [
        ("x = 1\n1 / 0\n", "cannot be imported: ZeroDivisionError: division by zero, at {file}, line 2"),
        ("def f(:\n", "cannot be imported: SyntaxError: invalid syntax ({file}, line 1)"),
        ("import nothing_here\n", "cannot be imported: ModuleNotFoundError: No module named 'nothing_here'"),
        ("raise SystemExit(3)\n", "cannot be imported: it ends the program with SystemExit(3)"),
        (
            "import rulelab as rl\nrl.rrule_for(3)\n",
            "RuleRegistrationError: a rule must be for a callable, not for an int, at {file}, line 2",
        ),
    ],
)
def test_an_import_that_fails_is_told_in_one_line_with_its_own(text, words, write):
    """The error of an import is one line, with the line of the module; nothing of it stays loaded."""
    path = write("failing", text)
    with pytest.raises(ModuleError) as refused:
        load_module(locate_module(path))
    assert words.format(file="failing.py") in refused.value.found and "\n" not in refused.value.found
    assert "failing" not in sys.modules


def test_a_module_that_is_not_there_is_named():
    """A missing module is told apart from a module whose own imports are missing."""
    with pytest.raises(ModuleError, match=r"numpy.linlag; did you mean numpy.linalg\?$"):
        load_module(locate_module("numpy.linlag"))
    with pytest.raises(ModuleError, match=r"^there is no module named no_such_module$"):
        load_module(locate_module("no_such_module.inner"))


def test_a_file_with_the_name_of_a_loaded_module_is_refused(write):
    """A file called like a module of Python's own would be mixed up with it: rename it."""
    with pytest.raises(ModuleError, match="another module named json is loaded already"):
        load_module(locate_module(write("json", RIGHT)))


@pytest.mark.slow
def test_asking_for_rules_loads_nothing_heavy():
    """A process that checks rules starts fast: it loads neither IPython nor SymPy nor matplotlib."""
    heavy = ("IPython", "sympy", "matplotlib", "jinja2", "tabulate", "dask")
    code = f"import sys, rulelab.checking.many; print([m for m in {heavy!r} if m in sys.modules])"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "[]"


def test_the_folder_of_a_file_is_absolute(tmp_path):
    """What travels to another process does not depend on where that process is."""
    (tmp_path / "here.py").write_text("")
    assert Path(locate_module("here.py", tmp_path).file).is_absolute()
