"""The benchmarks are scripts (`python tests/benchmarks/run.py`); only their own tests are collected."""

from pathlib import Path

HERE = Path(__file__).parent

collect_ignore = [path.name for path in HERE.glob("*.py") if not path.name.startswith("test_")]
