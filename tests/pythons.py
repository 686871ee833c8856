"""Runs `make test-core` on each supported Python that is found here, other than the one that runs this.

Found is what stands on the path or under pyenv and really runs: a shim that answers "command not found" is
none.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MINOR = re.compile(r"Programming Language :: Python :: (3\.\d+)$")
# Without these two no environment can be made, and Debian ships them apart.
ASK = "import sys, ensurepip, venv; print('%d.%d' % sys.version_info[:2])"


def supported() -> list[str]:
    """The versions that the project says it runs on, the oldest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    matches = map(MINOR.match, settings["project"]["classifiers"])
    return sorted((match[1] for match in matches if match), key=lambda version: int(version.split(".")[1]))


def candidates(version: str) -> Iterator[Path]:
    """Where a Python of this version may be: on the path, then under pyenv, the newest first."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder:
            yield Path(folder, f"python{version}")
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = home.glob(f"versions/{version}.*/bin/python{version}")
    yield from sorted(found, key=_numbers, reverse=True)


def _numbers(python: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", python.parts[-3])]


def runs(python: Path, version: str) -> bool:
    """Whether this is a Python of this version that can make an environment."""
    if not os.access(python, os.X_OK):
        return False
    try:
        done = subprocess.run(
            [python, "-c", ASK], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() == version


def find(version: str) -> Path | None:
    """A Python of this version, the running one if it is; None if there is none."""
    here = Path(sys.executable)
    return next((path for path in (here, *candidates(version)) if runs(path, version)), None)


def tested(title: str, python: Path | None) -> bool:
    """Say what is tested, and test it; False if something failed, True also where there is none."""
    if python is None:
        print(f"{title}: none found here, not tested", flush=True)
        return True
    print(f"{title}: {python}", flush=True)
    make = [os.environ.get("MAKE", "make"), "--no-print-directory"]
    asked = [*make, "test-core", f"PYTHON={python}"]
    return subprocess.run(asked, cwd=ROOT, stdin=subprocess.DEVNULL).returncode == 0


def main() -> int:
    """1 if the tests failed on one of the Pythons; all are run in any case."""
    versions = supported()
    running = "%d.%d" % sys.version_info[:2]
    right = [tested(f"Python {version}", find(version)) for version in versions if version != running]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
