"""`compile(backend="xla")`: text, results, and what runs as it is."""

from __future__ import annotations

import importlib.util
import re
import warnings

import hotaru.nn.functional as F
import pytest
from hotaru._xla import NotWritten, operators
from hotaru._xla.program import write
from hotaru.graphs import _tree
from xla_networks import NETWORKS, network

import hotaru as torch
from hotaru import nn

needs_jaxlib = pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None,
    reason="jaxlib is not installed (pip install jaxlib)",
)


def text_of(function, *args) -> str:
    """The StableHLO of a call."""
    leaves: list = []
    form = _tree.flatten((args, {}), leaves)
    owners = [function] if isinstance(function, nn.Module) else []
    return write(function, owners, form, leaves)[0]


def leaves_of(value) -> list:
    leaves: list = []
    _tree.flatten(value, leaves)
    return leaves


def check(function, *args, tolerance=1e-5):
    """The function by XLA gives what it gives, twice."""
    run = torch.compile(function, backend="xla", fullgraph=True)
    with torch.no_grad():
        for _ in range(2):
            found, wanted = leaves_of(run(*args)), leaves_of(function(*args))
            assert len(found) == len(wanted)
            for a, b in zip(found, wanted):
                assert a.shape == b.shape
                assert a.dtype == b.dtype
                if not b.is_floating_point() or not b.numel():
                    assert torch.equal(a, b)
                    continue
                largest = b.abs().max().item()
                close = torch.isclose(
                    a, b, rtol=0, atol=tolerance * largest, equal_nan=True
                )
                assert close.all(), (a - b).abs().max()
    return run


# --- the text, which needs no jaxlib ---


def test_text_of_a_layer():
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU(inplace=True)).eval()
    assert text_of(model, torch.ones(4, 3)) == (
        "module @hotaru {\n"
        "  func.func public @main(%arg0: tensor<4x3xf32>, "
        "%arg1: tensor<2x3xf32>, %arg2: tensor<2xf32>) -> "
        "(tensor<4x2xf32>) {\n"
        "    %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = "
        "[1] x [1] : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>\n"
        "    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : "
        "(tensor<2xf32>) -> tensor<4x2xf32>\n"
        "    %3 = stablehlo.add %1, %2 : tensor<4x2xf32>\n"
        "    %4 = stablehlo.constant dense<0.0> : "
        "tensor<4x2xf32>\n"
        "    %5 = stablehlo.maximum %3, %4 : tensor<4x2xf32>\n"
        "    return %5 : tensor<4x2xf32>\n"
        "  }\n"
        "}\n"
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_text_of_networks_uses_what_it_names(name):
    model, inputs = network(name)
    text = text_of(model, inputs(2))
    named = set(re.findall(r"(%\d+)(?::\d+)? = ", text))
    named |= set(re.findall(r"(%\d+): tensor", text))
    used = set(re.findall(r"%\d+", text))
    assert len(named) > 5
    assert used == named


def test_sizes_and_branches_leave_no_trace():
    @torch.jit.script
    def f(x, flag: bool):
        n = x.size(0)
        if n > 3 and flag:
            return x * n
        for i in range(n):
            if i == 2:
                break
            x = x + 1
            if i == 1:
                continue
            x = x * 2
        return x

    text = text_of(f, torch.ones(5), True)
    assert text.count("stablehlo.multiply") == 1
    assert "stablehlo.add" not in text
    text = text_of(f, torch.ones(3), True)
    assert text.count("stablehlo.add") == 2
    assert text.count("stablehlo.multiply") == 1


def test_operators_are_listed():
    names = operators()
    assert names == sorted(names)
    assert {"add", "conv2d", "lstm", "linear"} <= set(names)


def test_errors_name_operator_and_line():
    def f(x):
        y = x * 2
        return torch.sort(y)[0]

    line = f.__code__.co_firstlineno + 2
    with pytest.raises(NotWritten) as caught:
        text_of(f, torch.ones(3))
    assert "aten::sort" in str(caught.value)
    assert f'File "{__file__}", line {line}' in str(caught.value)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x if x.sum() > 0 else -x, "a tensor to a Python boolean"),
        (lambda x: x * x.sum().item(), "a tensor to a Python number"),
        (lambda x: x + torch.rand(3), "draws random numbers"),
        (lambda x: F.dropout(x, 0.5, True), "draws random numbers"),
        (lambda x: x.mul_(2), "it writes an argument"),
        (lambda x: x[0].mul_(2), "it writes an argument"),
        (lambda x: x[x > 0], "any size"),
        (lambda x: x.reshape(3, 1).add_(1) + x, "argument"),
    ],
)
def test_refused(function, reason):
    with pytest.raises(NotWritten, match=reason):
        text_of(function, torch.ones(3))


