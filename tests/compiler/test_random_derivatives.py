"""Random programs in forward mode and at the second order: right, or refused by a typed error."""

import math
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.nested_programs import NESTED, RULED, nested_program  # noqa: E402
from corpus.program_orders import FIRST, SECOND, WAYS, judged  # noqa: E402
from corpus.programs import arguments, loaded, program  # noqa: E402


def survey(make, seeds, folder, hazards=False, ways=WAYS):
    """({way: what became of each program}, the wrong ones in words); prints what was refused."""
    counts, wrong = {way: Counter() for way in ways}, []
    for seed in seeds:
        path = folder / f"{make.__name__}_{'hazard' if hazards else 'plain'}_{seed}.py"
        with loaded(make(seed, hazards), path) as module:
            verdicts = judged(module, arguments(seed), ways)
        path.unlink(missing_ok=True)
        for way, verdict in verdicts.items():
            if verdict.startswith("wrong"):
                wrong.append(f"{make.__name__}({seed}, {hazards}), {way}: {verdict}")
            counts[way][verdict.partition(":")[0] if verdict.startswith("wrong") else verdict] += 1
    for way, count in counts.items():
        print(f"\n{way}: {dict(count.most_common())}")
    return counts, wrong


def assert_right(found, total, least):
    """None wrong, and of each way at least such a part worked out."""
    counts, wrong = found
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:10])
    for way, count in counts.items():
        assert count["right"] >= math.floor(least * total), (way, count)


@pytest.mark.slow
def test_plain_programs_in_all_ways(tmp_path):
    """2 programs: forward is reverse is finite differences, and so are the four pairs of modes."""
    assert_right(survey(program, range(2), tmp_path), 2, 0.8)


def test_hazard_programs_in_all_ways(tmp_path):
    """4 programs with aliases, views, writes, globals: some are refused in one mode alone."""
    assert_right(survey(program, range(4), tmp_path, hazards=True), 4, 0.25)


def test_programs_that_take_derivatives(tmp_path):
    """3 programs that call gradient, hvp, pushforward and the like on what they compute, in both modes."""
    assert_right(survey(nested_program, range(3), tmp_path, ways=FIRST), 3, 0.75)


@pytest.mark.campaign
@pytest.mark.parametrize("start", (2, *range(1000, 4000, 250)))
def test_plain_programs_at_length(start, tmp_path):
    """3,250 plain programs."""
    assert_right(survey(program, range(start, start + 250), tmp_path), 250, 0.9)


@pytest.mark.campaign
@pytest.mark.parametrize("start", (4, *range(1000, 4000, 500)))
def test_hazard_programs_at_length(start, tmp_path):
    """3,500 programs with hazards."""
    assert_right(survey(program, range(start, start + 500), tmp_path, hazards=True), 500, 0.25)


@pytest.mark.campaign
@pytest.mark.parametrize("start", range(1000, 2000, 100))
def test_programs_that_take_derivatives_at_length(start, tmp_path):
    """1,000 programs that take derivatives, at the first and the second order."""
    assert_right(survey(nested_program, range(start, start + 100), tmp_path), 100, 0.5)


def test_a_wrong_derivative_is_noticed(tmp_path):
    """A rule with a wrong frule is found in the ways that use it, one with a wrong rrule in the others."""
    text = (
        "import numpy as np\nimport rulelab as rl\nTABLE = np.zeros(4)\nBOX = [0.0, 0.0]\n"
        "def cubed(p):\n    return p * p * p\n\n"
        "@rl.frule_for(cubed)\ndef cubed_frule(tangents, p):\n"
        "    return p * p * p, FORWARD * p * p * tangents[1]\n\n"
        "@rl.rrule_for(cubed)\ndef cubed_rrule(p):\n"
        "    return p * p * p, lambda y_bar: (rl.NoTangent(), REVERSE * p * p * y_bar)\n\n"
        "def program(x, y, v, xs):\n    return cubed(x) + y * x + np.sum(v * v) + sum(xs)\n"
    )
    for forward, reverse, wrong in (
        ("3.0", "3.0", ()),
        ("3.0", "4.0", ("reverse",)),
        ("4.0", "3.0", ("forward", *SECOND)),
    ):
        path = tmp_path / f"noticed_{forward[0]}_{reverse[0]}.py"
        with loaded(text.replace("FORWARD", forward).replace("REVERSE", reverse), path) as module:
            verdicts = judged(module, (0.9, -0.4, np.array([0.5, 1.0, -0.7, 0.2]), [0.3, -0.8, 1.1]))
        assert {way for way, verdict in verdicts.items() if verdict.startswith("wrong")} >= set(wrong), (
            verdicts
        )
        assert wrong or set(verdicts.values()) == {"right"}, verdicts


def test_every_nested_phrase_is_used():
    """Each name that takes a derivative, and each rule, occurs in some program, which is seeded."""
    texts = [nested_program(seed) for seed in range(150)]
    names = "gradient grad withgradient derivative pushforward pullback hessian hvp forwarddiff checkpointed"
    for name in (*names.split(), "jacobian", "diaghessian"):
        assert any(f"rl.{name}(" in text for text in texts), name
    assert all(any(f"def {name}(" in text for text in texts) for name in RULED)
    assert len(NESTED) >= 30 and nested_program(5) == nested_program(5) != nested_program(6)
