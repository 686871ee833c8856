"""Lets the tests of the rulesets import the checkers that lie beside them, and gives those of
`library_tests.py` their cases.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The cases of a test that takes a call, or a mistake, are those of the module in which it is found."""
    asked = {"first_call", "further_call", "any_call", "mistake"} & set(metafunc.fixturenames)
    if asked:
        from library_calls import first_of_each, further

        (name,), calls = asked, metafunc.module.CALLS
        if name == "mistake":
            cases = metafunc.module.WRONG
            metafunc.parametrize(name, cases, ids=[f"{call} {wrong}" for call, wrong, _ in cases])
        else:
            pick = {"first_call": first_of_each, "further_call": further, "any_call": list}[name]
            metafunc.parametrize(name, pick(calls), ids=str)
