"""What holds what while a pass runs, and what emitted code does about it.

In reading order: `support` (zeros, sums, cotangents of items: what emitted code names), `heap` (containers
that are changed, their cotangents by identity), `outlines` (where in a structure such containers are),
`walks` (which items were taken), `holding` (what is used up by reading it), `operands` (what a value is to
the compiler), `handlers` (what stands for a call at run time), `containers`, `collecting` and `copies`
(operations on containers), `writes` (changes of them), `crossings` (containers that go to rules); then what
is looked at twice: `fingerprints` (arrays), `reach` (what a function can get hold of), `snapshots`
(containers), `lending` (arguments that may be changed).
"""
