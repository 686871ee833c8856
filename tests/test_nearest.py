"""A word that is not known is told with the one that was likely meant."""

from rulelab.nearest import did_you_mean, nearest


def test_the_likeliest_comes_first_and_case_does_not_matter():
    """As people type it."""
    assert nearest("MSE_cr", ["mse", "mse_cr", "area"], 2) == ["mse_cr", "mse"]


def test_nothing_is_said_where_nothing_is_near():
    """A wrong guess would be worse than none."""
    assert did_you_mean("softmax", ["mse", "area"]) == ""
