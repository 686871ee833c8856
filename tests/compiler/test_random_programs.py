"""Random programs: the gradient of every one is right, or refused by a typed error; never wrong."""

import ast
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.features import MEANINGS  # noqa: E402
from corpus.phrases import HAZARDS, PIECES, PLAIN  # noqa: E402
from corpus.programs import arguments, headline, judge, loaded, program, shrunk  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import ForeignCallError, Place, RuleLabError, UnsupportedSyntaxError  # noqa: E402

EVERYTHING = frozenset(MEANINGS)


def survey(seeds, folder, hazards):
    """(what became of each program, the first few that were wrong, shortened); prints what was refused."""
    counts, refused, wrong = Counter(), Counter(), []
    for seed in seeds:
        text, args = program(seed, hazards), arguments(seed)
        path = folder / f"random_{'hazard' if hazards else 'plain'}_{seed}.py"
        with loaded(text, path) as module:
            verdict = judge(module, args, rl.withgradient, RuleLabError)
        path.unlink(missing_ok=True)
        kind, _, reason = verdict.partition(": ")
        counts[kind] += 1
        if reason and kind != "wrong":
            refused[verdict] += 1
        if verdict.startswith("wrong"):
            if len(wrong) < 3:
                text = shrunk(text, path, args, rl.withgradient, RuleLabError)
            if len(wrong) < 5:
                wrong.append(f"seed {seed}, arguments {args!r}\n{verdict}\n{text}")
    print(f"\n{'hazard' if hazards else 'plain'} programs: {dict(counts.most_common())}")
    for verdict, count in refused.most_common():
        print(f"{count:6}  {verdict}")
    return counts, wrong


MOST_REFUSED = 0.01  # of the plain programs
LEAST_RIGHT = 0.15  # of the programs with hazards: with fewer there would be little to judge


def assert_plain(counts, wrong, total):
    assert not wrong, f"{counts['wrong']} of {total} wrong\n\n" + "\n\n".join(wrong)
    refused = total - counts["right"] - counts["no witness"]
    assert counts["no witness"] <= 0.2 * total
    assert refused <= MOST_REFUSED * total, dict(counts)


def assert_hazards(counts, wrong, total):
    assert not wrong, f"{counts['wrong']} of {total} wrong\n\n" + "\n\n".join(wrong)
    assert counts["no witness"] <= 0.4 * total
    assert counts["right"] >= LEAST_RIGHT * total, dict(counts)


@pytest.mark.slow
def test_plain_programs(tmp_path):
    """40 programs of loops, branches, calls, lists, dicts, closures, recursion: none wrong, few refused."""
    assert_plain(*survey(range(20), tmp_path, hazards=False), 20)


def test_hazard_programs(tmp_path):
    """25 programs with aliases, views, writes, globals, shared lists: right or refused, never wrong."""
    assert_hazards(*survey(range(25), tmp_path, hazards=True), 25)


@pytest.mark.campaign
def test_plain_programs_at_length(tmp_path):
    """3,040 plain programs."""
    assert_plain(*survey((*range(20, 80), *range(1000, 4000)), tmp_path, hazards=False), 3060)


@pytest.mark.campaign
def test_hazard_programs_at_length(tmp_path):
    """2,025 programs with hazards."""
    assert_hazards(*survey((*range(25, 50), *range(1000, 3000)), tmp_path, hazards=True), 2025)


def slope_only(f, *args):
    raise RuleLabError("not asked")


def test_the_programs_run(tmp_path):
    """The generator is seeded and most of its programs run and can be judged by finite differences."""
    assert program(3) == program(3) and program(3) != program(4)
    for hazards in (False, True):
        counts = Counter()
        for seed in range(30):
            with loaded(program(seed, hazards), tmp_path / f"runs_{hazards}_{seed}.py") as module:
                counts[judge(module, arguments(seed), slope_only, RuleLabError)] += 1
        assert counts["RuleLabError: not asked"] >= 20, counts


def test_programs_of_every_construct_run(tmp_path):
    """With all features, those of later releases among them, the programs are Python that can be judged."""
    counts = Counter()
    for seed in range(60):
        with loaded(program(seed, False, EVERYTHING), tmp_path / f"every_{seed}.py") as module:
            counts[judge(module, arguments(seed), slope_only, RuleLabError)] += 1
    assert counts["RuleLabError: not asked"] >= 48, counts


def test_every_phrase_is_used():
    """Each piece that phrases call, and each kind of statement, occurs in some program."""
    texts = [program(seed, hazards, EVERYTHING) for seed in range(250) for hazards in (False, True)]
    found = {type(node).__name__ for text in texts for node in ast.walk(ast.parse(text))}
    wanted = (
        "For While If Try With Match Lambda NamedExpr Starred Nonlocal Delete DictComp ListComp JoinedStr"
    )
    assert set(wanted.split()) <= found
    for name in PIECES:
        assert any(name in text for text in texts), name
    assert len(PLAIN) >= 50 and len(HAZARDS) >= 40


def test_a_program_needs_no_more_than_its_features():
    """Without a feature there is none of its syntax."""
    texts = [program(seed, False, frozenset({"walrus"})) for seed in range(100)]
    found = {type(node) for text in texts for node in ast.walk(ast.parse(text))}
    assert ast.NamedExpr in found
    assert not found & {ast.With, ast.Match, ast.Delete, ast.Nonlocal, ast.DictComp}


def test_refusals_are_counted_by_kind():
    """What two programs are refused for is one line of the table, whatever their names and numbers."""
    place = Place("a.py", 3, function="f")
    foreign = ForeignCallError("Can't differentiate foreign call expression Point(float, o12)", place=place)
    syntax = UnsupportedSyntaxError("Differentiating through with is not supported, found in helper3()")
    assert headline(foreign) == "Can't differentiate foreign call expression Point(..)"
    assert headline(syntax) == "Differentiating through with is not supported"


def test_a_wrong_program_is_shortened(tmp_path):
    """What is shown of a program whose gradient is wrong is little more than the culprit."""

    def careless(f, *args):
        value, gradient = rl.withgradient(f, *args)
        if "tanh" in f.__code__.co_names:
            gradient = (gradient[0] + 1.0, *gradient[1:])
        return value, gradient

    text = (
        "import math\nimport numpy as np\nTABLE = np.zeros(4)\nBOX = [0.0, 0.0]\n"
        "def program(x, y, v, xs):\n    a = x * y\n    for i in range(3):\n        a = a + y\n"
        "    b = math.tanh(a) + 0.0\n    if a > 100.0:\n        b = a\n    return b + np.sum(v) + sum(xs)\n"
    )
    short = shrunk(text, tmp_path / "long.py", arguments(1), careless, RuleLabError)
    left = "def program(x, y, v, xs):\n    a = x\n    b = math.tanh(a)\n    return b\n"
    assert short.endswith(left), short
