"""Functions of `scipy.linalg` that have no rule, with the reason, and those that are constants."""

from ..rules.refusals import state_reasons
from .scipy_optional import LibraryTable, named, optional, reasons

linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_linalg_without")

CONSTANT = named(
    linalg,
    "bandwidth dft find_best_blas_type get_blas_funcs get_lapack_funcs hadamard helmert hilbert invhilbert "
    "invpascal ishermitian issymmetric pascal",
)
"""Those of whole numbers alone, and those that ask how a matrix is built."""

TABLE.non_differentiable(*[getattr(linalg, name) for name in CONSTANT])

_BASIS = "a basis that LAPACK chooses: write what you need as a function of the whole matrix"
_SCHUR = "a Schur or Hessenberg form, which is not unique: use eigvals, or functions of the matrix"
_BANDED = "for a banded matrix: use the function for the whole matrix"
_CALLS = "calls your function on the eigenvalues: use expm, logm, sqrtm"
_UPDATES = "an update of factors: factorise the new matrix with qr"

REFUSED = reasons(
    linalg,
    {
        _BASIS: "null_space orth subspace_angles cossin orthogonal_procrustes",
        _SCHUR: "cdf2rdf hessenberg ordqz qz rsf2csf schur",
        _BANDED: "cho_solve_banded cholesky_banded eig_banded eigh_tridiagonal eigvals_banded",
        _CALLS: "funm",
        _UPDATES: "qr_delete qr_insert qr_multiply qr_update",
        "scales by powers of two, which jump": "matrix_balance",
        "a condition number: not derived here": "expm_cond",
        "draws a random matrix": "clarkson_woodruff_transform",
        "the signs of the eigenvalues in the basis of the vectors: not derived here": "signm",
        "use cholesky, or lu": "ldl",
        "use numpy.kron": "kron",
        "use qr of the matrix in reverse order": "rq",
    },
)
"""Why each has no rule."""

state_reasons(linalg, REFUSED)
