"""How long a start takes: importing a system beyond NumPy, and the first gradient of a short function.

Each in new processes, of which the quickest counts.

    python tests/benchmarks/start.py import MODULE
    python tests/benchmarks/start.py first SYSTEM FUNCTION
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIMES = 3
SHORT = ("projectile", "sum3")


def seconds_of_import(module):
    import numpy  # noqa: F401 - not counted

    start = time.process_time()
    __import__(module)
    return time.process_time() - start


def seconds_of_first_gradient(system, name):
    """From the function to its gradient, with everything imported."""
    import systems
    import workloads

    workload = workloads.short(name)
    (chosen,) = [one for one in (systems.OURS, *systems.PEERS) if one.name == system]
    if chosen is not systems.OURS:
        systems.found(chosen.module)
    start = time.process_time()
    answer = chosen.entrant(workload)()
    seconds = time.process_time() - start
    import right_gradients

    call = chosen.entrant(workload)
    if right_gradients.gap(workload)(answer, call) > right_gradients.tolerance(workload):
        raise ValueError("a wrong gradient")
    return seconds


def asked(*words):
    """What a new process says: {"seconds": …} or {"failure": …}.

    Bytecode is kept between processes whatever the environment says: only the first start compiles.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, str(HERE / "start.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"failure": lines[-1][:90] if lines else f"exit {done.returncode}"}
    return json.loads(done.stdout.splitlines()[-1])  # a peer may have said something before


def quickest(*words):
    """The least seconds of several new processes."""
    found = []
    for _ in range(TIMES):
        found.append(asked(*words))
        if "failure" in found[-1]:
            return found[-1]
    return min(found, key=lambda one: one["seconds"])


def entry(told, scale):
    return told if "failure" in told else told | {"value": told["seconds"] * scale}


def rows(systems):
    """The rows of a start, for ours and the installed peers."""
    imports = {one.name: entry(quickest("import", one.module), 1.0) for one in systems}
    yield {"name": "import, beyond NumPy", "unit": "s", "goal": 0.15, "aim": 0.15, "entrants": imports}
    for name, goal in zip(SHORT, (5.0, 2.0), strict=True):
        firsts = {one.name: entry(quickest("first", one.name, name), 1e3) for one in systems}
        yield {
            "name": f"first gradient, {name}",
            "unit": "ms",
            "goal": goal,
            "aim": goal,
            "entrants": firsts,
        }


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.path.insert(1, str(HERE.parents[1]))
    kind, *rest = sys.argv[1:]
    measure = seconds_of_import if kind == "import" else seconds_of_first_gradient
    print(json.dumps({"seconds": measure(*rest)}))
