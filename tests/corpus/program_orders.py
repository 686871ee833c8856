"""Random programs in every mode and up to the third order: what became of each, way by way.

The slope along one direction is judged by finite differences of the program; the derivative of the gradient
along that direction by differences of the gradient, once that is known to be right; the third derivative
along it by differences of the second.
"""

import copy
import math

import numpy as np
from corpus.forward import along, along_by_differences
from corpus.guards import CALLS, differing, generic, is_refusal, shown
from corpus.harness import derivative, flat, rebuilt, same
from corpus.programs import OF_THE_PROGRAM, call, headline, reset, slopes

import rulelab as rl
from rulelab.ad.forward import jvp
from rulelab.errors import RuleLabError

FIRST = ("reverse", "forward")
SECOND = ("reverse over reverse", "forward over reverse", "reverse over forward", "forward over forward")
THIRD = (
    "reverse over reverse over reverse",
    "forward over forward over reverse",
    "reverse over forward over forward",
)
WAYS = (*FIRST, *SECOND)
QUICK = "quick ways against generic passes"


def paired(bars, dots):
    """<bars, dots> of gradients of which any may be None, written so that it can be differentiated."""
    total = 0.0
    for x_bar, x_dot in zip(bars, dots):
        if x_bar is not None:
            if isinstance(x_dot, list):
                total = total + paired(x_bar, x_dot)
            elif isinstance(x_dot, np.ndarray):
                total = total + np.sum(x_bar * x_dot)
            else:
                total = total + x_bar * x_dot
    return total


def gradient_way(f, args, dots):
    """The gradient, and the value."""
    value, found = rl.withgradient(f, *copy.deepcopy(args))
    return value, float(flat(list(dots)) @ flat(list(found), list(args)))


def pushforward_way(f, args, dots):
    return jvp(f, copy.deepcopy(args), dots)


def reverse_over_reverse(f, args, dots):
    def slope(*xs):
        return paired(rl.gradient(f, *xs), dots)

    return flat(list(rl.gradient(slope, *copy.deepcopy(args))), list(args))


def forward_over_reverse(f, args, dots):
    def gradient_of_f(*xs):
        return rl.gradient(f, *xs)

    found = rl.pushforward(gradient_of_f, *copy.deepcopy(args))(*dots)
    return flat(None if found is None else list(found), list(args))


def reverse_over_forward(f, args, dots):
    return along(f, args, range(len(args)), dots, {})


def forward_over_forward(f, args, dots):
    """One number, the second derivative along the direction."""

    def slope(*xs):
        return rl.pushforward(f, *xs)(*dots)

    found = rl.pushforward(slope, *copy.deepcopy(args))(*dots)
    return np.array([0.0 if found is None else found])


def reverse_over_reverse_over_reverse(f, args, dots):
    def slope(*xs):
        return paired(rl.gradient(f, *xs), dots)

    return reverse_over_reverse(slope, args, dots)


def forward_over_forward_over_reverse(f, args, dots):
    def slope(*xs):
        return paired(rl.gradient(f, *xs), dots)

    return forward_over_forward(slope, args, dots)


def reverse_over_forward_over_forward(f, args, dots):
    def slope(*xs):
        return rl.pushforward(f, *xs)(*dots)

    return reverse_over_forward(slope, args, dots)


WORKS = dict(
    zip(
        (*WAYS, *THIRD),
        (
            gradient_way, pushforward_way, reverse_over_reverse, forward_over_reverse,
            reverse_over_forward, forward_over_forward, reverse_over_reverse_over_reverse,
            forward_over_forward_over_reverse, reverse_over_forward_over_forward,
        ),
    )
)  # fmt: skip


def attempt(module, way, args, dots):
    """What a way gives, or the words of the verdict: a refusal, or an error that is ours."""
    reset(module)
    try:
        return WORKS[way](module.program, args, dots), None
    except RuleLabError as refusal:
        return None, f"{type(refusal).__name__}: {headline(refusal)}"
    except Exception as error:  # an error that the program itself does not raise is ours
        return None, f"wrong: {type(error).__name__}: {error}"


