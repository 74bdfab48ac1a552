"""Programs that PyTorch exported: results, gradients, steps, errors."""

import copy
import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

import hotaru as torch

TESTS = Path(__file__).resolve().parents[2]
GOLDEN = TESTS / "golden" / "pt2"
sys.path.insert(0, str(TESTS / "conformance" / "export"))

from export_steps import call, plain, train  # noqa: E402
from export_subject import compare_all  # noqa: E402

NAMES = sorted(path.stem for path in GOLDEN.glob("*.expected"))


def load(name):
    return torch.export.load(GOLDEN / f"{name}.pt2")


def expected(name):
    return torch.load(GOLDEN / f"{name}.expected")


def changed(name, change) -> io.BytesIO:
    """The archive with another program, which `change` makes of its JSON."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(GOLDEN / f"{name}.pt2") as old,
        zipfile.ZipFile(out, "w") as new,
    ):
        for record in old.namelist():
            data = old.read(record)
            if record.endswith("models/model.json"):
                program = json.loads(data)
                change(program)
                data = json.dumps(program).encode()
            new.writestr(record, data)
    out.seek(0)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_computes_what_pytorch_computed(name):
    for one in expected(name)["calls"]:
        module = load(name).module()
        torch.manual_seed(1)
        args = copy.deepcopy(one["args"])
        result = call(torch, module, args, one["kwargs"])
        compare_all(name, plain(result), one["result"])
        compare_all(name, args, one["args_after"])


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "trained" in expected(name)]
)
def test_trains_as_pytorch_trained(name):
    given = expected(name)
    theirs = given["trained"]
    one = given["calls"][-1]
    module = load(name).module()
    ours = train(
        torch, module, copy.deepcopy(one["args"]), copy.deepcopy(one["kwargs"])
    )
    for key in ("loss", "inputs", "gradients", "losses", "state"):
        compare_all(key, ours[key], theirs[key])


def test_calls_by_name_and_with_keywords():
    module = load("lstm").module()
    x = torch.randn(2, 5, 4)
    by_name, _ = module(x=x)
    by_position, _ = module(x)
    assert torch.equal(by_name, by_position)
    with pytest.raises(TypeError, match="missing argument 'x'"):
        module()
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        module(x, y=x)
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        module(x, x=x)
    with pytest.raises(TypeError, match="takes 1 positional"):
        module(x, x)


def test_inputs_of_other_sizes_are_refused_by_name():
    module = load("lstm").module()
    with pytest.raises(RuntimeError) as error:
        module(torch.randn(2, 5, 3))
    assert str(error.value).startswith(
        "Expected input at x.shape[2] to be equal to 4, but got 3."
    )
    with pytest.raises(RuntimeError, match=r"x.shape\[0\] to be <= 64, but g"):
        module(torch.randn(65, 5, 4))
    with pytest.raises(RuntimeError, match="Unexpected number of dimensions"):
        module(torch.randn(5, 4))


def test_containers_of_another_structure_are_refused():
    one = expected("trees")["calls"][0]
    module = load("trees").module()
    inputs, pair = one["args"]
    with pytest.raises(ValueError, match="exported input tree spec"):
        module(inputs, list(pair), **one["kwargs"])
    result, second = module(dict(reversed(inputs.items())), pair, **one["kwargs"])
    compare_all("trees", plain(result), one["result"][0])
    assert list(second) == ["sum", "product"]


def test_mode_follows_train_and_eval():
    module = load("bn_train").module()
    assert module.training
    x = torch.randn(4, 2, 9)
    before = {k: v.clone() for k, v in module.state_dict().items()}
    module.eval()
    first, second = module(x), module(x[:1])
    torch.testing.assert_close(first[:1], second)
    for name, tensor in module.state_dict().items():
        assert torch.equal(tensor, before[name]), name
    module.train()
    module(x)
    assert module.state_dict()["bn.num_batches_tracked"] == 1
    assert not torch.equal(
        module.state_dict()["bn.running_mean"], before["bn.running_mean"]
    )


def test_facts_of_a_program():
    program = load("counter.core")
    signature = program.graph_signature
    assert signature.parameters == ("fc.weight", "fc.bias")
    assert signature.buffers == ("count", "mean", "hidden")
    assert signature.non_persistent_buffers == {"hidden"}
    assert list(signature.buffers_to_mutate.values()) == ["count", "mean", "hidden"]
    assert signature.user_inputs == ("x",)
    assert sorted(program.state_dict) == ["count", "fc.bias", "fc.weight", "mean"]
    assert list(program.constants) == ["hidden"]
    assert list(program.range_constraints.values()) == [(1, 64)]
    (x,), keywords = program.example_inputs
    assert x.shape == (3, 4)
    assert keywords == {}
    assert "p_fc_weight: PARAMETER target='fc.weight'" in str(program)
    with pytest.raises(RuntimeError, match=r"exported_program\.module\(\)"):
        program(x)


def test_shared_parameters_are_one():
    module = load("shared").module()
    names = [name for name, _ in module.named_parameters()]
    assert ("a.weight" in names) != ("b.weight" in names)
    assert not dict(module.named_parameters())["a.bias"].requires_grad


def test_the_layout_of_pytorch_2_5():
    program = load("old_layout")
    one = expected("shared")["calls"][0]
    module = program.module()
    compare_all("old", call(torch, module, one["args"], {}), one["result"])
    names = {name for name, _ in module.named_parameters()}
    assert names == {n for n, _ in load("shared").module().named_parameters()}
    assert program.example_inputs[0][0].shape == (3, 4)


def test_a_copy_is_independent():
    module = load("cond").module()
    copied = copy.deepcopy(module)
    with torch.no_grad():
        for parameter in copied.parameters():
            parameter.zero_()
    x = torch.randn(2, 4)
    assert not torch.equal(module(x), copied(x))


def test_a_module_saves_as_torchscript():
    module = load("cond").module()
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    buffer.seek(0)
    again = torch.jit.load(buffer)
    x = torch.randn(3, 4)
    torch.testing.assert_close(again(x), module(x))


def test_loads_from_files_and_refuses_what_is_no_program(tmp_path):
    with open(GOLDEN / "cond.pt2", "rb") as f:
        program = torch.export.load(f)
    assert program.torch_version.startswith("2.13")
    torch.save({"a": torch.ones(1)}, tmp_path / "tensors.pt")
    with pytest.raises(RuntimeError, match="not an exported program"):
        torch.export.load(tmp_path / "tensors.pt")


def test_missing_operators_are_listed_together():
    def change(program):
        nodes = program["graph_module"]["graph"]["nodes"]
        nodes[0]["target"] = "torch.ops.aten.none_such.default"
        nodes[1]["target"] = "torch.ops.mine.other.Tensor"

    with pytest.raises(
        NotImplementedError,
        match=r"not implemented: aten::none_such, mine::other\.Tensor",
    ):
        torch.export.load(changed("numbers", change))


def test_versions_and_higher_order_operators_that_are_unknown():
    def version(program):
        program["schema_version"]["major"] = 9

    with pytest.raises(RuntimeError, match=r"schema version 9\.20"):
        torch.export.load(changed("cond", version))

    def unknown(program):
        for node in program["graph_module"]["graph"]["nodes"]:
            if node["target"].endswith("cond"):
                node["target"] = "torch.ops.higher_order.flex_attention"

    with pytest.raises(
        RuntimeError, match=r"higher_order\.flex_attention, which is not"
    ):
        torch.export.load(changed("cond", unknown))


def node_result(target, x, **constants):
    """Result of a node for the layer's result in the program `shared`."""

    def change(program):
        nodes = program["graph_module"]["graph"]["nodes"]
        relu = next(n for n in nodes if n["target"].endswith("relu.default"))
        relu["target"] = f"torch.ops.aten.{target}"
        tensor = relu["inputs"][0]["arg"]
        relu["inputs"] = [
            {"name": name, "arg": tensor if arg is None else arg, "kind": 1}
            for name, arg in constants.items()
        ]

    module = torch.export.load(changed("shared", change)).module()
    state = module.state_dict()
    h = torch.nn.functional.linear(x, state["a.weight"], state["a.bias"])

    def rest(y):
        w = state["a.weight"]
        b = state["b.bias"]
        return torch.nn.functional.linear(y, w, b) * state["gain"]

    return module(x), h, rest


