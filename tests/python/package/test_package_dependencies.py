"""Needs that a package takes along: patterns, graphs, imports, errors."""

from __future__ import annotations

import io
import itertools
import types

import pytest


@pytest.fixture
def package():
    import hotaru.package

    return hotaru.package


@pytest.mark.parametrize(
    ("pattern", "fits", "fails"),
    [
        ("a.*", ["a.b", "a."], ["a", "a.b.c", "b.a"]),
        ("a.**", ["a", "a.b", "a.b.c"], ["ab", "b.a"]),
        ("**.z", ["z", "a.z", "a.b.z"], ["z.a", "az"]),
        ("a*z.b", ["az.b", "amz.b"], ["a.z.b", "az.bc"]),
        ("a+b", ["a+b"], ["aab", "ab"]),
    ],
)
def test_patterns(package, pattern, fits, fails):
    group = package.GlobGroup(pattern)
    assert all(map(group.matches, fits))
    assert not any(map(group.matches, fails))


def test_excluded_patterns(package):
    group = package.GlobGroup(["a.**", "b"], exclude="a.c.**")
    found = [n for n in ("a", "a.b", "a.c", "a.c.d", "b") if group.matches(n)]
    assert found == ["a", "a.b", "b"]
    assert repr(group) == "GlobGroup(include=['a.**', 'b'], exclude=a.c.**)"
    with pytest.raises(ValueError, match="entire path segment"):
        package.GlobGroup("a.**b")
    paths = package.GlobGroup("x/**", separator="/")
    assert paths.matches("x/y.z/w")
    assert not paths.matches("x.y")


def test_imports_of_a_source():
    from hotaru.package.find_file_dependencies import find_files_source_depends_on

    source = """\
import a.b
from . import c
from ..d import e, f
from g import *
def later():
    import h as i
    __import__("j.k")
    __import__("l", fromlist=["m"])
    __import__(unknown)
"""
    assert find_files_source_depends_on(source, "p.q") == [
        ("a.b", None),
        ("p.q", "c"),
        ("p.d", "e"),
        ("p.d", "f"),
        ("g", None),
        ("h", None),
        ("j.k", None),
        ("j", None),
        ("l", "m"),
    ]
    with pytest.raises(ValueError, match="beyond top-level"):
        find_files_source_depends_on("from ... import x", "p.q")


def test_ways_through_a_graph():
    from hotaru.package._digraph import DiGraph

    graph = DiGraph()
    for edge in ("ab", "bc", "ad", "dc", "ce", "eb", "xd"):
        graph.add_edge(*edge)
    assert graph.first_path("e") == ["a", "b", "c", "e"]
    assert graph.backward_transitive_closure("d") == {"d", "a", "x"}
    assert '"x"' not in graph.all_paths("a", "e")
    assert '"d" -> "c";' in graph.all_paths("a", "e")
    assert graph.all_paths("e", "x").count("->") == 0
    with pytest.raises(ValueError, match="not in the digraph"):
        graph.successors("z")


numbers = itertools.count()  # of files, which linecache remembers


class FromTexts:
    """An importer's modules: names and sources."""

    def __new__(cls, package, **sources):
        class Importer(package.Importer):
            modules = {}  # noqa: RUF012

            def import_module(self, name):
                if name not in sources:
                    raise ModuleNotFoundError(name, name=name)
                module = types.ModuleType(name)
                if sources[name] is not None:
                    module.__file__ = f"<{name}>{next(numbers)}.py"
                    module.__loader__ = types.SimpleNamespace(
                        get_source=lambda _: sources[name]
                    )
                return module

        return [Importer(), package.sys_importer]


def exporter_of(package, debug=False, **sources):
    file = io.BytesIO()
    importer = FromTexts(package, **sources)
    return file, package.PackageExporter(file, importer, debug=debug)


