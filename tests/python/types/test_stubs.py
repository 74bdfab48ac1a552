"""The generator of stubs, and which modules have one."""

from __future__ import annotations

import ast
import importlib.util
import os
import pkgutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
from checkers import HERE, ROOT, SOURCES, environment, lines_with_errors, mypy

if str(SOURCES) not in sys.path:
    sys.path.append(str(SOURCES))

from stubs import definition, operators, schema, sources, write

_EXTENSION = Path(importlib.util.find_spec("hotaru._C").origin).resolve().parent
# Modules whose names come to be while a program runs.
_OPEN = {"hotaru.ops", "hotaru.classes"}


def _generate(out: Path, seed: str) -> dict[str, str]:
    command = [sys.executable, SOURCES / "stubgen.py", _EXTENSION, out]
    settings = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run(command, check=True, env=settings)
    return {
        str(path.relative_to(out)): path.read_text()
        for path in sorted((out / "hotaru").rglob("*.pyi"))
    }


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """The stubs by their paths."""
    return _generate(tmp_path_factory.mktemp("stubs"), "1")


def test_the_text_is_the_same_each_time(generated, tmp_path):
    assert _generate(tmp_path, "2") == generated


def test_modules_say_what_they_have(generated):
    for path, text in generated.items():
        names = {n.name for n in ast.parse(text).body if hasattr(n, "name")}
        assert "__getattr__" not in names or path == "hotaru/ops.pyi", path


def test_every_stub_parses_and_is_linked(generated):
    assert len(generated) > 100
    linked = {
        str(path.relative_to(SOURCES))
        for path in (SOURCES / "hotaru").rglob("*.pyi")
        if path.exists()
    }
    if not linked:
        pytest.skip("the package at hand has no stubs: it is not built by ./dev build")
    assert linked == {*generated}


def _public(module) -> set[str]:
    names = getattr(module, "__all__", None) or dir(module)
    return {
        name
        for name in names
        if not name.startswith("_")
        and not isinstance(getattr(module, name, None), types.ModuleType)
    }


def _seen(name: str) -> set[str]:
    """The names that a checker sees in a module's source."""
    source = sources.read(name)
    names = source.bound() if source else set()
    for star in source.stars if source else ():
        names |= _public(sys.modules[star])
    return names


@pytest.mark.ci
def test_modules_whose_source_does_not_say_it_have_stubs(generated):
    import hotaru

    lacking = {}
    for found in pkgutil.walk_packages(
        hotaru.__path__, "hotaru.", onerror=lambda name: None
    ):
        parts = found.name.split(".")
        path = "/".join(parts)
        stubbed = {f"{path}.pyi", f"{path}/__init__.pyi"} & {*generated}
        if any(p.startswith("_") for p in parts) or stubbed or found.name in _OPEN:
            continue
        try:
            module = importlib.import_module(found.name)
        except ImportError:  # of a library that is not here
            continue
        source = sources.read(found.name)
        unseen = _public(module) - _seen(found.name)
        if unseen or source.answers_any:
            lacking[found.name] = sorted(unseen)
    assert lacking == {}


@pytest.mark.ci
def test_stubs_have_no_errors(generated):
    environment()
    paths = [str(ROOT / "python" / path) for path in generated]
    if not Path(paths[0]).exists():
        pytest.skip("the package at hand has no stubs: it is not built by ./dev build")
    assert lines_with_errors(mypy(SOURCES, *paths)) == {}


@pytest.mark.ci
def test_stubs_agree_with_the_package(tmp_path):
    """Mypy's stubtest: what is in one and not in the other has a reason."""
    settings = tmp_path / "settings"
    settings.write_text("[mypy]\nignore_errors = True\n")
    command = [environment() / "stubtest", "hotaru", "--concise"]
    command += ["--mypy-config-file", settings, "--ignore-unused-allowlist"]
    command += ["--allowlist", HERE / "stubtest_allowed.txt"]
    paths = {"MYPYPATH": str(SOURCES), "PYTHONPATH": str(SOURCES)}
    run = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, (run.stdout + run.stderr)[-4000:]


def _functions(*schemas: str) -> str:
    extension = types.SimpleNamespace(_op_schemas=lambda name: list(schemas))
    made = operators.Operators(extension, frozenset(["sort"]))
    name = schemas[0].partition("(")[0].partition(".")[0]
    return definition.overloads(made.functions(name))


def test_schemas_are_read():
    text = "sort.stable(Tensor(a!) self, *, bool? stable, int[2] dim=[1, 1]) -> "
    found = schema.parse(text + "(Tensor(a!) values, Tensor indices)")
    assert (found.name, found.overload, found.aliases) == ("sort", "stable", True)
    assert [a.type for a in found.arguments] == ["Tensor", "bool?", "int[2]"]
    assert [a.default for a in found.arguments] == [None, None, "[1, 1]"]
    assert [a.keyword_only for a in found.arguments] == [False, True, True]
    assert [r.name for r in found.results] == ["values", "indices"]


def test_schemas_become_overloads():
    # A number or a tensor is one form; another result is another.
    one = _functions(
        "div.Tensor(Tensor self, Tensor other) -> Tensor",
        "div.Scalar(Tensor self, Scalar other) -> Tensor",
    )
    assert "@overload" not in one
    assert "other: Tensor | Number | _complex" in one
    two = _functions(
        "sort(Tensor self) -> Tensor",
        "sort.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)",
    )
    assert two.count("@overload") == 2
    assert "-> return_types.sort" in two


def test_sizes_may_be_spread():
    text = _functions(
        "ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,"
        " Device? device=None) -> Tensor"
    )
    assert "size: Sequence[_int]" in text
    assert "*size: _int" in text
    assert "requires_grad: _bool = False" in text
    assert text.count("out: Tensor | None = None") == 2


def test_in_place_functions_write_nothing_else():
    text = _functions("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
    assert "out:" not in text


def test_a_module_with_a_stub_has_no_class_of_its_own():
    for name in write.STUBBED:
        path = SOURCES / "hotaru" / name.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        body = ast.parse(path.read_text()).body
        classes = [n.name for n in body if isinstance(n, ast.ClassDef)]
        assert [n for n in classes if not n.startswith("_")] == [], name
