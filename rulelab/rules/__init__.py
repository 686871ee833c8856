"""How a rule is stated, found and dated.

In reading order: `rule` (one rule), `targets` (what it sits on), `signatures` (the types it accepts),
`registry` (all of them), `shelves` (those that wait for a library), `refusals` (why a function has none),
`binding` and `calling` (a rule applied to a call), `capabilities` (how a rule calls back), `lent` (whether
arguments came back as they were); what an author calls: `authoring`, `scalar`, `constant`, `twins`, `stub`,
`listing`, `doubt` (a function that was defined again); what is certain of values before they are there:
`kinds`, `operator_kinds` and `results` (of what operators and functions give), `formulas` (partials as
text), `direct` (what NumPy's own Python comes down to); and `rule_table` (tables of our own), `programs`
(what forward mode does in more than one call) and `vectorized` (what is asked of an `np.vectorize` object).
"""

from ..own_code import keeps_records

keeps_records(__name__)
