"""The functions of `scipy.stats` that are constants, and all that has no rule, each with the reason."""

from ..rules.refusals import state_reasons
from ..rules.rule_table import RuleTable
from .scipy_stats_multivariate import multivariate
from .scipy_stats_rows import infrastructure, stats

TABLE = RuleTable("scipy_stats_without")


def _there(names):
    return tuple(name for name in names.split() if getattr(stats, name, None) is not None)


CONSTANT = _there("rankdata percentileofscore tiecorrect")
"""Those that count and rank."""

TABLE.non_differentiable(*[getattr(stats, name) for name in CONSTANT])

_TEST = "a test: its result is an object, and slopes of its distribution may be missing"
_SOLVED = "its result is found by a solver, or by draws: write a rule for what is solved"
_PLOT = "makes the points of a plot"
_BINS = "counts in bins, or leaves out values, by bounds computed from the data"
_VARIABLES = "for random variables of SciPy's newer kind: use `scipy.stats.norm` and the like"
_NOT_DERIVED = "not derived here"
_NO_ROW = "it has no rule: write its log-density with functions of NumPy and scipy.special"
_MULTIVARIATE = "a multivariate distribution that has no rule here"
_DENSITY = "an estimate that stores its data: write the sum of kernels"

_REASONS = {
    _TEST: (
        "alexandergovern anderson anderson_ksamp ansari barnard_exact bartlett binomtest boschloo_exact "
        "brunnermunzel bws_test chatterjeexi chi2_contingency chisquare combine_pvalues cramervonmises "
        "cramervonmises_2samp dunnett epps_singleton_2samp f_oneway false_discovery_control "
        "fisher_exact fligner friedmanchisquare goodness_of_fit jarque_bera kendalltau kruskal ks_1samp "
        "ks_2samp kstest kurtosistest levene logrank mannwhitneyu median_test monte_carlo_test mood "
        "multiscale_graphcorr normaltest page_trend_test pearsonr permutation_test pointbiserialr "
        "poisson_means_test power power_divergence quantile_test ranksums shapiro skewtest somersd "
        "spearmanr spearmanrho ttest_1samp ttest_ind ttest_ind_from_stats ttest_rel tukey_hsd "
        "weightedtau wilcoxon"
    ),
    _SOLVED: (
        "bayes_mvs bootstrap boxcox_normmax expectile fit linregress mvsdist ppcc_max siegelslopes "
        "sobol_indices theilslopes yeojohnson_normmax"
    ),
    _PLOT: "boxcox_normplot ppcc_plot probplot yeojohnson_normplot",
    _BINS: (
        "binned_statistic binned_statistic_2d binned_statistic_dd cumfreq ecdf estimated_cdf mode relfreq "
        "sigmaclip"
    ),
    _VARIABLES: (
        "abs exp log make_distribution order_statistic truncate Binomial Logistic Mixture Normal "
        "Uniform Covariance"
    ),
    _DENSITY: "gaussian_kde rv_histogram",
    "base classes: the methods of the distributions have the rules": "rv_continuous rv_discrete",
    "settings, and data for tests": "BootstrapMethod CensoredData MonteCarloMethod PermutationMethod",
    "warnings and errors": "ConstantInputWarning DegenerateDataWarning FitError NearConstantInputWarning",
    "use np.unique": "find_repeats",
    "random draws from a density of your own: not derived here": "rvs_ratio_uniforms",
    "use np.percentile or np.quantile": "quantile scoreatpercentile",
    "use np.mean, np.var and np.sort of the values that are kept": (
        "describe tmax tmean tmin trim1 trimboth tsem tstd tvar"
    ),
    _NOT_DERIVED: (
        "circmean circstd circvar differential_entropy directional_stats kstat kstatvar lmoment "
        "obrientransform wasserstein_distance_nd yeojohnson yeojohnson_llf"
    ),
    _NO_ROW: (
        "alpha anglit argus betabinom betanbinom betaprime boltzmann bradford burr burr12 cosine "
        "crystalball dgamma dlaplace dpareto_lognorm dweibull erlang exponnorm exponpow exponweib "
        "fatiguelife foldcauchy foldnorm gausshyper genexpon gengamma genhalflogistic genhyperbolic "
        "geninvgauss genlogistic gennorm gibrat gompertz halfgennorm hypergeom invweibull irwinhall "
        "jf_skew_t johnsonsb johnsonsu kappa3 kappa4 ksone kstwo kstwobign landau laplace_asymmetric "
        "levy_l levy_stable loggamma loglaplace logser mielke nakagami ncf nchypergeom_fisher "
        "nchypergeom_wallenius nct ncx2 nhypergeom norminvgauss pearson3 planck poisson_binom "
        "powerlognorm powernorm randint rdist recipinvgauss rel_breitwigner rice semicircular skellam "
        "skewcauchy studentized_range trapezoid trapz truncexpon truncpareto truncweibull_min "
        "tukeylambda vonmises_line wrapcauchy yulesimon zipf zipfian"
    ),
    _MULTIVARIATE: (
        "dirichlet_multinomial invwishart matrix_normal matrix_t multinomial multivariate_hypergeom "
        "multivariate_t normal_inverse_gamma ortho_group random_correlation random_table "
        "special_ortho_group uniform_direction unitary_group vonmises_fisher wishart"
    ),
}
REFUSED = {name: reason for reason, names in _REASONS.items() for name in _there(names)}
"""Why each has no rule."""

