"""How rules are stated, found and applied.

In reading order: `rule` (one rule), `targets` (the object it is registered for), `signatures` (the types it
accepts), `registry` (all rules), `lazy_rules` (rules that are read once their library is used), `refusals`
(why a function has no rule), `binding` and `calling` (apply a rule to a call), `capabilities` (how a rule
calls back into the AD), `lent` (checks that arguments were not changed); for authors: `authoring`, `scalar`,
`constant`, `twins`, `stub`, `listing`, `doubt` (rules of redefined functions); what is certain about values
before they are computed: `kinds`, `operator_kinds` and `results` (of operators and functions), `formulas`
(partials as text), `direct` (the ufunc methods behind NumPy's Python functions); and `rule_table` (tables of
built-in rules), `programs` (operations of forward mode that take more than one call), `recalling` (calls of
cached functions in forward mode) and `vectorized` (checks of an `np.vectorize` object).
"""

from ..own_code import keeps_records

keeps_records(__name__)
