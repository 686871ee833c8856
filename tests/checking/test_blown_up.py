"""Functions that grow beyond all bounds at some arguments: the slopes there excuse nothing elsewhere."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")


def orbit(z, c):
    path = [z]
    for _ in range(9):
        path.append(path[-1] * path[-1] + c)
    return np.array(path)


def orbit_with(seen):
    def rule(z: float, c: float):
        path = orbit(z, c)

        def pullback(path_bar):
            bar, c_bar = path_bar[-1], 0.0
            for at, before in zip(path[-2::-1], path_bar[-2::-1]):
                c_bar += bar
                bar = 2 * at * bar + seen * before
            return rl.NoTangent(), bar, c_bar

        return path, pullback

    return rule


def test_what_is_wrong_at_moderate_numbers_is_no_rounding_of_huge_slopes():
    assert rule_check(orbit, registry=registry_with(orbit, orbit_with(1))).verdict == "right"
    assert rule_check(orbit, registry=registry_with(orbit, orbit_with(0))).verdict == "wrong"
