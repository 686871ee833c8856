"""Files written in one step, so that who reads one finds it whole, and copied without following links."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write UTF-8 text to a file, which is replaced at once or stays as it was, also under Ctrl-C.

    The permissions stay those of the file that is replaced; a link is replaced, not what it leads to. Raises
    OSError where it cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "notes.txt"), "two\\n")
    ...     Path(folder, "notes.txt").read_text()
    'two\\n'
    """
    data, kept = text.encode(), _mode_of(path)
    temporary = path.parent / f".{path.name}.{secrets.token_hex(6)}.part"
    # A new file gets its permissions from the kernel, which alone knows the umask without changing it; one
    # that takes the place of another is nobody else's until it has that one's.
    handle = _create(temporary, 0o666 if kept is None else 0o600)
    try:
        _fill(handle, data)
        if kept is not None:
            os.chmod(temporary, kept)
        os.replace(temporary, path)
    except BaseException:  # an interrupt too leaves no half file behind
        _remove(temporary)
        raise


def copy_new(source: Path, path: Path) -> None:
    """Copy a file to a place where there is nothing yet, not even a link.

    Neither end is looked for behind a link, so that nothing outside the two folders is read or written.
    Raises FileExistsError where there is something already, and OSError where `source` is a link.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "one").write_text("text")
    ...     copy_new(Path(folder, "one"), Path(folder, "two"))
    ...     Path(folder, "two").read_text()
    'text'
    """
    data = read_itself(source)
    handle = _create(path, 0o666)
    try:
        _fill(handle, data)
    except BaseException:
        _remove(path)
        raise


def read_itself(path: Path) -> bytes:
    """What is in a file, which is a file itself and not a link to one; else OSError."""
    handle = os.open(path, os.O_RDONLY | _NO_LINK | _BINARY)
    with open(handle, "rb") as file:
        if not _NO_LINK and path.is_symlink():
            raise OSError(f"{path} is a link")
        return file.read()


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def _create(path: Path, mode: int) -> int:
    """Open a file that was not there before; a link in its place, even one to nothing, is in the way."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)


def _fill(handle: int, data: bytes) -> None:
    with open(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _mode_of(path: Path) -> int | None:
    """The permissions of a file; None where there is none, or a link in its place."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mode & 0o777 if stat.S_ISREG(found.st_mode) else None
