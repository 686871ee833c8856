"""What source text and docstrings say about a function's parameters; the code is read and never run.

First the code itself: `own_docstrings` finds the function that an author wrote, `anatomy` the parts of a
rule, `texts` the names and attributes in a function; `editing` makes changed versions of code, `searches`
detects search loops that find nothing, `constants` and `parameters` list those of compiled code, and
`lookup_tables` finds where lookup tables begin. Then kinds of arguments: `kinds` and the words for them. The
docstring: `docstrings`, `stated_kinds`, `positive_said`, `typical_said`, `counts_said`, `ranks_said`,
`arrays_said`, `relations`, and the parameter names in `by_name`. The code: `usage`, `signs_read`,
`axes_read`, `ranks`, `counts`, `blocks_read`, `groups_read`, `guards`, `options_read`, `loops_read`,
`lists_read`, `pieces_read`, `shapes_read`, `positions_read`, `records_read`, `random_sources`, `fields_said`,
`answers_read` and `complex_meant`. Last, what follows from all of these: `kinds_taken` and `shapes_solved`.
"""
