"""Mixed precision on CUDA: the lists' operators one by one, and training.

The oracle has no CUDA: what each list does to its operators is PyTorch's
documentation, and values are those of the same call with tensors of that dtype.
"""

from __future__ import annotations

import pytest
from amp_eval import names

LOWER = [
    "T.mm(x(3, 4), x(4, 2))",
    "x(3, 4) @ x(4, 2)",
    "T.mv(x(3, 4), x(4))",
    "T.bmm(x(2, 3, 4), x(2, 4, 2))",
    "T.addmm(x(3, 2), x(3, 4), x(4, 2))",
    "T.addmv(x(3), x(3, 4), x(4))",
    "T.addr(x(3, 2), x(3), x(2))",
    "T.addbmm(x(3, 2), x(2, 3, 4), x(2, 4, 2))",
    "T.baddbmm(x(2, 3, 2), x(2, 3, 4), x(2, 4, 2))",
    "T.einsum('ij,jk->ik', x(2, 3), x(3, 2))",
    "T.einsum('ij->i', x(2, 3))",
    "T.chain_matmul(x(2, 3), x(3, 2))",
    "T.matrix_power(x(2, 2), 2)",
    "F.linear(x(3, 4), x(2, 4), x(2))",
    "F.conv1d(x(1, 2, 5), x(3, 2, 2), x(3))",
    "F.conv2d(x(1, 2, 4, 4), x(3, 2, 2, 2), x(3))",
    "F.conv3d(x(1, 1, 3, 3, 3), x(2, 1, 2, 2, 2), x(2))",
    "F.conv_transpose1d(x(1, 2, 4), x(2, 3, 2), x(3))",
    "F.conv_transpose2d(x(1, 2, 3, 3), x(2, 3, 2, 2), x(3))",
    "F.conv_transpose3d(x(1, 1, 2, 2, 2), x(1, 2, 2, 2, 2), x(2))",
    "F.prelu(x(2, 3), x(3))",
    "F.scaled_dot_product_attention(x(1, 2, 3, 4), x(1, 2, 3, 4), x(1, 2, 3, 4))",
    "T.gru_cell(x(2, 3), x(2, 2), x(6, 3), x(6, 2), x(6), x(6))",
    "T.lstm_cell(x(2, 3), (x(2, 2), x(2, 2)), x(8, 3), x(8, 2), x(8), x(8))[0]",
    "T.rnn_tanh_cell(x(2, 3), x(2, 2), x(2, 3), x(2, 2), x(2), x(2))",
    "T.rnn_relu_cell(x(2, 3), x(2, 2), x(2, 3), x(2, 2), x(2), x(2))",
]
FLOAT = [
    "T.acos(x(3))",
    "T.asin(x(3))",
    "T.cosh(x(3))",
    "T.sinh(x(3))",
    "T.tan(x(3))",
    "x(3).exp()",
    "T.expm1(x(3))",
    "p(3).log()",
    "p(3).log10()",
    "p(3).log2()",
    "p(3).log1p()",
    "p(3).reciprocal()",
    "1 / p(3)",
    "p(3).rsqrt()",
    "x(3) ** 2",
    "2 ** x(3)",
    "p(3) ** x(3)",
    "T.pow(p(3), 1.5)",
    "x(3).square()",
    "F.softplus(x(3))",
    "F.layer_norm(x(2, 3), (3,), x(3), x(3))",
    "F.group_norm(x(2, 4), 2)",
    "F.rms_norm(x(2, 3), (3,))",
    "F.cosine_similarity(x(2, 3), x(2, 3, start=3))",
    "F.poisson_nll_loss(x(3), p(3))",
    "F.cosine_embedding_loss(x(2, 3), x(2, 3, start=3), t([1, -1]))",
    "F.nll_loss(x(3, 4), t([0, 1, 2]))",
    "F.nll_loss(x(1, 3, 2, 2), t([[[0, 1], [2, 0]]]))",
    "F.cross_entropy(x(3, 4), t([0, 1, 2]))",
    "F.hinge_embedding_loss(x(3), t([1, -1, 1]))",
    "F.kl_div(x(3), p(3))",
    "F.l1_loss(x(3), x(3, start=3))",
    "F.smooth_l1_loss(x(3), x(3, start=3))",
    "F.huber_loss(x(3), x(3, start=3))",
    "F.mse_loss(x(3), x(3, start=3))",
    "F.margin_ranking_loss(x(3), x(3, start=3), t([1, -1, 1]))",
    "F.soft_margin_loss(x(3), t([1, -1, 1]))",
    "F.triplet_margin_loss(x(2, 3), x(2, 3, start=3), x(2, 3, start=7))",
    "F.binary_cross_entropy_with_logits(x(3), p(3))",
    "T.dist(x(3), x(3, start=3))",
    "x(2, 3).logsumexp(1)",
    "F.interpolate(x(1, 1, 4), scale_factor=2.0)",
    "F.interpolate(x(1, 1, 2, 2), scale_factor=2.0)",
    "F.interpolate(x(1, 1, 2, 2), scale_factor=2.0, mode='bilinear')",
    "F.interpolate(x(1, 1, 2, 2), scale_factor=2.0, mode='bicubic')",
    # With a dtype: sums and their like.
    "x(3).prod()",
    "x(2, 3).prod(1)",
    "x(2, 3).softmax(1)",
    "F.softmax(x(2, 3), 1)",
    "x(2, 3).log_softmax(1)",
    "x(2, 3).cumsum(1)",
    "x(2, 3).cumprod(1)",
    "x(2, 3).sum()",
    "x(2, 3).sum(1)",
    "x(2, 3).norm()",
    "x(2, 3).norm(dim=1)",
    "T.norm(x(2, 3), 1)",
    "T.linalg.vector_norm(x(3))",
    "F.normalize(x(2, 3)).norm()",
    "F.pairwise_distance(x(2, 3), x(2, 3, start=3))",
    "T.trapezoid(x(3))",
    "T.trapezoid(x(3), x(3))",
    "T.cumulative_trapezoid(x(3))",
    "T.cumulative_trapezoid(x(3), x(3))",
    "T.renorm(x(2, 3), 2, 0, 0.5)",
]
PROMOTE = [
    "T.addcdiv({}(3), x(3), x(3, start=2))",
    "T.addcmul({}(3), x(3), x(3, start=2))",
    "T.atan2({}(3), x(3, start=2))",
    "F.bilinear({}(2, 3), x(2, 2), x(2, 3, 2))",
    "T.cross({}(3), x(3, start=2), dim=0)",
    "T.dot({}(3), x(3))",
    "T.vdot({}(3), x(3))",
    "T.inner({}(2, 3), x(2, 3))",
    "T.tensordot({}(2, 3), x(3, 2), 1)",
    "{}(3).index_put((t([0]),), x(1))",
    "T.scatter_add({}(3), 0, t([0]), x(1))",
]
NEITHER = [
    "x(3) + x(3)",
    "x(3).relu()",
    "F.gelu(x(3))",
    "x(3).mean()",
    "x(3).abs()",
    "F.max_pool2d(x(1, 1, 4, 4), 2)",
    "F.embedding(t([0, 1]), x(2, 3))",
    "T.cat([x(2), x(2)])",
    "F.batch_norm(x(2, 3), x(3), p(3))",
    "T.mm(x(2, 2), x(2, 2), out=T.empty(2, 2, dtype=x(1).dtype))",
    "x(2, 2).clone().addmm_(x(2, 2), x(2, 2))",
]


