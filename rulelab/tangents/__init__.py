"""Tangents and cotangents: zeros, thunks, those of structures, their arithmetic, and their projection to the
space of a primal.

In reading order: `zeros`, `thunks`, `missing` and `one` (kinds of cotangents), `structural` (cotangents of
structures), `algebra` (sums), `projection` (to the primal's space), `pairings` (a cotangent with a tangent),
`numbers` (the numbers in a cotangent, by path); for forward mode `shadows` (the inner form of tangents),
`forms`, `paired_iteration`, `tracked`; about values: `classes`, `contents`, `holding`,
`generator_expressions`, `ranks` (orders by keys), `moments` (snapshots of mutable state), `cached_answers`
(what cached functions return). `oldnames` has deprecated names.
"""

from ..own_code import carries_values

carries_values(__name__)
