"""A check of a rule travels as names, and whoever gets it finds that very rule or says so."""

from __future__ import annotations

import dataclasses
import json
import pickle
import types

import pytest

from rulelab.checking.batch.jobs import (
    ERROR,
    RIGHT,
    UNKNOWN,
    WRONG,
    JobError,
    module_jobs,
    run_job,
    shipped_jobs,
)
from rulelab.checking.batch.modules import ModuleError
from rulelab.checking.reading.kinds import DomainError

from . import written_modules as texts

TYPED = """
import rulelab as rl

def double(x): return 2 * x

@rl.rrule_for(double)
def for_float(x: float):
    return 2 * x, lambda y_bar: (rl.NoTangent(), 2 * y_bar)

@rl.rrule_for(double)
def for_complex(x: complex):
    return 2 * x, lambda y_bar: (rl.NoTangent(), 3 * y_bar)

scaled_functions = []
for text in ("2.0", "3.0"):
    scaled = eval("lambda x: " + text + " * x")
    scaled.__name__ = scaled.__qualname__ = "scaled"
    rl.scalar_rule(scaled, lambda out, x: 2.0)
    scaled_functions.append(scaled)
def steps(x):
    return int(x)

rl.non_differentiable(steps)
"""


def test_a_job_is_names_and_numbers(write):
    """What is sent to another process holds no function, module or array."""
    for job in (*module_jobs(write("plain_names", texts.RIGHT)), *shipped_jobs(["np.sin"])):
        values = [*dataclasses.astuple(job)]
        while values:
            value = values.pop()
            values += value if isinstance(value, (tuple, list)) else ()
            assert isinstance(value, (str, int, tuple, types.NoneType))
        assert pickle.loads(pickle.dumps(job)) == job


@pytest.mark.slow
def test_right_and_wrong_rules_are_told(write):
    """The outcome of a job has the verdict, the sentence and the report of `rule_check`."""
    jobs = (*module_jobs(write("right", texts.RIGHT)), *module_jobs(write("wrong", texts.WRONG)))
    told = [run_job(job) for job in jobs]
    assert [one["verdict"] for one in told] == [RIGHT, RIGHT, RIGHT, WRONG]
    assert "square_rrule of square is wrong" in told[-1]["sentence"]
    assert told[0]["report"]["function"] == "cube" and "seconds" not in told[0]["report"]
    assert json.loads(json.dumps(told)) == told


@pytest.mark.slow
def test_each_rule_of_a_function_is_checked_by_itself(write):
    """Of two rules for two types, and two functions of one name, each gets its own verdict."""
    jobs = module_jobs(write("typed", TYPED))
    verdicts = {(job.label): run_job(job)["verdict"] for job in jobs}
    assert verdicts == {
        "rrule of double(x: float)": RIGHT,
        "rrule of double(x: complex)": WRONG,
        "rrule of scaled(x)": RIGHT,
        "frule of scaled(x)": RIGHT,
        "rrule of scaled(x), number 2": WRONG,
        "frule of scaled(x), number 2": WRONG,
    }


def test_a_worker_with_another_version_says_so(write):
    """A rule that is not where the job says is an error, never the verdict of another rule."""
    (job,) = module_jobs(write("moved", texts.WRONG))
    told = run_job(dataclasses.replace(job, place="moved.py, line 1"))
    assert told["verdict"] == ERROR and "another version" in told["sentence"]
    (first, *_) = shipped_jobs(["np.sin"])
    for changed in ({"point": 10_000}, {"target": "np.cos"}, {"table": "no_table"}):
        told = run_job(dataclasses.replace(first, **changed))
        assert told["verdict"] == ERROR and "another version" in told["sentence"]


def test_names_choose_the_functions_and_unknown_ones_are_refused(write):
    """NAME is a word of a function's name; one without a rule is an error that names the nearest."""
    path = write("named", texts.RIGHT)
    assert {job.target for job in module_jobs(path, ["cube"])} == {"cube"}
    with pytest.raises(JobError) as refused:
        module_jobs(path, ["cube", "scald"])
    assert refused.value.found == "there is no rule for a function named 'scald'; did you mean scaled?"
    with pytest.raises(JobError, match="there is no rule for a function named 'qqqq'$"):
        shipped_jobs(["qqqq"])