@pytest.fixture
def evaluate(hotaru, cuda):
    """The value of an expression of tensors of a dtype, taken in another."""

    def run(text: str, dtype, taken=None, low=None):
        with hotaru.device("cuda"):
            scope = names(hotaru, dtype)
            if taken is not None:
                for name in "xp":
                    make = scope[name]
                    scope[name] = lambda *a, make=make, **k: make(*a, **k).to(taken)
            if low is None:
                return eval(text, scope)
            with hotaru.autocast("cuda", dtype=low):
                return eval(text, scope)

    return run


def same(got, want) -> None:
    assert got.dtype == want.dtype
    assert got.device.type == "cuda"
    assert (got - want).abs().float().max().item() <= 2e-3 * (
        1 + want.abs().float().max().item()
    )


@pytest.mark.parametrize("text", LOWER)
def test_lower(hotaru, evaluate, text):
    for low in (hotaru.float16, hotaru.bfloat16):
        for dtype in (hotaru.float32, hotaru.float16):
            got = evaluate(text, dtype, low=low)
            assert got.dtype == low
            same(got, evaluate(text, dtype, taken=low))
    double = evaluate(text, hotaru.float64, low=hotaru.float16)
    assert double.dtype == hotaru.float64


@pytest.mark.parametrize("text", FLOAT)
def test_float(hotaru, evaluate, text):
    for dtype in (hotaru.float32, hotaru.float16, hotaru.bfloat16):
        got = evaluate(text, dtype, low=hotaru.float16)
        assert got.dtype == hotaru.float32
        same(got, evaluate(text, dtype, taken=hotaru.float32))


