"""Names of torch.jit of a few lines; values are PyTorch 2.13's."""

from __future__ import annotations

import pytest

import hotaru as torch


class Loop(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        for _ in range(3):
            y = y * x.sum()
        return torch.relu(y).view(-1), len([1])

    @torch.jit.export
    def other(self, x):
        return x - 1


def test_operators_that_a_module_calls():
    layers = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    compiled = torch.jit.script(layers)
    assert torch.jit.export_opnames(compiled) == ["aten::linear", "aten::relu"]
    assert torch.jit.export_opnames(torch.jit.script(Loop())) == [
        "aten::add.Scalar",
        "aten::len.t",
        "aten::mul.Tensor",
        "aten::relu",
        "aten::sub.Scalar",
        "aten::sum",
        "aten::view",
    ]


def test_fusion_is_a_permission():
    before = torch.jit.set_fusion_strategy([("DYNAMIC", 1)])
    try:
        assert before == [("STATIC", 2), ("DYNAMIC", 10)]
        with pytest.raises(ValueError, match="or 'DYNAMIC', got: X"):
            torch.jit.set_fusion_strategy([("X", 2)])
        with pytest.raises(TypeError, match="list of pairs"):
            torch.jit.set_fusion_strategy([("STATIC",)])
    finally:
        assert torch.jit.set_fusion_strategy(before) == [("DYNAMIC", 1)]
    assert not torch.jit.onednn_fusion_enabled()
    torch.jit.enable_onednn_fusion(False)
    with pytest.raises(RuntimeError, match="no oneDNN"):
        torch.jit.enable_onednn_fusion(True)


class Early(torch.jit.ScriptModule):
    def __init__(self) -> None:
        super().__init__()
        self.had_code = hasattr(self, "code")

    @torch.jit.script_method
    def forward(self, x):
        return x + 1


def test_names_of_compiled_modules_on_their_base():
    made = Early()
    assert not made.had_code
    assert made.code.startswith("def forward(self,")
    assert isinstance(torch.jit.ScriptModule.graph, property)
    save = torch.jit.RecursiveScriptModule.save
    assert torch.jit.ScriptModule.save is save
    with pytest.raises(NotImplementedError, match="__len__"):
        made.forward_magic_method("__len__")


def test_compiled_modules_convert_by_what_others_take():
    made = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2), torch.nn.ReLU())
    compiled = torch.jit.script(made)
    last = torch.channels_last
    x = torch.ones(1, 2, 3, 3)
    wanted = compiled(x)
    assert compiled.to(memory_format=last) is compiled
    weight = next(compiled.parameters())
    assert weight.is_contiguous(memory_format=last)
    torch.testing.assert_close(compiled(x), wanted)
    compiled.to(tensor=torch.ones(1, dtype=torch.float64))
    assert next(compiled.parameters()).dtype == torch.float64
    assert compiled(x.double()).dtype == torch.float64
    for arguments in ({"nonesuch": 1}, {"copy": 3}):
        with pytest.raises(TypeError, match="invalid combination"):
            compiled.to(**arguments)
    with pytest.raises(TypeError, match="invalid combination"):
        compiled.to(1, 2, 3)
