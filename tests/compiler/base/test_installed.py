"""Installed packages are differentiated like the author's own code, and errors in them say whose they are."""

import importlib
import json
import sys
import textwrap

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.base.installed import Installed, installed_package, point_to_package

CORE = """
    import functools
    import math

    import numpy as np

    SCALES = {}


    def squared(x):
        return x * x


    def writes(x):
        y = x + 0.0
        y[0] = np.sum(x)
        return np.sum(y)


    def unruled(x):
        return np.apply_over_axes(np.sum, x, 0)


    class Model:
        rate = 3.0

        def __init__(self, weight):
            self.weight = weight

        def loss(self, x):
            return self.rate * self.weight * x * x

        @classmethod
        def scaled(cls, x):
            return cls.rate * x

        @staticmethod
        def cubed(x):
            return x**3

        def writes(self, x):
            x[0] = 1.0
            return np.sum(x)
    """


class Site:
    """A folder as pip fills it, and packages in it."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        folder.mkdir(parents=True)
        monkeypatch.syspath_prepend(str(folder))

    def write(self, files, folder=None):
        """Write the files of a package: path to text."""
        for path, text in files.items():
            file = (folder or self.folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text))

    def install(self, name, files, metadata="", record=True):
        """Write a package with what `importlib.metadata` reads about it."""
        self.write(files)
        info = self.folder / f"{name.replace('-', '_')}-1.2.0.dist-info"
        info.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.0\n{textwrap.dedent(metadata)}\n"
        (info / "METADATA").write_text(text)
        (info / "WHEEL").write_text("Wheel-Version: 1.0\n")
        if record:
            (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))

    def module(self, name):
        """Import a module afresh."""
        importlib.invalidate_caches()
        return importlib.import_module(name)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty site-packages folder on the path; what is imported from it is forgotten."""
    before = set(sys.modules)
    installed_package.cache_clear()
    yield Site(tmp_path / "lib" / "site-packages", monkeypatch)
    for name in set(sys.modules) - before:
        del sys.modules[name]
    installed_package.cache_clear()


TRACKED = """\
    Home-page: https://example.org/home
    Project-URL: Documentation, https://example.org/docs
    Project-URL: Source Code, https://example.org/source
    Project-URL: Bug Tracker, https://example.org/issues
    """


@pytest.fixture
def core(site):
    """`rlpkg.core`, installed from a wheel."""
    site.install("rl-pkg", {"rlpkg/__init__.py": "", "rlpkg/core.py": CORE}, TRACKED)
    return site.module("rlpkg.core")


