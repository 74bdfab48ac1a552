"""Archives for phones: PyTorch's are loaded; modules made ready for them."""

import io
import pickle
import zipfile

import pytest
from hotaru.jit import mobile
from hotaru.utils.mobile_optimizer import (
    generate_mobile_module_lints,
    optimize_for_mobile,
)

import hotaru as torch
from hotaru import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x, y: int):
        if y > 1:
            x = x + y
        return torch.relu(self.fc(x))

    @torch.jit.export
    def other(self, x):
        return [x, x + 1]


# Tables as PyTorch 2.13 writes them for this module, without instructions.
FUNCTIONS = (
    8,
    (
        "__torch__.Model.forward",
        (
            ("instructions", (("RET", 0, 0),)),
            (
                "operators",
                (
                    ("aten::gt", "int", 2),
                    ("aten::add", "Scalar", 2),
                    ("aten::linear", "", 3),
                    ("aten::relu", "", 1),
                ),
            ),
            ("constants", (1,)),
            ("types", ()),
            ("register_size", 5),
        ),
    ),
    (
        "__torch__.Model.other",
        (
            ("instructions", (("RET", 0, 0),)),
            ("operators", (("aten::add", "Scalar", 2),)),
            ("constants", (1,)),
            ("types", ("List[Tensor]",)),
            ("register_size", 2),
        ),
    ),
)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return torch.jit.script(Model().eval())


@pytest.fixture
def archive(model):
    file = io.BytesIO()
    torch.jit.save(model, file)
    file.seek(0)
    with zipfile.ZipFile(file, "a") as added:
        folder = added.namelist()[0].split("/")[0]
        added.writestr(f"{folder}/bytecode.pkl", pickle.dumps(FUNCTIONS, 2))
    return file.getvalue()


def test_pytorchs_archives_are_loaded(model, archive, tmp_path):
    path = tmp_path / "model.ptl"
    path.write_bytes(archive)
    x = torch.randn(3, 2)
    for source in (str(path), path, io.BytesIO(archive)):
        loaded = mobile._load_for_lite_interpreter(source)
        assert torch.equal(loaded(x, 2), model(x, 2))
        assert torch.equal(loaded.forward(x, 0), model(x, 0))
        assert loaded.find_method("other")
        assert not loaded.find_method("nothing")
        assert torch.equal(loaded.run_method("other", x)[1], x + 1)
    with pytest.raises(RuntimeError, match="Method 'nothing' is not defined"):
        loaded.run_method("nothing", x)
    names = {"aten::gt.int", "aten::add.Scalar", "aten::linear", "aten::relu"}
    assert mobile._export_operator_list(loaded) == names
    assert mobile._get_model_bytecode_version(path) == 8
    facts = mobile._get_model_ops_and_info(path)
    assert set(facts) == names
    assert facts["aten::linear"].num_schema_args == 3
    assert mobile._get_mobile_model_contained_types(path) == {"List", "Tensor"}


def test_other_files_are_refused(model, tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        mobile._load_for_lite_interpreter(str(tmp_path / "none.ptl"))
    with pytest.raises(ValueError, match="is a directory"):
        mobile._load_for_lite_interpreter(tmp_path)
    with pytest.raises(RuntimeError, match="not an archive for mobile devices"):
        mobile._load_for_lite_interpreter(io.BytesIO(b"nothing"))
    file = io.BytesIO()
    torch.jit.save(model, file)
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"no bytecode\.pkl.*torch\.jit\.load"):
        mobile._load_for_lite_interpreter(file)


def test_nothing_in_the_tables_is_called(archive, tmp_path):
    class Evil:
        def __reduce__(self):
            return open, (str(tmp_path / "made"), "w")

    file = io.BytesIO(archive)
    with zipfile.ZipFile(file) as before:
        rows = {n: before.read(n) for n in before.namelist()}
    name = next(n for n in rows if n.endswith("bytecode.pkl"))
    rows[name] = pickle.dumps((8, Evil()), 2)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as after:
        for key, data in rows.items():
            after.writestr(key, data)
    assert mobile._get_model_bytecode_version(io.BytesIO(made.getvalue())) == 8
    assert not (tmp_path / "made").exists()


def test_older_instructions_are_not_written_and_say_why():
    with pytest.raises(NotImplementedError, match="of version 8"):
        mobile._backport_for_mobile("a", "b", 5)


def test_modules_are_made_ready():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.Dropout(0.5))
    module = torch.jit.script(net)
    x = torch.randn(2, 1, 3, 3)
    made = optimize_for_mobile(module)
    assert module.training
    assert not made.training
    torch.testing.assert_close(made(x), net.eval()(x))
    hints = [hint["name"] for hint in generate_mobile_module_lints(module)]
    assert hints == ["BUNDLED_INPUT", *["REQUIRES_GRAD"] * 4, "BATCHNORM", "DROPOUT"]
    with pytest.raises(TypeError, match="but ScriptModule is expected"):
        optimize_for_mobile(net)
    with pytest.raises(AttributeError, match="do not exist in script_module: gone"):
        optimize_for_mobile(module, preserved_methods=["gone"])
    with pytest.raises(NotImplementedError, match="has no Vulkan back end"):
        optimize_for_mobile(module, backend="Vulkan")
    with pytest.raises(TypeError, match="Unknown backend"):
        optimize_for_mobile(module, backend="x")
