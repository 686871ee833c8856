"""Which arguments a check uses where nobody gave any: their kinds, lengths and values.

`guesser` tries candidate arguments on the function and its rule, `refusals` tells whose fault an exception
is, and `iterated` whether an iteration has converged. `kind_search` searches the kinds a function may take,
likeliest first; `answers_tell`, `as_said`, `beside` and `broadcasting` add further kinds, `lengths` and
`lengths_taken` other lengths, and `wider` intervals. Where all of that finds nothing, `by_trying` looks how
far the function comes. `guessing` puts these together, and `points` lists the points of a check.
"""
