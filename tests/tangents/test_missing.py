"""Tests of cotangents that nobody has derived."""

import numpy as np
import pytest

from rulelab.errors import NotImplementedTangentError
from rulelab.tangents.algebra import add, scale
from rulelab.tangents.missing import not_implemented
from rulelab.tangents.projection import ProjectTo, to_natural
from rulelab.tangents.thunks import thunk
from rulelab.tangents.zeros import ZeroTangent


def test_it_survives_sums_from_either_side():
    """A missing cotangent is not lost in a sum: the sum is missing too."""
    missing = not_implemented("order of a Bessel function")
    for other in (1.0, np.ones(2), ZeroTangent(), thunk(lambda: 1 / 0), (1.0,), missing):
        assert add(missing, other) is missing and add(other, missing) is missing
    assert missing + 1.0 is missing and np.ones(2) + missing is missing
    assert scale(2.0, missing) is missing and ProjectTo(1.0)(missing) is missing


def test_it_raises_where_its_value_is_needed_and_says_where_it_was_made():
    """Computing with it, or handing it to me, is an error that names the rule's own line."""
    missing = not_implemented("see issue 7")
    uses = [lambda: missing * 2.0, lambda: np.ones(2) * missing, lambda: -missing, lambda: float(missing)]
    uses += [
        lambda: missing - 1,
        lambda: missing[0],
        lambda: to_natural(1.0, missing),
        lambda: np.asarray(missing),
    ]
    for use in uses:
        with pytest.raises(NotImplementedTangentError, match="see issue 7") as caught:
            use()
        assert caught.value.place.filename == __file__ and "not_implemented" in str(caught.value)
    assert missing * ZeroTangent() is ZeroTangent()
