"""Parts of networks on CUDA, beside the CPU's results.

Convolution, recurrent layers and losses with their gradients, and the
three networks of the article on `torch.cuda.make_graphed_callables`, run one
operator at a time.
"""

from __future__ import annotations

import math

import pytest
from nearness import DTYPES, assert_near, random


def product(sizes) -> int:
    """Positions of one channel, or one filter."""
    return math.prod(sizes) // max(sizes[1], 1)


# Sizes of x and w and what the convolution is told.
CONVOLUTIONS = [
    ((2, 3, 9), (4, 3, 3), {}),
    ((1, 4, 11), (6, 2, 3), {"stride": 2, "groups": 2, "padding": 1}),
    ((2, 1, 28, 27), (5, 1, 3, 3), {}),
    ((3, 4, 7, 10), (6, 4, 3, 2), {"stride": (2, 3), "padding": (1, 0)}),
    ((2, 6, 9, 8), (4, 3, 3, 3), {"groups": 2, "dilation": 2, "padding": 2}),
    ((2, 5, 6, 7), (5, 1, 3, 3), {"groups": 5, "padding": 1}),
    ((2, 3, 5, 5), (4, 3, 1, 1), {"stride": 2}),
    ((2, 3, 8, 8), (2, 3, 4, 1), {"dilation": (1, 7), "padding": (9, 4)}),
    ((1, 2, 5, 6, 7), (3, 2, 2, 3, 3), {"stride": (1, 2, 3), "padding": 1}),
    ((0, 3, 9, 9), (4, 3, 3, 3), {}),
    ((2, 0, 9, 9), (4, 0, 3, 3), {}),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("x", "w", "options"), CONVOLUTIONS, ids=str)
def test_convolution(hotaru, near, x, w, options, dtype):
    f = getattr(hotaru.nn.functional, f"conv{len(x) - 2}d")
    tensors = [random(hotaru, *s, dtype=dtype) for s in (x, w, w[:1])]
    # A weight's gradient sums up over pictures, a pixel over the kernel and
    # channels, a bias's over pictures and pixels; numbers are of size 1.
    pixels = (x[0], *x[2:])
    terms = max(*(product(s) for s in (x, w, pixels)), 1)
    near(lambda *a: f(*a, **options), *tensors, terms=terms, scale=terms)
    near(lambda a, b: f(a, b, **options), *tensors[:2], terms=terms, scale=terms)


TRANSPOSED = [
    ((2, 3, 7), (3, 4, 3), {"stride": 2, "output_padding": 1}),
    ((2, 4, 5, 6), (4, 3, 3, 2), {"stride": (2, 3), "padding": 1}),
    ((1, 6, 5, 4), (6, 2, 3, 3), {"groups": 3, "dilation": 2}),
    ((1, 2, 3, 4, 3), (2, 3, 2, 2, 3), {"stride": 2}),
    ((2, 2, 3, 3), (2, 2, 2, 2), {"stride": 4, "output_padding": 3}),
    ((0, 3, 7), (3, 4, 3), {}),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("x", "w", "options"), TRANSPOSED, ids=str)
def test_transposed_convolution(hotaru, near, x, w, options, dtype):
    f = getattr(hotaru.nn.functional, f"conv_transpose{len(x) - 2}d")
    bias = (w[1] * options.get("groups", 1),)
    tensors = [random(hotaru, *s, dtype=dtype) for s in (x, w, bias)]
    near(lambda *a: f(*a, **options), *tensors, terms=60, scale=60)


def test_convolution_of_odd_layouts(hotaru, near):
    x = random(hotaru, 2, 9, 11, 6)[:, 1::2, 1:].permute(0, 3, 1, 2)
    w = random(hotaru, 3, 6, 3, 3).to(memory_format=hotaru.channels_last)
    near(hotaru.nn.functional.conv2d, x, w, terms=200, scale=200)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("dims", [2, 3])
