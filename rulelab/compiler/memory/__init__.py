"""Which values hold which others while a pass runs, and how emitted code deals with that.

In reading order: `support` (zeros, sums, cotangents of items: the helpers of emitted code), `heap` (changed
containers, with cotangents by identity), `outlines` (where in a structure such containers are), `walks`
(which items were taken), `holding` (values that hold an iterator), `operands` (whether a value can have a
cotangent), `handlers` (functions that replace a call at run time), `containers`, `collecting` and `copies`
(operations on containers), `writes` (changes of them), `crossings` (containers passed to rules and passes);
then, to notice changes: `fingerprints` (arrays), `reach` (what a function has access to), `snapshots`
(containers), `lending` (arguments that may be changed).
"""
