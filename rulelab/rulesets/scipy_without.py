"""The functions of `scipy.special` that are constants, and those that have no rule, each with the reason."""

from ..rules.refusals import state_reasons
from .scipy_rows import SpecialTable, special

TABLE = SpecialTable("scipy_without")

_ZEROS = (
    "ai_zeros bi_zeros bei_zeros beip_zeros ber_zeros berp_zeros erf_zeros fresnel_zeros fresnelc_zeros "
    "fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros kei_zeros keip_zeros kelvin_zeros ker_zeros "
    "kerp_zeros y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros"
)
_NUMBERS = "bernoulli euler factorial2 factorialk stirling2"
_OF_A_DEGREE = (
    "legendre chebyt chebyu chebyc chebys laguerre hermite hermitenorm sh_legendre sh_chebyt sh_chebyu"
)
_ROOTS = (
    "roots_legendre roots_chebyt roots_chebyu roots_chebyc roots_chebys roots_laguerre roots_hermite "
    "roots_hermitenorm roots_sh_legendre roots_sh_chebyt roots_sh_chebyu"
)
_SETTINGS = "geterr seterr"
CONSTANT = tuple(
    name
    for names in (_ZEROS, _NUMBERS, _OF_A_DEGREE, _ROOTS, _SETTINGS)
    for name in names.split()
    if getattr(special, name, None) is not None
)
"""Those of whole numbers alone, and of none."""

TABLE.non_differentiable(*[getattr(special, name) for name in CONSTANT])

_LARGEST = "the distribution of Kolmogorov and Smirnov: its density is not among the functions of SciPy"
_BY_COUNTS = "an inverse in a shape, or a number of degrees of freedom, trials or events: no closed form"
_NONCENTRAL = "a noncentral distribution: its density is not among the functions of SciPy"
_SPHEROIDAL = (
    "a spheroidal wave function: the slopes with respect to all but the last argument have no closed form"
)
_MATHIEU = "a Mathieu function: the slopes with respect to order and parameter have no closed form"
_PARABOLIC = "a parabolic cylinder function with its slope: not derived here"
_LISTS = "lists of all orders up to a given one: use the function for one order"
_POLYNOMIAL = "creates a polynomial whose coefficients depend on parameters: use eval_*"
_ROOTS_BY = "roots that depend on parameters: no closed form"
_LEGENDRE = "of the same kind as sph_harm_y, which has a rule: use that at phi = 0, or eval_legendre"
_HARMONICS = "ellipsoidal harmonics: not derived here"
_OLD_HARMONIC = "use sph_harm_y, which newer versions of SciPy have"

_REASONS = {
    _BY_COUNTS: (
        "bdtrik bdtrin btdtria btdtrib chdtriv fdtridfd gdtrib nbdtrik nbdtrin pdtrik stdtridf"
    ),
    _NONCENTRAL: (
        "chndtr chndtridf chndtrinc chndtrix ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr "
        "nctdtridf nctdtrinc nctdtrit"
    ),
    _LARGEST: "kolmogi kolmogorov smirnov smirnovi",
    _SPHEROIDAL: (
        "obl_ang1 obl_ang1_cv obl_cv obl_cv_seq obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pro_ang1 "
        "pro_ang1_cv pro_cv pro_cv_seq pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv"
    ),
    _MATHIEU: (
        "mathieu_a mathieu_b mathieu_cem mathieu_sem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 "
        "mathieu_modsem2 mathieu_even_coef mathieu_odd_coef"
    ),
    _PARABOLIC: "pbdv pbvv pbwa pbdn_seq pbdv_seq pbvv_seq",
    _LISTS: (
        "lmbda lqmn lqn riccati_jn riccati_yn assoc_legendre_p_all legendre_p_all sph_harm_y_all "
        "sph_legendre_p_all clpmn lpmn lpn"
    ),
    _LEGENDRE: "assoc_legendre_p legendre_p sph_legendre_p",
    _HARMONICS: "ellip_harm ellip_harm_2 ellip_normal",
    _OLD_HARMONIC: "sph_harm",
    _POLYNOMIAL: "jacobi genlaguerre gegenbauer sh_jacobi",
    _ROOTS_BY: "roots_jacobi roots_genlaguerre roots_gegenbauer roots_sh_jacobi",
    "use binom, which takes numbers that are not whole": "comb",
    "use poch, which takes numbers that are not whole": "perm",
    "use gamma(n + 1)": "factorial",
    "use betainc and its inverses": "btdtr btdtri",
    "not derived here": "agm elliprc elliprg elliprj kelvin modfresnelm modfresnelp tklmbda",
}
REFUSED = {
    name: reason
    for reason, names in _REASONS.items()
    for name in names.split()
    if getattr(special, name, None) is not None
}
"""Why each has no rule."""

state_reasons(special, REFUSED)
state_reasons(special, {"errstate": "a setting of errors: enter it around the call that differentiates"})
