"""Runs the rules of `framework_rules` in each framework that is installed, and stores what they answered.

make framework-table; with the word "example" only the run that the package brings is made anew.
"""

from __future__ import annotations

import datetime
import importlib
import importlib.metadata
import json
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rulelab.errors import ExportError
from rulelab.portability import autograd_asked, export, jax_asked, torch_asked
from rulelab.portability.autograd_rules import autograd_export
from rulelab.portability.gathering import gathered
from rulelab.portability.jax_rules import jax_export
from rulelab.portability.running import Ours, Row, run_export
from rulelab.portability.stored_run import STORED as STORED_RUN
from rulelab.portability.torch_rules import torch_export

EXAMPLE_AT = (np.array([-1.0, 0.5, 2.0]),)
STORED = Path(__file__).with_name("stored_frameworks.json")
FRAMEWORKS = {
    "jax": (jax_export, jax_asked),
    "torch": (torch_export, torch_asked),
    "autograd": (autograd_export, autograd_asked),
}


def rules():
    """The module of the rules, found beside this file."""
    folder = str(Path(__file__).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("framework_rules")


def literal_points(points) -> tuple[str, ...]:
    with np.printoptions(floatmode="unique"):
        return tuple(repr(p).replace("array(", "np.array(") for p in points)


def run(framework: str, names: Sequence[str] | None = None, native: bool | None = None):
    """The rows of some rules in a framework, those that were refused, and how each was written."""
    export_to, entry = FRAMEWORKS[framework]
    corpus = rules()
    ours, refused, written = [], {}, {}
    with tempfile.TemporaryDirectory() as there:
        lines = []
        for name in names or corpus.RULES:
            f = corpus.RULES[name]
            try:
                made = export_to(gathered(f, registry=corpus.REGISTRY), native)
            except ExportError as error:
                refused[name] = error
                continue
            written[name] = made
            Path(there, f"of_{name}.py").write_text(made.text)
            lines.append(f"from of_{name} import {name}")
            points = corpus.POINTS[name]
            mode = "frule" if name in corpus.FORWARD else "rrule"
            ours.append(Ours(f, name, mode, points, literal_points(points), corpus.REGISTRY))
        main = Path(there, "all_of_them.py")
        main.write_text("\n".join(lines) + "\n")
        rows: tuple[Row, ...] = run_export(main, ours, entry, seconds=7200) if ours else ()
    return rows, refused, written


def example(framework: str, file: Path):
    """The export of the rule of which the package brings a run, as the notebook on taking a rule makes it."""
    corpus = rules()
    return export(corpus.softplus, framework, file, at=EXAMPLE_AT, depth="quick", registry=corpus.REGISTRY)


def store_examples() -> None:
    """Run the example in JAX and in PyTorch, and store it where the package finds it."""
    told: dict = json.loads(STORED_RUN.read_text()) if STORED_RUN.exists() else {}
    for framework, name in {"jax": "JAX", "torch": "PyTorch"}.items():
        with tempfile.TemporaryDirectory() as there:
            file = Path(there, f"softplus_{framework}.py")
            report = example(framework, file)
            if not report:
                print(f"the example was not run: {report.rows[0].why}")
                continue
            told[framework] = {
                "name": "softplus",
                "on": datetime.date.today().isoformat(),
                "versions": {
                    "Python": platform.python_version(),
                    "NumPy": np.__version__,
                    name: importlib.metadata.version(framework),
                },
                "text": file.read_text(),
                "rows": [row.to_dict() for row in report.rows],
            }
    STORED_RUN.write_text(json.dumps(told, indent=1) + "\n")


def main() -> None:
    """All rules in the frameworks that are installed, or in those named; the table goes to its file."""
    if sys.argv[1:] in ([], ["example"]):
        store_examples()
    if sys.argv[1:] == ["example"]:
        return
    named = sys.argv[1:] or list(FRAMEWORKS)
    told: dict = json.loads(STORED.read_text()) if sys.argv[1:] else {"versions": {}, "frameworks": {}}
    told["versions"] |= {"python": platform.python_version(), "numpy": np.__version__}
    for framework in named:
        try:
            told["versions"][framework] = importlib.metadata.version(framework)
        except importlib.metadata.PackageNotFoundError:
            print(f"{framework} is not installed, and not run")
            continue
        rows, refused, written = run(framework)
        told["frameworks"][framework] = {
            "rows": [{k: v for k, v in vars(row).items()} for row in rows],
            "refused": {name: {"found": e.found, "line": e.place.line} for name, e in refused.items()},
            "by NumPy": {name: one.why for name, one in written.items() if not one.native},
        }
        bad = [row for row in rows if row.verdict != "right"]
        print(framework, len(rows), "rows", len(refused), "refused")
        for row in bad:
            print("   ", row.name, row.way, row.dtype, row.verdict, row.against_ours, row.why)
    STORED.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
