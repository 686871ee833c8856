"""The same rule elsewhere: as a module of its own, in JAX, PyTorch or HIPS autograd.

`judges` checks rules that come from there. For a rule that goes there, `literals` writes values and `pieces`
writes functions as text, `gathering` finds what the rule names, and `checked` finds the points at which it is
checked; `module_text` and `package_text` produce the text, and `exports` runs all of it. `running` runs what
was written and requests `answers`; `module_asked` is the process that returns them.

For a rule that goes to a framework, `anatomy` takes it apart and `naming` resolves its names, using the
tables in `words`; `translation` translates it, with `to_jax` and `to_torch` for what is specific to one
framework, or `plain` keeps the code in NumPy; `jax_rules`, `torch_rules`, `autograd_rules` and `chainrules`
write the framework's rule on the common base in `translated`, and `framework_targets` puts it into a file,
with the tests of `framework_tests` beside it. `jax_asked`, `torch_asked` and `autograd_asked` are the
processes that run these files, and share `framework_answers`; `stored_run` holds answers recorded once.
`importing` is the way back.
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