def test_batch_norm_in_training_is_refused():
    with pytest.raises(NotWritten, match="num_batches_tracked"):
        text_of(nn.BatchNorm1d(3), torch.ones(4, 3))


def test_memory_that_may_be_shared_is_not_read_again():
    def f(x):
        y = x * 2
        y.transpose(0, 1).reshape(-1).add_(1)
        return y

    with pytest.raises(NotWritten, match="another name"):
        text_of(f, torch.ones(2, 3))


def test_without_jaxlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install jaxlib"):
        torch.compile(lambda x: x, backend="xla")


# --- results ---


@needs_jaxlib
@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name):
    model, inputs = network(name)
    run = torch.compile(model, backend="xla", fullgraph=True)
    with torch.no_grad():
        for batch in (2, 5):
            x = inputs(batch)
            found, wanted = leaves_of(run(x)), leaves_of(model(x))
            for a, b in zip(found, wanted, strict=True):
                assert a.shape == b.shape
                assert a.dtype == b.dtype
                largest = max(b.abs().max().item(), 1e-30)
                assert (a - b).abs().max().item() <= 1e-4 * largest


X = torch.linspace(-2, 3, 24).reshape(2, 3, 4)
I = torch.tensor([[0, 2], [1, 0]])
K = torch.tensor([7, -7, 3, 0])

OPERATORS = {
    "arithmetic": lambda x: (x + 1, 2 - x, x * x, x / 3, x**2, x**3, -x),
    "rounding": lambda x: (x.floor(), x.ceil(), x.round(), x.trunc()),
    "division": lambda x: (
        x // 0.7,
        x % 0.7,
        torch.fmod(x, 0.7),
        K // 2,
        K % 3,
        K / 2,
        torch.div(K, 2, rounding_mode="trunc"),
    ),
    "functions": lambda x: (
        x.exp(),
        x.abs().log1p(),
        x.sin(),
        x.cos(),
        x.erf(),
        x.tanh(),
        x.sigmoid(),
        x.expm1(),
        x.exp2(),
        x.square(),
        x.sign(),
        (x.abs() + 1).rsqrt(),
        (x.abs() + 1).log2(),
        torch.atan2(x, x + 1),
    ),
    "activations": lambda x: (
        F.relu6(x),
        F.elu(x),
        F.selu(x),
        F.celu(x, 0.5),
        F.softplus(x),
        F.logsigmoid(x),
        F.mish(x),
        F.silu(x),
        F.hardswish(x),
        F.gelu(x),
        F.hardtanh(x),
        F.leaky_relu(x, 0.3),
        F.glu(x),
        F.hardsigmoid(x),
        F.gelu(x, approximate="tanh"),
    ),
    "comparisons": lambda x: (
        x > 0,
        x <= 0.5,
        x == x,
        (x > 0) & (x < 1),
        ~(x > 0),
        x.isnan(),
        torch.where(x > 0, x, 0.0),
        x.clamp(-1, 1),
        x.clamp(min=0),
        torch.maximum(x, -x),
        torch.logical_or(x > 1, x < 0),
    ),
    "dtypes": lambda x: (
        x.double() + 1,
        x.int() + 0.5,
        (x > 0) + 1,
        (x > 0) * x,
        x.to(torch.int64) + 1,
        x + torch.tensor(1.0, dtype=torch.float64),
    ),
    "shapes": lambda x: (
        x.view(6, 4),
        x.reshape(-1),
        x.permute(2, 0, 1),
        x.mT,
        x[:, 1],
        x[..., ::2],
        x[:, -1:],
        x.unsqueeze(1).expand(2, 5, 3, 4),
        x.repeat(2, 1, 2),
        x.flip(1),
        x.roll(1, 2),
        x.roll(5),
        x.squeeze(),
        torch.cat([x, x], 1),
        torch.stack([x, x], -1),
        x.movedim(0, 2),
        F.pad(x, (1, 2, 0, 1), value=3),
        x.unflatten(2, (2, 2)),
        *x.chunk(2, 1),
        *x.split([1, 3], 2),
        *x.unbind(0),
        x.narrow(1, 1, 2),
    ),
    "reductions": lambda x: (
        x.sum(),
        x.sum(1),
        x.mean((0, 2), keepdim=True),
        x.var(1),
        x.std(),
        x.amax(2),
        x.max(1),
        x.min(),
        x.argmin(1),
        x.argmax(),
        x.prod(0),
        (x > 0).any(1),
        (x > 0).sum(),
        x.norm(),
        x.logsumexp(1),
        x.cumsum(1),
        x.var(1, correction=0),
        (x > 0).all(),
    ),
    "softmax": lambda x: (x.softmax(0), F.log_softmax(x, -1)),
    "products": lambda x: (
        x @ x.mT,
        x[0] @ x[0, 0],
        x @ x[0].T,
        x[0, 0] @ x.mT,
        torch.einsum("bij,bkj->bik", x, x),
        torch.einsum("bij->ji", x),
        torch.einsum("bij,jk->bk", x, x[0].T),
        torch.outer(x[0, 0], x[0, 1]),
        torch.addmm(x[0, :, :3], x[0], x[1].T, beta=0.5, alpha=2),
        torch.baddbmm(x[:, :, :3], x, x.mT),
    ),
    "indices": lambda x: (
        x[:, I],
        x[I[1], I[0]],
        x[:, I[0], I[1]],
        x[I[1], :, I[0]],
        x.index_select(1, I[0]),
        x.gather(2, I[:, None, :]),
        x[[0, -1]],
        F.one_hot(I, 4),
        x.tril(),
        x.triu(1),
        x.masked_fill(x > 0, float("-inf")),
    ),
    "creation": lambda x: (
        x + torch.arange(x.shape[-1]),
        torch.zeros_like(x),
        x.new_ones(2),
        torch.full_like(x, 3.5),
        x + torch.ones(x.shape[0], 1, 1),
    ),
    "pools": lambda x: (
        F.avg_pool1d(x, 3, 2, 1, ceil_mode=True),
        F.avg_pool1d(x, 3, 2, 1, count_include_pad=False),
        F.max_pool1d(x, 2, ceil_mode=True),
        F.adaptive_avg_pool1d(x, 3),
        F.max_pool2d(x[None], (2, 3), 1, (1, 1)),
        F.max_pool2d(x, 2),
    ),
    "resampling": lambda x: (
        F.interpolate(x, scale_factor=2.0),
        F.interpolate(x, 7),
        F.interpolate(x[None], (5, 3)),
        F.interpolate(x[None], (5, 6), mode="bilinear"),
        F.interpolate(x, 9, mode="linear", align_corners=True),
        F.interpolate(x[None], scale_factor=1.7, mode="bilinear"),
    ),
    "norms": lambda x: (
        F.layer_norm(x, (3, 4)),
        F.rms_norm(x, (4,)),
        F.group_norm(x, 3),
        F.instance_norm(x),
        F.normalize(x, dim=1),
        F.batch_norm(x, None, None, training=True),
    ),
    "attention": lambda x: (
        F.scaled_dot_product_attention(x, x, x),
        F.scaled_dot_product_attention(x, x, x, is_causal=True),
        F.scaled_dot_product_attention(x, x, x, X[0, :, :3] > 0, scale=0.3),
        F.scaled_dot_product_attention(x, x, x, X[0, :, :3]),
    ),
}


