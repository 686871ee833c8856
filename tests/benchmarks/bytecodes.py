"""How many bytecodes a gradient executes: the same on any machine, at any load, of one Python version.

What NumPy does inside is not counted. A change in these numbers is a change in what was emitted, or in what
is done around it.
"""

import sys


def executed(call):
    """How many bytecodes a call executes in Python functions, its own included."""
    count = 0

    def on_event(frame, event, arg):
        nonlocal count
        count += event == "opcode"
        return on_event

    def on_call(frame, event, arg):
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return on_event

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def counts(workloads, entrant):
    """{name: the bytecodes of our gradient at the small arguments, compiled before, and of the function}."""
    found = {}
    for workload in workloads:
        small = workload.at_small_arguments()
        call = entrant(small)
        for _ in range(3):
            call()
        found[workload.name] = {"gradient": executed(call), "plain": executed(small.plain())}
    return found
