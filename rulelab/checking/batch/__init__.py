"""Many checks at once: `modules` finds the rules of a module, `jobs` makes checks that other processes can
run, `spreading` runs them in parallel, and `junit` writes the results as JUnit XML.
"""
