"""Which mistake is behind a wrong rule."""

from __future__ import annotations

from collections.abc import Iterator

from .closeness import Closeness
from .findings import Diagnosis, Finding
from .probes import Probe
from .subjects import Subject


def diagnose(
    subject: Subject, probes: list[Probe], compared: list[tuple[Probe, Closeness]], findings: list[Finding]
) -> Iterator[Diagnosis]:
    """The mistakes that explain what was found, the likeliest first."""
    yield from ()
