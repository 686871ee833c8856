"""The names that functions of NumPy, `math` and SciPy have in each framework, where the meaning is the same.

A name in none of these tables has no counterpart that is known to mean the same, and is refused.
"""

from __future__ import annotations

OF_MATH = {
    **{
        name: f"numpy.{name}"
        for name in (
            "sqrt exp expm1 exp2 log log1p log2 log10 sin cos tan sinh cosh tanh hypot copysign isnan isinf "
            "isfinite degrees radians cbrt fmod pi e inf nan"
        ).split()
    },
    "asin": "numpy.arcsin",
    "acos": "numpy.arccos",
    "atan": "numpy.arctan",
    "asinh": "numpy.arcsinh",
    "acosh": "numpy.arccosh",
    "atanh": "numpy.arctanh",
    "atan2": "numpy.arctan2",
    "fabs": "numpy.abs",
    "pow": "numpy.power",
    "tau": "math.tau",
    "erf": "scipy.special.erf",
    "erfc": "scipy.special.erfc",
    "lgamma": "scipy.special.gammaln",
    "gamma": "scipy.special.gamma",
}
"""The functions of `math` and `cmath`, as functions of arrays."""

CONSTANTS = {"numpy.pi", "numpy.e", "numpy.inf", "numpy.nan", "numpy.euler_gamma", "math.tau"}
NEW_AXIS = "numpy.newaxis"

# Functions that depend only on shapes and kinds: their values are known while JAX traces.
OF_SHAPES = {"numpy.shape", "numpy.ndim", "numpy.size", "numpy.iscomplexobj", "numpy.isrealobj"}
SHAPES = {"shape", "ndim", "size", "dtype"}

ELEMENTWISE = set(
    "exp exp2 expm1 log log1p log2 log10 sqrt square sin cos tan arcsin arccos arctan sinh cosh "
    "tanh arcsinh arccosh "
    "arctanh abs absolute fabs sign floor ceil trunc rint isnan isinf isfinite signbit reciprocal deg2rad "
    "rad2deg degrees radians conj conjugate real imag angle sinc cbrt negative positive logical_not".split()
)
OPERATORS = {
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "divide": "a / b",
    "true_divide": "a / b",
    "power": "a ** b",
    "matmul": "a @ b",
    "negative": "-a",
    "positive": "+a",
    "greater": "a > b",
    "greater_equal": "a >= b",
    "less": "a < b",
    "less_equal": "a <= b",
    "equal": "a == b",
    "not_equal": "a != b",
}
"""Functions that correspond to an operator: the operator is written because the framework's functions require
arrays and its operators do not.
"""

OF_TWO = set(
    "arctan2 hypot logaddexp logaddexp2 maximum minimum fmax fmin copysign fmod remainder mod heaviside "
    "floor_divide logical_and logical_or logical_xor".split()
)
MAKERS = set("zeros ones empty full eye identity arange linspace".split())
"""Functions that make a new array from a shape or from numbers, and choose its dtype unless one is given."""

LIKE = set("zeros_like ones_like empty_like full_like".split())

SAME_IN_JAX = (
    ELEMENTWISE
    | OF_TWO
    | set(OPERATORS)
    | MAKERS
    | LIKE
    | set(
        "sum mean prod max min amax amin any all argmax argmin ptp var std nansum nanmean "
        "nanmax nanmin cumsum cumprod "
        "dot vdot inner outer matmul tensordot einsum kron cross trace diag diagonal tril triu "
        "transpose swapaxes "
        "moveaxis reshape ravel squeeze expand_dims broadcast_to concatenate stack hstack "
        "vstack column_stack "
        "dstack flip fliplr flipud roll repeat tile where clip sort argsort diff array asarray copy "
        "atleast_1d atleast_2d polyval vander take take_along_axis average median interp "
        "searchsorted isclose "
        "split meshgrid convolve trapezoid count_nonzero pad nan_to_num iscomplexobj isrealobj "
        "shape ndim size "
        "rot90 append i0 logspace".split()
    )
)
LINALG_IN_JAX = set("inv solve det slogdet norm cholesky eigh qr pinv matrix_power".split())
FFT = set("fft ifft rfft irfft fft2 ifft2 fftn ifftn fftshift ifftshift".split())

SPECIAL = {
    "jax": set(
        "erf erfc erfinv gammaln gammainc gammaincc digamma polygamma expit logit logsumexp "
        "softmax log_softmax "
        "xlogy xlog1py entr kl_div rel_entr log_ndtr ndtr ndtri i0 i0e i1 i1e gamma beta "
        "betaln betainc zeta".split()
    ),
    "torch": set(
        "erf erfc erfcx erfinv gammaln gammainc gammaincc digamma psi expit logit xlogy xlog1py "
        "entr log_ndtr ndtr "
        "ndtri i0 i0e i1 i1e zeta".split()
    ),
    "autograd": set(
        "erf erfc erfinv erfcinv gammaln gamma digamma psi polygamma expit logit logsumexp i0 i1 j0 j1 y0 y1 "
        "beta betaln".split()
    ),
}
SPECIAL["jax"].add("psi")
RENAMED_IN_JAX = {"scipy.special.psi": "digamma"}

