"""Python functions to their pullbacks, as readable source.

The rooms, lowest first; each imports only from those before it:

* `base`: the intermediate form, the author's text, whose a function is, how refusals are worded
* `memory`: what holds what while a pass runs: cotangents by identity, changes, walks, what is compared
* `front`: an author's text to the intermediate form
* `analysis`: what is certain of a lowered function before it runs
* `transform`: a lowered function to its forward and reverse sweep, or to its tangent, and these to text
* `implicit`: parameters that come into a function without being passed to it
* `calls`: who answers a call, in reverse, forward and plain running, and what is remembered of the answer
"""

from ..own_code import keeps_records

keeps_records(__name__)
