"""Checks of an `np.vectorize` object before it is differentiated, in either mode, and of the results that
`np.apply_along_axis` puts together.
"""

import numpy as np

from ..errors import NotDifferentiableError


def check_vectorized(held, words, place=None):
    """Raise NotDifferentiableError for an object, or a call with keywords, that is not supported."""
    if words or held.signature is not None or held.excluded:
        raise NotDifferentiableError(
            "np.vectorize with a signature, excluded arguments or keywords is not differentiated",
            place=place,
            fixes=("call the function in a loop or a list comprehension",),
            read="limitations#iteration",
        )


def dtype_of_results(held, results, place=None):
    """The dtype that np.vectorize returns; NotDifferentiableError if each call has several results, or if
    this dtype truncates floats.
    """
    if isinstance(results[0], tuple):
        raise NotDifferentiableError(
            "np.vectorize of a function with several results is not differentiated",
            place=place,
            fixes=("use one np.vectorize for each result",),
            read="limitations#iteration",
        )
    dtype = np.dtype(held.otypes[0] if held.otypes else np.asarray(results[0]).dtype.char)
    if dtype.kind in "iub" and any(isinstance(y, (float, complex, np.inexact)) for y in results):
        held_by = "complex" if any(map(np.iscomplexobj, results)) else "float"
        raise NotDifferentiableError(
            f"np.vectorize gives {dtype} here, which truncates its results",
            place=place,
            fixes=(f"give np.vectorize otypes=[{held_by}]",),
            read="limitations#iteration",
        )
    return dtype


def check_along(first, whole, place=None):
    """NotDifferentiableError if the array of all results has another dtype than the first, which NumPy uses
    for all: it truncates floats, or drops imaginary parts.
    """
    dtype = np.asarray(first).dtype
    if dtype != whole.dtype:
        raise NotDifferentiableError(
            f"np.apply_along_axis gives {dtype} here, the dtype of its first result, which cannot hold "
            f"{whole.dtype}",
            place=place,
            fixes=(f"return {whole.dtype} from the function each time it is called",),
            read="limitations#iteration",
        )
