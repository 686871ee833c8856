"""The tutorial's notebooks live in `notebooks/`, where a reader opens them; Sphinx reads them from here."""

from __future__ import annotations

from pathlib import Path

from rulelab.files import copy_new, read_itself


def mirror(source: Path, target: Path) -> None:
    """Make `target` hold the notebooks of `source` and no others; what is up to date is left alone.

    A link in `source` is an error, and one in `target` is replaced, not followed.
    """
    target.mkdir(parents=True, exist_ok=True)
    wanted = {path.name: path for path in sorted(source.glob("*.ipynb"))}
    for old in target.glob("*.ipynb"):
        if old.name not in wanted or old.is_symlink() or read_itself(old) != read_itself(wanted[old.name]):
            old.unlink()
    for name, path in wanted.items():
        if not (target / name).exists():
            copy_new(path, target / name)


def setup(app) -> dict:
    here = Path(app.srcdir)
    mirror(here.parent / "notebooks", here / "tutorial" / "notebooks")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