def test_convolution_of_channels_last(hotaru, near, dims, dtype):
    form = [hotaru.channels_last, hotaru.channels_last_3d][dims - 2]
    f = getattr(hotaru.nn.functional, f"conv{dims}d")
    back = getattr(hotaru.nn.functional, f"conv_transpose{dims}d")
    x = random(hotaru, 2, 4, *[9, 8, 7][:dims], dtype=dtype)
    w = random(hotaru, 4, 2, *[3, 3, 3][:dims], dtype=dtype)
    options = {"groups": 2, "padding": 1, "stride": 2}
    for a, b in ((x.to(memory_format=form), w), (x, w.to(memory_format=form))):
        near(
            lambda *t: f(*t, **options),
            a,
            b,
            b[:, 0].flatten()[:4],
            terms=800,
            scale=800,
        )
        near(lambda *t: back(*t, **options), a, b, terms=800, scale=800)
        # The library's stand-in has no kernel for dilations.
        near(
            lambda *t: f(*t, padding=2, dilation=2, groups=2),
            a,
            b,
            terms=800,
            scale=800,
        )


def test_convolution_of_integers(hotaru, near):
    x = (random(hotaru, 2, 4, 7, 7) * 9).to(hotaru.int64)
    w = (random(hotaru, 6, 2, 3, 3) * 9).to(hotaru.int64)
    near(
        lambda a, b: hotaru.nn.functional.conv2d(a, b, groups=2, padding=1),
        x,
        w,
        gradients=False,
    )


def test_convolution_differentiated_twice(hotaru, cuda):
    x = random(hotaru, 1, 2, 5, 5, dtype="float64").to(cuda).requires_grad_()
    w = random(hotaru, 2, 2, 3, 3, dtype="float64").to(cuda).requires_grad_()
    f = hotaru.nn.functional.conv2d
    g = random(hotaru, 1, 2, 3, 3, dtype="float64").to(cuda).requires_grad_()
    assert hotaru.autograd.gradgradcheck(f, (x, w), g)


def test_convolution_gives_the_same_bits_each_time(hotaru, cuda):
    x = random(hotaru, 4, 3, 17, 17).to(cuda).requires_grad_()
    w = random(hotaru, 5, 3, 3, 3).to(cuda).requires_grad_()
    runs = []
    for _ in range(2):
        y = hotaru.nn.functional.conv2d(x, w, padding=1)
        y = hotaru.nn.functional.max_pool2d(y, 3, 2)
        runs.append(hotaru.autograd.grad(y.sum(), (x, w)))
    for a, b in zip(*runs):
        assert a.cpu().equal(b.cpu())


