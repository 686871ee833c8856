"""Derived rules beside rules written by hand: do they pass, and how long do they take?

    python tests/benchmarks/bench_derive.py [NAME ...] [--rounds N]

NAME picks functions by the beginning of their name. For each the rule is derived, checked by the testers
(`rl.test_rrule` at quick depth), and timed in turns with the one written by hand: value and pullback
together, the median over the rounds of the ratio within a round. The aim is 1.15 at most.
"""

import argparse
import math
import statistics
import sys
from pathlib import Path
from time import perf_counter

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np  # noqa: E402
from scipy import special  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.checking.testing.testers import rule_check  # noqa: E402
from rulelab.symbolic import derive_rule  # noqa: E402

AIM = 1.15
SECONDS = 1e-3  # of one turn

# Of each function: its expression, the cotangents as a hand writes them in y (the value), the arguments and
# s (what comes in), and arguments to time it at.
SCALAR = {
    "square": ("x * x", "2 * x * s", (1.3,)),
    "cube": ("x**3", "3 * x * x * s", (1.3,)),
    "root": ("math.sqrt(x)", "0.5 * s / y", (1.3,)),
    "root_shifted": ("math.sqrt(x * x + 1)", "x / y * s", (1.3,)),
    "reciprocal": ("1 / x", "-y * y * s", (1.3,)),
    "exp": ("math.exp(x)", "y * s", (1.3,)),
    "log": ("math.log(x)", "s / x", (1.3,)),
    "log1p": ("math.log1p(x)", "s / (1 + x)", (1.3,)),
    "expm1": ("math.expm1(x)", "(y + 1) * s", (1.3,)),
    "sin": ("math.sin(x)", "math.cos(x) * s", (1.3,)),
    "cos": ("math.cos(x)", "-math.sin(x) * s", (1.3,)),
    "tan": ("math.tan(x)", "(1 + y * y) * s", (1.3,)),
    "tanh": ("math.tanh(x)", "(1 - y * y) * s", (1.3,)),
    "sinh": ("math.sinh(x)", "math.cosh(x) * s", (1.3,)),
    "asin": ("math.asin(x)", "s / math.sqrt(1 - x * x)", (0.3,)),
    "atan": ("math.atan(x)", "s / (1 + x * x)", (1.3,)),
    "asinh": ("math.asinh(x)", "s / math.sqrt(x * x + 1)", (1.3,)),
    "logistic": ("1 / (1 + math.exp(-x))", "y * (1 - y) * s", (1.3,)),
    "softplus": ("math.log(1 + math.exp(x))", "s / (1 + math.exp(-x))", (1.3,)),
    "swish": ("x / (1 + math.exp(-x))", "(y + (1 - y) / (1 + math.exp(-x))) * s", (1.3,)),
    "bell": ("math.exp(-x * x)", "-2 * x * y * s", (1.3,)),
    "normal": ("math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)", "-x * y * s", (1.3,)),
    "polynomial": ("4 * x**3 - 2 * x + 1", "(12 * x * x - 2) * s", (1.3,)),
    "ratio": ("x / (1 + x * x)", "(1 - x * x) / (1 + x * x)**2 * s", (1.3,)),
    "product": ("x * math.sin(x)", "(math.sin(x) + x * math.cos(x)) * s", (1.3,)),
    "power": ("x**n", "n * x**(n - 1) * s, y * math.log(x) * s", (1.3, 2.5)),
    "hypot": ("math.sqrt(a * a + b * b)", "a / y * s, b / y * s", (1.3, 0.7)),
    "angle": ("math.atan2(b, a)", "-b / (a * a + b * b) * s, a / (a * a + b * b) * s", (1.3, 0.7)),
    "kinetic": ("0.5 * m * v**2", "0.5 * v * v * s, m * v * s", (1.3, 0.7)),
    "lens": ("1 / (1 / a + 1 / b)", "(y / a)**2 * s, (y / b)**2 * s", (1.3, 0.7)),
}
SPECIAL = {
    "gamma": ("math.gamma(x)", "y * special.digamma(x) * s", (1.3,)),
    "lgamma": ("math.lgamma(x)", "special.digamma(x) * s", (1.3,)),
    "log_factorial": ("math.lgamma(x + 1)", "special.digamma(x + 1) * s", (1.3,)),
    "erf": ("math.erf(x)", "1.1283791670955126 * math.exp(-x * x) * s", (1.3,)),
    "erfc": ("math.erfc(x)", "-1.1283791670955126 * math.exp(-x * x) * s", (1.3,)),
    "gelu": (
        "0.5 * x * (1 + math.erf(x / math.sqrt(2)))",
        "(0.5 * (1 + math.erf(x / math.sqrt(2))) + x * 0.3989422804014327 * math.exp(-0.5 * x * x)) * s",
        (1.3,),
    ),
    "normal_cdf": (
        "0.5 * math.erfc(-x / math.sqrt(2))",
        "0.3989422804014327 * math.exp(-0.5 * x * x) * s",
        (1.3,),
    ),
    "digamma": ("special.digamma(x)", "special.polygamma(1, x) * s", (1.3,)),
    "log_gamma_ratio": (
        "math.lgamma(a) - math.lgamma(b)",
        "special.digamma(a) * s, -special.digamma(b) * s",
        (1.3, 0.7),
    ),
    "beta": (
        "math.gamma(a) * math.gamma(b) / math.gamma(a + b)",
        "y * (special.digamma(a) - special.digamma(a + b)) * s, "
        "y * (special.digamma(b) - special.digamma(a + b)) * s",
        (1.3, 0.7),
    ),
    "erfinv": ("special.erfinv(x)", "0.886226925452758 * math.exp(y * y) * s", (0.3,)),
    "bell_gamma": ("math.gamma(x) * math.exp(-x)", "y * (special.digamma(x) - 1) * s", (1.3,)),
}
FUNCTIONS = SCALAR | SPECIAL


