"""Random programs whose constants are objects with state: right or refused, and nothing runs twice."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.program_orders import FIRST, judged  # noqa: E402
from corpus.programs import OF_THE_PROGRAM, arguments, call, loaded  # noqa: E402
from corpus.stateful_programs import EXPRESSIONS, OBJECTS, STATEMENTS, state_of, stateful_program  # noqa: E402


@pytest.mark.every(3)
@pytest.mark.parametrize("start", (0, 10))
def test_programs_with_states(tmp_path, start):
    """10 programs in reverse and in forward mode: none wrong, none leaves anything that a run does not."""
    wrong, counts = [], Counter()
    for seed in range(start, start + 10):
        with loaded(stateful_program(seed), tmp_path / f"stateful_{seed}.py") as module:
            for way, verdict in judged(module, arguments(seed), FIRST, left=state_of).items():
                counts[verdict.partition(":")[0]] += 1
                if verdict.startswith("wrong"):
                    wrong.append(f"seed {seed}, {way}: {verdict}")
    assert not wrong, "\n".join(wrong)
    assert counts["right"] >= 10, counts


def test_the_programs_run_and_differ(tmp_path):
    """Most of them give a number, the same each time when set up anew, another one when not."""
    ran, moved = 0, 0
    for seed in range(30):
        with loaded(stateful_program(seed), tmp_path / f"runs_{seed}.py") as module:
            try:
                first, left = call(module, arguments(seed)), state_of(module)
                again = module.program(*arguments(seed))
                assert call(module, arguments(seed)) == first and state_of(module) == left
            except OF_THE_PROGRAM:
                continue
            ran, moved = ran + 1, moved + (again != first)
    assert ran >= 20 and moved >= 0.5 * ran


def test_every_use_is_used():
    """Each object occurs, and each way of using one."""
    texts = [stateful_program(seed) for seed in range(300)]
    for name in OBJECTS:
        assert any(f"{name}" in text for text in texts), name
    for form in EXPRESSIONS:
        fixed = max(form.replace("{", "}").split("}"), key=len)
        assert any(fixed in text for text in texts), form
    assert len(EXPRESSIONS) + len(STATEMENTS) >= 60