def test_folding(hotaru, near):
    f = hotaru.nn.functional
    x = random(hotaru, 2, 3, 8, 9)
    options = {"dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)}
    near(lambda a: f.unfold(a, (3, 2), **options), x)
    near(
        lambda a: f.unfold(a, (3, 2), **options), x.half(), terms=6, scale=6, each=True
    )
    columns = f.unfold(x, (3, 2), **options)
    near(lambda a: f.fold(a, (8, 9), (3, 2), **options), columns)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("space", [(), (3, 5), (30, 31)], ids=str)
def test_nll_loss(hotaru, near, reduction, space, dtype):
    f = hotaru.nn.functional
    x = random(hotaru, 6, 5, *space, dtype=dtype)
    target = hotaru.randint(0, 5, (6, *space))
    weight = hotaru.rand(5).to(x.dtype)
    count = target.numel()
    # The sum itself is of the size of its terms, of which each is rounded.
    scale = float(count) if reduction == "sum" else None

    def loss(a, b):
        w = weight.to(a.device)
        return [
            f.nll_loss(a, b, reduction=reduction),
            f.nll_loss(a, b, w, ignore_index=2, reduction=reduction),
            f.nll_loss(a, b.to(hotaru.uint8), w, reduction=reduction),
            f.cross_entropy(a, b, w, reduction=reduction, label_smoothing=0.1),
        ]

    near(loss, x, target, terms=32, scale=scale)


def test_nll_loss_of_nothing(hotaru, near):
    f = hotaru.nn.functional.nll_loss
    x, target = random(hotaru, 0, 5), hotaru.zeros(0, dtype=hotaru.int64)
    near(lambda a, b: f(a, b, reduction="none"), x, target)
    near(lambda a, b: f(a, b, reduction="sum"), x, target)
    near(lambda a, b: f(a, b).isnan(), x, target, gradients=False)
    one, ignored = random(hotaru, 3, 5), hotaru.full((3,), -100)
    near(lambda a, b: f(a, b).isnan(), one, ignored, gradients=False)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_targets_outside(hotaru, cuda, reduction):
    x = random(hotaru, 3, 5).to(cuda)
    for bad in (5, -1):
        target = hotaru.tensor([0, bad, 4], device=cuda)
        loss = hotaru.nn.functional.nll_loss(x, target, reduction=reduction)
        with pytest.raises(IndexError, match=f"Target {bad} is out of bounds."):
            loss.cpu()
    nothing = hotaru.ones(2, 0, device=cuda)
    target = hotaru.zeros(2, dtype=hotaru.int64, device=cuda)
    loss = hotaru.nn.functional.nll_loss(nothing, target, reduction=reduction)
    with pytest.raises(IndexError, match=r"Target 0 is out of bounds."):
        loss.cpu()
    hotaru.ones(2, device=cuda).cpu()


def test_binary_cross_entropy(hotaru, near, cuda):
    f = hotaru.nn.functional.binary_cross_entropy
    x, target = hotaru.rand(7, 9), hotaru.rand(7, 9)
    near(lambda a: f(a, target.to(a.device)), x)
    cases = {(1.5, 0.5): "input", (0.5, -1.0): "target", (2.0, 2.0): "input"}
    for (bad, wanted), name in cases.items():
        loss = f(
            hotaru.tensor([0.5, bad], device=cuda),
            hotaru.tensor([0.5, wanted], device=cuda),
        )
        with pytest.raises(
            RuntimeError, match=f"all elements of {name} should be between 0 and 1"
        ):
            loss.cpu()


LAYERS = {
    "rnn": lambda t, **o: t.nn.RNN(5, 7, **o),
    "relu": lambda t, **o: t.nn.RNN(5, 7, nonlinearity="relu", **o),
    "gru": lambda t, **o: t.nn.GRU(5, 7, **o),
    "lstm": lambda t, **o: t.nn.LSTM(5, 7, **o),
    "projection": lambda t, **o: t.nn.LSTM(5, 7, proj_size=3, **o),
}


def flat(out):
    return [y for x in out for y in (x if isinstance(x, tuple) else (x,))]


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_layers": 2, "bidirectional": True},
        {"bias": False},
        {"batch_first": True},
    ],
    ids=str,
)
def test_recurrent_layers(hotaru, cuda, kind, options):
    results = []
    for device in ("cpu", cuda):
        hotaru.manual_seed(0)
        layer = LAYERS[kind](hotaru, **options).to(device)
        x = random(hotaru, 4, 3, 5).to(device).requires_grad_()
        out = flat(layer(x))
        with hotaru.no_grad():
            plain = flat(layer(x))
        loss = sum((y * y).sum() for y in out)
        leaves = [x, *layer.parameters()]
        results.append(out + plain + list(hotaru.autograd.grad(loss, leaves)))
    for want, got in zip(*results):
        # A unit's error passes through gates whose slope is at most 1.
        assert_near(hotaru, got, want, 200, 30.0)


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_recurrent_cells_and_packed_sequences(hotaru, cuda, kind):
    names = {"rnn": "RNNCell", "gru": "GRUCell", "lstm": "LSTMCell"}
    results = []
    for device in ("cpu", cuda):
        hotaru.manual_seed(0)
        cell = getattr(hotaru.nn, names[kind])(5, 7).to(device)
        layer = LAYERS[kind](hotaru).to(device)
        x = random(hotaru, 4, 3, 5).to(device)
        with hotaru.no_grad():
            out = flat([cell(x[0])])
            packed = hotaru.nn.utils.rnn.pack_padded_sequence(x, [4, 2, 1])
            y, last = layer(packed)
            out += [y.data, *flat([last])]
        results.append(out)
    for want, got in zip(*results):
        assert_near(hotaru, got, want, 100)


