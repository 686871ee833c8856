"""From Python functions to their pullbacks, as readable source.

The rooms, lowest first; each imports only from those before it:

* `base`: the intermediate form, the author's source, who owns a function, the wording of refusals
* `memory`: what refers to what while a pass runs: cotangents by identity, changes, walks, comparisons
* `front`: from the author's source to the intermediate form
* `analysis`: what is certain about a lowered function before it runs
* `transform`: from a lowered function to its sweeps (forward and reverse) or its tangent, as source text
* `implicit`: parameters that a function uses without their being passed to it
* `calls`: what answers a call in reverse mode, forward mode and plain running, and which answers are cached
"""

from ..own_code import keeps_records

keeps_records(__name__)