@pytest.mark.parametrize("text", PROMOTE)
def test_promote(hotaru, evaluate, text):
    half, single = hotaru.float16, hotaru.float32
    assert evaluate(text.format("f"), half, low=half).dtype == single
    assert evaluate(text.format("x"), single, low=half).dtype == single
    got = evaluate(text.format("x"), half, low=half)
    same(got, evaluate(text.format("x"), half))


@pytest.mark.parametrize("text", NEITHER)
def test_neither(hotaru, evaluate, text):
    for dtype in (hotaru.float32, hotaru.float16):
        got = evaluate(text, dtype, low=hotaru.float16)
        same(got, evaluate(text, dtype))


def test_given_dtype_stays(hotaru, evaluate):
    text = "x(2, 3).softmax(1, dtype=T.float16)"
    got = evaluate(text, hotaru.float16, low=hotaru.float16)
    assert got.dtype == hotaru.float16


def test_banned(hotaru, cuda):
    p = hotaru.full((3,), 0.5, device=cuda)
    with hotaru.autocast("cuda"):
        with pytest.raises(RuntimeError, match="are unsafe to autocast"):
            hotaru.nn.functional.binary_cross_entropy(p, p)
        with hotaru.autocast("cuda", enabled=False):
            loss = hotaru.nn.functional.binary_cross_entropy(p, p)
        assert loss.dtype == hotaru.float32
        # The CPU's list has it in float32.
        assert hotaru.nn.functional.binary_cross_entropy(p.cpu(), p.cpu())


def test_devices_are_apart(hotaru, cuda):
    here, there = hotaru.ones(2, 2), hotaru.ones(2, 2, device=cuda)
    with hotaru.autocast("cuda"):
        assert (here @ here).dtype == hotaru.float32
        assert (there @ there).dtype == hotaru.float16
        with hotaru.autocast("cpu"):
            assert (here @ here).dtype == hotaru.bfloat16
            assert (there @ there).dtype == hotaru.float16
        assert (here @ here).dtype == hotaru.float32
    with hotaru.autocast("cpu"):
        assert (there @ there).dtype == hotaru.float32


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
def test_layers_are_in_one_piece(hotaru, cuda, layer):
    hotaru.manual_seed(0)
    net = getattr(hotaru.nn, layer)(3, 2).to(cuda)
    x = hotaru.ones(4, 1, 3, device=cuda)
    with hotaru.autocast("cuda"):
        y, h = net(x)
    assert y.dtype == hotaru.float16
    assert {t.dtype for t in (h if layer == "LSTM" else (h,))} == {y.dtype}
    y.float().sum().backward()
    assert net.weight_ih_l0.grad.dtype == hotaru.float32
    want, _ = net(x)
    assert (y - want).abs().max() < 5e-3


