"""pytest's door to rulelab: the fixture `rulelab_check` and the option `--rulelab-rules`.

It stands beside the package and not in it, and imports nothing of it until a test asks: a run of pytest that
has nothing to do with rules does not wait for them.
"""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest


def pytest_addoption(parser):
    """The option that has the rules of modules checked."""
    group = parser.getgroup("rulelab")
    group.addoption(
        "--rulelab-rules",
        action="store_true",
        help="check the derivative rules in the modules under the given paths, one test for each rule",
    )


@pytest.fixture
def rulelab_check():
    """Passes if the rule of a function is right: `rulelab_check(f, *args)`, with the options of `rule_check`.

    It returns the report. A wrong rule fails with the mistake; one that cannot be judged fails too.
    """
    from rulelab.checking import rule_check

    def check(f, *args, **options):
        __tracebackhide__ = True
        return rule_check(f, *args, **options).raise_unless_right()

    return check


def pytest_collect_file(file_path, parent):
    """The rules of a module that speaks of rulelab and is no test."""
    config = parent.config
    if not config.getoption("--rulelab-rules") or file_path.suffix != ".py":
        return None
    tests = [*config.getini("python_files"), "conftest.py", "setup.py"]
    if any(fnmatch.fnmatch(file_path.name, pattern) for pattern in tests) or not _speaks_of_rules(file_path):
        return None
    return RulesFile.from_parent(parent, path=file_path)


def _speaks_of_rules(path: Path) -> bool:
    try:
        return b"rulelab" in path.read_bytes()
    except OSError:
        return False


class RulesFile(pytest.File):
    """A module that may state rules."""

    def collect(self):
        """A test for each rule; none for a module that states none."""
        from rulelab.checking.batch.jobs import module_jobs
        from rulelab.checking.batch.modules import NoRulesError
        from rulelab.errors import RuleLabError

        try:
            jobs = module_jobs(str(self.path))
        except NoRulesError:
            return
        except RuleLabError as error:
            raise self.CollectError(str(error)) from None
        for job in jobs:
            yield RuleItem.from_parent(self, name=job.label, job=job)


class RuleItem(pytest.Item):
    """One rule."""

    def __init__(self, *, job, **words):
        super().__init__(**words)
        self.job = job

    def runtest(self):
        """Check the rule; what is not right fails."""
        from rulelab.advice import shown_on_command_line
        from rulelab.checking.batch.jobs import RIGHT, run_job

        told = shown_on_command_line(
            run_job(self.job)
        )  # it is judged at the points that its module states, too
        if told["verdict"] != RIGHT:
            raise NotRight("\n".join((told["sentence"], *told["lines"])))

    def repr_failure(self, excinfo, style=None):
        """The report of the check, without frames of ours."""
        if isinstance(excinfo.value, NotRight):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        """Where the rule stands."""
        return self.path, max(self.job.line - 1, 0), self.name


class NotRight(Exception):
    """A rule that is wrong, or of which it is not known; the text is the report."""
