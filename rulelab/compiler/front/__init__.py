"""From the author's source to the intermediate form.

In reading order: `fence` (what is accepted), `unreachable` (what can never run), `desugar` (statements in
terms of simpler ones, with `making`, which writes these, `growing`, lists and dicts that grow by several
items, `iterators_in_place` with `parting`, `generators`, `consumers`, and `asking`, the questions that such
code asks about values), `ignoring` (code hidden from the AD), `jumps` (break, continue and return as
flags), `readers` (functions of the author's that consume an argument immediately, or only compute),
`ownership`, `bindings` and `captures` (which changes in place cannot be seen elsewhere, which variables are
assigned, and which captured ones are reassigned later), `names`; then the lowering: `lowering` (variables,
blocks, joins), `loops`, `stopping` (StopIteration in them), `stepping` and `restating` (iterators and calls
whose work is code of the pass), `expressions`, and the statements in `lower`; then `spreading` (the items
of `*args` as parameters), `opening` (the contents of tuples, lists and dicts as parameters, with
`unrolling` of loops over them), `held` (what captured functions hold, as captured variables), `inlining`
(bodies in place of calls), `forwarding` (which tidies up after these), and `single_items` (the items of
containers in place of these).
"""
