"""Files written in one step, so that a reader never finds half a file, and copied without following
links."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write UTF-8 text to a file, which is replaced atomically or stays unchanged, even under Ctrl-C.

    The permissions of a replaced file are kept; a symbolic link is replaced, not its target. Raises OSError
    if the file cannot be written.

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
    except BaseException:  # an interrupt must not leave half a file either
        _remove(temporary)
        raise


def write_all(texts: Mapping[Path, str], *, force: bool = False) -> None:
    """Write several UTF-8 files, all or none, even under Ctrl-C; missing folders are created.

    Raises FileExistsError, before anything is written, if a file exists and `force` is false. With `force` it
    is replaced, and restored if another file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_all({Path(folder, "a", "one.txt"): "1", Path(folder, "a", "two.txt"): "2"})
    ...     sorted(path.name for path in Path(folder, "a").iterdir())
    ['one.txt', 'two.txt']
    """
    for path in texts:
        if os.path.lexists(path) and (not force or path.is_dir()):
            raise FileExistsError(errno.EEXIST, "already exists", str(path))
    folders: list[Path] = []
    staged: list[_Staged] = []
    placed = False
    try:
        for path, text in texts.items():
            _make_folders(path.parent, folders)
            staged.append(_Staged(path, secrets.token_hex(6)))
            staged[-1].fill(text.encode())
        for one in staged:
            one.put()
        placed = True
        for one in staged:
            one.forget()
    except BaseException:  # an interrupt too must leave all files unchanged, or all in place
        for one in reversed(staged):
            one.forget() if placed else one.undo()
        for made in () if placed else reversed(folders):
            with contextlib.suppress(OSError):
                made.rmdir()
        raise


def _make_folders(folder: Path, made: list[Path]) -> None:
    missing = [folder, *folder.parents]
    missing = missing[: next((i for i, each in enumerate(missing) if each.exists()), len(missing))]
    for each in reversed(missing):
        if not each.exists():  # `a/..` exists as soon as `a` does
            made.append(each)
            each.mkdir()


class _Staged:
    """A file being written: first beside its place, then there; the old one is kept until all succeed."""

    def __init__(self, path: Path, token: str):
        self.path, self.kept = path, _mode_of(path)
        self.temporary = path.parent / f".{path.name}.{token}.part"
        self.before = path.parent / f".{path.name}.{token}.old"
        self.is_new = not os.path.lexists(path)
        self.begun = False

    def fill(self, data: bytes) -> None:
        _fill(_create(self.temporary, 0o666 if self.kept is None else 0o600), data)
        if self.kept is not None:
            os.chmod(self.temporary, self.kept)

    def put(self) -> None:
        if not self.is_new:
            os.link(self.path, self.before, follow_symlinks=False)
        self.number = os.stat(self.temporary).st_ino
        self.begun = True
        os.replace(self.temporary, self.path)

    def undo(self) -> None:
        with contextlib.suppress(OSError):
            if self.begun and self.is_new and os.lstat(self.path).st_ino == self.number:
                os.unlink(self.path)
        with contextlib.suppress(OSError):
            if not self.is_new:
                os.replace(self.before, self.path)
        _remove(self.temporary)
        _remove(self.before)

    def forget(self) -> None:
        _remove(self.before)


def copy_new(source: Path, path: Path) -> None:
    """Copy a file to a path where nothing exists yet, not even a symbolic link.

    No link is followed at either end, so that nothing outside the two folders is read or written. Raises
    FileExistsError if something exists there, and OSError if `source` is a link.

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
    """The contents of a file; OSError if it is a symbolic link."""
    handle = os.open(path, os.O_RDONLY | _NO_LINK | _BINARY)
    with open(handle, "rb") as file:
        if not _NO_LINK and path.is_symlink():
            raise OSError(f"{path} is a link")
        return file.read()


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def _create(path: Path, mode: int) -> int:
    """Create and open a new file; OSError if anything exists there, even a dangling link."""
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
    """The permissions of a file; None if it does not exist or is not a regular file."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mode & 0o777 if stat.S_ISREG(found.st_mode) else None
