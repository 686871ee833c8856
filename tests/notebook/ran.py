"""A notebook of the project, run from top to bottom as Run All does, and what its cells showed."""

import re

import nbformat
from nbclient import NotebookClient

NUMBER = re.compile(r"-?\d[\d_,]*\.?\d*(?:e[+-]\d+)?")


class Ran:
    """The notebook after its run: what each code cell showed, by the id of the cell."""

    def __init__(self, notebook):
        self.cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}

    def text(self, cell):
        """All that a cell showed, as plain text."""
        return "\n".join(map(_plain, self.cells[cell].outputs))

    def html(self, cell):
        return "".join(out["data"].get("text/html", "") for out in self.cells[cell].outputs if "data" in out)

    def number(self, cell):
        """The last number that a cell showed."""
        return float(NUMBER.findall(self.text(cell))[-1].replace(",", ""))


def _plain(output):
    return output["text"] if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")


def run_notebook(notebook, folder) -> Ran:
    """Run All in `folder`; an error in any cell is raised here. What is given stays as it is."""
    notebook = nbformat.from_dict(notebook)
    resources = {"metadata": {"path": str(folder)}}
    # One print may arrive in two messages, where the kernel sends what it has in between: they are joined.
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=resources, coalesce_streams=True
    )
    client.execute()
    return Ran(notebook)


def check_stored(stored) -> None:
    """Valid, without outputs or counts, for the kernel that every Jupyter has; ids name the cells."""
    nbformat.validate(stored)
    assert (stored.nbformat, stored.nbformat_minor) == (4, 5)
    assert stored.metadata.kernelspec.name == "python3"
    for cell in stored.cells:
        assert re.fullmatch(r"[a-z0-9-]+", cell.id) and not re.fullmatch(r"[0-9a-f]{8}", cell.id)
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


def check_clean(ran) -> None:
    """Every cell ran, none failed, and nothing reached the error stream, where it looks like a failure."""
    for name, cell in ran.cells.items():
        assert cell.execution_count is not None, name
        for output in cell.outputs:
            assert output.output_type != "error", name
            assert output.get("name") != "stderr", (name, output.get("text"))
