"""Is this rule worth it? Two functions timed against each other, with a verdict one can trust."""

from .clock import Memory, memory_of
from .duel import Duel, Timings, duel, gradient_duel, measure
from .profile import Profile, profile

__all__ = ["Duel", "Memory", "Profile", "Timings", "duel", "gradient_duel", "measure", "memory_of", "profile"]
