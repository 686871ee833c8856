"""Which arguments a check uses where the caller gave none: their kinds, lengths and values.

`guesser` tries candidate arguments on the function and its rule, `refusals` decides whether an exception is
the fault of the rule or of the arguments, and `iterated` whether an iteration has converged. `kind_search`
searches the kinds a function may take, likeliest first; `kinds_from_answers`, `kinds_from_docstring`,
`alternative_kinds` and `broadcasting` add further kinds, `lengths` and `accidental_lengths` other lengths,
and `wider_intervals` wider intervals. Where all of these find nothing, `kinds_by_trial` looks how far a call
of the function gets. `guessing` combines them, `points` lists the points of a check, and
`borders` those beside a border that the rule has and its function has not.
"""
