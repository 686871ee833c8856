"""On GitHub what is not right is shown beside its line, and no words can say anything else there."""

from __future__ import annotations

import sys

import pytest

from rulelab.checking.many import check_all, module_jobs
from rulelab.errors import Place
from rulelab.github import Note, document, spot
from rulelab.notebook import cli


def test_what_is_not_right_has_a_command(tmp_path, monkeypatch):
    """A wrong rule is an error and one that is not known a warning; files go by their way from here."""
    monkeypatch.chdir(tmp_path)
    notes = [
        Note("right", "rrule of f", "fine", str(tmp_path / "a.py"), 1),
        Note("wrong", "rrule of g", "wrong:\n  at x", str(tmp_path / "a.py"), 7),
        Note("inconclusive", "frule of h", "50% known", "/elsewhere/b.py", 2),
        Note("error", "frule of k", "died", "<cell 3>", 2),
    ]
    assert document(notes, "4 checks.").splitlines() == [
        "::error file=a.py,line=7,title=rrule of g::wrong:%0A  at x",
        "::warning file=/elsewhere/b.py,line=2,title=frule of h::50%25 known",
        "::error line=2,title=frule of k::died",
        "4 checks.",
    ]


def test_lines_for_people_are_no_commands():
    """Not even when somebody wrote one: the manual shows some."""
    assert document([], "fine", " ::error::x", "##[error]x") == "fine\n>  ::error::x\n> ##[error]x"


def test_hostile_words_begin_no_command():
    """Neither in what is said nor in a name, and not by a line of their own."""
    words = "x\n::set-output name=a::b\r::add-mask::c\u2028::error::d"
    text = document([Note("wrong", f"rrule of {words}", words, f"{words}.py", 1)], words)
    assert len(text.splitlines()) == 2 and text.count("\n") == 1
    assert text.splitlines()[0].count("::error") == 2 and text.startswith("::error file=x%0A%3A%3Aset-output")


def test_files_go_by_their_way_from_the_folder_of_the_job(tmp_path, monkeypatch):
    """A step may run in a folder below that of the repository, from which GitHub sees files."""
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    note = Note("wrong", "rrule of f", "x", str(tmp_path / "src" / "a.py"), 7, 3)
    assert document([note], "").startswith("::error file=src/a.py,line=7,col=3,title=rrule of f::x")


def test_columns_are_those_of_characters(tmp_path):
    """A place counts bytes from 0, and GitHub characters from 1."""
    file = tmp_path / "a.py"
    file.write_text("α = ηη(x)\n", encoding="utf-8")
    assert spot(Place(str(file), 1, 5)) == (str(file), 1, 5)
    assert spot(Place(str(file), 1)) == (str(file), 1, 0)
    assert spot(Place("<cell 3>", 1, 5)) == spot(None) == ("", 0, 0)


def test_a_mistake_is_shown_where_it_is(tmp_path, monkeypatch):
    """A wrong rule at the line and column of its mistake, not where the rule begins."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong_cube_rules.py").write_text(
        "import rulelab as rl\n\ndef cube(x):\n    return x**3\n\n@rl.rrule_for(cube)\ndef cube_rrule(x):\n"
        "    def pullback(y_bar):\n        return rl.NoTangent(), 2 * x**2 * y_bar\n"
        "    return cube(x), pullback\n"
    )
    text = check_all(module_jobs("wrong_cube_rules.py")).to_github()
    assert text.startswith("::error file=wrong_cube_rules.py,line=9,col=32,title=rrule of cube(x)::")


@pytest.mark.parametrize(
    "text, at",
    [("import rulelab\ndef f(x:\n", "line=2,col=6"), ("x = 1\n    \ny = 1 / (x - 1)\n", "line=3,col=5"),
     ("x = 1\n", None)],
)  # fmt: skip
def test_a_module_that_cannot_be_imported_is_shown_at_its_line(text, at, tmp_path, monkeypatch, capsys):
    """What ends the step has an annotation as well; words stay on the line of the command."""
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("no_rules_here", None)  # that of another text
    (tmp_path / "no_rules_here.py").write_text(text)
    assert cli.main(["check", "no_rules_here.py", "--format", "github"]) == 2
    said = capsys.readouterr()
    where = f"file=no_rules_here.py,{at}," if at else ""
    assert said.out.startswith(f"::error {where}title=rulelab check::no_rules_here.py ")
    assert said.out.count("\n") == 1 and "rulelab check: no_rules_here.py" in said.err
