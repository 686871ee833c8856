"""Every public name of `scipy.stats` has a rule, is a constant, or is refused for a reason."""

import subprocess
import sys
import types

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")

from stats_rows import ROWS  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import ForeignCallError, RuleLabError  # noqa: E402
from rulelab.rules.lazy_rules import LazyRules  # noqa: E402
from rulelab.rules.registry import DEFAULT  # noqa: E402
from rulelab.rulesets.catalogue import OF_STATS, stats_tables  # noqa: E402
from rulelab.rulesets.scipy_stats_rows import row_of  # noqa: E402
from rulelab.rulesets.scipy_stats_without import CONSTANT, REFUSED  # noqa: E402

MULTIVARIATE = {"multivariate_normal", "dirichlet"}


def public_names():
    return [name for name in stats.__all__ if not isinstance(getattr(stats, name), types.ModuleType)]


def is_known(name):
    """Whether something is stated of a name of SciPy's."""
    value = getattr(stats, name)
    if isinstance(value, (stats.rv_continuous, stats.rv_discrete)):
        return row_of(value) is not None
    return name in MULTIVARIATE or DEFAULT.entry(value) is not None or DEFAULT.stand_in(value) is not None


def test_no_name_is_forgotten():
    """What SciPy has is differentiated, declared constant, or on the list of what is refused."""
    assert [name for name in public_names() if not is_known(name) and name not in REFUSED] == []


def test_no_name_is_on_two_lists():
    """Who states a rule takes the name off the list of those refused."""
    assert [name for name in REFUSED if is_known(name)] == []
    assert not set(CONSTANT) & set(REFUSED)
    assert all(len(reason) > 10 for reason in REFUSED.values())


def test_both_modes_have_the_same_rules():
    """What is differentiated backwards is so forwards too."""
    for table in stats_tables():
        reverse = {id(target) for target, rule in table.rules if rule.mode == "rrule"}
        assert reverse == {id(target) for target, rule in table.rules if rule.mode == "frule"}, table.name


def test_all_that_has_a_rule_is_covered():
    """So that no answer which was given before the rules were read has become old."""
    lazy, package = LazyRules("scipy.stats", stats_tables, OF_STATS), rl.__name__
    for table in stats_tables():
        for target, _ in (*table.rules, *table.stand_ins):
            assert lazy.holds(target) or str(target.__module__).startswith(package), target


def test_at_least_so_many():
    """Distributions and functions with a rule."""
    functions = [name for name in public_names() if is_known(name) and name not in ROWS]
    assert len(functions) >= 25 and len(ROWS) >= 40


@pytest.mark.parametrize(
    "f",
    [
        lambda x: stats.ttest_ind(x, np.ones(3))[0],
        lambda x: stats.pearsonr(x, np.arange(3.0))[0],
        lambda x: stats.wishart.logpdf(np.diag(x), 5, np.eye(3)),
        lambda x: stats.gaussian_kde(x)(0.0)[0],
    ],
)
def test_what_has_no_rule_says_so(f):
    """By a typed error."""
    with pytest.raises(ForeignCallError):
        rl.gradient(f, np.array([0.3, 1.2, 0.7]))


def test_a_random_variable_of_the_newer_kind_is_refused():
    """By a typed error, never by None."""
    if not hasattr(stats, "Normal"):
        pytest.skip("this SciPy has none")
    with pytest.raises(RuleLabError):
        rl.gradient(lambda mu: stats.Normal(mu=mu, sigma=1.0).logpdf(0.3), 0.7)


SESSION = """
import sys, time
import numpy as np
import rulelab as rl
import scipy.special

def rulesets():
    return [m for m in sys.modules if m.startswith("rulelab.rulesets.scipy_stats")]

assert rl.gradient(lambda x: scipy.special.erf(x), 0.0)
assert "scipy.stats" not in sys.modules and not rulesets()
from scipy import stats
from rulelab.rules.registry import DEFAULT
rl.gradient(lambda x: np.sum(scipy.special.gammaln(x)), np.ones(2))
assert not rulesets()
import rulelab.rulesets
sys.dont_write_bytecode = False
from rulelab.rulesets.catalogue import stats_tables
stats_tables()  # compiled by now, if it was not before
for name in rulesets():
    delattr(rulelab.rulesets, name.rpartition(".")[2])
    del sys.modules[name]
start = time.process_time()
assert DEFAULT.entry(stats.rv_continuous.logpdf) is not None
print(time.process_time() - start)
"""


@pytest.mark.slow
def test_rules_are_read_when_a_distribution_is_met(tmp_path):
    """Who uses other functions of SciPy neither imports `scipy.stats` nor reads its rules; these cost at most
    50 ms of a processor's time.
    """
    script = tmp_path / "session.py"
    script.write_text(SESSION, encoding="utf-8")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < 0.05
