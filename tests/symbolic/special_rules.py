"""The rules of `scipy.special` before the prover: each row with the parameters held that have no slope."""

from __future__ import annotations

from rulelab.errors import RuleLabError
from rulelab.rules.registry import DEFAULT
from rulelab.rules.signatures import types_of
from rulelab.rulesets.catalogue import special_tables
from rulelab.rulesets.scipy_rows import SpecialTable
from rulelab.symbolic import prove
from rulelab.tangents.missing import NotImplementedTangent
from rulelab.tangents.zeros import AbstractZero, NoTangent

ROWS = {
    name: row
    for table in special_tables()
    if isinstance(table, SpecialTable)
    for name, row in table.rows.items()
}
CUT_OFF = ("pdtr", "pdtrc", "bdtr", "bdtrc")  # of a first number, which stays a number
INVERSE = "an inverse, whose slope is 1 over that of the function, which is proved"
COMPLEX = "a function of real numbers with complex values, which the prover does not follow"
UNKNOWN = "the prover does not know the function"
SERIES = "near 0 the slope with respect to the power is a series; elsewhere it agrees to all digits"
INCOMPLETE = "the prover knows Carlson's integral only in the complete case"
_BY_REASON = {
    INVERSE: "gammaincinv gammainccinv betaincinv betainccinv chdtri fdtri stdtrit gdtrix gdtria pdtri "
    "bdtri nbdtri",
    COMPLEX: "wofz hankel1 hankel2 hankel1e hankel2e h1vp h2vp",
    "far out the slope is an asymptotic series, which is not an identity": "erfcx dawsn",
    SERIES: "inv_boxcox inv_boxcox1p",
    INCOMPLETE: "ellipkinc ellipeinc ellipj elliprf elliprd",
    "its slopes are rounded constants": "radian",
}
REASONS = {name: why for why, names in _BY_REASON.items() for name in names.split()}
"""Why some are not proved, by name; of others the prover does not know the function."""


def arguments_of(row):
    """The first of the points of a row; degrees of polynomials as whole numbers."""
    first = tuple(column[0] if isinstance(column, tuple) else column for column in row.at)
    if not row.name.startswith("eval_"):
        return first
    return tuple(int(x) if x == int(x) else x for x in first)


def with_slopes(row, args):
    """The positions of the arguments that there is a slope by."""
    y = row.target(*args)
    given = row.partials(y, *args)
    given = given[0] if isinstance(y, tuple) else given
    given = given if isinstance(given, tuple) else (given,)
    return [i for i, p in enumerate(given) if not isinstance(p, (AbstractZero, NotImplementedTangent))]


def held(row, partials=None):
    """`(f, rule, args)` of the arguments that there is a slope by; the others are constants to the prover,
    without the rounding of numbers.
    """
    args = arguments_of(row)
    free, target = with_slopes(row, args), row.target
    rule = partials or DEFAULT.ask(target, types_of(args)).rule.function
    lifted = [not (i == 0 and row.name in CUT_OFF) for i in range(len(args))]
    if row.name not in _PARAMETRIC:
        lifted = [False] * len(args)

    def whole(xs):
        given = [a + 0 * xs[0] if lift else a for a, lift in zip(args, lifted)]
        for i, x in zip(free, xs):
            given[i] = x
        return given

    def value(*xs):
        return target(*whole(xs))

    def of_free(*xs):
        y, back = rule(*whole(xs))

        def pullback(y_bar):
            bars = back(y_bar)
            return NoTangent(), *[bars[1 + i] for i in free]

        return y, pullback

    f, r = {
        1: (lambda x: value(x), lambda x: of_free(x)),
        2: (lambda x, y: value(x, y), lambda x, y: of_free(x, y)),
        3: (lambda x, y, z: value(x, y, z), lambda x, y, z: of_free(x, y, z)),
    }[len(free)]
    return f, r, tuple(args[i] for i in free)


_PARAMETRIC = frozenset(
    "gammainc gammaincc betainc betaincc chdtr chdtrc fdtr fdtrc stdtr gdtr gdtrc pdtr pdtrc bdtr bdtrc "
    "nbdtr nbdtrc".split()
)


def judged(row, time_limit=20.0, rule=None):
    """The word of the verdict on a row's rule, and its sentence."""
    f, made, at = held(row, rule)
    try:
        verdict = prove(f, made, at=at, time_limit=time_limit).verdict
    except RuleLabError as error:
        return "NOT JUDGED", str(error).splitlines()[0]
    return verdict.word, verdict.sentence()


def is_asked(row):
    """Whether there is a slope to be proved."""
    return bool(with_slopes(row, arguments_of(row)))


def reason(name):
    """Why a row is not proved."""
    return REASONS.get(name, UNKNOWN)


def spoilt(row, change):
    """A row's rule with each cotangent changed: for the prover to refute."""
    args = arguments_of(row)
    rule = DEFAULT.ask(row.target, types_of(args)).rule.function

    def wrong(*xs):
        y, back = rule(*xs)

        def pullback(y_bar):
            return tuple(
                bar if isinstance(bar, (AbstractZero, NotImplementedTangent)) else change(bar, xs[-1])
                for bar in back(y_bar)
            )

        return y, pullback

    return wrong