def parameters(name):
    """The names of the arguments: x, or as the expression has them."""
    if len(FUNCTIONS[name][2]) == 1:
        return ("x",)
    return {"power": ("x", "n"), "kinetic": ("m", "v")}.get(name, ("a", "b"))


def function(name):
    """The function, as if it stood in a file."""
    expression, _, _ = FUNCTIONS[name]
    scope = {"math": math, "special": special, "rl": rl, "__name__": "functions"}
    exec(f"def f({', '.join(parameters(name))}):\n    return {expression}\n", scope)
    return scope["f"]


def by_hand(name, f):
    """The rule as a hand writes it."""
    words = ", ".join(parameters(name))
    source = (
        f"def f_rrule({words}):\n    y = f({words})\n    def f_pullback(s):\n"
        f"        return rl.NoTangent(), {FUNCTIONS[name][1]}\n    return y, f_pullback\n"
    )
    scope = {**f.__globals__, "f": f}
    exec(source, scope)
    return scope["f_rrule"]


def stated(derived, f):
    """The derived rule, run as its reader would run it."""
    scope = {**f.__globals__, "f": f}
    exec(derived.source, scope)
    return scope["f_rrule"]


def timed(rule, args, calls):
    """Seconds of so many values with their pullbacks."""
    start = perf_counter()
    for _ in range(calls):
        rule(*args)[1](1.5)
    return perf_counter() - start


def ratio(one, other, args, rounds):
    """The median of the ratios of two rules, timed in turns, and its quartiles."""
    calls = max(20, int(SECONDS / max(1e-8, timed(other, args, 50) / 50)))
    found = []
    for number in range(rounds):
        pair = (one, other) if number % 2 else (other, one)
        seconds = dict(zip(pair, [timed(rule, args, calls) for rule in pair]))
        found.append(seconds[one] / seconds[other])
    return statistics.quantiles(found, n=4)


def measured(name, rounds):
    """(the rule, whether the testers pass it, proved, largest deviation from the hand's, quartiles)."""
    f, args = function(name), FUNCTIONS[name][2]
    derived = derive_rule(f, name="f")
    rule = stated(derived, f)
    hand = by_hand(name, f)
    passed = rule_check(f, *args, mode="rrule", depth="quick")
    pairs = zip(rule(*args)[1](1.5)[1:], hand(*args)[1](1.5)[1:], strict=True)
    off = max(abs(a - b) / abs(b) for a, b in pairs)
    return derived, bool(passed), float(off), ratio(rule, hand, args, rounds)


def main():
    parser = argparse.ArgumentParser(description="Derived rules beside rules written by hand.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--text", action="store_true", help="show the derived rules")
    options = parser.parse_args()
    names = [n for n in FUNCTIONS if not options.names or n.startswith(tuple(options.names))]
    slow, failed = [], []
    print(f"{'function':<16}{'passes':<8}{'proof':<12}{'off by':<10}{'ratio to by hand':<20}derived in")
    for name in names:
        derived, passed, off, (low, middle, high) = measured(name, options.rounds)
        word = derived.proof.verdict.word
        print(
            f"{name:<16}{'yes' if passed else 'NO':<8}{word:<12}{off:<10.1e}"
            f"{middle:.2f} ({low:.2f}–{high:.2f})   {derived.seconds:.2f} s",
            flush=True,
        )
        if options.text:
            print(derived.source)
        slow += [name] if middle > AIM else []
        failed += [name] if not passed or not off < 1e-12 else []
    print(f"{len(names)} rules: {len(failed)} do not pass {failed}, {len(slow)} slower than {AIM} {slow}")
    return 1 if failed else 0


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        sys.exit(main())
