"""A compiled module stands for the module it was made of: what is done to the
one is done to the other. And which modes `compile` knows.
"""

import copy
import pickle

import pytest

import hotaru as torch
from hotaru import nn

X = torch.ones(2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("shift", torch.zeros(2))
        self.factor = 1

    def forward(self, x):
        y = x * self.weight * self.factor + self.shift
        return self.inner(y) if hasattr(self, "inner") else y

    @property
    def tenfold(self):
        return self.factor * 10

    @tenfold.setter
    def tenfold(self, value):
        self.factor = value / 10


@pytest.fixture(name="pair")
def _pair():
    """A module, and the compiled one, which has run already."""
    module = Net()
    made = torch.compile(module)
    made(X)
    return module, made


def check(pair, expected):
    for each in pair:
        for _ in range(2):
            assert each(X).tolist() == expected


def test_numbers(pair):
    module, made = pair
    made.factor = 5
    assert module.factor == 5
    assert "factor" not in vars(made)
    check(pair, [5.0, 5.0])
    module.factor = 2
    assert made.factor == 2
    check(pair, [2.0, 2.0])
    del made.factor
    assert not hasattr(module, "factor")
    with pytest.raises(AttributeError, match="factor"):
        made.factor  # noqa: B018


def test_new_attributes(pair):
    module, made = pair
    made.more = [1]
    assert module.more is made.more
    made.tenfold = 30
    assert module.factor == 3
    check(pair, [3.0, 3.0])


def test_buffers_parameters_and_children(pair):
    module, made = pair
    made.shift = torch.full((2,), 3.0)
    check(pair, [4.0, 4.0])
    made.weight = nn.Parameter(torch.full((2,), 7.0))
    check(pair, [10.0, 10.0])
    made.inner = nn.Hardtanh()
    check(pair, [1.0, 1.0])
    assert [name for name, _ in made.named_children()] == ["_orig_mod"]
    assert list(module.state_dict()) == ["weight", "shift"]
    assert list(made.state_dict()) == ["_orig_mod.weight", "_orig_mod.shift"]
    del made.inner
    del made.weight
    assert list(module.state_dict()) == ["shift"]


def test_forward_of_its_own(pair):
    module, made = pair
    made.forward = lambda x: x + 100
    assert made(X).tolist() == [101.0, 101.0]
    assert module(X).tolist() == [1.0, 1.0]
    del made.forward
    check(pair, [1.0, 1.0])


def test_mode(pair):
    module, made = pair
    for each, other in (pair, pair[::-1]):
        each.eval()
        assert not other.training
        each.train()
        assert other.training
    made.training = False
    assert not module.training
    assert "training" not in vars(made)


def test_train_is_called_once():
    class Counting(Net):
        calls = 0

        def train(self, mode=True):
            Counting.calls += 1
            return super().train(mode)

    made = torch.compile(Counting())
    made.train()
    made.eval()
    assert Counting.calls == 2


def test_names(pair):
    names = dir(pair[1])
    assert {"factor", "weight", "shift", "_orig_mod", "forward"} <= set(names)


def test_length():
    made = torch.compile(nn.ModuleList([nn.Identity(), nn.ReLU()]))
    assert len(made) == 2
    assert made
    assert not torch.compile(nn.ModuleList())
    with pytest.raises(TypeError, match=r"ReLU does not support len\(\)"):
        len(torch.compile(nn.ReLU()))
    assert torch.compile(nn.ReLU())


def test_forward_hooks(pair):
    module, made = pair
    seen = []

    def before(of, args):
        seen.append(of)
        return (args[0] + 1,)

    def after(of, args, result):
        seen.append(args[0].tolist())
        return result * 5

    handles = [
        made.register_forward_pre_hook(before),
        made.register_forward_hook(after),
    ]
    for _ in range(3):
        assert made(X).tolist() == [10.0, 10.0]
    assert seen == [made, [2.0, 2.0]] * 3
    assert module(X).tolist() == [1.0, 1.0]
    for handle in handles:
        handle.remove()
    check(pair, [1.0, 1.0])


def test_hooks_of_both(pair):
    module, made = pair
    module.register_forward_hook(lambda of, args, result: result * 2)
    made.register_forward_hook(
        lambda of, args, kwargs, result: result + 1, with_kwargs=True
    )
    for _ in range(2):
        assert made(X).tolist() == [3.0, 3.0]
    assert module(X).tolist() == [2.0, 2.0]


def test_backward_hooks(pair):
    _, made = pair
    seen = []
    made.register_full_backward_pre_hook(lambda of, grads: (grads[0] * 3,))
    made.register_full_backward_hook(
        lambda of, inner, outer: seen.append(outer[0].tolist())
    )
    for count in range(1, 4):
        x = X.clone().requires_grad_()
        made(x).sum().backward()
        assert x.grad.tolist() == [3.0, 3.0]
        assert seen == [[3.0, 3.0]] * count


def test_hooks_of_all_modules(pair):
    """They run for the module, which the compiled one is no second of."""
    seen = []
    handle = nn.modules.module.register_module_forward_hook(
        lambda of, args, result: seen.append(type(of).__name__)
    )
    try:
        pair[1](X)
    finally:
        handle.remove()
    assert set(seen) == {"Net"}


@pytest.mark.parametrize(
    "way", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies(pair, way):
    _, made = pair
    other = way(made)
    other.factor = 9
    other.register_forward_hook(lambda of, args, result: result + 1)
    assert other(X).tolist() == [10.0, 10.0]
    assert other._orig_mod.factor == 9
    check(pair, [1.0, 1.0])


def test_modes():
    modes = (
        None,
        "",
        "default",
        "lite",
        "reduce-overhead",
        "max-autotune",
        "max-autotune-no-cudagraphs",
    )
    for mode in modes:
        assert torch.compile(lambda x: x * 2, mode=mode)(X).tolist() == [2, 2]
    for mode in ("nope", "Default", 5):
        for model in (nn.ReLU(), lambda x: x):
            with pytest.raises(RuntimeError, match=f"Unrecognized mode={mode}"):
                torch.compile(model, mode=mode)
    with pytest.raises(RuntimeError, match="Unrecognized mode=nope"):
        torch.compile(mode="nope")(lambda x: x)
    with pytest.raises(RuntimeError, match="Unrecognized mode=nope"):
        nn.ReLU().compile(mode="nope")
    with pytest.raises(RuntimeError, match="Either mode or options"):
        torch.compile(lambda x: x, mode="default", options={})
    assert torch.compile(abs, mode="nope", backend="eager") is abs
