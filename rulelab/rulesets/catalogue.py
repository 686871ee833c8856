"""The rulesets that come with rulelab, and their one way into a registry."""

from ..rules import programs
from ..rules.lazy_rules import LazyRules
from . import (
    array_writes,
    collection_tangents,
    container_tangents,
    containers,
    fft,
    forward_parts,
    given_values,
    iterator_tangents,
    kinks,
    limits,
    linalg_factorisations,
    linalg_phases,
    linalg_products,
    mutators,
    numpy_calculus,
    numpy_elementwise,
    numpy_indexing,
    numpy_nondiff,
    numpy_others,
    numpy_polynomials,
    numpy_reductions,
    numpy_shaping,
    numpy_statistics,
    object_tangents,
    operators,
    python_cmath,
    python_math,
    python_statistics,
    random_draws,
    standins,
    ufunc_methods,
    vocabulary,
)

_MODULES = (
    operators,
    containers,
    python_cmath,
    python_math,
    python_statistics,
    numpy_calculus,
    numpy_elementwise,
    numpy_reductions,
    numpy_shaping,
    numpy_indexing,
    numpy_nondiff,
    numpy_statistics,
    numpy_polynomials,
    numpy_others,
    linalg_products,
    linalg_factorisations,
    linalg_phases,
    fft,
    ufunc_methods,
    random_draws,
    mutators,
    standins,
    programs,
    forward_parts,
    given_values,
    kinks,
    limits,
    container_tangents,
    collection_tangents,
    iterator_tangents,
    object_tangents,
    array_writes,
    vocabulary,
)


def tables():
    """The rule tables of Python and NumPy, in the order of the reference; each knows its rules and check
    points.
    """
    return tuple(module.TABLE for module in _MODULES)


def special_tables():
    """Those of `scipy.special`, which is imported for them."""
    from . import (
        scipy_bessel,
        scipy_distributions,
        scipy_elliptic,
        scipy_errors,
        scipy_gamma,
        scipy_harmonics,
        scipy_logarithms,
        scipy_polynomials,
        scipy_reductions,
        scipy_without,
    )

    modules = (
        scipy_gamma,
        scipy_errors,
        scipy_logarithms,
        scipy_bessel,
        scipy_elliptic,
        scipy_polynomials,
        scipy_distributions,
        scipy_reductions,
        scipy_harmonics,
        scipy_without,
    )
    return tuple(module.TABLE for module in modules)


def linalg_tables():
    """Those of `scipy.linalg`."""
    from . import (
        scipy_linalg_banded,
        scipy_linalg_equations,
        scipy_linalg_factors,
        scipy_linalg_functions,
        scipy_linalg_riccati,
        scipy_linalg_shapes,
        scipy_linalg_solving,
        scipy_linalg_spectra,
        scipy_linalg_without,
    )

    modules = (
        scipy_linalg_solving,
        scipy_linalg_banded,
        scipy_linalg_equations,
        scipy_linalg_riccati,
        scipy_linalg_factors,
        scipy_linalg_spectra,
        scipy_linalg_functions,
        scipy_linalg_shapes,
        scipy_linalg_without,
    )
    return tuple(module.TABLE for module in modules)


def fourier_tables():
    """Those of `scipy.fft`."""
    from . import scipy_fft

    return (scipy_fft.TABLE,)


def signal_tables():
    """Those of `scipy.signal`."""
    from . import (
        scipy_signal_convolutions,
        scipy_signal_filters,
        scipy_signal_resampling,
        scipy_signal_smoothing,
        scipy_signal_spectra,
        scipy_signal_without,
    )

    modules = (
        scipy_signal_convolutions,
        scipy_signal_filters,
        scipy_signal_resampling,
        scipy_signal_smoothing,
        scipy_signal_spectra,
        scipy_signal_without,
    )
    return tuple(module.TABLE for module in modules)


def window_tables():
    """Those of `scipy.signal.windows`."""
    from . import scipy_signal_windows

    return (scipy_signal_windows.TABLE,)


def integral_tables():
    """Those of `scipy.integrate`."""
    from . import (
        scipy_implicit,
        scipy_integrals,
        scipy_integrate,
        scipy_odes,
        scipy_quadrature,
        scipy_samples,
        scipy_trajectories,
    )

    modules = (
        scipy_implicit,
        scipy_integrate,
        scipy_samples,
        scipy_quadrature,
        scipy_integrals,
        scipy_trajectories,
        scipy_odes,
    )
    return tuple(module.TABLE for module in modules)


def solver_tables():
    """Those of `scipy.optimize`."""
    from . import scipy_implicit, scipy_minima, scipy_optimize, scipy_roots

    return tuple(module.TABLE for module in (scipy_implicit, scipy_optimize, scipy_roots, scipy_minima))


def stats_tables():
    """Those of `scipy.stats`."""
    from . import (
        scipy_stats_continuous,
        scipy_stats_counts,
        scipy_stats_discrete,
        scipy_stats_methods,
        scipy_stats_moments,
        scipy_stats_multivariate,
        scipy_stats_rows,
        scipy_stats_summaries,
        scipy_stats_without,
    )

    modules = (
        scipy_stats_rows,
        scipy_stats_counts,
        scipy_stats_moments,
        scipy_stats_methods,
        scipy_stats_continuous,
        scipy_stats_discrete,
        scipy_stats_multivariate,
        scipy_stats_summaries,
        scipy_stats_without,
    )
    return tuple(module.TABLE for module in modules)


OF_STATS = ("scipy.stats._distn_infrastructure", "scipy.stats._multivariate")
"""Where the classes of distributions are that `scipy.stats` makes its own of."""


LAZY_RULES = (
    LazyRules("scipy.special", special_tables, beside=("scipy.special._multiufuncs",)),
    LazyRules("scipy.linalg", linalg_tables),
    LazyRules("scipy.fft", fourier_tables),
    LazyRules("scipy.signal.windows", window_tables),  # before the other, which has get_window, too
    LazyRules("scipy.signal", signal_tables),
    LazyRules("scipy.integrate", integral_tables),
    LazyRules("scipy.optimize", solver_tables),
    LazyRules("scipy.stats", stats_tables, beside=OF_STATS, after=("scipy.special",)),
)


def install(registry):
    """Put all of them in `registry` in one store: whoever asks meanwhile sees every rule or none. Those of
    SciPy wait until one of its functions is met.
    """
    registry.install(
        [pair for table in tables() for pair in table.rules],
        [pair for table in tables() for pair in table.mutators],
        [pair for table in tables() for pair in table.stand_ins],
        list(LAZY_RULES),
    )
