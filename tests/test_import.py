"""What `import rulelab` loads, and what comes when it is asked for."""

import json
import subprocess
import sys


def told(code):
    """What a fresh Python prints as JSON."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_what_checks_rules_is_loaded_when_asked_for():
    """Who only takes gradients does not wait for it; its names, and its package, are there all the same."""
    found = told(
        "import json, sys, rulelab as rl\n"
        "before = [name for name in sys.modules if name.startswith('rulelab.checking')]\n"
        "names = [name for name in ('checking', 'compare', 'rule_check', 'rule_lint') if name in dir(rl)]\n"
        "from rulelab import rule_check\n"
        "same = rule_check is rl.rule_check and rl.checking.rule_check is rule_check\n"
        "print(json.dumps([before, names, same, rl.compare.__name__, rl.rule_lint.__name__]))\n"
    )
    assert found == [[], ["checking", "compare", "rule_check", "rule_lint"], True, "compare", "rule_lint"]


def test_what_is_loaded_later_brings_none_of_the_floors_that_hold_numpys_functions():
    """Rules and passes mean NumPy's functions as they were at the import: their modules are there by then."""
    late = told(
        "import json, sys, rulelab as rl\n"
        "before = set(sys.modules)\n"
        "rl.compare, rl.rule_check, rl.rule_lint\n"
        "floors = tuple(f'rulelab.{name}.' for name in ('tangents', 'rules', 'compiler', 'ad'))\n"
        "print(json.dumps([name for name in set(sys.modules) - before if f'{name}.'.startswith(floors)]))\n"
    )
    assert late == []


def test_nothing_that_reads_mail_is_loaded():
    """The metadata of packages are read when an error asks for them."""
    assert told("import json, sys, rulelab\nprint(json.dumps('importlib.metadata' in sys.modules))") is False


def test_other_names_are_no_attributes():
    """A name that is none is refused as ever."""
    assert told("import json, rulelab\nprint(json.dumps(hasattr(rulelab, 'no_such_name')))") is False


def test_what_only_pages_errors_and_bars_need_is_loaded_by_them():
    """Each of these takes as long as several modules of ours."""
    late = told(
        "import json, sys, numpy\n"
        "before = set(sys.modules)\n"
        "import rulelab\n"
        "new = set(sys.modules) - before\n"
        "print(json.dumps(sorted(new & {'html', 'pathlib', 'numpy.typing', 'importlib.metadata'})))\n"
    )
    assert late == []


def test_the_collector_is_left_as_it_was():
    """It is off during the import, and on again only if it was on before; what was frozen stays so."""
    code = (
        "import gc, json\n"
        "{before}\n"
        "import rulelab\n"
        "print(json.dumps([gc.isenabled(), gc.get_freeze_count() > 0]))\n"
    )
    assert told(code.format(before="")) == [True, False]
    assert told(code.format(before="gc.disable()")) == [False, False]
    assert told(code.format(before="gc.freeze()")) == [True, True]
