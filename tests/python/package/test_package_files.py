"""Packages as files: those of PyTorch, ours, and their parts."""

from __future__ import annotations

import importlib.resources
import io
import json
import pickle
import platform
import sys
import zipfile
from pathlib import Path

import packaged_cases
import pytest

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture
def package(hotaru, monkeypatch):
    import hotaru.package
    from hotaru.package import package_exporter

    monkeypatch.setattr(package_exporter, "_gate_torchscript_serialization", False)
    return hotaru.package


def check(hotaru, importer, expected) -> None:
    """Checks what `packaged_cases.write` promises of an opened package."""
    x = hotaru.ones(2, 3)
    first = importer.load_pickle("data", "first.pkl")
    close = hotaru.testing.assert_close
    close(first["script"](x), hotaru.tensor(expected["layer"]))
    shared = hotaru.tensor(expected["shared"])
    close(first["shared"], shared[1:])
    # Storages that were one in one pickle are one.
    with hotaru.no_grad():
        first["shared"].zero_()
    assert first["script"].weight[1].tolist() == [0, 0, 0]
    assert first["script"].weight[0].tolist() == shared[0].tolist()
    script, again, dtype, size = importer.load_pickle("data", "second.pkl")
    assert (dtype, size) == (hotaru.float16, hotaru.Size([2, 3]))
    close(again, shared)
    close(script(x), hotaru.tensor(expected["layer"]))

    module = importer.import_module("pkg_case")
    assert module.__name__ == f"{importer.id()}.pkg_case"
    assert module.__name__ not in sys.modules
    assert "pkg_case" not in sys.modules
    assert module.torch is hotaru
    assert module.helper.answer == 42
    net = module.Net()
    assert net(x).shape == (2, 2)
    assert "class Net" in __import__("inspect").getsource(module.Net)
    assert importer.load_text("pkg_case", "note.txt") == "ずんだ"
    files = importlib.resources.files(module)
    assert (files / "note.txt").read_text("utf-8") == "ずんだ"
    mocked = module.helper.pkg_other.thing
    assert repr(mocked) == f"MockedObject({importer.id()}.pkg_other.thing)"
    with pytest.raises(NotImplementedError, match="mocked out"):
        mocked()


def test_pytorchs_package(hotaru, package):
    expected = json.loads((GOLDEN / "package.json").read_text())
    importer = package.PackageImporter(GOLDEN / "package.pt")
    check(hotaru, importer, expected)


def test_our_package(hotaru, package, tmp_path):
    path = tmp_path / "ours.pt"
    expected = packaged_cases.write(hotaru, package, path)
    check(hotaru, package.PackageImporter(path), expected)
    names = zipfile.ZipFile(path).namelist()
    assert not zipfile.ZipFile(path).testzip()
    # Weight and bias of the layer, whoever refers to them.
    assert sum(name.endswith(".storage") for name in names) == 2
    # One module, though two pickles have it.
    assert "ours/.data/ts_code/0/data.pkl" in names
    assert "ours/.data/ts_code/1/data.pkl" not in names
    with zipfile.ZipFile(path) as archive:
        external = archive.read("ours/.data/extern_modules").decode().split()
    assert {"torch", "torch.nn", "math", "torch.jit._script"} <= set(external)
    assert not any(name.startswith("hotaru") for name in external)


def test_pytorch_reads_ours(hotaru, package, oracle, tmp_path):
    path = str(tmp_path / "ours.pt")
    expected = packaged_cases.write(hotaru, package, path)
    importer = oracle.package.PackageImporter(path)
    first = importer.load_pickle("data", "first.pkl")
    x = oracle.ones(2, 3)
    oracle.testing.assert_close(first["script"](x), oracle.tensor(expected["layer"]))
    assert importer.import_module("pkg_case").Net()(x).shape == (2, 2)


def test_an_unpacked_package(hotaru, package, tmp_path):
    path = tmp_path / "plain.pt"
    with package.PackageExporter(path) as exporter:
        exporter.save_pickle("a", "t.pkl", hotaru.arange(3.0))
        exporter.save_source_string("a.b", "c = 1\n")
        exporter.save_binary("a", "raw", b"\0\1")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    importer = package.PackageImporter(tmp_path / "plain")
    assert importer.load_pickle("a", "t.pkl").tolist() == [0, 1, 2]
    assert importer.import_module("a.b").c == 1
    reader = importer.get_resource_reader("a")
    assert reader.is_resource("raw")
    assert not reader.is_resource("other")
    assert Path(reader.resource_path("raw")).read_bytes() == b"\0\1"
    assert set(reader.contents()) == {"t.pkl", "b.py", "raw"}
    assert importer.python_version() == platform.python_version()