IN_TORCH = {
    "abs": "abs",
    "absolute": "abs",
    "fabs": "abs",
    "rint": "round",
    "conjugate": "conj",
    "degrees": "rad2deg",
    "radians": "deg2rad",
    "mod": "remainder",
}
"""Elementwise functions with a different name in PyTorch; the others in ELEMENTWISE have the same name,
except `cbrt`.
"""

REDUCTIONS_IN_TORCH = {
    "sum": "sum",
    "mean": "mean",
    "max": "amax",
    "min": "amin",
    "amax": "amax",
    "amin": "amin",
    "prod": "prod",
    "any": "any",
    "all": "all",
    "argmax": "argmax",
    "argmin": "argmin",
    "nansum": "nansum",
    "nanmean": "nanmean",
    "var": "var",
    "std": "std",
}
LINALG_IN_TORCH = set("inv solve det slogdet cholesky eigh eigvalsh qr pinv matrix_power".split())

# PyTorch calls by NumPy function: the parameters that may be given, in order, and the pattern of what is
# written.
PATTERNS_IN_TORCH = {
    "outer": (("a", "b"), "torch.outer(a, b)"),
    "inner": (("a", "b"), "torch.inner(a, b)"),
    "vdot": (("a", "b"), "torch.vdot(a, b)"),
    "kron": (("a", "b"), "torch.kron(a, b)"),
    "cross": (("a", "b"), "torch.linalg.cross(a, b)"),
    "trace": (("a",), "torch.trace(a)"),
    "diag": (("v", "k"), "torch.diag(v, k)"),
    "diagonal": (("a",), "torch.diagonal(a)"),
    "tril": (("m", "k"), "torch.tril(m, k)"),
    "triu": (("m", "k"), "torch.triu(m, k)"),
    "swapaxes": (("a", "i", "j"), "torch.swapaxes(a, i, j)"),
    "moveaxis": (("a", "source", "destination"), "torch.moveaxis(a, source, destination)"),
    "reshape": (("a", "shape"), "torch.reshape(a, shape)"),
    "ravel": (("a",), "torch.ravel(a)"),
    "squeeze": (("a", "axis"), "torch.squeeze(a, axis)"),
    "expand_dims": (("a", "axis"), "torch.unsqueeze(a, axis)"),
    "broadcast_to": (("a", "shape"), "torch.broadcast_to(a, shape)"),
    "concatenate": (("arrays", "axis"), "torch.cat(arrays, dim=axis)"),
    "stack": (("arrays", "axis"), "torch.stack(arrays, dim=axis)"),
    "hstack": (("arrays",), "torch.hstack(arrays)"),
    "vstack": (("arrays",), "torch.vstack(arrays)"),
    "column_stack": (("arrays",), "torch.column_stack(arrays)"),
    "repeat": (("a", "repeats", "axis"), "torch.repeat_interleave(a, repeats, dim=axis)"),
    "tile": (("a", "reps"), "torch.tile(a, reps)"),
    "where": (("condition", "x", "y"), "torch.where(condition, x, y)"),
    "clip": (("a", "low", "high"), "torch.clamp(a, low, high)"),
    "roll": (("a", "shift", "axis"), "torch.roll(a, shift, dims=axis)"),
    "diff": (("a",), "torch.diff(a)"),
    "sort": (("a",), "torch.sort(a).values"),
    "argsort": (("a",), "torch.argsort(a, stable=True)"),
    "copy": (("a",), "a.clone()"),
    "fliplr": (("a",), "torch.fliplr(a)"),
    "flipud": (("a",), "torch.flipud(a)"),
    "tensordot": (("a", "b", "axes"), "torch.tensordot(a, b, dims=axes)"),
    "arctan2": (("a", "b"), "torch.arctan2(a, b)"),
    "zeros_like": (("a",), "torch.zeros_like(a)"),
    "ones_like": (("a",), "torch.ones_like(a)"),
    "empty_like": (("a",), "torch.empty_like(a)"),
    "full_like": (("a", "value"), "torch.full_like(a, value)"),
}
LEAST = {"where": 3, "clip": 3, "roll": 3, "tensordot": 3, "repeat": 2}
"""The number of a pattern's parameters that must be given: in PyTorch, leaving out the others has a different
meaning than in NumPy.
"""

METHODS = set(
    "sum mean prod max min any all argmax argmin var std cumsum cumprod dot conj conjugate "
    "reshape ravel flatten copy "
    "transpose swapaxes squeeze trace diagonal repeat clip".split()
)
"""Methods of arrays that have the same meaning as the function of the same name."""

SAFE_BUILTINS = {
    "len",
    "range",
    "enumerate",
    "zip",
    "reversed",
    "tuple",
    "list",
    "abs",
    "sum",
    "dict",
    "isinstance",
}
