"""The kinds of arguments with which to try a function: numbers, then vectors, then matrices whose shapes fit.

Each kind is tried at two sizes or more. Lengths differ where it matters, so that a transpose or a mean over
the wrong axis does not go unnoticed.
"""

from __future__ import annotations

import itertools

from ..checking.reading.by_name import scalar_names, vector_names
from ..checking.reading.kinds_taken import guesses
from ..checking.reading.shapes_solved import solved_together
from .cells import Static, Symmetric

SIZES = ({"n": 2, "m": 3, "p": 2}, {"n": 3, "m": 1, "p": 2})
VECTOR_LENGTHS = (2, 3, 5)
SUPPOSED = Static(1)  # for an argument that may be an int, recognized by identity
MOST = 40  # shapes that are tried at most
MOST_SHARED = 3  # arguments that may each be a number or a vector, independently of the others
# The possible shapes of a form, in lengths; square matrices have two rows, then three.
_SHAPES = {
    "number": ("scalar",),
    "vector": (("n",), ("m",)),
    "matrix": (("n", "m"), ("m", "p")),
    "square": (("n", "n"),),
    "positive definite": ("positive definite",),
    "integer": (SUPPOSED,),
}
_MATRICES = ("matrix", "square", "positive definite")


def array_specs(names, held, domain=None):
    """Yield pairs of specs, one per size, for arguments of these names. `held` has a Static for each argument
    that is held fixed, "scalar" for one that is a number in any case, else None. `domain` maps names to the
    kinds they are known to have.
    """
    free = tuple(name for name, known in zip(names, held, strict=True) if known is None)
    yielded = []
    vectors, numbers = vector_names(free), _numbers(free)
    for kinds in guesses(free, None, domain or {}):
        if any(kind.form not in _SHAPES for kind in kinds):
            continue
        pairs = list(zip(free, kinds, strict=True))
        if any(name in vectors and kind.form in _MATRICES for name, kind in pairs):
            continue
        if any(name in numbers and kind.form not in ("number", "integer") for name, kind in pairs):
            continue
        for shapes in itertools.product(*(_SHAPES[kind.form] for kind in kinds)):
            specs = tuple(_filled(held, [_spec(s, size) for s in shapes]) for size in SIZES)
            if (
                all(isinstance(s, (str, Static)) and s != "positive definite" for s in shapes)
                or specs in yielded
            ):
                continue
            yielded.append(specs)
            yield specs
            if len(yielded) == MOST:
                return


def solved_specs(f, names, held):
    """Yield specs at both sizes from the matrix products in the source of `f`, if these determine the lengths
    of all arguments that are not held; of three or more arguments not all shapes are tried. Then such specs
    with square matrices.
    """
    free = [name for name, known in zip(names, held, strict=True) if known is None]
    for read in solved_together(f, of_factors=True):
        if read.keys() != set(free) or any(kind.form not in ("vector", "matrix") for kind in read.values()):
            continue
        dims = [read[name].dims for name in free]
        letters = dict.fromkeys(itertools.chain(*dims))
        for sizes in _SOLVED:
            known = [dict(zip(letters, itertools.cycle(lengths), strict=False)) for lengths in sizes]
            yield tuple(_filled(held, [tuple(map(one.get, each)) for each in dims]) for one in known)


_SOLVED = (((2, 3, 4), (3, 2, 2)), ((2,), (3,)))  # lengths for the letters, for each size


def vector_specs(names, held):
    """Yield specs at several lengths, with vectors in place of all numbers, then of some; `held` as above.

    An argument whose name suggests a number beside arrays stays one: a rule that lacks a sum is right for
    vectors.
    """
    those = [name for name, known in zip(names, held, strict=True) if known is None]
    numbers = _numbers(those)
    shares = [s for s in itertools.product((True, False), repeat=min(len(those), MOST_SHARED)) if any(s)]
    for share in shares:
        share = (*share, *[True] * (len(those) - len(share)))
        if any(is_vector and name in numbers for name, is_vector in zip(those, share, strict=True)):
            continue
        yield tuple(
            _filled(held, [(n,) if is_vector else "scalar" for is_vector in share]) for n in VECTOR_LENGTHS
        )


def _numbers(names):
    """Those of these names that suggest a number beside the others."""
    known, likely = scalar_names(tuple(names))
    return known | likely if set(names) - known - likely else frozenset()


def _spec(shape, size):
    if shape == "positive definite":
        return Symmetric(size["n"])
    if isinstance(shape, Static):
        return shape
    return shape if isinstance(shape, str) else tuple(size[letter] for letter in shape)


def _filled(held, specs):
    free = iter(specs)
    return tuple(next(free) if known is None else known for known in held)
