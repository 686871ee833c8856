"""Verdicts beside other programs: the same rules judged on an idle machine and on a busy one.

    make load ARGS="--rounds 10 --busy 4"

judges twenty right rules and forty wrong ones, by numbers and by proof, in a fresh process for each round;
half of the rounds run alone, half beside so many processes that do nothing but work. All that the judges say
is compared to the letter, diagnoses and corrections, cells and notes included; the seconds are left out.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "checking"))

BUSY = "while True: sum(range(10000))"
RIGHT, WRONG = 20, 40


def chosen(right=RIGHT, wrong=WRONG):
    """So many cases of each kind, spread over all that there are."""
    import wrong_rules

    for number, cases in ((right, wrong_rules.RIGHT), (wrong, wrong_rules.WRONG)):
        number = min(number, len(cases))
        yield from (cases[i * len(cases) // number] for i in range(number))


def said(case):
    """All that is said of a case, by each judge, as text."""
    from rulelab.checking.testing.testers import rule_check
    from rulelab.errors import RuleLabError
    from rulelab.symbolic import prove

    def checked(depth):
        return rule_check(case.f, *case.at, **{**case.options, "depth": depth})

    def proved():
        return prove(case.f, at=case.at or None, registry=case.options["registry"])

    judges = {"check": lambda: checked("normal"), "quick check": lambda: checked("quick"), "proof": proved}
    for judge, ask in judges.items():
        if judge == "proof" and (case.options.get("mode") == "frule" or set(case.options) > {"registry"}):
            continue
        try:
            told = json.loads(ask().to_json())
        except RuleLabError as refused:
            told = {"refused": str(refused)}
        told.pop("seconds", None)
        yield judge, json.dumps(told, sort_keys=True)


def one_round(right, wrong):
    """{(case, judge): what is said}, made here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {f"{case.name}: {judge}": text for case in chosen(right, wrong) for judge, text in said(case)}


@contextlib.contextmanager
def beside(busy):
    """So many processes that never rest."""
    running = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(busy)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def in_a_process_of_its_own(right, wrong):
    """The same round, beginning with nothing loaded and nothing kept."""
    command = [sys.executable, __file__, "--here", "--right", str(right), "--wrong", str(wrong)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def differing(rounds):
    """The questions that were not always answered alike, with the different answers and how often each."""
    for question in rounds[0]:
        answers = collections.Counter(each.get(question, "nothing") for each in rounds)
        if len(answers) > 1:
            yield question, answers


def _first_difference(one, other):
    """The places in two answers at which they part."""
    place = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return "\n".join(f"    … {text[max(0, place - 60) : place + 120]}" for text in (one, other))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="alone, and as many beside others")
    parser.add_argument("--busy", type=int, default=4, help="processes that never rest")
    parser.add_argument("--right", type=int, default=RIGHT)
    parser.add_argument("--wrong", type=int, default=WRONG)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        print(json.dumps(one_round(asked.right, asked.wrong)))
        return 0
    rounds = []
    for busy in (0, asked.busy):
        for number in range(asked.rounds):
            started = time.perf_counter()
            with beside(busy):
                rounds.append(in_a_process_of_its_own(asked.right, asked.wrong))
            took = time.perf_counter() - started
            print(f"round {number + 1} beside {busy}: {len(rounds[-1])} answers in {took:.0f} s", flush=True)
    found = list(differing(rounds))
    for question, answers in found:
        counts = " and ".join(map(str, answers.values()))
        print(f"{question} was answered in {len(answers)} ways ({counts} times)")
        print(_first_difference(*list(answers)[:2]))
    print(f"{len(rounds[0]) - len(found)} of {len(rounds[0])} answers were the same in {len(rounds)} rounds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
