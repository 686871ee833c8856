"""Files are written whole or not at all."""

import os

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
