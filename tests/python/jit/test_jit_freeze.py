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


class Written(torch.nn.Module):
    """Writes that go through views, lists and branches."""

    def __init__(self):
        super().__init__()
        self.viewed = torch.tensor([1.0, 2.0, 3.0, 4.0])
        self.listed = torch.tensor([1.0])
        self.chosen = torch.tensor([1.0])
        self.looped = torch.tensor([1.0])
        self.read = torch.tensor([5.0])

    def forward(self, flag: bool):
        self.viewed.view(2, 2)[0][1] += 10
        held = [self.read + 1]
        held.append(self.listed)
        held[1].add_(1)
        either = self.read * 2
        if flag:
            either = self.chosen
        either += 1
        some = self.read + 0
        for _ in range(2):
            some.mul_(2)
            some = self.looped
        return self.viewed.sum() + self.chosen + self.listed + self.looped


def test_what_is_written_through_views_and_lists_stays():
    mod = torch.jit.script(Written().eval())
    frozen = torch.jit.freeze(mod)
    for name in ("viewed", "listed", "chosen", "looped"):
        assert hasattr(frozen, name)
    assert not hasattr(frozen, "read")
    first = frozen(True)
    assert mod.viewed.tolist() == [1, 2, 3, 4]  # has memory of its own
    assert first.item() == 20 + 2 + 2 + 2
    assert torch.equal(first, mod(True))
    assert torch.equal(frozen(True), mod(True))


class Shared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.arange(6)
        self.b = self.a.view(2, 3)
        self.c = [self.a[2:], torch.tensor([10])]

    def forward(self):
        self.b[1] += 10
        return self.a.sum() + self.c[0][0]


def test_what_shares_memory_with_what_is_written_stays():
    frozen = torch.jit.freeze(torch.jit.script(Shared().eval()))
    assert frozen().item() == 15 + 30 + 2
    frozen.c[0][0] = 100
    assert frozen.a.tolist() == [0, 1, 100, 13, 14, 15]
    assert frozen().item() == 173 + 100


def test_what_a_forked_call_is_given_stays():
    class Forking(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.ones(2)
            self.b = torch.ones(2)

        def forward(self):
            future = torch.jit.fork(add_one, self.a)
            out = self.b + 1
            return out + torch.jit.wait(future)

    mod = torch.jit.script(Forking().eval())
    frozen = torch.jit.freeze(mod)
    assert hasattr(frozen, "a")
    assert not hasattr(frozen, "b")
    assert frozen().tolist() == [4, 4]
    assert mod.a.tolist() == [1, 1]


@torch.jit.script
def add_one(x):
    return x.add_(1)


class Within(torch.nn.Module):
    """A submodule that computes without gradients, and may throw there."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x):
        with torch.no_grad():
            if x.size(0) > 1:
                raise ValueError("one at a time")
            y = self.inner(x)
        return y


class Around(torch.nn.Module):
    """It within blocks of another module."""

    def __init__(self):
        super().__init__()
        self.within = Within()

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x.t()
        with torch.enable_grad():
            z = self.within(x)
        return z + y.sum()


@pytest.mark.parametrize("kind", [Within, Around])
def test_with_blocks_stay(kind):
    torch.manual_seed(0)
    module = torch.jit.script(kind().eval())
    frozen = torch.jit.freeze(module)
    saved = io.BytesIO()
    torch.jit.save(frozen, saved)
    saved.seek(0)
    x = torch.tensor([[0.5, 3.0]])
    expected = module(x)
    for one in (module, frozen, torch.jit.load(saved)):
        for _ in range(3):
            found = one(x)
            assert torch.equal(found, expected)
            assert not found.requires_grad
        with pytest.raises(Exception, match="one at a time"):
            one(torch.ones(2, 2))
        assert torch.is_grad_enabled()
        assert not torch.is_autocast_enabled("cpu")
