"""The recipes of the page on functions of SciPy."""

import numpy as np
import pytest

pytest.importorskip("scipy.stats")

from library_calls import difference  # noqa: E402
from scipy_recipes import recipes  # noqa: E402

import rulelab as rl  # noqa: E402

RECIPES = recipes()
ASKED = (
    "mixture",
    "outliers",
    "filter",
    "matrix equation",
    "integral with parameters",
    "differential equation",
    "search inside",
    "Distributions",
)


def test_each_kind_of_recipe_is_there():
    """A likelihood of a process, an equation, a filter and the others that a reader looks for."""
    assert all(any(word in str(recipe) for recipe in RECIPES) for word in ASKED)


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_a_gradient_is_that_of_differences(recipe):
    """By each number, to a millionth of the largest slope."""
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
