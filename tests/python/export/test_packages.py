"""Packages of exported programs: `torch._inductor.aoti_load_package` and others."""

import copy
import io
import zipfile

import pytest
from hotaru._export import aot_compile, aot_load
from hotaru._inductor import aot_compile as inductor_compile
from hotaru._inductor import aoti_compile_and_package, aoti_load_package
from hotaru._inductor.package import load_package, package_aoti
from hotaru.export import Dim, export, load

import hotaru as torch
from hotaru import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)

    def forward(self, x, *, scale):
        return {"y": self.norm(self.fc(x)) * scale, "x": x}


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Model().eval()


def exported(model):
    x, scale = torch.randn(4, 3), torch.ones(3)
    shapes = {"x": {0: Dim("rows")}, "scale": None}
    return export(model, (x,), {"scale": scale}, dynamic_shapes=shapes)


def check(called, model):
    for rows in (4, 7):
        x, scale = torch.randn(rows, 3), torch.randn(3)
        wanted = model(x, scale=scale)
        for _ in range(2):
            found = called(x, scale=scale)
            assert list(found) == ["y", "x"]
            torch.testing.assert_close(found["y"], wanted["y"])
            assert not found["y"].requires_grad


def test_a_package_is_a_program_that_is_called(model, tmp_path):
    path = str(tmp_path / "package.pt2")
    assert aoti_compile_and_package(exported(model), package_path=path) == path
    called = aoti_load_package(path)
    check(called, model)
    assert called.get_metadata() == {"AOTI_DEVICE_KEY": "cpu"}
    check(copy.deepcopy(called), model)
    # It is what torch.export.save writes; and a loaded program has one, too.
    program = load(path)
    file = io.BytesIO()
    assert aoti_compile_and_package(program, package_path=file) is file
    file.seek(0)
    check(aoti_load_package(file), model)
    made = aoti_compile_and_package(program)
    assert made.endswith(".pt2")
    check(aoti_load_package(made), model)


def test_constants_are_given_by_name(model, tmp_path):
    path = aoti_compile_and_package(exported(model))
    called = aoti_load_package(path)
    names = set(called.get_constant_fqns())
    assert names == {*model.state_dict()}
    check(called, model)  # its graph is there when the constants change
    torch.manual_seed(1)
    other = Model().eval()
    with pytest.raises(RuntimeError, match=r"no tensor for fc\.bias"):
        called.load_constants({"fc.weight": other.fc.weight}, check_full_update=True)
    with pytest.raises(RuntimeError, match="no constant 'nothing'"):
        called.load_constants({"nothing": torch.ones(1)}, check_full_update=False)
    with pytest.raises(RuntimeError, match=r"'fc.bias' is torch.float32 of \(3,\)"):
        called.load_constants({"fc.bias": torch.ones(4)}, check_full_update=False)
    called.load_constants(other.state_dict(), check_full_update=True)
    check(called, other)


def test_several_programs_in_one_package(model, tmp_path):
    torch.manual_seed(1)
    other = Model().eval()
    files = {
        name: inductor_compile(
            exported(one).module(), (), options={"aot_inductor.package": True}
        )
        for name, one in (("first", model), ("second", other))
    }
    path = str(tmp_path / "two.pt2")
    assert package_aoti(path, files) == path
    check(load_package(path, "first"), model)
    check(load_package(path, "second"), other)
    with pytest.raises(RuntimeError, match="Model model not found in package"):
        load_package(path)


def test_the_older_names(model, tmp_path):
    path = str(tmp_path / "older.pt2")
    x, scale = torch.randn(4, 3), torch.ones(3)
    options = {"aot_inductor.output_path": path}
    assert aot_compile(model, (x,), {"scale": scale}, options=options) == path
    called = aot_load(path, "cpu")
    torch.testing.assert_close(called(x, scale=scale), model(x, scale=scale))
    function = aot_load(aot_compile(lambda x: x * 2, (x,)), "cpu")
    assert torch.equal(function(x), x * 2)
    with pytest.raises(RuntimeError, match="Unsupported device mps"):
        aot_load(path, "mps")


def test_pytorchs_packages_and_others_are_refused(model, tmp_path):
    path = tmp_path / "theirs.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("theirs/archive_format", "pt2")
        archive.writestr("theirs/data/aotinductor/model/c.wrapper.so", b"\x7fELF")
    with pytest.raises(RuntimeError, match=r"torch\.export\.save\(exported_program"):
        aoti_load_package(path)
    (tmp_path / "no.pt2").write_bytes(b"no package")
    with pytest.raises(RuntimeError, match="not a package"):
        aoti_load_package(tmp_path / "no.pt2")
    with pytest.raises(FileNotFoundError):
        aoti_load_package(tmp_path / "none.pt2")
    with pytest.raises(ValueError, match="Only ExportedProgram is supported"):
        aoti_compile_and_package(model)
    program = exported(model)
    with pytest.raises(AssertionError, match=r"ending in \.pt2"):
        aoti_compile_and_package(program, package_path=str(tmp_path / "model.so"))
    with pytest.raises(RuntimeError, match="pass in a package path"):
        aoti_compile_and_package(
            program, inductor_configs={"aot_inductor.output_path": "x"}
        )
