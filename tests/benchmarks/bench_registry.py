"""What stating many rules takes, and finding one among them.

    python tests/benchmarks/bench_registry.py [NUMBER]

NUMBER rules (10,000) are stated for as many functions, the built-in rules being there already; one is
looked up again and again, by a type that is known and by a class of the author's. The aims, in processor
time: all stated in a second, a look-up in a microsecond.
"""

import functools
import sys
import timeit
from pathlib import Path
from time import process_time

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import rulelab as rl  # noqa: E402
from rulelab.rules.registry import DEFAULT  # noqa: E402

LOOKUPS = 100_000


def functions(number):
    """As many functions, and a rule for each."""

    def pair():
        def f(x):
            return 2.0 * x

        def f_rrule(x):
            return 2.0 * x, lambda y_bar: (rl.NoTangent(), 2.0 * y_bar)

        return f, f_rrule

    return [pair() for _ in range(number)]


def measured(number):
    """Seconds to state them all, and seconds of a look-up by kind; the least of five series of look-ups."""

    class Own:
        pass

    pairs = functions(number)
    start = process_time()
    for f, rule in pairs:
        rl.rrule_for(f)(rule)
    stated = process_time() - start
    f = pairs[number // 2][0]
    assert DEFAULT.ask(f, (float,)).rule.function is pairs[number // 2][1]
    found = {}
    for name, types in (("a float", (float,)), ("an object", (Own,))):
        ask = functools.partial(DEFAULT.ask, f, types)
        series = timeit.repeat(ask, number=LOOKUPS, repeat=5, timer=process_time)
        found[name] = min(series) / LOOKUPS
    return stated, found


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seconds, lookups = measured(count)
    print(f"{count:,} rules stated in {seconds:.2f} s, {seconds / count * 1e6:.0f} µs each")
    for kind, each in lookups.items():
        print(f"a look-up by the type of {kind}: {each * 1e6:.2f} µs")
