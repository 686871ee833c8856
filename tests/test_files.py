"""Files are written whole or not at all."""

import os
import subprocess
import sys

import pytest

from rulelab import files


def test_a_failed_or_interrupted_write_leaves_the_old_file_alone(tmp_path, monkeypatch):
    """A disk that is full, or Ctrl-C at the last moment: the old text is there, and no part of the new."""
    path = tmp_path / "kept.txt"
    path.write_text("old")
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def stopped(*given, error=error):
            raise error

        for name in ("fsync", "chmod", "replace"):
            with monkeypatch.context() as patch, pytest.raises(type(error)):
                patch.setattr(os, name, stopped)
                files.write_whole(path, "new")
            assert path.read_text() == "old" and os.listdir(tmp_path) == ["kept.txt"]


def test_permissions_stay(tmp_path):
    """A file that others may not read stays so; a new one is like any other new file."""
    path, usual = tmp_path / "kept.txt", tmp_path / "usual.txt"
    usual.write_text("")
    files.write_whole(path, "é")
    assert path.stat().st_mode == usual.stat().st_mode and path.read_text(encoding="utf-8") == "é"
    path.chmod(0o640)
    files.write_whole(path, "new")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o007])
def test_the_umask_is_never_touched(tmp_path, mask):
    """It is the whole process's: while one thread changes it, files of others could be anyone's to write."""
    code = f"""
import os, sys
from pathlib import Path
os.umask({mask})
def refused(mask): raise AssertionError("the umask was changed")
os.umask = refused
from rulelab import files
folder = Path(sys.argv[1])
files.write_whole(folder / "new", "text")
files.write_whole(folder / "new", "again")
files.copy_new(folder / "new", folder / "copy")
(folder / "usual").write_text("")
assert len({{(folder / name).stat().st_mode for name in ("new", "copy", "usual")}}) == 1
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=300)


def test_while_a_closed_file_is_replaced_nobody_else_can_read_it(tmp_path, monkeypatch):
    """What is written to a file that others may not read is theirs at no moment."""
    path = tmp_path / "kept.txt"
    path.write_text("old")
    path.chmod(0o600)
    seen, sync = [], os.fsync

    def watched(handle):
        seen.extend(file.stat().st_mode & 0o077 for file in tmp_path.iterdir())
        sync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    files.write_whole(path, "new")
    assert seen == [0, 0] and path.stat().st_mode & 0o777 == 0o600


def test_no_link_is_followed(tmp_path):
    """A link leads neither what is written nor what is copied out of the folder one is in."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    theirs = outside / "theirs.txt"
    theirs.write_text("theirs")
    for name, there in (("link", theirs), ("to nothing", outside / "new.txt")):
        link = inside / name
        link.symlink_to(there)
        with pytest.raises(FileExistsError):
            files.copy_new(theirs, link)
        with pytest.raises(OSError):
            files.copy_new(link, inside / "copy")
        assert link.is_symlink() and not (inside / "copy").exists()
        files.write_whole(link, "mine")
        assert not link.is_symlink() and link.read_text() == "mine"
    assert theirs.read_text() == "theirs" and os.listdir(outside) == ["theirs.txt"]


def test_an_interrupted_copy_is_not_taken_for_a_whole_one(tmp_path, monkeypatch):
    """After Ctrl-C or a full disk there is no copy, so the next start makes it anew."""
    (tmp_path / "source").write_text("text")
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def stopped(handle, error=error):
            raise error

        with monkeypatch.context() as patch, pytest.raises(type(error)):
            patch.setattr(os, "fsync", stopped)
            files.copy_new(tmp_path / "source", tmp_path / "copy")
        assert os.listdir(tmp_path) == ["source"]


@pytest.mark.parametrize("name", ["replace", "fsync", "link", "chmod", "mkdir"])
@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()], ids=["full", "Ctrl-C"])
def test_of_several_files_all_are_written_or_none(tmp_path, monkeypatch, name, error):
    """Whichever step fails, the first or the last: what was there is there, and nothing else."""
    old, new = tmp_path / "old.txt", tmp_path / "a" / "b" / "new.txt"
    old.write_text("old")
    texts = {new: "new", old: "newer"}
    steps = 0
    while True:
        done, left = getattr(os, name), steps

        def stopped(*given, **words):
            nonlocal left
            left -= 1
            if left == -1:
                raise error
            return done(*given, **words)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, stopped)
            try:
                files.write_all(texts, force=True)
            except type(error):
                assert old.read_text() == "old" and os.listdir(tmp_path) == ["old.txt"]
            else:
                break
        steps += 1
    assert (old.read_text(), new.read_text()) == ("newer", "new") and steps >= 1
    assert sorted(os.listdir(tmp_path)) == ["a", "old.txt"] and os.listdir(new.parent) == ["new.txt"]


def test_a_file_that_is_there_is_replaced_only_by_force(tmp_path):
    """A link counts as one, and what it leads to stays; a folder is never replaced."""
    theirs, link = tmp_path / "theirs.txt", tmp_path / "link.txt"
    theirs.write_text("theirs")
    link.symlink_to(theirs)
    for path in (theirs, link):
        with pytest.raises(FileExistsError):
            files.write_all({tmp_path / "new.txt": "new", path: "mine"})
    assert sorted(os.listdir(tmp_path)) == ["link.txt", "theirs.txt"]
    files.write_all({link: "mine"}, force=True)
    assert theirs.read_text() == "theirs" and link.read_text() == "mine" and not link.is_symlink()
    with pytest.raises(FileExistsError):
        files.write_all({tmp_path: "mine"}, force=True)


def test_a_way_through_a_folder_that_is_missing_is_made(tmp_path):
    """`a/..` is there as soon as `a` is."""
    files.write_all({tmp_path / "a" / ".." / "b" / "one.txt": "1"})
    assert (tmp_path / "b" / "one.txt").read_text() == "1"
