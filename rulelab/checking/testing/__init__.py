"""What an author calls: `checks` runs every check of a rule, `testers` asks for them, `gradients` checks
the gradient of any function, `vjps` any function that returns a value and a pullback. `meant` tells whether
arguments are ones the function is meant for, and `witness` adds what numbers say to a proof.
"""
