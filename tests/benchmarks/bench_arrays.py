"""Vector code: log-sum-exp from a hundred to a hundred thousand elements."""

import numpy as np
from contest import Contest
from peers import autograd_entrant, tangent_entrant, torch_entrant

import rulelab as rl


def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def log_sum_exp_hand(x):
    e = np.exp(x - np.max(x))
    e /= np.sum(e)
    return (e,)


def made_log_sum_exp(m):
    """The same formula on another library."""

    def log_sum_exp_of(x):
        top = m.max(x)
        return top + m.log(m.sum(m.exp(x - top)))

    return log_sum_exp_of


def contests():
    """log-sum-exp at n = 100, 1000, 10 000 and 100 000."""
    rng = np.random.default_rng(2)
    for n in (100, 1000, 10_000, 100_000):
        x = rng.standard_normal(n)
        yield Contest(
            f"log-sum-exp {n}",
            lambda x=x: log_sum_exp(x),
            lambda x=x: log_sum_exp_hand(x),
            {
                "rulelab, no rule": lambda x=x: rl.gradient(log_sum_exp, x),
                **autograd_entrant(made_log_sum_exp, x, wrt=(0,)),
                **tangent_entrant(log_sum_exp, x, wrt=(0,)),
                **torch_entrant(made_log_sum_exp, x, wrt=(0,)),
            },
        )
