"""The values that flow: zeros, delayed ones, those of structures, their arithmetic, the way back to a primal.

In reading order: `zeros`, `thunks`, `missing` and `one` (kinds of cotangents), `structural` (of
structures), `algebra` (sums), `projection` (back to the primal's space), `pairings` (cotangent and
tangent), `numbers` (what a cotangent holds, by its place); of forward mode `shadows` (the inner form of
tangents), `forms`, `in_step`, `tracked`; about
values: `classes`, `contents`, `holding`, `generated`, `ranks` (orders by keys), `moments` (what can
change, at one moment). `oldnames` has the names of the older texts.
"""

from ..own_code import carries_values

carries_values(__name__)
