"""The author's function and rule, called safely: on copies, within a budget, and brought to an end.

`budgets` counts a search's own processor time, `endless` ends calls that may never return, `subjects` is
the function under test with the way to ask its rule, and `plain_calls` calls the function itself on copies.
"""
