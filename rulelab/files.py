"""Writing a file in one step: who reads it finds the old one or the new one, each whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write UTF-8 text to a file, which is replaced at once or stays as it was, also under Ctrl-C.

    The permissions stay those of the file that is replaced. Raises OSError where it cannot be written.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "notes.txt"), "two\\n")
    ...     Path(folder, "notes.txt").read_text()
    'two\\n'
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_of_new_files(path))
        os.replace(temporary, path)
    except BaseException:  # an interrupt too leaves no half file behind
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _mode_of_new_files(path: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
