"""The environment on which timings depend: versions, the processor, BLAS and its threads, the load.

Nothing in it names a person, a computer or a folder, so that a saved result can be shared.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from .clock import seconds_without_core

_SYSTEM = Path("/sys")
_FREQUENCY = "devices/system/cpu/cpu0/cpufreq"
BUSY = 0.5
"""Load per usable core, besides our own process, above which a report warns."""


def environment() -> dict[str, Any]:
    """The environment of a measurement, as plain values; None for what the system does not report.

    `load` is the system's mean number of running processes over the last minute, `cores` the number of cores
    that this process may use, `blas` a list of the linear-algebra libraries in use with their numbers of
    threads, and `waiting` says whether the time for which a call had no core is part of its time.
    """
    return {
        "rulelab": _version("rulelab"),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "numpy": np.__version__,
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": _cores(),
        "blas": _blas(),
        "governor": _line(_SYSTEM / _FREQUENCY / "scaling_governor"),
        "battery": _on_battery(),
        "waiting": "counted" if seconds_without_core() is None else "taken off",
        "load": _load(),
    }


def warnings_of(stamp: Mapping[str, Any]) -> list[str]:
    """Warnings about an environment that makes timings less reliable; empty if there are none."""
    found = []
    load, cores = stamp.get("load"), stamp.get("cores")
    # A saved environment may contain anything.
    if isinstance(load, (int, float)) and isinstance(cores, int) and load > 1 + BUSY * cores:
        found.append(f"Load {load:.1f} on {_counted(cores, 'core')}: expect wide intervals.")
    if stamp.get("governor") == "powersave":
        found.append("The processor is in a power-saving mode, so timings may vary.")
    if stamp.get("battery"):
        found.append("On battery: the processor may be slowed down.")
    return found


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """How two environments differ, except in their load, in words: "NumPy 2.0.0, then 2.1.0"."""
    names = {"rulelab": "rulelab", "python": "Python", "numpy": "NumPy", "blas": "BLAS"}
    told = []
    for key in sorted({*old, *new} - {"load"}):
        before, after = old.get(key), new.get(key)
        if before != after:
            told.append(f"{names.get(key, key)} {_in_words(before)}, then {_in_words(after)}")
    return told


def _in_words(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, (list, tuple)):
        return " and ".join(map(_in_words, value)) or "none"
    if isinstance(value, Mapping):
        return " ".join(_in_words(part) for part in value.values())
    return str(value)


def _version(package: str) -> str | None:
    module = sys.modules.get(package)
    try:
        return getattr(module, "__version__", None) or version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str | None:
    """The manufacturer's name of the processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            named = next((line for line in lines if line.startswith("model name")), "")
    except OSError:
        named = ""
    return named.partition(":")[2].strip() or platform.processor() or None


def _cores() -> int | None:
    """The number of cores that this process may use; in a container these can be fewer than exist."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _blas() -> list[dict[str, Any]]:
    from threadpoolctl import threadpool_info  # here, because `import rulelab` must stay light

    return [
        {
            "library": str(found.get("internal_api")),
            "version": found.get("version"),
            "threads": found.get("num_threads"),
        }
        for found in threadpool_info()
        if found.get("user_api") == "blas"
    ]


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _on_battery() -> bool | None:
    """Whether the computer runs on battery; None if unknown."""
    try:
        supplies = sorted((_SYSTEM / "class/power_supply").iterdir())
    except OSError:
        return None
    states = [_line(supply / "online") for supply in supplies if _line(supply / "type") == "Mains"]
    return states[0] == "0" if states else None


def _line(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