def test_batch_norm(hotaru, near):
    f = hotaru.nn.functional.batch_norm
    x, w, b = (random(hotaru, *s) for s in ((4, 3, 5, 7), (3,), (3,)))
    near(
        lambda *a: f(a[0], None, None, a[1], a[2], training=True),
        x,
        w,
        b,
        terms=200,
        scale=30.0,
    )


# The article's networks: it writes no forward(), and the CNN's last layer
# fits pictures of 34 x 34 rather than of 28 x 28.


def networks(t):
    nn = t.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear1 = nn.Linear(10, 64)
            self.relu = nn.ReLU()
            self.linear2 = nn.Linear(64, 10)

        def forward(self, x):
            return self.linear2(self.relu(self.linear1(x)))

    class CNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 32, 3, 1)
            self.relu1 = nn.ReLU()
            self.maxpool1 = nn.MaxPool2d(2)
            self.conv2 = nn.Conv2d(32, 64, 3, 1)
            self.relu2 = nn.ReLU()
            self.maxpool2 = nn.MaxPool2d(2)
            self.fc = nn.Linear(64 * 7 * 7, 10)

        def forward(self, x):
            x = self.maxpool1(self.relu1(self.conv1(x)))
            x = self.maxpool2(self.relu2(self.conv2(x)))
            return self.fc(t.flatten(x, 1))

    class RNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.RNN(64, 32)
            self.fc = nn.Linear(32, 10)

        def forward(self, x):
            return self.fc(self.rnn(x)[0])

    return {
        "MLP": (Net, (10,), (6, 10)),
        "CNN": (CNN, (1, 1, 34, 34), (3, 1, 34, 34)),
        "RNN": (RNN, (10, 64), (10, 64)),
    }


# Products that one number of a network's result depends on through its longest
# path: a layer's error is at most that many roundings of its sums, and weights
# are drawn so small that layers do not make what comes to them larger.
DEPTH = {"MLP": 10 + 64, "CNN": 9 + 9 * 32 + 64 * 49, "RNN": 10 * 96 + 32}


@pytest.mark.parametrize("name", DEPTH)
def test_networks_of_the_article(hotaru, cuda, name):
    network, size, batch = networks(hotaru)[name]
    hotaru.manual_seed(0)
    ours = network()
    theirs = network()
    theirs.load_state_dict(ours.state_dict())
    theirs.cuda()
    x = random(hotaru, *size)
    assert_near(hotaru, theirs(x.to(cuda)), ours(x), DEPTH[name])

    losses = []
    for net, device in ((ours, "cpu"), (theirs, cuda)):
        x = random(hotaru, *batch).to(device)
        target = (hotaru.arange(batch[0]) % 10).to(device)
        optimizer = hotaru.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        mine = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = hotaru.nn.functional.cross_entropy(net(x), target)
            loss.backward()
            optimizer.step()
            mine.append(loss.detach())
        losses.append(mine)
    for want, got in zip(*losses):
        assert_near(hotaru, got, want, 3 * DEPTH[name])
    assert float(losses[0][2]) < float(losses[0][0])
    for want, got in zip(ours.parameters(), theirs.parameters()):
        assert_near(hotaru, got.detach(), want.detach(), 3 * DEPTH[name])


def test_the_articles_pictures_are_too_small(hotaru, cuda):
    network, *_ = networks(hotaru)["CNN"]
    with pytest.raises(RuntimeError, match="1x1600 and 3136x10"):
        network().cuda()(random(hotaru, 1, 1, 28, 28).to(cuda))