def slope(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


def test_functions_and_methods_of_a_package(core):
    """What an installed package defines is compiled: functions, methods, static and class methods."""
    model = core.Model(2.0)
    for f in (
        core.squared,
        model.loss,
        core.Model.scaled,
        core.Model.cubed,
        lambda x: core.squared(x) + model.loss(x) + core.Model.scaled(x) + model.cubed(x),
    ):
        assert rl.gradient(f, 1.5)[0] == pytest.approx(slope(f, 1.5))


def test_a_refusal_in_a_package_names_it(core):
    """Name, version and tracker of the package, the rule to write, its line, and my own that led there."""

    def mine(x):
        return 2.0 * core.writes(x)

    with pytest.raises(rl.MutationError) as caught:
        rl.gradient(mine, np.ones(3))
    lines = str(caught.value).splitlines()
    chain = f"reached from mine, line {mine.__code__.co_firstlineno + 1}"
    assert lines[2].startswith(f"core.py, line 16, in writes ({chain}): y[0] = np.sum(x)")
    assert lines[4] == (
        "do: in rl-pkg 1.2.0 (installed package): report to https://example.org/issues; "
        "or write a rule for rlpkg.core.writes (%rule_stub rlpkg.core.writes)"
    )
    assert len(lines) <= 6 and max(map(len, lines)) <= 160


def test_a_foreign_call_in_a_package(core):
    """The function without a rule is named first, then the package's own that calls it."""
    with pytest.raises(rl.ForeignCallError) as caught:
        rl.gradient(lambda x: core.unruled(x), np.ones(3))
    assert caught.value.fixes[0].startswith("in rl-pkg 1.2.0")
    by_rule = ("write a rule for np.apply_over_axes", "write a rule for rlpkg.core.unruled")
    assert caught.value.fixes[1:] == by_rule


def test_a_long_name_is_not_cut(site):
    """Where the line would be too long the hint at the magic goes, and the function to rule stays."""
    name = "rl_" + "long" * 5
    site.install(name, {f"{name}/__init__.py": CORE}, TRACKED)
    with pytest.raises(rl.MutationError) as caught:
        rl.gradient(site.module(name).writes, np.ones(3))
    line = str(caught.value).splitlines()[4]
    assert line.endswith(f"write a rule for {name}.writes") and len(line) <= 160


def test_a_method_is_named_with_its_class(core):
    """The rule to write for a method goes by its class."""
    with pytest.raises(rl.MutationError) as caught:
        rl.gradient(lambda x: core.Model(1.0).writes(x), np.ones(3))
    assert "write a rule for rlpkg.core.Model.writes (" in str(caught.value)


def test_my_own_lines_name_no_package():
    """An error in my own file is as it was."""
    with pytest.raises(rl.MutationError) as caught:
        rl.gradient(writes_here, np.ones(3))
    rule = "write a rule for writes_here (%rule_stub writes_here)"
    assert caught.value.fixes == (
        "write it without mutation",
        rule,
        "put the writes in rl.forwarddiff",
        "fill an rl.Buffer instead of the array",
    )


def writes_here(x):
    x[0] = 1.0
    return np.sum(x)


@pytest.mark.parametrize(
    "metadata, tracker",
    [
        ("Project-URL: Issues, https://a.org/i", "https://a.org/i"),
        ("Project-URL: Bug Reports, https://a.org/b", "https://a.org/b"),
        ("Project-URL: Tracker, https://a.org/t\nProject-URL: Source, https://a.org/s", "https://a.org/t"),
        ("Project-URL: Source, https://a.org/s\nHome-page: https://a.org", "https://a.org/s"),
        ("Project-URL: Homepage, https://a.org/h", "https://a.org/h"),
        ("Home-page: https://a.org", "https://a.org"),
        ("Home-page: UNKNOWN", None),
        ("Project-URL: Issues, javascript:alert(1)", None),
        ("Project-URL: https://no.label", None),
        ("", None),
    ],
)  # fmt: skip
def test_where_to_report(site, metadata, tracker):
    """The tracker if one is given, else the source, else the home page; nothing that is no web address."""
    site.install("p", {"p.py": "x = 1\n"}, metadata)
    assert installed_package(str(site.folder / "p.py")) == Installed("p", "1.2.0", tracker)


def test_no_metadata(site):
    """A package that was copied into the folder is named after itself, and its authors are not known."""
    site.write({"copied/__init__.py": CORE})
    copied = site.module("copied")
    with pytest.raises(rl.MutationError) as caught:
        rl.gradient(copied.writes, np.ones(3))
    assert "in copied (installed package): report to its authors" in str(caught.value)
    assert installed_package(str(site.folder / "single.py")) == Installed("single")


def test_numpy_is_nobody_elses(site):
    """NumPy's files name no package, a package's own folder called numpy does."""
    assert installed_package(np.polynomial.__file__) is None
    site.install("likes", {"likes/numpy/core.py": ""})
    assert str(installed_package(str(site.folder / "likes" / "numpy" / "core.py"))) == "likes 1.2.0"


def test_broken_metadata(site):
    """Metadata that cannot be read do not hide the error."""
    site.install("p", {"p/__init__.py": CORE})
    (site.folder / "p-1.2.0.dist-info" / "METADATA").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(rl.MutationError):
        rl.gradient(site.module("p").writes, np.ones(3))


def test_without_a_list_of_files(site):
    """Where a distribution lists no files its top-level names tell, as in packages of Linux distributions."""
    site.install("q-dist", {"q/__init__.py": ""}, record=False)
    (site.folder / "q_dist-1.2.0.dist-info" / "top_level.txt").write_text("q\n")
    assert installed_package(str(site.folder / "q" / "__init__.py")) == Installed("q-dist", "1.2.0")


def test_namespace_packages(site, tmp_path, monkeypatch):
    """Of two distributions that share a top-level name, the one that holds the file is named."""
    site.install("ns-one", {"rlns/one.py": CORE})
    other = Site(tmp_path / "other", monkeypatch)
    other.install("ns-two", {"rlns/two.py": CORE})
    one, two = site.module("rlns.one"), site.module("rlns.two")
    assert rl.gradient(lambda x: one.squared(x) + two.squared(x), 3.0) == (12.0,)
    assert str(installed_package(one.__file__)) == "ns-one 1.2.0"
    assert str(installed_package(two.__file__)) == "ns-two 1.2.0"


def test_editable_installs_are_my_own(site, tmp_path, monkeypatch):
    """A package installed with `pip install -e` is differentiated, and no one is to be told of its errors."""
    source = tmp_path / "project" / "src"
    site.write({"rledit/__init__.py": CORE}, source)
    site.install("rledit", {"__editable__.rledit-1.2.0.pth": str(source)})
    url = {"url": source.parent.as_uri(), "dir_info": {"editable": True}}
    (site.folder / "rledit-1.2.0.dist-info" / "direct_url.json").write_text(json.dumps(url))
    monkeypatch.syspath_prepend(str(source))  # what the .pth file does when Python starts
    rledit = site.module("rledit")
    assert rl.gradient(rledit.squared, 3.0) == (6.0,)
    with pytest.raises(rl.MutationError) as caught:
        rl.gradient(rledit.writes, np.ones(3))
    assert caught.value.fixes[0] == "write it without mutation"
    (source / "rledit.egg-info").mkdir()
    (source / "rledit.egg-info" / "PKG-INFO").write_text("Name: rledit\nVersion: 1.2.0\n")
    (source / "rledit.egg-info" / "SOURCES.txt").write_text("src/rledit/__init__.py\n")
    (source / "rledit.egg-info" / "top_level.txt").write_text("rledit\n")
    installed_package.cache_clear()
    assert installed_package(rledit.__file__) is None


def test_what_packages_are_written_with(site):
    """Future annotations, relative imports, decorators, caches of a module and conditional definitions."""
    site.install("styles", {
        "styles/__init__.py": "from .api import *\n",
        "styles/_base.py": """
            from __future__ import annotations
            import functools

            def logged(f):
                @functools.wraps(f)
                def wrapper(x, scale=2.0):
                    return f(x, scale) + 0.0
                return wrapper

            def typed(x: Nowhere, n: "also nowhere" = 2) -> Missing:
                return x**n
            """,
        "styles/api.py": """
            from __future__ import annotations
            import typing
            from ._base import logged, typed

            __all__ = ["wrapped", "cached", "typed", "chosen", "Unit"]
            _CACHE: dict[str, float] = {"gain": 4.0}

            @logged
            def wrapped(x: float, scale: float) -> float:
                return scale * x * x

            def cached(x):
                return _CACHE["gain"] * x

            if typing.TYPE_CHECKING:
                from elsewhere import Nothing
            else:
                def chosen(x):
                    return 5.0 * x

            class Unit:
                def __init__(self, size):
                    self.size = size
                def __call__(self, x):
                    return self.size * x
            """,
    })  # fmt: skip
    styles = site.module("styles")
    for f in (styles.wrapped, styles.cached, styles.typed, styles.chosen, styles.Unit(3.0)):
        assert rl.gradient(f, 1.5)[0] == pytest.approx(slope(f, 1.5)), f


def test_a_c_extension_in_a_package_is_foreign(site):
    """What a package does in C is refused by name, where it is called."""
    site.install("fast", {"fast/__init__.py": """
        from _statistics import _normal_dist_inv_cdf as in_c

        def quantile(x):
            return in_c(x, 0.0, 1.0)
        """})  # fmt: skip
    fast = site.module("fast")
    with pytest.raises(rl.ForeignCallError, match="_normal_dist_inv_cdf") as caught:
        rl.gradient(fast.quantile, 0.5)
    assert "in fast 1.2.0 (installed package)" in str(caught.value)


def test_faults_of_rulelab_are_not_passed_on(core):
    """What rulelab gets wrong in a package is not to be reported to its authors."""
    error = rl.InternalError("x", place=rl.errors.Place.of_function(core.squared), fixes=("report it",))
    point_to_package(error)
    assert error.fixes == ("report it",)


def test_a_failing_compiler_says_whose_fault_it_is(monkeypatch):
    """An error inside the compiler is no riddle: it names the function and the way around."""
    from rulelab.compiler.calls import pullbacks

    def breaks(*_, **__):
        raise KeyError("t_1")

    monkeypatch.setattr(pullbacks, "compile_pass", breaks)
    with pytest.raises(rl.InternalError, match="A bug in rulelab: compiling fresh failed with KeyError"):

        def fresh(x):
            return x * x

        rl.gradient(fresh, 2.0)


def test_other_readers_of_metadata_may_be_there(site):
    """The package importlib_metadata puts its own in the place of Python's; it raises for a missing entry."""
    pytest.importorskip("importlib_metadata")
    site.install("p", {"p.py": "x = 1\n"}, "")
    assert installed_package(str(site.folder / "p.py")) == Installed("p", "1.2.0", None)
