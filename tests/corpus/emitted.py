"""How much code the compiler emits for the corpus, in this checkout and in another one.

    python tests/corpus/emitted.py [--against CHECKOUT] [--each N] [--texts FOLDER]

For each function of the corpus the text of its pass at the first point (what `%adjoint` shows), counted in
lines and in statements of Python's grammar; comments and blank lines are not counted. `--against` is the root
of another checkout, whose compiler is asked for the same functions. `--each` names the N functions that
changed least, `--texts` keeps the texts, a folder for each checkout.
"""

import argparse
import ast
import json
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def statements(text):
    """How many statements a text has, by kind."""
    return Counter(type(node).__name__ for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))


def lines(text):
    """The lines that are neither blank nor a comment."""
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def unnamed(text):
    """The lines that call a site without saying which operation it is."""
    return sum("find(" in line or "find_" in line for line in lines(text))


def texts():
    """The text of each function of the corpus that has a pass of its own."""
    from corpus.harness import all_cases

    import rulelab as rl

    found = {}
    for case in all_cases():
        try:
            text = rl.adjoint_source(case.function, *case.points[0], **case.kwargs)
        except rl.RuleLabError:
            continue
        if not text.startswith("# by rule: "):
            found[case.name] = str(text)
    return found


def texts_of(checkout):
    """The same by the compiler of a checkout, in a process of its own."""
    run = [sys.executable, __file__, "--here", str(checkout)]
    return json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def summed(found):
    """(lines, statements, lines that do not name their operation) of many texts."""
    return (
        sum(len(lines(text)) for text in found.values()),
        sum(sum(statements(text).values()) for text in found.values()),
        sum(map(unnamed, found.values())),
    )


def told(name, counts):
    return f"{name:8}{counts[0]:8} lines{counts[1]:8} statements{counts[2]:8} that name no operation"


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--each", type=int, default=0)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here is not None:
        sys.path[:0] = [str(ROOT / "tests"), str(asked.here)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(json.dumps(texts()))
        return
    trees = {"here": ROOT} | ({"before": asked.against} if asked.against is not None else {})
    found = {name: texts_of(tree) for name, tree in trees.items()}
    for name, of_tree in found.items() if asked.texts is not None else ():
        folder = asked.texts / name
        folder.mkdir(parents=True, exist_ok=True)
        for case, text in of_tree.items():
            (folder / f"{case}.txt").write_text(text)
    common = set.intersection(*map(set, found.values()))
    found = {name: {case: of_tree[case] for case in common} for name, of_tree in found.items()}
    print(f"{len(common)} functions of the corpus")
    counts = {name: summed(of_tree) for name, of_tree in found.items()}
    for name in reversed(counts):
        print(told(name, counts[name]))
    if asked.against is None:
        return
    now, before = counts["here"], counts["before"]
    print(f"{1 - now[0] / before[0]:.1%} fewer lines, {1 - now[1] / before[1]:.1%} fewer statements")
    kept = {case: len(lines(found["here"][case])) / len(lines(found["before"][case])) for case in common}
    for case in sorted(kept, key=kept.get, reverse=True)[: asked.each]:
        print(f"  {kept[case]:6.0%}  {case}")


if __name__ == "__main__":
    main()