@needs_jaxlib
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    check(OPERATORS[name], X)


CELLS = {
    "lstm": nn.LSTM(4, 5, 2),
    "lstm unbatched": nn.LSTM(4, 5, bias=False),
    "gru": nn.GRU(4, 5, 2, batch_first=True, bidirectional=True),
    "rnn": nn.RNN(4, 5, nonlinearity="relu"),
    "lstm cell": nn.LSTMCell(4, 5),
    "gru cell": nn.GRUCell(4, 5),
}


@needs_jaxlib
@pytest.mark.parametrize("name", CELLS)
def test_recurrent_layers(name):
    whole = name in ("lstm", "gru", "rnn")
    check(CELLS[name].eval(), X if whole else X[0])


CONVOLUTIONS = {
    "grouped": nn.Conv1d(4, 6, 3, 2, 1, 2, 2),
    "depthwise": nn.Conv1d(4, 4, 5, 2, 3, 2, 4),
    "same": nn.Conv1d(4, 5, 4, padding="same"),
    "reflected": nn.Conv1d(4, 4, 3, padding=2, padding_mode="zeros"),
    "transposed": nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, 2, dilation=2),
}


@needs_jaxlib
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    check(CONVOLUTIONS[name], X.mT.repeat(1, 1, 4))
    check(CONVOLUTIONS[name], X[0].T.repeat(1, 4))


@needs_jaxlib
def test_writes_are_seen_by_every_name():
    def f(x):
        y = x * 1
        part = y[:, 1]
        part.add_(10)
        y[:, 2:] = 0
        turned = y.transpose(1, 2)
        turned[0].mul_(3)
        flat = y.view(-1)
        flat[:2] = -1
        same = y
        same += 1
        return y, part, turned, flat

    check(f, X)


@needs_jaxlib
def test_weights_changed_in_place_or_replaced_are_seen():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)).eval()
    run = check(model, X)
    with torch.no_grad():
        model[0].weight.mul_(3)
        assert torch.allclose(run(X), model(X))
        model[0].weight.data = torch.ones(4, 4)
        assert torch.allclose(run(X), model(X))
        model[1].weight.data = torch.ones(4, 2).T  # a copy for XLA
        assert torch.allclose(run(X), model(X))
        model[1].weight.add_(1)
        assert torch.allclose(run(X), model(X))
        model[1] = nn.Linear(4, 3)
        assert torch.allclose(run(X), model(X))


