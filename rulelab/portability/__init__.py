"""The same rule elsewhere: as a module of its own, in JAX, PyTorch, HIPS autograd.

`judges` asks rules that come from there. A rule that goes there is gathered: `literals` writes values
and `pieces` functions as text, `gathering` finds what a rule names.
"""

from .judges import judge_autograd, judge_jax, judge_torch

__all__ = ["judge_autograd", "judge_jax", "judge_torch"]
