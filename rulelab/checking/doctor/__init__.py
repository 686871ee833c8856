"""The mistake behind a wrong rule: what is examined, what is recognised, and the corrected line.

What is examined: `evidence` (the probes of the wrong rule, as matrices), `observing` and `watching` (values
of expressions while the rule ran), `suspects` (the statement that the wrong numbers come from), `reading`
(where in the text the mistake is), `paths`, `regions` (where the rule is right and where not) and
`foreign_writes`.

What is recognised: `symptoms` (before any numbers), `seeds` (the cotangent mishandled), `arrays`, `mistakes`
and `unwritten_elements` (elements of a buffer that are never set), with the expressions of `formulas` and
`slopes`.

What is corrected: `edits`, `neighbours`, `slips`, `statements`, `counterparts`, `grafts`, `missing_copies`,
`terms` and `joint_edits` propose changes from `materials` and `stock`, leaving out `nonsense`; `candidates`
orders them, `patching` builds the changed rule, `corrections` tries each, and `verifying` checks those that
remain at points outside the check, including arrays for numbers (`other_ranks`). `diagnoses` combines all of
it.
"""

from .diagnoses import ADVICE, MISTAKES, Strict, diagnose
from .regions import has_branches
from .verifying import OF_OTHER_KINDS

__all__ = ["ADVICE", "MISTAKES", "OF_OTHER_KINDS", "Strict", "diagnose", "has_branches"]
