"""The same rule elsewhere: as a module of its own, in JAX, PyTorch, HIPS autograd.

Rules that come from there are asked by `judges`. Of a rule that goes there, `literals` writes values as text
and `pieces` functions, `gathering` finds what it names, and `checked` where it is checked; `module_text` and
`package_text` are what is written, `exports` has it done. What was written is run by `running`, which asks
for `answers`; `module_asked` is the process that gives them.

Of a rule that goes to a framework `anatomy` finds the parts and `naming` what its names are, by the tables in
`words`; `translation` translates, `to_jax` and `to_torch` in their own way, or `plain` leaves NumPy to run
behind it; `jax_rules`, `torch_rules`, `autograd_rules` and `chainrules` write what `translated` shares and
`framework_targets` puts into a file, with the tests of `framework_tests` beside it. `jax_asked`,
`torch_asked` and `autograd_asked` are the processes that run them, and share `framework_answers`;
`stored_run` has what they answered once. `importing` is the way back.
"""

from .answers import Answer, answer_at
from .exports import Exported, export
from .importing import import_rule
from .judges import judge_autograd, judge_jax, judge_torch
from .stored_run import StoredRun, stored_run

__all__ = [
    "Answer",
    "Exported",
    "StoredRun",
    "answer_at",
    "export",
    "import_rule",
    "judge_autograd",
    "judge_jax",
    "judge_torch",
    "stored_run",
]
