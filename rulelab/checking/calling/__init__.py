"""The author's function and rule, called safely: on copies, within a budget, and with an end.

`budgets` counts the processor time that a search itself uses, `endless_loops` ends calls that may never
return, `subjects` is the function under test with the way to call its rule, and `plain_calls` calls the
function itself on copies.
"""