@pytest.mark.parametrize(
    ("target", "arguments", "meaning"),
    [
        (
            "hann_window.default",
            {"window_length": {"as_int": 4}},
            lambda h: torch.tensor([0, 0.5, 1, 0.5]),
        ),
        (
            "hamming_window.periodic",
            {"window_length": {"as_int": 4}, "periodic": {"as_bool": False}},
            lambda h: torch.tensor([0.08, 0.77, 0.77, 0.08]),
        ),
        (
            "blackman_window.default",
            {"window_length": {"as_int": 4}},
            lambda h: torch.tensor([0, 0.34, 1, 0.34]),
        ),
        (
            "_to_copy.default",
            {"self": None, "dtype": {"as_scalar_type": 7}},
            lambda h: h,
        ),
        ("copy.default", {"self": None, "src": None}, lambda h: h),
        (
            "_trilinear.default",
            {
                "i1": None,
                "i2": None,
                "i3": None,
                "expand1": {"as_ints": []},
                "expand2": {"as_ints": []},
                "expand3": {"as_ints": [0]},
                "sumdim": {"as_ints": [0]},
            },
            lambda h: (h * h * h.unsqueeze(0)).sum(0),
        ),
    ],
)
def test_operators_that_are_said_otherwise(target, arguments, meaning):
    x = torch.randn(3, 4)
    result, h, rest = node_result(target, x, **arguments)
    torch.testing.assert_close(result, rest(meaning(h)))


def test_new_fields_are_ignored():
    def change(program):
        program["from_the_future"] = {"a": [1]}
        program["graph_module"]["graph"]["nodes"][0]["more"] = 1
        program["schema_version"]["minor"] = 99

    module = torch.export.load(changed("cond", change)).module()
    assert module(torch.ones(2, 4)).shape == (2, 4)


def test_a_loaded_script_keeps_its_parameters():
    """They are plain tensors there, and tied ones stay one."""

    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.there = torch.nn.Linear(3, 3)
            self.back = torch.nn.Linear(3, 3)
            self.back.weight = self.there.weight

        def forward(self, x):
            return self.back(self.there(x).relu())

    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(Tied()), buffer)
    buffer.seek(0)
    script = torch.jit.load(buffer)
    x = torch.randn(2, 3)
    module = torch.export.export(script, (x,)).module()
    assert set(module.state_dict()) == set(script.state_dict())
    assert len(list(module.parameters())) == 3
    module(x).sum().backward()
    assert all(p.grad is not None for p in module.parameters())
    with torch.no_grad():
        next(script.parameters()).zero_()
    torch.testing.assert_close(module(x), script(x))
