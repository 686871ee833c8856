"""The Python functions of installed packages, with their code objects."""

import importlib
import pkgutil
import types
import warnings
from collections.abc import Iterator


def modules_of(packages) -> Iterator[types.ModuleType]:
    """The modules of these packages that can be imported, without their tests and programs."""
    for package in packages:
        try:
            top = importlib.import_module(package)
        except ImportError:
            continue
        yield top
        for info in pkgutil.walk_packages(getattr(top, "__path__", []), package + "."):
            if "test" in info.name or "__main__" in info.name:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    yield importlib.import_module(info.name)
            except Exception:  # one that wants another platform, an extra, or a display
                continue


def codes_of(module: types.ModuleType) -> Iterator[types.CodeType]:
    """The code of the functions, methods, properties and lambdas of a module, under decorators too."""
    if type(module.__loader__).__name__ == "AssertionRewritingHook":
        return  # pytest's plugins, whose assertions it rewrites: what runs there is not the text
    seen: set[int] = set()
    waiting = list(vars(module).values())
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, (staticmethod, classmethod)):
            waiting.append(found.__func__)
        elif isinstance(found, property):
            waiting += [found.fget, found.fset, found.fdel]
        elif isinstance(found, type) and found.__module__ == module.__name__:
            waiting.extend(vars(found).values())
        elif isinstance(found, types.FunctionType):
            if found.__globals__ is vars(module):
                yield found.__code__
            waiting.append(getattr(found, "__wrapped__", None))
