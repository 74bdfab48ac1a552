"""jit.freeze: attributes become constants, state stays state."""

# The annotations are those that old programs have.
# ruff: noqa: UP006, UP035

import io
from pathlib import Path
from typing import List

import pytest

import hotaru as torch

GOLDEN = Path(__file__).parents[2] / "golden/script"


class Counting(torch.nn.Module):
    """State of every kind beside constants."""

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.factor = 3
        self.pair = (2, 0.5)
        self.log: List[int] = [1]
        self.lin = torch.nn.Linear(2, 2)
        self.drop = torch.nn.Dropout(0.5)
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        self.calls += 1
        self.total += 1
        self.log.append(self.calls)
        if self.training:
            x = x + 100
        return self.drop(self.lin(x)) * self.factor + self.pair[1]

    @torch.jit.export
    def scaled(self, n: int) -> int:
        return n * self.factor


def frozen_and_original(**kwargs):
    torch.manual_seed(0)
    module = torch.jit.script(Counting().eval())
    return torch.jit.freeze(module, **kwargs), module


def test_constants_and_state():
    frozen, module = frozen_and_original()
    x = torch.randn(3, 2)
    with torch.no_grad():
        for _ in range(3):
            assert torch.equal(frozen(x), module(x))
    assert list(frozen.parameters()) == []
    assert [name for name, _ in frozen.named_buffers()] == ["total"]
    assert (frozen.calls, frozen.log) == (3, [1, 1, 2, 3])
    assert frozen.total.tolist() == [3.0, 3.0]
    for name in ("factor", "pair", "scaled"):
        assert not hasattr(frozen, name)
    assert "if" not in frozen.code  # training is known
    assert frozen.original_name == "Counting"


def test_state_is_the_frozen_module_s_own():
    frozen, module = frozen_and_original()
    with torch.no_grad():
        frozen(torch.ones(1, 2))
    assert (module.calls, module.log) == (0, [1])
    assert module.total.tolist() == [0.0, 0.0]


def test_what_is_preserved():
    frozen, _ = frozen_and_original(preserved_attrs=["scaled", "factor"])
    assert frozen.scaled(5) == 15
    frozen.factor = 4
    assert frozen.scaled(5) == 20
    with pytest.raises(RuntimeError, match="Unknown name: absent"):
        frozen_and_original(preserved_attrs=["absent"])


def test_frozen_modules_are_saved():
    frozen, module = frozen_and_original()
    buffer = frozen.save_to_buffer()
    assert torch.jit.freeze(module).save_to_buffer() == buffer
    again = torch.jit.load(io.BytesIO(buffer))
    x = torch.randn(3, 2)
    with torch.no_grad():
        assert torch.equal(again(x), module(x))


def test_errors():
    module = torch.jit.script(Counting())
    with pytest.raises(RuntimeError, match="only implemented for modules in e"):
        torch.jit.freeze(module)
    with pytest.raises(RuntimeError, match="expects a ScriptModule"):
        torch.jit.freeze(Counting().eval())
    with pytest.raises(RuntimeError, match="expects a ScriptModule"):
        torch.jit.optimize_for_inference(Counting())


def test_optimize_for_inference_freezes_once():
    module = torch.jit.script(Counting())
    frozen = torch.jit.optimize_for_inference(module)
    assert list(frozen.parameters()) == []
    assert torch.jit.optimize_for_inference(frozen) is frozen


@pytest.mark.parametrize("version", ["", "_old"])
def test_networks_of_pytorch(version):
    """Scripted and traced networks."""
    networks = torch.jit.load(str(GOLDEN / f"networks{version}.pt")).eval()
    with torch.no_grad():
        for _, network in networks.named_children():
            frozen = torch.jit.freeze(network)
            assert list(frozen.parameters()) == []
            given, wanted = network.input, network(network.input)
            assert torch.equal(frozen(given), wanted)


def test_one_class_with_different_constants():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 2)
            self.b = torch.nn.Linear(2, 2)
            self.c = self.a

        def forward(self, x):
            return self.c(self.b(self.a(x)))

    module = torch.jit.script(Twice().eval())
    x = torch.randn(2, 2)
    with torch.no_grad():
        assert torch.equal(torch.jit.freeze(module)(x), module(x))
