"""The recipes of the gallery that call SciPy: built-in rules, without those of the pages."""

import numpy as np
import pytest

pytest.importorskip("scipy.stats")

from library_calls import difference  # noqa: E402
from scipy_recipes import ASKED, recipes  # noqa: E402

import rulelab as rl  # noqa: E402


@pytest.mark.parametrize("number", range(len(ASKED)), ids=[page for page, *_ in ASKED])
def test_a_gradient_is_that_of_differences(number):
    """By each number, to a millionth of the largest slope."""
    recipe = recipes()[number]
    slopes = rl.gradient(recipe.function, *recipe.args)
    size = max(float(np.max(np.abs(slope))) for slope in slopes)
    for i, x in enumerate(recipe.args):
        wanted = np.array([by_entry(recipe, i, k) for k in np.ndindex(np.shape(x))])
        np.testing.assert_allclose(np.ravel(slopes[i]), wanted, rtol=0, atol=1e-6 * size)


def by_entry(recipe, i, k):
    """The difference of order eight by one number."""
    along = tuple(np.zeros(np.shape(x)) for x in recipe.args)
    along[i][k] = 1.0
    return difference(recipe.function, tuple(map(np.asarray, recipe.args)), along, recipe.step)
