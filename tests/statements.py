"""How many statements of Python's grammar the code has, here and in another checkout.

    python tests/statements.py [--against CHECKOUT] [PATTERN ...]

A PATTERN is a path below rulelab/, with `*` and `**`; the compiler and the forward rules of containers are
counted without one. Imports are not counted: they grow with the number of files, and nobody reads them.
"""

import argparse
import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = ("compiler/**/*.py", "rulesets/*_tangents.py")


def counted(checkout, patterns):
    """The number of statements but imports, by file."""
    package = Path(checkout) / "rulelab"
    files = sorted({path for pattern in patterns for path in package.glob(pattern)})
    return {str(path.relative_to(package)): statements(path.read_text(encoding="utf-8")) for path in files}


def statements(text):
    nodes = ast.walk(ast.parse(text))
    return sum(isinstance(n, ast.stmt) and not isinstance(n, (ast.Import, ast.ImportFrom)) for n in nodes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=PATTERNS)
    parser.add_argument("--against", help="the root of another checkout")
    arguments = parser.parse_args()
    here = counted(ROOT, arguments.patterns)
    for name, count in here.items():
        print(f"{count:6}  {name}")
    total = sum(here.values())
    print(f"{total:6}  in all, {len(here)} files")
    if arguments.against:
        before = sum(counted(arguments.against, arguments.patterns).values())
        if not before:
            parser.error(f"{arguments.against} holds no such files: --against takes the root of a checkout")
        print(f"{before:6}  in {arguments.against}: {total / before - 1:+.1%}")


if __name__ == "__main__":
    main()