state_reasons(stats, REFUSED)

# -- methods -------------------------------------------------------------------------------------------------

_BY_RANDOM_NODES = "an integral over random nodes; in one dimension use scipy.stats.norm"
_FITTED = "found by a solver: scipy.optimize.minimize of `-np.sum(logpdf(...))` has a rule"
_MOMENT = "use mean, var and std, which have rules; of higher orders nothing is derived here"
_OF_A_COUNT = "a quantile of a discrete distribution, which jumps: hold it constant"
_DRAWN = "a draw: not derived here; write it as a formula of constant draws, as `mean + L @ z` is"
_METHODS = {
    "expect": "use scipy.integrate.quad of the function times pdf, or a sum of it times pmf",
    "fit": _FITTED,
    "fit_loc_scale": "loc and scale from the mean and variance of data: use np.mean and np.var",
    "interval": "use ppf at (1 - confidence) / 2 and (1 + confidence) / 2",
    "support": "where a distribution begins and ends: write it as a formula of the parameters",
    "_entropy": "use entropy",
    "rvs": _DRAWN,
    **dict.fromkeys(("moment", "stats", "generic_moment", "_mom1_sc"), _MOMENT),
}
_NORMAL = {
    **dict.fromkeys(("cdf", "logcdf"), _BY_RANDOM_NODES),
    "entropy": "use `np.linalg.slogdet(2 * np.pi * np.e * cov)[1] / 2`",
    "fit": "use np.mean and np.cov",
    "marginal": "use the entries of the mean and the covariance that are kept",
    "rvs": _DRAWN,
}
_DIRICHLET = {
    "mean": "use `alpha / np.sum(alpha)`",
    **dict.fromkeys(("var", "cov"), "write it with `m = alpha / np.sum(alpha)`, over `np.sum(alpha) + 1`"),
    "entropy": "write it with scipy.special.gammaln and digamma",
    "rvs": _DRAWN,
}

for _owner in ("rv_generic", "rv_continuous", "rv_discrete", "rv_frozen"):
    state_reasons(getattr(infrastructure, _owner), _METHODS)
for _owner in ("rv_discrete", "rv_discrete_frozen"):
    state_reasons(getattr(infrastructure, _owner), dict.fromkeys(("ppf", "isf"), _OF_A_COUNT))
state_reasons(infrastructure, {"_drv2_moment": _MOMENT})
for _family, _stated in (("multivariate_normal", _NORMAL), ("dirichlet", _DIRICHLET)):
    for _owner in (f"{_family}_gen", f"{_family}_frozen"):
        state_reasons(getattr(multivariate, _owner, None), _stated)
for _name in _REASONS[_MULTIVARIATE].split():
    if (_frozen := getattr(multivariate, f"{_name}_frozen", None)) is not None:
        _own = [method for method in vars(_frozen) if not method.startswith("_")]
        state_reasons(_frozen, dict.fromkeys(_own, _MULTIVARIATE))