def judged(module, args, ways=WAYS, tolerance=1e-6, left=None):
    """{way: "right", "no witness", the class of a refusal, or what is wrong}.

    `left` gives what a run has left behind, which has to be the same after a first derivative.
    """
    try:
        wanted = call(module, copy.deepcopy(args))
    except OF_THE_PROGRAM:
        return dict.fromkeys(ways, "no witness")
    if not (math.isfinite(wanted) and abs(wanted) < 1e4):
        return dict.fromkeys(ways, "no witness")
    witness = slopes(module, args, tolerance, directions=2)
    if witness is None:
        return dict.fromkeys(ways, "no witness")
    direction, slope = witness[1]  # the first one is as good as 0 in x
    dots = tuple(rebuilt(list(args), direction))
    verdicts = {QUICK: quick_alike(module, args)} if QUICK in ways else {}
    for way in [way for way in FIRST if way in ways]:
        verdicts[way] = first_order(module, way, args, dots, wanted, slope, tolerance)
        if verdicts[way] == "right" and left is not None and not left_alike(module, args, left):
            verdicts[way] = "wrong: something ran twice, or not at all"
    for chosen, witness_of in ((SECOND, witness_of_second), (THIRD, witness_of_third)):
        later = [way for way in chosen if way in ways]
        if later:
            verdicts |= later_order(module, later, args, dots, witness_of(module, args, dots))
    return verdicts


def quick_alike(module, args):
    """The verdict on all that calls of `gradient` show as the quick ways open: as the generic passes."""

    def once():
        reset(module)
        return shown(module.program, args)

    with generic():
        wanted = once()
    if wanted.raised and not is_refusal(wanted.raised):
        return f"wrong: {wanted.raised}"
    found = [once() for _ in range(CALLS)]
    reset(module)
    refused = [one.raised.partition("\n")[0] for one in (*found, wanted) if is_refusal(one.raised)]
    if refused:
        return refused[0]
    words = [word for one in found for word in differing(one, wanted)]
    return f"wrong: {words[0]}" if words else "right"


def left_alike(module, args, left):
    """Whether the derivative that was just taken has left what the program itself leaves."""
    found = left(module)
    call(module, copy.deepcopy(args))
    return found == left(module)


def first_order(module, way, args, dots, value, slope, tolerance):
    """The verdict on one way to the slope along the direction."""
    got, words = attempt(module, way, args, dots)
    if words is not None:
        return words
    found = 0.0 if got[1] is None else float(got[1])
    if not same(got[0], value):
        return f"wrong: value {got[0]!r}, the program gives {value!r}"
    if not abs(found - slope) <= tolerance * max(1.0, abs(slope)):
        return f"wrong: slope {found!r}, finite differences {slope!r}"
    return "right"


def witness_of_second(module, args, dots, tolerance=1e-6):
    """The derivative of the gradient along the direction by differences: a vector; its component along the
    direction alone, where reverse mode refuses the program and forward mode does not; or None.
    """

    def slope(t):
        moved = rebuilt(list(args), flat(list(args)) + t * flat(list(dots)))
        reset(module)
        found = jvp(module.program, tuple(moved), dots)[1]
        return 0.0 if found is None else float(found)

    for h in (1e-5, 1e-4, 1e-6):
        try:
            wanted, error = along_by_differences(module.program, args, range(len(args)), dots, {}, h)
        except RuleLabError:
            break
        except OF_THE_PROGRAM:  # at a point nearby
            return None
        if error <= tolerance * scale_of(wanted):
            return wanted
    for h in (2e-2, 2e-3, 2e-4):
        try:
            component, error = derivative(slope, 0.0, h)
        except (*OF_THE_PROGRAM, RuleLabError):
            return None
        if error <= tolerance * scale_of(component):
            return np.array([component])
    return None


def witness_of_third(module, args, dots, tolerance=1e-6):
    """The third derivative along the direction, by differences of the second in forward mode; or None."""
    centre, d = flat(list(args)), flat(list(dots))

    def second(t):
        reset(module)
        return float(forward_over_forward(module.program, rebuilt(list(args), centre + t * d), dots)[0])

    for h in (2e-2, 2e-3, 2e-4):
        try:
            found, error = derivative(second, 0.0, h)
        except (*OF_THE_PROGRAM, RuleLabError):
            return None
        if error <= tolerance * scale_of(found):
            return np.array([found])
    return None


def scale_of(numbers):
    return max(1.0, float(np.max(np.abs(numbers))))


def later_order(module, ways, args, dots, witness, tolerance=1e-5):
    """The verdicts on the ways to a higher derivative along the direction, of which there is a witness."""
    verdicts = {}
    for way in ways:
        found, words = attempt(module, way, args, dots)
        if words is None and witness is None:
            words = "no witness"
        elif words is None:
            wanted, d = witness, flat(list(dots))
            if min(found.size, wanted.size) == 1:
                found, wanted = (np.array([d @ v]) if v.size > 1 else v for v in (found, wanted))
            right = np.max(np.abs(found - wanted)) <= tolerance * scale_of(wanted)
            words = "right" if right else wrong(found, wanted)
        verdicts[way] = words
    return verdicts


def wrong(found, wanted):
    """What is said of numbers that differ."""
    return f"wrong: numbers {np.round(found, 6).tolist()}, differences {np.round(wanted, 6).tolist()}"
