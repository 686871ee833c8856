"""On GitHub what is not right is shown beside its line, and no words can say anything else there."""

from __future__ import annotations

from rulelab.checking.github import Note, document


def test_what_is_not_right_has_a_command(tmp_path, monkeypatch):
    """A wrong rule is an error and one that is not known a warning; files go by their way from here."""
    monkeypatch.chdir(tmp_path)
    notes = [
        Note("right", "rrule of f", "fine", str(tmp_path / "a.py"), 1),
        Note("wrong", "rrule of g", "wrong:\n  at x", str(tmp_path / "a.py"), 7),
        Note("inconclusive", "frule of h", "50 % known", "/elsewhere/b.py", 2),
        Note("error", "frule of k", "died", "<cell 3>", 2),
    ]
    assert document(notes, "4 checks.").splitlines() == [
        "::error file=a.py,line=7,title=rrule of g::wrong:%0A  at x",
        "::warning file=/elsewhere/b.py,line=2,title=frule of h::50 %25 known",
        "::error line=2,title=frule of k::died",
        "4 checks.",
    ]


def test_hostile_words_begin_no_command():
    """Neither in what is said nor in a name, and not by a line of their own."""
    words = "x\n::set-output name=a::b\r::add-mask::c\u2028::error::d"
    text = document([Note("wrong", f"rrule of {words}", words, f"{words}.py", 1)], words)
    assert len(text.splitlines()) == 2 and text.count("\n") == 1
    assert text.splitlines()[0].count("::error") == 2 and text.startswith("::error file=x%0A%3A%3Aset-output")
