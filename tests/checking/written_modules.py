"""The text of some modules of rules: right, wrong, fatal to their process, stuck."""

RIGHT = """
import rulelab as rl

def cube(x: float): return x ** 3

@rl.rrule_for(cube)
def cube_rrule(x: float):
    def cube_pullback(y_bar):
        return rl.NoTangent(), 3 * x ** 2 * y_bar
    return x ** 3, cube_pullback

def scaled(x, y): return 3.0 * x * y

rl.scalar_rule(scaled, lambda out, x, y: (3.0 * y, 3.0 * x))
"""

WRONG = """
import rulelab as rl

def square(x: float): return x * x

@rl.rrule_for(square)
def square_rrule(x: float):
    def square_pullback(y_bar):
        return rl.NoTangent(), -2 * x * y_bar
    return x * x, square_pullback
"""

FATAL = """
import os, signal, pathlib
import rulelab as rl

HERE = pathlib.Path(__file__).parent

def steady(x: float): return 2.0 * x
rl.scalar_rule(steady, lambda y, x: 2.0)

def fatal(x: float): return 3.0 * x

@rl.frule_for(fatal)
def fatal_frule(dots, x: float):
    with open(HERE / "deaths", "a") as deaths:
        deaths.write("x")
    if len((HERE / "deaths").read_text()) <= MOST:
        os.kill(os.getpid(), signal.SIGKILL)
    return 3.0 * x, 3.0 * dots[1]
"""

STUCK = """
import time
import rulelab as rl

def steady(x: float): return 2.0 * x
rl.scalar_rule(steady, lambda y, x: 2.0)

def stuck(x: float): return 3.0 * x

@rl.frule_for(stuck)
def stuck_frule(dots, x: float):
    time.sleep(1000)
"""
