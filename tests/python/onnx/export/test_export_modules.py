"""Modules exported and loaded back: same tensors, same results."""

import io

import numpy as np
import pytest
from hotaru.nn import functional as F

import hotaru as torch
from hotaru import nn


def loaded(program):
    return torch.onnx.load(io.BytesIO(program.to_bytes()))


def exported(model, args, **options):
    options.setdefault("input_names", [f"x{i}" for i in range(len(args))])
    axes = {name: {0: "batch"} for name in options["input_names"]}
    return torch.onnx.export(model, args, dynamic_axes=axes, **options)


def assert_same(model, make, **options):
    """At three batch sizes, after export and import."""
    model.eval()
    program = exported(model, make(2), **options)
    back = loaded(program)
    for batch in (1, 2, 5):
        args = make(batch)
        with torch.no_grad():
            torch.testing.assert_close(back(*args), model(*args))
    return program, back


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(3)
        self.head = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2)
        )

    def forward(self, x):
        return self.head(F.relu(self.norm(self.conv(x)) + x))


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.places = nn.Parameter(torch.randn(1, 7, 8))

    def forward(self, x):
        return self.block(x + self.places[:, : x.size(1)])


MODELS = {
    "perceptron": (
        lambda: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3)),
        (4,),
    ),
    "residual": (Residual, (3, 8, 8)),
    "attention": (Attends, (5, 8)),
    "depthwise": (
        lambda: nn.Sequential(nn.Conv2d(4, 4, 3, stride=2, groups=4), nn.Hardswish()),
        (4, 9, 9),
    ),
    "transposed": (
        lambda: nn.Sequential(nn.ConvTranspose1d(3, 4, 4, 2, 1), nn.GroupNorm(2, 4)),
        (3, 6),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_tensors_and_results_come_back(name):
    torch.manual_seed(0)
    make, shape = MODELS[name]
    model = make()
    _, back = assert_same(model, lambda batch: (torch.randn(batch, *shape),))
    state = {
        key: value
        for key, value in model.state_dict().items()
        if not key.endswith("num_batches_tracked")
    }
    again = back.state_dict()
    assert state.keys() <= again.keys()
    for key, value in state.items():
        assert torch.equal(value, again[key]), key
    parameters = {key for key, _ in model.named_parameters()}
    assert parameters <= {key for key, _ in back.named_parameters()} | {
        key for key, value in state.items() if value.numel() == 1
    }


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_gates_stay_in_their_places(kind, bidirectional):
    torch.manual_seed(0)
    net = kind(4, 3, num_layers=2, bidirectional=bidirectional).eval()
    program = torch.onnx.export(
        net, (torch.randn(5, 2, 4),), dynamic_shapes=({0: "t", 1: "n"},)
    )
    back = loaded(program)
    for length, batch in ((5, 2), (1, 1), (7, 3)):
        x = torch.randn(length, batch, 4)
        with torch.no_grad():
            y, state = net(x)
            got = back(x)
        state = state if isinstance(state, tuple) else (state,)
        for a, b in zip(got, (y, *state), strict=True):
            torch.testing.assert_close(a, b)


def test_weights_get_gradients_after_the_round_trip():
    net = nn.Linear(3, 2)
    back = loaded(torch.onnx.export(net, (torch.randn(2, 3),)))
    back(torch.ones(2, 3)).sum().backward()
    grads = {name: p.grad for name, p in back.named_parameters()}
    assert torch.equal(grads["weight"], torch.full((2, 3), 2.0))


def test_writes_in_place_reach_views_and_bases():
    class Writes(nn.Module):
        def forward(self, x):
            y = x.clone()
            first = y[:, 0]
            y[:, 0] = 3.0
            turned = y.transpose(1, 2)
            turned[:, 0] += 7
            y[:, -1, 1:].mul_(2)
            return y, first + 1, turned

    torch.manual_seed(0)
    assert_same(Writes(), lambda batch: (torch.randn(batch, 3, 4),))


def test_sizes_that_vary_are_computed_by_the_graph():
    class Sizes(nn.Module):
        def forward(self, x):
            n = x.size(0)
            zeros = torch.zeros(n * 2 + 1, 3)
            return x.reshape(-1) / n, zeros, torch.arange(n), x[: n // 2]

    assert_same(Sizes(), lambda batch: (torch.randn(batch, 3),))


def test_number_of_masked_elements_is_left_to_the_graph():
    class Masks(nn.Module):
        def forward(self, x):
            chosen = x[x > 0]
            return chosen * 2, (x > 0).nonzero(), x.masked_fill(x > 0, 9.0)

    torch.manual_seed(0)
    assert_same(Masks(), lambda batch: (torch.randn(batch, 3),))


def test_dtypes_are_promoted_as_in_the_program():
    class Mixes(nn.Module):
        def forward(self, x, i):
            return (
                x + i,
                i / 2,
                i // 2,
                i * 2.5,
                i > 1.5,
                i.float().mean(),
                x.double() + x,
                (i > 0) + i,
                -7 // (i + 1),
                i % 3,
            )

    def make(batch):
        return torch.randn(batch, 3), torch.arange(batch * 3).view(batch, 3)

    _, back = assert_same(Mixes(), make)
    got = back(*make(2))
    expected = Mixes()(*make(2))
    assert [g.dtype for g in got] == [e.dtype for e in expected]


def test_frozen_and_loaded_programs_can_be_exported(tmp_path):
    net = nn.Sequential(nn.Linear(3, 40), nn.ReLU(), nn.Linear(40, 2)).eval()
    x = torch.randn(2, 3)
    frozen = torch.jit.freeze(torch.jit.trace(net, (x,)))
    frozen.save(str(tmp_path / "frozen.pt"))
    for program in (frozen, torch.jit.load(str(tmp_path / "frozen.pt"))):
        back = loaded(torch.onnx.export(program, (x,)))
        torch.testing.assert_close(back(x), net(x))
    again = torch.onnx.export(back, (x,))
    torch.testing.assert_close(loaded(again)(x), net(x))


def test_running_statistics_stay_buffers():
    net = nn.Sequential(nn.Conv1d(2, 2, 3), nn.BatchNorm1d(2)).eval()
    back = loaded(torch.onnx.export(net, (torch.randn(1, 2, 8),)))
    assert {"1.running_mean", "1.running_var"} <= {
        name for name, _ in back.named_buffers()
    }


def test_results_agree_with_numpy():
    """Not only with hotaru's own importer."""
    reference = pytest.importorskip("onnx.reference")

    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)).eval()
    x = torch.randn(3, 4)
    program = torch.onnx.export(net, (x,), input_names=["x"])
    (got,) = reference.ReferenceEvaluator(program.model_proto).run(
        None, {"x": x.numpy()}
    )
    np.testing.assert_allclose(got, net(x).detach().numpy(), rtol=1e-5)
