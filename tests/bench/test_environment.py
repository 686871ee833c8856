"""The stamp says what a time depends on, and nobody's name."""

import getpass
import json
import platform

import numpy as np
import pytest

from rulelab.bench.environment import differences, environment, warnings_of


@pytest.fixture(scope="module")
def stamp():
    return environment()


def test_it_names_what_a_time_depends_on(stamp):
    """Versions, processor, cores, BLAS with its threads, load."""
    import rulelab

    assert stamp["numpy"] == np.__version__ and stamp["python"] == platform.python_version()
    assert stamp["rulelab"] == rulelab.__version__ and stamp["cores"] >= 1
    assert all({"library", "version", "threads"} == set(blas) for blas in stamp["blas"])
    assert {"processor", "governor", "battery", "load", "waiting"} <= set(stamp)


def test_it_is_plain_and_names_nobody(stamp):
    """It goes into JSON as it is; no user, host or path is in it."""
    text = json.dumps(stamp)
    assert json.loads(text) == stamp
    words = set(text.replace('"', " ").replace(",", " ").split())
    assert platform.node() not in words and getpass.getuser() not in words and "/" not in text


@pytest.mark.parametrize(
    "stamp, said",
    [
        ({"load": 3.2, "cores": 2}, ["Load 3.2 on 2 cores: expect wide intervals."]),
        ({"load": 1.8, "cores": 1}, ["Load 1.8 on 1 core: expect wide intervals."]),
        ({"load": 1.1, "cores": 2}, []),
        ({"load": None, "cores": None}, []),
        (
            {"governor": "powersave"},
            ["The processor is in a power-saving mode, so timings may vary."],
        ),
        ({"battery": True}, ["On battery: the processor may be slowed down."]),
        ({"battery": False, "governor": "performance"}, []),
        ({}, []),
        ({"load": "9", "cores": 2}, []),
    ],
)
def test_what_disturbs_is_said_in_words(stamp, said):
    """A load that leaves cores free is no disturbance: our own process counts as one."""
    assert warnings_of(stamp) == said


def test_differences_are_told_and_the_load_is_none(stamp):
    """Another load is the same surroundings; another NumPy or other threads are not."""
    assert differences(stamp, {**stamp, "load": 99.0}) == []
    assert differences(stamp, {**stamp, "numpy": "1.0"}) == [f"NumPy {np.__version__}, then 1.0"]
    two, one = ({"blas": [{"library": "openblas", "version": "0.3", "threads": n}]} for n in (2, 1))
    assert differences(two, one) == ["BLAS openblas 0.3 2, then openblas 0.3 1"]
    assert differences({}, {"cores": 2}) == ["cores not known, then 2"]
