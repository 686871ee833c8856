"""The same rule elsewhere: as a module of its own, in JAX, PyTorch, HIPS autograd.

Rules that come from there are asked by `judges`. Of a rule that goes there, `literals` writes values as text
and `pieces` functions, `gathering` finds what it names, and `checked` where it is checked; `module_text` and
`package_text` are what is written, `exports` has it done. What was written is run by `running`, which asks
for `answers`; `module_asked` is the process that gives them.
"""

from .answers import Answer, answer_at
from .exports import Exported, export
from .judges import judge_autograd, judge_jax, judge_torch

__all__ = ["Answer", "Exported", "answer_at", "export", "judge_autograd", "judge_jax", "judge_torch"]
