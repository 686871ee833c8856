"""Two functions side by side: `comparison` computes the values and gradients of a function and its twin,
and `compared` holds and words the differences.
"""
