"""Random programs on lists of numbers that change: by lists of cotangents beside them as by identity, in both
modes and in the quick ways.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.list_programs import list_program  # noqa: E402
from corpus.programs import loaded  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.analysis.types import Types  # noqa: E402

POINT = (0.7, -0.4)
LEAST_STORED = 0.3  # of the programs, those with such a list in their pass


def judged(seed, folder, monkeypatch):
    """Whether a list has its cotangents beside it; the gradient is that of the other ways."""
    text = list_program(seed)
    with loaded(text, folder / f"lists_{seed}.py") as module:
        value = module.f(*POINT)
        found = [rl.gradient(module.f, *POINT) for _ in range(3)][-1]
        emitted = str(rl.adjoint_source(module.f, *POINT))
        y, back = rl.pullback(module.f, *POINT)
        pulled = [back(1.0) for _ in range(2)]
        pushed = [rl.pushforward(module.f, *POINT)(*dots) for dots in ((1.0, 0.0), (0.0, 1.0))]
    with loaded(text, folder / f"by_identity_{seed}.py") as module, monkeypatch.context() as patch:
        infer = Types.__init__

        def without(types, *args):
            infer(types, *args)
            types.written = {}

        patch.setattr(Types, "__init__", without)
        wanted = rl.gradient(module.f, *POINT)
    assert y == value
    assert [bar is None for bar in found] == [bar is None for bar in wanted], text
    numbers = [[0.0 if bar is None else bar for bar in bars] for bars in (wanted, found, *pulled, pushed)]
    for other in numbers[1:]:
        np.testing.assert_allclose(other, numbers[0], rtol=1e-10, atol=1e-10, err_msg=text)
    return "_bars = [" in emitted


@pytest.mark.parametrize("start", [0, pytest.param(1000, marks=pytest.mark.campaign)])
def test_random_lists(start, tmp_path, monkeypatch):
    count = 40 if start == 0 else 3000
    stored = [judged(seed, tmp_path, monkeypatch) for seed in range(start, start + count)]
    assert sum(stored) >= LEAST_STORED * count
