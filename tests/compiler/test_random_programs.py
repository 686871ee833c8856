"""Random programs: the gradient of every one is right, or refused by a typed error; never wrong."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.programs import arguments, judge, loaded, program, shrunk  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import RuleLabError  # noqa: E402


def survey(seeds, folder, hazards):
    """(what became of each program, the first few that were wrong, shortened)."""
    counts, wrong = Counter(), []
    for seed in seeds:
        text, args = program(seed, hazards), arguments(seed)
        path = folder / f"random_{'hazard' if hazards else 'plain'}_{seed}.py"
        with loaded(text, path) as module:
            verdict = judge(module, args, rl.withgradient, RuleLabError)
        path.unlink(missing_ok=True)
        counts[verdict.split(":")[0]] += 1
        if verdict.startswith("wrong"):
            if len(wrong) < 3:
                text = shrunk(text, path, args, rl.withgradient, RuleLabError)
            if len(wrong) < 5:
                wrong.append(f"seed {seed}, arguments {args!r}\n{verdict}\n{text}")
    print(f"\n{'hazard' if hazards else 'plain'} programs: {dict(counts.most_common())}")
    return counts, wrong


MOST_REFUSED = 0.06  # closures that hold a loop variable, lists held by a closure: refused so far


def assert_plain(counts, wrong, total):
    assert not wrong, f"{counts['wrong']} of {total} wrong\n\n" + "\n\n".join(wrong)
    refused = total - counts["right"] - counts["no witness"]
    assert counts["no witness"] <= 0.2 * total
    assert refused <= MOST_REFUSED * total, dict(counts)


def assert_hazards(counts, wrong, total):
    assert not wrong, f"{counts['wrong']} of {total} wrong\n\n" + "\n\n".join(wrong)
    assert counts["no witness"] <= 0.4 * total
    assert counts["right"] >= 0.02 * total, dict(counts)


def test_plain_programs(tmp_path):
    """150 programs of loops, branches, calls, lists, recursion: none wrong, few refused."""
    assert_plain(*survey(range(150), tmp_path, hazards=False), 150)


def test_hazard_programs(tmp_path):
    """100 programs with aliases, views, writes, globals, shared lists: right or refused, never wrong."""
    assert_hazards(*survey(range(100), tmp_path, hazards=True), 100)


@pytest.mark.campaign
def test_plain_programs_at_length(tmp_path):
    """3,000 plain programs."""
    assert_plain(*survey(range(1000, 4000), tmp_path, hazards=False), 3000)


@pytest.mark.campaign
def test_hazard_programs_at_length(tmp_path):
    """2,000 programs with hazards."""
    assert_hazards(*survey(range(1000, 3000), tmp_path, hazards=True), 2000)


def test_the_programs_run(tmp_path):
    """The generator is seeded and most of its programs run and can be judged by finite differences."""

    def slope_only(f, *args):
        raise RuleLabError("not asked")

    assert program(3) == program(3) and program(3) != program(4)
    for hazards in (False, True):
        counts = Counter()
        for seed in range(30):
            with loaded(program(seed, hazards), tmp_path / f"runs_{hazards}_{seed}.py") as module:
                counts[judge(module, arguments(seed), slope_only, RuleLabError)] += 1
        assert counts["RuleLabError"] >= 20, counts
