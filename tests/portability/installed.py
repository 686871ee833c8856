"""A framework that a test needs: skipped where it is not installed, failed where it has to be."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import pytest

IN_CI = {"jax", "autograd"}
"""What `.ci/run` installs, by `make frameworks`; of PyTorch only where a small build is to be had."""


def framework(module: str) -> ModuleType:
    """A module of a framework; without it the test is skipped, and in CI it fails if CI installs it."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
    if os.environ.get("CI") == "true" and package in IN_CI:
        pytest.fail(f"{package} is not installed, and CI must run the tests of it: make frameworks")
    pytest.skip(f"pip install {package}")
