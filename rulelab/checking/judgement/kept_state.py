"""Whether a rule raises because of what earlier calls have left in a container of its module."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..calling.subjects import Subject, author_of, codes_of
from ..probing.perturb import fresh
from ..probing.probes import Probe, reverse_answer, without_warnings


def state_that_raises(subject: Subject, probe: Probe) -> str | None:
    """The name of a list, dict or set of the rule's module such that the rule raises with its contents and
    answers without them; None if there is none. The contents are restored.
    """
    if subject.rule is None or subject.reverse is None:
        return None
    author = author_of(subject.rule)
    space = getattr(author, "__globals__", {})
    names = dict.fromkeys(name for code in codes_of(author) for name in code.co_names)
    for name in names:
        held = space.get(name)
        if type(held) in (list, dict, set) and held:
            with _emptied(held):
                answers = _answers(subject, probe)
            if answers and not _answers(subject, probe):
                return name
    return None


def _answers(subject: Subject, probe: Probe) -> bool:
    point, y = probe.point, probe.truth.y
    with contextlib.suppress(Exception), without_warnings():
        assert subject.reverse is not None
        _, back = subject.reverse(*fresh(point.floats), **dict(point.kwargs))
        reverse_answer(back, y, np.ones(probe.truth.slopes.value.shape[0]), point)
        return True
    return False


@contextlib.contextmanager
def _emptied(held: Any) -> Iterator[None]:
    contents = held.copy()
    held.clear()
    try:
        yield
    finally:
        held.clear()
        held.extend(contents) if isinstance(held, list) else held.update(contents)
