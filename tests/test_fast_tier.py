"""What `make check` runs, `tests/check.txt`: of every construct one program, of every magic one use."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from corpus.constructs import ROWS  # noqa: E402
from corpus.harness import all_cases  # noqa: E402

from rulelab.notebook.magics import RuleLab  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
CHECKED = (ROOT / "tests" / "check.txt").read_text(encoding="utf-8").splitlines()
IGNORED = [ROOT / entry.removeprefix("--ignore=") for entry in CHECKED if entry.startswith("--ignore=")]
PATHS = [ROOT / entry.partition("::")[0] for entry in CHECKED if not entry.startswith("--")]


# What is enumerated, by name, and the test that has a case for each.
ENUMERATED = {
    "programs of the corpus": (
        {case.name for case in all_cases()},
        "tests/compiler/test_corpus.py::test_gradient_is_that_of_the_function",
    ),
    "constructs of docs/support.md": (
        {row.function.__name__ for row in ROWS},
        "tests/test_support_page.py::test_a_construct_is_taken_rightly_or_refused",
    ),
    "magics": (
        set(RuleLab.magics["line"]) | set(RuleLab.magics["cell"]),
        "tests/notebook/test_magic_methods.py::test_the_first_example_of_the_help_runs",
    ),
}


def is_checked(path, test=""):
    """Whether `make check` runs a file, or a test in it."""
    within = [ROOT / entry for entry in CHECKED if not entry.startswith("--") and "::" not in entry]
    alone = f"{path.relative_to(ROOT).as_posix()}::{test}" in CHECKED
    return alone or (
        any(path.is_relative_to(place) for place in within)
        and not any(path.is_relative_to(ignored) for ignored in IGNORED)
    )


@pytest.mark.parametrize("kind", ENUMERATED)
def test_each_has_its_row_in_the_fast_tier(kind):
    """None of them is left out, sampled or a campaign."""
    names, test = ENUMERATED[kind]
    file, _, name = test.partition("::")
    assert is_checked(ROOT / file, name), f"{test} is not in tests/check.txt"
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    (rows,) = getattr(module, name).pytestmark
    assert rows.name == "parametrize"  # and nothing else, such as a mark that leaves cases to a campaign
    assert names and not names - set(rows.kwargs.get("ids", rows.args[1])), "without a row in the fast tier"


def test_every_entry_is_there():
    """A file that has moved takes its entry along: pytest says nothing of a path that it is to ignore."""
    assert [path for path in (*PATHS, *IGNORED) if not path.exists()] == []
    assert len(set(CHECKED)) == len(CHECKED)


def test_nothing_in_it_needs_a_browser_or_a_kernel():
    """Neither is started within two minutes beside all the rest."""
    slow = ("tests/browser", "tests/notebook/test_kernel.py", "tests/notebook/test_widgets.py")
    assert not [path for path in slow if is_checked(ROOT / path)]
