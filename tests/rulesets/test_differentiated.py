"""How many names of NumPy and SciPy are differentiated in both modes."""

import numpy as np
import pytest

pytest.importorskip("scipy.stats")

from differentiated import has_both_modes, names_by_module  # noqa: E402

NAMES = names_by_module()


def test_at_least_so_many_names():
    """Of all modules together; an object with two names counts once."""
    assert sum(map(len, NAMES.values())) >= 650


@pytest.mark.parametrize("module", NAMES)
def test_each_module_has_some(module):
    """A family that is no longer found would be missed here."""
    assert len(NAMES[module]) >= 5


def test_what_does_not_move_does_not_count():
    """Constants, steps, and what only reads or is refused when a shape varies."""
    assert not has_both_modes(np.argmax) and not has_both_modes(np.shape)
    assert not {"argmax", "floor", "sign", "round", "histogram", "isfinite"} & set(NAMES["numpy"])
    assert "gammasgn" not in NAMES["scipy.special"]
    assert "get_window" not in NAMES["scipy.signal"] and "tukey" not in NAMES["scipy.signal.windows"]
