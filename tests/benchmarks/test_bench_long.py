"""Long computations keep the time and memory that they are promised."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bench_long  # noqa: E402


@pytest.mark.slow
def test_long_loops():
    """A loop of a million steps in 10 s and 400 MB; checkpointed in 60 MB and 2.5 times the time."""
    plain, split = bench_long.records(["long loop"])
    assert plain["verdict"] == "right, within limits"
    assert split["outcome"] == "right"
    assert split["megabytes"] < 60


@pytest.mark.slow
def test_deep_recursion():
    """A hundred thousand calls deep: right, or RecursionError."""
    (record,) = bench_long.records(["deep"])
    assert record["outcome"] in ("right", "RecursionError")


@pytest.mark.campaign
def test_large_array():
    """The sum of squares of an array of 1 GB needs 2 GB more at most."""
    (record,) = bench_long.records(["large"])
    assert record["verdict"] == "right, within limits"


def test_a_limit_that_is_missed_is_said():
    """The table says what is wrong or beyond its limit, in words."""
    record = {"name": "long loop", "seconds": 11.0, "megabytes": 500.0, "outcome": "right"}
    assert bench_long.verdict(record) == "right, too slow, too much memory"
    assert bench_long.verdict(record | {"outcome": "wrong"}) == "wrong"
    split = {"name": "long loop, checkpointed", "seconds": 3.0, "megabytes": 1.0, "outcome": "right"}
    assert bench_long.verdict(split, 1.0) == "right, more than 2.5 times the time"


def test_the_page_about_costs_has_the_stored_run(repository):
    """docs/explanation/costs.md and the page with all rows of that run say the same."""
    stored = json.loads((Path(bench_long.HERE) / "stored.json").read_text(encoding="utf-8"))["long"]
    page = (repository / "docs" / "explanation" / "costs.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[1:3] for line in page.splitlines() if " MB | " in line]
    assert rows == [[f"{row['seconds']:.2g} s", f"{row['megabytes']:.0f} MB"] for row in stored]
