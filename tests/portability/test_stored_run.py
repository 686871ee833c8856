"""The run that the package brings: it is marked as one, and it is of what is written today."""

from __future__ import annotations

import ast
import datetime

import pytest

from rulelab.errors import ExportError
from rulelab.portability import stored_run
from rulelab.portability.gathering import gathered

from .installed import framework as needed
from .test_frameworks import CORPUS, EXPORTS, TABLE

WAYS = {"jax": {"plain", "jit", "vmap"}, "torch": {"plain", "vmap", "gradcheck", "gradgradcheck"}}


@pytest.mark.parametrize("framework", WAYS)
def test_it_says_that_it_is_stored(framework):
    """With its date and versions, and that nothing was run here; each row in double precision is exact."""
    run = stored_run(framework)
    datetime.date.fromisoformat(run.on)
    text = str(run)
    assert "Not run here" in text and f"Stored run of {run.on}" in text
    assert all(f"{name} {version}" in text for name, version in run.versions.items())
    assert {"Python", "NumPy", {"jax": "JAX", "torch": "PyTorch"}[framework]} == set(run.versions)
    assert {row.way for row in run.rows} == WAYS[framework]
    assert {row.verdict for row in run.rows} == {"right"}
    assert max(row.against_ours for row in run.rows if row.dtype == "float64") <= 1e-10


@pytest.mark.parametrize("framework", WAYS)
def test_it_is_of_what_is_exported_today(framework):
    """Where the translation has changed, the run says nothing of it: `run_frameworks.py example` makes it
    anew.
    """
    now = EXPORTS[framework](gathered(CORPUS.softplus, registry=CORPUS.REGISTRY)).text
    assert ast.dump(ast.parse(stored_run(framework).text)) == ast.dump(ast.parse(now))


@pytest.mark.campaign
@pytest.mark.parametrize("framework", WAYS)
def test_it_is_what_a_run_answers(framework, tmp_path):
    """Asked again, in the same ways at as many points, with the same verdicts."""
    needed(framework)
    report = TABLE.example(framework, tmp_path / f"softplus_{framework}.py")
    said = [
        [(row.mode, row.way, row.dtype, row.points, row.verdict) for row in rows]
        for rows in (report.rows, stored_run(framework).rows)
    ]
    assert said[0] == said[1]


def test_there_is_none_of_others():
    """With those that there are."""
    with pytest.raises(ExportError, match="there are stored runs of jax, torch, not of 'autograd'"):
        stored_run("autograd")