def test_two_programs_of_one_name(hotaru, package):
    """Classes that differ keep their own code."""

    def script(number):
        class Same(hotaru.nn.Module):
            def forward(self, x):
                return x * number

        return hotaru.jit.trace(Same(), hotaru.ones(1))

    # From archives, as names in one process differ already.
    loaded = [
        hotaru.jit.load(io.BytesIO(script(number).save_to_buffer()))
        for number in (2, 3)
    ]
    file = io.BytesIO()
    with package.PackageExporter(file) as exporter:
        for i, module in enumerate(loaded):
            exporter.save_pickle("m", f"{i}.pkl", module)
    importer = package.PackageImporter(file)
    x = hotaru.ones(1)
    results = [importer.load_pickle("m", f"{i}.pkl")(x).item() for i in (0, 1)]
    assert results == [2, 3]


def test_graph_modules(hotaru, package):
    class Net(hotaru.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = hotaru.nn.Parameter(hotaru.full((2,), 3.0))

        def forward(self, x):
            return hotaru.relu(x) * self.weight

    traced = hotaru.fx.symbolic_trace(Net())
    file = io.BytesIO()
    with package.PackageExporter(file) as exporter:
        exporter.save_pickle("m", "g.pkl", traced)
    importer = package.PackageImporter(file)
    loaded = importer.load_pickle("m", "g.pkl")
    assert type(loaded).__name__ == "Net"
    assert loaded(hotaru.ones(2)).tolist() == [3, 3]
    assert "fx-generated" in importer.file_structure().children


def test_scripts_must_be_asked_for(hotaru):
    from hotaru.package import PackageExporter

    script = hotaru.jit.trace(hotaru.nn.ReLU(), hotaru.ones(1))
    with (
        PackageExporter(io.BytesIO()) as exporter,
        pytest.raises(Exception, match="beta feature"),
    ):
        exporter.save_pickle("m", "s.pkl", script)


def test_records(hotaru, tmp_path):
    """The writer and the reader of records, by themselves."""
    hotaru.serialization  # noqa: B018  (its classes belong to it)
    path = tmp_path / "records.pt"
    writer = hotaru._C.PyTorchFileWriter(str(path))
    assert writer.archive_name() == "records"
    writer.set_min_version(7)
    writer.write_record("a", b"abc", 2)
    writer.write_record("t", hotaru.arange(4.0).untyped_storage(), 16)
    assert writer.get_all_written_records() == {"a", "t"}
    with pytest.raises(RuntimeError, match="already written"):
        writer.write_record("a", b"", 0)
    del writer  # ends the file
    reader = hotaru._C.PyTorchFileReader(str(path))
    assert (reader.get_record("a"), reader.version()) == (b"ab", 7)
    part = reader.get_storage_from_record("t", 3, hotaru.float32)
    assert part.tolist() == [0, 1, 2]
    assert len(reader.serialization_id()) == 40
    with pytest.raises(RuntimeError, match="file not found"):
        reader.get_record("b")
    with pytest.raises(RuntimeError, match="failed because of errno 2"):
        hotaru._C.PyTorchFileReader(str(tmp_path / "none"))


def test_pickles_without_a_package(hotaru, package):
    """Objects of a package pickle only where it is known."""
    file = io.BytesIO()
    with package.PackageExporter(file) as exporter:
        exporter.save_source_string("m", "class A:\n    pass\n")
    importer = package.PackageImporter(file)
    made = importer.import_module("m").A()
    assert package.is_from_package(made)
    assert not package.is_from_package(3)
    with pytest.raises(pickle.PicklingError):
        package.PackageExporter(io.BytesIO()).save_pickle("m", "a", made)
    exporter = package.PackageExporter(
        io.BytesIO(), importer=[importer, package.sys_importer]
    )
    exporter.intern("m")
    exporter.save_pickle("n", "a", made)
    exporter.close()
    assert exporter.interned_modules() == ["m"]
