"""Gradients by sample, against those of each sample alone."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def seed(hotaru):
    hotaru.manual_seed(3)


def by_sample(hotaru):
    from hotaru.nn.utils._per_sample_grad import call_for_per_sample_grads

    return call_for_per_sample_grads


def check(hotaru, module, x, mean=False, dim=0, states=()):
    """`grad_sample` is what a batch of each sample alone gives."""
    module = module.double()
    reduction = "mean" if mean else "sum"
    size = x.shape[dim]
    if x.is_floating_point():
        x = x.double().requires_grad_()
    states = [state.double() for state in states]
    call = by_sample(hotaru)(module, batch_size=size, loss_reduction=reduction)
    loss = weighed(hotaru, call(x, *states))
    (loss / size if mean else loss).backward()
    weights = list(module.parameters())
    assert all(weight.grad is None for weight in weights)
    alone = []
    for i in range(size):
        one = [state[:, i : i + 1] for state in states]
        result = weighed(
            hotaru, module(x.detach().narrow(dim, i, 1), *one), i, size, dim
        )
        alone.append(hotaru.autograd.grad(result, weights))
    for weight, expected in zip(weights, zip(*alone)):
        hotaru.testing.assert_close(weight.grad_sample, hotaru.stack(expected))
    if x.is_floating_point():
        (whole,) = hotaru.autograd.grad(weighed(hotaru, module(x, *states)), x)
        hotaru.testing.assert_close(x.grad * (size if mean else 1), whole)


def weighed(hotaru, result, i=None, size=None, dim=0):
    """A loss in which every element counts otherwise."""
    result = result[0] if isinstance(result, tuple) else result
    shape = list(result.shape)
    if i is not None:
        shape[dim] = size
    weight = hotaru.arange(float(hotaru.Size(shape).numel())).cos()
    weight = weight.double().reshape(shape)
    if i is not None:
        weight = weight.narrow(dim, i, 1)
    return (result * weight).sum()


LAYERS = {
    "linear": lambda nn: (nn.Linear(3, 4), (5, 3)),
    "linear_3d": lambda nn: (nn.Linear(3, 4, bias=False), (5, 2, 2, 3)),
    "conv1d": lambda nn: (nn.Conv1d(2, 4, 3, stride=2, padding=1), (3, 2, 9)),
    "conv2d": lambda nn: (
        nn.Conv2d(
            4, 6, (3, 2), stride=(2, 1), dilation=(1, 2), groups=2, padding=(1, 0)
        ),
        (3, 4, 6, 7),
    ),
    "conv2d_same": lambda nn: (
        nn.Conv2d(2, 2, (2, 4), padding="same", dilation=2),
        (2, 2, 5, 6),
    ),
    "conv3d": lambda nn: (nn.Conv3d(2, 3, 2, dilation=2), (2, 2, 4, 5, 3)),
    "layer_norm": lambda nn: (nn.LayerNorm([2, 3]), (4, 5, 2, 3)),
    "group_norm": lambda nn: (nn.GroupNorm(2, 4), (3, 4, 5)),
    "instance_norm": lambda nn: (nn.InstanceNorm2d(3, affine=True), (2, 3, 4, 4)),
    "several": lambda nn: (
        nn.Sequential(
            nn.Conv1d(2, 4, 3),
            nn.GroupNorm(2, 4),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(12, 3),
        ),
        (4, 2, 5),
    ),
}


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("layer", LAYERS)
def test_layers(hotaru, layer, mean):
    module, shape = LAYERS[layer](hotaru.nn)
    check(hotaru, module, hotaru.randn(shape), mean)


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": 1}, {"scale_grad_by_freq": True}]
)
def test_embedding(hotaru, options):
    x = hotaru.tensor([[0, 1, 1], [2, 2, 3], [1, 1, 1]])
    check(hotaru, hotaru.nn.Embedding(4, 2, **options), x)


@pytest.mark.parametrize("kind", ["RNN", "relu", "LSTM", "proj", "GRU"])
@pytest.mark.parametrize("both", [False, True])
def test_recurrent_layers(hotaru, kind, both):
    options = {"num_layers": 2, "bidirectional": both}
    if kind == "relu":
        options["nonlinearity"] = "relu"
    if kind == "proj":
        options["proj_size"] = 2
    name = {"relu": "RNN", "proj": "LSTM"}.get(kind, kind)
    module = getattr(hotaru.nn, name)(3, 4, **options)
    check(hotaru, module, hotaru.randn(5, 3, 3), dim=1)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_packed_sequences(hotaru, kind):
    nn = hotaru.nn
    module = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=True).double()
    parts = [hotaru.randn(n, 3).double() for n in (5, 3, 3, 1)]
    packed = nn.utils.rnn.pack_sequence(parts)
    call = by_sample(hotaru)(module, batch_size=4)
    output, _ = call(packed)
    hotaru.testing.assert_close(output.data, module(packed)[0].data)
    output.data.cos().sum().backward()
    weights = list(module.parameters())
    alone = [
        hotaru.autograd.grad(module(part)[0].cos().sum(), weights) for part in parts
    ]
    for weight, expected in zip(weights, zip(*alone)):
        hotaru.testing.assert_close(weight.grad_sample, hotaru.stack(expected))


def test_a_weight_used_twice(hotaru):
    linear = hotaru.nn.Linear(2, 2)

    class Twice(hotaru.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear

        def forward(self, x):
            return self.linear(self.linear(x))

    check(hotaru, Twice(), hotaru.randn(3, 2))


def test_frozen_weights(hotaru):
    linear = hotaru.nn.Linear(2, 2)
    linear.bias.requires_grad_(False)
    by_sample(hotaru)(linear)(hotaru.ones(3, 2)).sum().backward()
    assert linear.weight.grad_sample.shape == (3, 2, 2)
    assert not hasattr(linear.bias, "grad_sample")


def test_errors(hotaru):
    from hotaru.nn.utils._expanded_weights import ExpandedWeight

    F = hotaru.nn.functional
    call = by_sample(hotaru)
    linear = hotaru.nn.Linear(2, 2)
    x = hotaru.ones(3, 2)
    weight = ExpandedWeight(linear.weight, 3, "sum")
    with pytest.raises(RuntimeError, match="cannot handle function add"):
        weight + 1
    with pytest.raises(RuntimeError, match="batch size of 2 with Expanded"):
        F.linear(x[:2], weight)
    with pytest.raises(RuntimeError, match="at least rank 2, got of rank 1"):
        F.linear(x[0], weight)
    mixed = F.linear(x, weight, linear.bias)
    with pytest.raises(RuntimeError, match="mixture of ExpandedWeight"):
        mixed.sum().backward()
    other = ExpandedWeight(linear.bias, 3, "mean")
    with pytest.raises(RuntimeError, match="the same loss_reduction"):
        F.linear(x, weight, other)
    with pytest.raises(RuntimeError, match="size 3 and one with batch size 2"):
        call(hotaru.nn.Linear(2, 2))(x, hotaru.ones(2))
    with pytest.raises(RuntimeError, match="to be sum or mean, got max"):
        call(linear, loss_reduction="max")
    linear.weight.grad_sample = None
    call(linear)(x).sum().backward()
    with pytest.raises(RuntimeError, match="incorrect for multiple calls"):
        call(linear)
    with pytest.raises(NotImplementedError, match="sparse=False"):
        call(hotaru.nn.Embedding(3, 2, sparse=True))(hotaru.tensor([[1]]))