EMPTY = """\
import rulelab as rl
def steps(x):
    return int(x)
rl.non_differentiable(steps)
"""


def test_a_module_without_rules_is_refused(write):
    """No rules is no pass."""
    with pytest.raises(ModuleError, match="empty.py states no rules"):
        module_jobs(write("empty", EMPTY))


@pytest.mark.slow
def test_the_domain_is_looked_at_before_anything_runs(write):
    """A kind that is none, or a parameter that no function has, is an error at once."""
    path = write("domains", texts.RIGHT)
    with pytest.raises(DomainError, match="'huge' is not a domain"):
        module_jobs(path, domain=[("x", "huge")])
    with pytest.raises(JobError, match="no function here has a parameter 'q'"):
        module_jobs(path, domain=[("q", "positive")])
    jobs = module_jobs(path, domain=[("y", "positive")])
    assert [job.domain for job in jobs] == [(), (("y", "positive"),), (("y", "positive"),)]
    assert all(run_job(job)["verdict"] == RIGHT for job in jobs)


def test_arguments_that_cannot_be_found_are_inconclusive(write):
    """A function for which no arguments can be drawn is neither right nor wrong, with the reason."""
    refusing = "def f(x): raise ValueError('not these')"
    text = f"import rulelab as rl\n{refusing}\nrl.scalar_rule(f, lambda y, x: 1.0)\n"
    told = [run_job(job) for job in module_jobs(write("choosy", text))]
    assert {one["verdict"] for one in told} == {UNKNOWN}
    assert "no arguments were found that f takes: ValueError: not these" in told[0]["sentence"]


def test_a_check_that_takes_too_long_stops_between_two_points(write):
    """After its limit a check looks at no further point, and says why it is inconclusive."""
    (job, *_) = module_jobs(write("slow", texts.RIGHT))
    told = run_job(job, limit=1e-9)
    assert told["verdict"] == UNKNOWN
    assert told["lines"][0] == "it took more than 1e-09 s, the limit of a check"


def test_shipped_jobs_are_every_rule_at_every_point_of_its_table():
    """Both modes, each seed, the statements without a derivative left out."""
    jobs = shipped_jobs(["np.hypot"], seeds=(0, 1))
    assert {job.mode for job in jobs} == {"rrule", "frule"} and {job.seed for job in jobs} == {0, 1}
    assert {job.family for job in jobs} == {"numpy_elementwise", "ufunc_methods"}
    assert len(set(jobs)) == len(jobs)
    assert not any(job.target == "np.argmax" for job in shipped_jobs())


POINTED = """
import math
import rulelab as rl

def root(x):
    return math.sqrt(x - 100.0)

@rl.rrule_for(root)
def root_rrule(x):
    y = root(x)
    return y, lambda y_bar: (rl.NoTangent(), y_bar / (2 * y))

__rulelab_points__ = {"root": [((109.0,), {}), ((104.0,), {})], "gone": [((1.0,), {})]}
"""


def test_a_module_may_say_where_its_rules_are_checked(write):
    """At the first of its points and around it; a domain that is asked for goes before."""
    (job,) = module_jobs(write("pointed", POINTED))
    told = run_job(job)
    assert told["verdict"] == RIGHT and {"from": "given", "inputs": ["109"]} in told["report"]["points"]
    assert "'109'" not in str(run_job(dataclasses.replace(job, domain="positive")))
    assert job.file.endswith("pointed.py") and job.line == 8


@pytest.mark.parametrize("stated", ["3", "{'root': 3}", "{'root': [3]}", "{'root': [((1.0,), 2)]}"])
def test_points_that_are_none_are_told(write, stated):
    """In the outcome of the check; nothing of them is run."""
    text, name = POINTED.partition("__rulelab_points__")[0], f"mispointed_{len(stated)}"
    (job,) = module_jobs(write(name, f"{text}\n__rulelab_points__ = {stated}\n"))
    told = run_job(job)
    assert told["verdict"] == ERROR and "is not a dict of lists of pairs (args, kwargs)" in told["sentence"]
