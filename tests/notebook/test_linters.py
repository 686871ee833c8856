"""What docs/howto/linters-and-git.md says of ruff is so."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

CELLS = [
    "import numpy as np",
    "%%rrule f\ndef f_rrule(x):\n    return np.sin(x), None\n",
    "f_rrule(3.0)",
]


@pytest.fixture
def complaints(tmp_path):
    """The rules that ruff says a notebook with a `%%rrule` cell breaks, under a configuration."""
    beside = str(Path(sys.executable).parent)  # where pip puts it, whether or not that is on the path
    ruff = (
        shutil.which("ruff", path=beside)
        or shutil.which("ruff")
        or pytest.skip("ruff is not installed: its configuration was not tried")
    )
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    book = nbformat.v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})
    nbformat.write(book, tmp_path / "book.ipynb")

    def found(configuration):
        (tmp_path / "pyproject.toml").write_text(configuration)
        command = [ruff, "check", "--no-cache", "--output-format=concise", "--select=F", "book.ipynb"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode in (0, 1), done.stderr
        return set(re.findall(r": ([A-Z]+\d+)", done.stdout))

    return found


def test_ruff_complains_without(complaints):
    """The day it does not, the page can be shorter."""
    assert complaints("") == {"F401", "F821"}


def test_ruff_is_content_with_the_snippet_of_the_page(complaints, repository):
    """As it stands there."""
    page = (repository / "docs" / "howto" / "linters-and-git.md").read_text(encoding="utf-8")
    (snippet,) = [text for text in re.findall(r"```toml\n(.*?)```", page, re.S) if "tool.ruff" in text]
    assert complaints(snippet) == set()