@needs_jaxlib
def test_tensors_from_outside_are_seen():
    factor = torch.ones(4)
    doubled = torch.compile(lambda x: x * (factor * 2), backend="xla", fullgraph=True)
    assert torch.equal(doubled(X), X * 2)
    factor.fill_(4)
    assert torch.equal(doubled(X), X * 8)


@needs_jaxlib
def test_results_are_tensors_of_their_own():
    run = torch.compile(lambda x: (x, x + 0), backend="xla", fullgraph=True)
    x = X.clone()
    same, other = run(x)
    same.zero_()
    other.zero_()
    assert torch.equal(x, X)
    again, _ = run(x)
    assert torch.equal(again, X)


@needs_jaxlib
def test_arguments_as_they_come():
    def f(pair, scale=1.0, *, named):
        return {"sum": pair[0] + pair[1][:, ::2] * scale, "n": named}

    run = torch.compile(f, backend="xla", fullgraph=True)
    for scale in (2.0, 3.0):
        y = torch.cat([X, X], 2).transpose(1, 1)[:, :, 1:]  # not aligned
        given = (X.mT[:, ::2], y.mT.contiguous()[:, 1:5])
        found = run(given, scale, named=7)
        wanted = f(given, scale, named=7)
        assert found["n"] == 7
        assert torch.allclose(found["sum"], wanted["sum"])


@needs_jaxlib
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves(dtype):
    model = nn.Linear(4, 3).to(dtype)
    # Sums of four products, rounded once or at each step: some units of the
    # last of 8 (bfloat16) or 11 bits.
    tolerance = 4 * torch.finfo(dtype).eps
    check(lambda x: model(x).relu(), X.to(dtype), tolerance=tolerance)


@needs_jaxlib
def test_compiled_programs(tmp_path):
    class Scripted(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            if x.dim() == 3:
                for _ in range(2):
                    x = self.layer(x)
            return x

    module = torch.jit.script(Scripted()).eval()
    check(module, X)
    check(torch.jit.freeze(module), X)
    path = str(tmp_path / "program.pt")
    module.save(path)
    check(torch.load_program(path), X)


@needs_jaxlib
def test_compiled_functions_that_return_early_inside_of_others():
    @torch.jit.script
    def scaled(x, n: int):
        if n > 3:
            return x * n
        return x - n

    @torch.jit.script
    def both(x):
        return scaled(x, 4) + scaled(x, 2)

    check(both, X)
    check(lambda x: both(x) * scaled(x, 5), X)


# --- what runs as it is ---


@needs_jaxlib
def test_what_cannot_be_written_runs_as_it_is_with_one_warning():
    calls = []

    def f(x):
        calls.append(1)
        return x.sort(descending=True)[0]

    run = torch.compile(f, backend="xla")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in (2, 3):
            assert torch.equal(run(torch.arange(n)), f(torch.arange(n)))
    assert [str(w.message).partition(" at ")[0] for w in caught] == [
        "compile: f runs without XLA: aten::sort"
    ]
    with pytest.raises(NotWritten, match="aten::sort"):
        torch.compile(f, backend="xla", fullgraph=True)(X)


@needs_jaxlib
def test_gradients_run_as_it_is():
    model = nn.Linear(4, 2)
    run = torch.compile(model, backend="xla")
    with pytest.warns(UserWarning, match="for inference"):
        run(X).sum().backward()
    assert model.weight.grad is not None
    with torch.inference_mode():
        assert torch.allclose(run(X), model(X))


@needs_jaxlib
def test_calls_on_streams_wait_for_their_inputs():
    run = torch.compile(lambda x: x * 2, backend="xla", fullgraph=True)
    slow = torch.eye(300)
    with torch.no_grad():
        run(torch.zeros(4))
        for _ in range(5):
            with torch.cpu.stream(torch.cpu.Stream()):
                product = slow
                for _ in range(10):
                    product = product @ slow
                y = run(torch.zeros(4) + product[0, :1])
            with torch.cpu.stream(torch.cpu.Stream()):
                z = run(y) + 1
            assert z.tolist() == [5.0] * 4


@needs_jaxlib
def test_thread_count_is_that_of_the_package():
    before = torch.get_num_threads()
    run = torch.compile(lambda x: x @ x.mT, backend="xla", fullgraph=True)
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            assert torch.allclose(run(X), X @ X.mT)
            from hotaru._xla import client

            assert client.client().threads == threads
    finally:
        torch.set_num_threads(before)


@needs_jaxlib
def test_options():
    with pytest.raises(ValueError, match="bitwise"):
        torch.compile(lambda x: x, backend="xla", options={"bitwise": True})