def test_scaler_overflows_and_recovers(hotaru, cuda):
    t = hotaru
    t.manual_seed(0)
    net = t.nn.Sequential(t.nn.Linear(4, 8), t.nn.Tanh(), t.nn.Linear(8, 1))
    net.to(cuda)
    x = t.randn(64, 4).to(cuda)
    y = x.sum(1, keepdim=True).tanh()
    optimizer = t.optim.SGD(net.parameters(), lr=0.2)
    scaler = t.amp.GradScaler("cuda", init_scale=2.0**40, growth_interval=20)
    losses, skipped = [], 0
    for _ in range(80):
        optimizer.zero_grad()
        with t.autocast("cuda"):
            out = net(x)
            assert out.dtype == t.float16
            loss = t.nn.functional.mse_loss(out, y)
            assert loss.dtype == t.float32
        before = net[0].weight.detach().clone()
        scale = scaler.get_scale()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() < scale:
            skipped += 1
            assert (net[0].weight == before).all()
        losses.append(loss.item())
    # 2**40 overflows float16 until it is some 2**16.
    assert 15 < skipped < 40
    assert losses[-1] < losses[0] / 4
    assert all(p.isfinite().all() for p in net.parameters())


def test_scaling_operators_wait_for_nothing(hotaru, cuda):
    """The results stay on the device: the values come when asked for."""
    t = hotaru
    grads = [t.ones(5, device=cuda) * 4, t.tensor([1.0, float("inf")]).to(cuda)]
    found = t.zeros((), device=cuda)
    inverse = t.tensor(0.25, device=cuda)
    t._amp_foreach_non_finite_check_and_unscale_(grads, found, inverse)
    scale = t.tensor(8.0, device=cuda)
    tracker = t.tensor(3, device=cuda, dtype=t.int32)
    t._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 4)
    assert [g.tolist() for g in grads] == [[1.0] * 5, [0.25, float("inf")]]
    assert [found.item(), scale.item(), tracker.item()] == [1.0, 4.0, 0]
    with pytest.raises(RuntimeError, match="to be on the same device"):
        t._amp_foreach_non_finite_check_and_unscale_(grads, t.zeros(1), inverse)


def test_deprecated_names(hotaru):
    with pytest.warns(FutureWarning, match="torch.amp.autocast"):
        scope = hotaru.cuda.amp.autocast(dtype=hotaru.bfloat16)
    with scope:
        assert hotaru.is_autocast_enabled()
        assert hotaru.get_autocast_dtype("cuda") == hotaru.bfloat16
    with pytest.warns(FutureWarning, match="torch.amp.GradScaler"):
        assert hotaru.cuda.amp.GradScaler().is_enabled()
    assert not hotaru.cuda.amp.amp_definitely_not_available()


def test_scaler_of_two_devices(hotaru, two_devices):
    t = hotaru
    params = [t.nn.Parameter(t.ones(2, device=f"cuda:{i}")) for i in (0, 1)]
    optimizer = t.optim.SGD(params, lr=1.0)
    scaler = t.amp.GradScaler("cuda", init_scale=4.0)

    def step(factor: float) -> None:
        optimizer.zero_grad()
        losses = scaler.scale([params[0].sum(), params[1].sum() * factor])
        for loss in losses:
            loss.backward()
        scaler.step(optimizer)
        scaler.update()

    step(2.0)
    assert [p.tolist() for p in params] == [[0.0] * 2, [-1.0] * 2]
    # Infinities on one device keep both where they are.
    step(float("inf"))
    assert [p.tolist() for p in params] == [[0.0] * 2, [-1.0] * 2]
    assert scaler.get_scale() == 2.0
