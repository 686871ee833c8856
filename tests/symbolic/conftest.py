"""Lets the tests of this folder import the lists that they share; looks for processes that they leave."""

import pathlib
import sys

import psutil
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def left():
    """A function that gives the processes begun since the test began that run, or wait to be taken leave of.

    Others may be about: another test's server, if this one runs in the same process.
    """
    known = set(psutil.Process().children())
    return lambda: set(psutil.Process().children()) - known