def test_what_is_not_told_is_an_error(package):
    _, exporter = exporter_of(
        package,
        debug=True,
        one="import two, io, math",
        two="import three",
        three="",
        bare=None,
    )
    exporter.intern(["two"])
    exporter.deny("three")
    exporter.save_module("one")
    exporter.save_module("bare")
    with pytest.raises(package.PackagingError) as raised:
        exporter.close()
    assert str(raised.value) == (
        "\n* Module was denied by a pattern.\n    three\n"
        "      A path to three: one -> two -> three\n"
        "* Module did not match against any action pattern. Extern, mock, or "
        "intern it.\n    io\n      Note: While we usually use modules in the "
        "python standard library from the local environment, `io` has a lot of "
        "system level access and therefore can pose a security risk. We "
        "heavily recommend removing `io` from your packaged code. However, if "
        "that is not possible, add it to the extern list by calling "
        'PackageExporter.extern("`io`")\n      A path to io: one -> io\n'
        "* Module had no __file__ defined.\n    bare\n"
        "      A path to bare: bare\n"
    )
    uses = package.analyze.find_first_use_of_broken_modules(raised.value)
    assert uses == {
        "io": ["one", "io"],
        "three": ["one", "two", "three"],
        "bare": ["bare"],
    }


def test_what_becomes_of_modules(package):
    file, exporter = exporter_of(
        package,
        one="import two\nimport three\nimport json",
        two="x = 1",
        three="import nothing",
    )
    seen = []
    for kind in ("intern", "extern", "mock"):
        getattr(exporter, f"register_{kind}_hook")(
            lambda _, name, kind=kind: seen.append((kind, name))
        )
    removed = exporter.register_mock_hook(lambda *_: seen.append("removed"))
    removed.remove()
    exporter.intern("two")
    exporter.mock("three")
    exporter.save_module("one")
    assert exporter.interned_modules() == ["one", "two"]
    assert exporter.externed_modules() == ["json"]
    assert exporter.mocked_modules() == ["three"]
    assert exporter.get_rdeps("two") == ["one"]
    exporter.close()
    assert seen == [
        ("intern", "one"),
        ("intern", "two"),
        ("mock", "three"),
        ("extern", "json"),
    ]
    importer = package.PackageImporter(file)
    one = importer.import_module("one")
    assert (one.two.x, one.json) == (1, __import__("json"))
    with pytest.raises(ModuleNotFoundError, match="self-contained archive"):
        importer.import_module("nothing")
    with pytest.raises(ImportError, match="module 'json' but that module has"):
        package.PackageImporter(file, module_allowed=lambda name: False)
    assert str(importer.file_structure(include="*.py")) == (
        "─── <binary>\n    ├── _mock.py\n    ├── one.py\n"
        "    ├── three.py\n    └── two.py\n"
    )


def test_patterns_that_must_match(package):
    _, exporter = exporter_of(package, one="")
    exporter.intern("other", allow_empty=False)
    exporter.save_module("one")
    with pytest.raises(package.EmptyMatchError, match="GlobGroup"):
        exporter.close()
    with pytest.raises(TypeError, match="mean to pass `__name__`"):
        exporter.save_module(pytest)
    with pytest.raises(TypeError, match="Importer or a sequence of Importers"):
        package.PackageExporter(io.BytesIO(), importer=3)


def test_objects_of_mocked_modules(package):
    _, exporter = exporter_of(package)
    exporter.mock("fractions_of")
    exporter.mock("test_package_dependencies")
    exporter.save_pickle("r", "obj", Thing())
    with pytest.raises(package.PackagingError) as raised:
        exporter.close()
    assert "Object(s) '['Thing']' from module" in str(raised.value)
    assert "resource - `obj` in package `r`" in str(raised.value)


class Thing:
    """Pickled by name."""


def test_modules_that_import_each_other(package):
    file = io.BytesIO()
    with package.PackageExporter(file) as exporter:
        exporter.save_source_string(
            "p", "from .a import x\nfrom . import *\n__all__ = ['c']\n", True
        )
        exporter.save_source_string("p.a", "import p.b\nx = p.b.y + 1\n")
        exporter.save_source_string(
            "p.b", "from . import a\ny = 1\ndef late():\n    return a.x\n"
        )
        exporter.save_source_string("p.c", "from ..q import z\n", False, False)
    importer = package.PackageImporter(file)
    module = importer.import_module("p")
    assert (module.x, module.b.late()) == (2, 2)
    assert importer.import_module(module.a.__name__) is module.a
    with pytest.raises(ValueError, match="beyond top-level"):
        importer.import_module("p.c")
    other = package.PackageImporter(file).import_module("p")
    assert other is not module
    assert other.a is not module.a
