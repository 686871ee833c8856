"""Is this rule worth it? Two functions timed against each other, with a verdict one can trust."""

from .clock import Memory, memory_of
from .duel import Duel, DuelRun, GradientDuel, Timings, duel, gradient_duel, measure
from .environment import environment
from .first import FirstGradient, first_gradient
from .pieces import Measurement, Progress, run
from .scaling import Scaling, ScalingLine, ScalingRun, scaling

__all__ = [
    "Duel",
    "DuelRun",
    "FirstGradient",
    "GradientDuel",
    "Measurement",
    "Memory",
    "Progress",
    "Scaling",
    "ScalingLine",
    "ScalingRun",
    "Timings",
    "duel",
    "environment",
    "first_gradient",
    "gradient_duel",
    "measure",
    "memory_of",
    "run",
    "scaling",
]
