"""The same rule elsewhere: JAX, PyTorch, HIPS autograd."""

from .judges import judge_autograd, judge_jax, judge_torch

__all__ = ["judge_autograd", "judge_jax", "judge_torch"]
