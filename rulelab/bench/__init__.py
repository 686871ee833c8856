"""Benchmarks of rules: two functions timed against each other, with a reliable verdict."""

from ..pieces import Measurement, Progress, run
from .clock import Memory, memory_of
from .duel import Duel, DuelRun, GradientDuel, Timings, duel, gradient_duel, measure
from .environment import environment
from .first import FirstGradient, first_gradient
from .profile import Profile, profile
from .records import RecordComparison, compare_records, load, save
from .scaling import Scaling, ScalingLine, ScalingRun, scaling
from .sizes import sized, sized_text

__all__ = [
    "Duel",
    "DuelRun",
    "FirstGradient",
    "GradientDuel",
    "Measurement",
    "Memory",
    "Profile",
    "Progress",
    "RecordComparison",
    "Scaling",
    "ScalingLine",
    "ScalingRun",
    "Timings",
    "compare_records",
    "duel",
    "environment",
    "first_gradient",
    "gradient_duel",
    "load",
    "measure",
    "memory_of",
    "profile",
    "run",
    "save",
    "scaling",
    "sized",
    "sized_text",
]
