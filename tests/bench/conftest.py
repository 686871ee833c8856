"""A clock on which time passes as a test says, on a machine as unsteady as it says."""

import numpy as np
import pytest


class SimulatedClock:
    """Time passes when a thunk says so, on a machine with a load of its own making.

    `noise` is the relative spread of each call, `drift` the relative spread of the machine's speed from one
    reading to the next, `bursts` the chance that a call is held up, by `held` seconds.
    """

    def __init__(self, seed=0, noise=0.0, drift=0.0, bursts=0.0, held=5e-3):
        self.now, self.speed, self.rng = 0.0, 1.0, np.random.default_rng(seed)
        self.noise, self.drift, self.bursts, self.held = noise, drift, bursts, held

    def __call__(self):
        self.speed *= float(np.exp(self.drift * self.rng.standard_normal()))
        return self.now

    def taking(self, seconds):
        """A call that takes so long here."""

        def thunk():
            spread = float(np.exp(self.noise * self.rng.standard_normal()))
            held = self.held if self.rng.random() < self.bursts else 0.0
            self.now += seconds * self.speed * spread + held

        return thunk


@pytest.fixture
def simulated():
    """Makes such clocks: `simulated(seed, noise=…, drift=…, bursts=…)`."""
    return SimulatedClock


@pytest.fixture
def steady():
    """A clock without any noise."""
    return SimulatedClock()
