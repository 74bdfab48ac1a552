"""Autocast beside the rest: threads, TorchScript, graphs, streams, autograd."""

from __future__ import annotations

import threading

import outcomes
import pytest


@pytest.fixture
def w(hotaru):
    hotaru.manual_seed(0)
    return hotaru.rand(4, 4, requires_grad=True)


def dtype_of(f) -> str:
    return str(f().dtype).split(".")[-1]


def test_is_of_one_thread(hotaru, w):
    seen = []

    def other() -> None:
        seen.append(hotaru.is_autocast_enabled("cpu"))
        with hotaru.autocast("cpu", dtype=hotaru.float16):
            seen.append(dtype_of(lambda: w @ w))

    with hotaru.autocast("cpu"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        seen.append(dtype_of(lambda: w @ w))
    assert seen == [False, "float16", "bfloat16"]


def test_threads_at_once(hotaru, w):
    """Each with its own state and casts."""
    wrong = []

    def run(low) -> None:
        for _ in range(200):
            with hotaru.autocast("cpu", dtype=low):
                if (w @ w).dtype != low:
                    wrong.append(low)
            if (w @ w).dtype != hotaru.float32:
                wrong.append(hotaru.float32)

    lows = [hotaru.float16, hotaru.bfloat16] * 2
    threads = [threading.Thread(target=run, args=(low,)) for low in lows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_instance_entered_again(hotaru, w):
    """PyTorch leaves autocast on here; see docs/amp.md."""
    scope = hotaru.autocast("cpu")

    @scope
    def depth(n: int):
        return depth(n - 1) if n else dtype_of(lambda: w @ w)

    assert depth(3) == "bfloat16"
    with scope, scope:
        pass
    assert not hotaru.is_autocast_enabled("cpu")
    assert dtype_of(lambda: w @ w) == "float32"


def test_threads_share_an_instance(hotaru, w):
    """Each restores what was before in itself."""
    scope = hotaru.autocast("cpu")
    inside, leave = threading.Event(), threading.Event()
    seen = []

    def other() -> None:
        with hotaru.autocast("cpu", dtype=hotaru.float16):
            with scope:
                inside.set()
                leave.wait(10)
            seen.append(dtype_of(lambda: w @ w))

    thread = threading.Thread(target=other)
    with scope:
        thread.start()
        inside.wait(10)
    assert dtype_of(lambda: w @ w) == "float32"
    leave.set()
    thread.join()
    assert seen == ["float16"]


def test_scopes_left_in_another_order(hotaru):
    a, b = hotaru.autocast("cpu"), hotaru.autocast("cuda", enabled=False)
    a.__enter__()
    b.__enter__()
    a.__exit__(None, None, None)
    assert not hotaru.is_autocast_enabled("cpu")
    b.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="did not enter it"):
        b.__exit__(None, None, None)


def test_casts_of_dtypes_are_apart(hotaru, w):
    """PyTorch gives the outer scope's cast to the inner; see docs/amp.md."""
    with hotaru.autocast("cpu"):
        assert dtype_of(lambda: w @ w) == "bfloat16"
        with hotaru.autocast("cpu", dtype=hotaru.float16):
            assert dtype_of(lambda: w @ w) == "float16"


def test_kept_casts_go_with_the_scope(hotaru):
    """And none is kept of what is no parameter."""
    before = hotaru.cpu.memory_allocated()
    leaf = hotaru.zeros(256, 256, requires_grad=True)
    alone = hotaru.cpu.memory_allocated() - before
    with hotaru.autocast("cpu"):
        hotaru.mm(leaf, leaf)
        assert hotaru.cpu.memory_allocated() - before >= alone * 1.5
        with hotaru.autocast("cpu"):
            hotaru.mm(leaf, leaf)
        assert hotaru.cpu.memory_allocated() - before == alone * 1.5
        kept = hotaru.cpu.memory_allocated()
        hotaru.mm(leaf.detach(), leaf.detach())
        assert hotaru.cpu.memory_allocated() == kept
    assert hotaru.cpu.memory_allocated() - before == alone


def test_error_in_an_operator_leaves_it_on(hotaru, w):
    with hotaru.autocast("cpu"):
        with pytest.raises(RuntimeError):
            hotaru.mm(w, hotaru.ones(3, 3))
        assert hotaru.is_autocast_enabled("cpu")
        assert dtype_of(lambda: w @ w) == "bfloat16"


def test_lists_of_the_caller_stay(hotaru):
    tensors = [hotaru.ones(2), hotaru.ones(2).bfloat16()]
    with hotaru.autocast("cpu"):
        assert hotaru.cat(tensors).dtype == hotaru.float32
    assert [str(t.dtype)[-8:] for t in tensors] == [".float32", "bfloat16"]


def test_script(hotaru, w):
    t = hotaru

    @t.jit.script
    def f(a):
        return t.mm(a, a), t.is_autocast_cpu_enabled(), t.is_autocast_enabled()

    @t.jit.script
    def forked(a):
        task = t.jit.fork(f, a)
        return t.jit.wait(task)

    for g in (f, forked):
        assert [g(w)[0].dtype, *g(w)[1:]] == [t.float32, False, False]
        with t.autocast("cpu"):
            assert [g(w)[0].dtype, *g(w)[1:]] == [t.bfloat16, True, False]
        assert g(w)[0].dtype == t.float32


def test_within_script(hotaru, w):
    t = hotaru

    @t.jit.script
    def f(a):
        with t.autocast("cpu"):
            b = a @ a
            with t.autocast("cpu", dtype=t.float16):
                c = a @ a
            with t.autocast("cpu", enabled=False):
                d = a @ a
            e = a @ a
        return b, c, d, e, a @ a

    want = [t.bfloat16, t.float16, t.float32, t.bfloat16, t.float32]
    for _ in range(3):
        assert [y.dtype for y in f(w)] == want
        assert not t.is_autocast_enabled("cpu")
    with t.autocast("cpu"):
        assert [y.dtype for y in f(w)] == [*want[:4], t.bfloat16]
    sum(y.float().sum() for y in f(w)).backward()
    assert w.grad.dtype == t.float32


def test_errors_within_script(hotaru, w):
    t = hotaru

    @t.jit.script
    def f(a):
        with t.autocast("cpu"):
            return a @ t.ones(3)

    with pytest.raises(RuntimeError):
        f(w)
    assert not t.is_autocast_enabled("cpu")

    def deprecated(a):
        with t.cpu.amp.autocast():
            return a @ a

    with pytest.raises(RuntimeError, match=r"use torch\.autocast"):
        t.jit.script(deprecated)


def test_script_keeps_no_casts(hotaru):
    t = hotaru
    leaf = t.zeros(256, 256, requires_grad=True)

    @t.jit.script
    def f(a):
        with t.autocast("cpu"):
            return (a @ a).dtype == t.bfloat16

    before = t.cpu.memory_allocated()
    assert f(leaf)
    assert t.cpu.memory_allocated() == before


def test_archive_of_pytorch(hotaru, w):
    """Scopes within a program that PyTorch saved (make_amp_script.py)."""
    loaded = hotaru.jit.load(str(outcomes.GOLDEN / "amp_script.pt"))
    for _ in range(2):
        low, full, gpu = loaded(w)
        assert low.dtype == hotaru.bfloat16
        assert full.dtype == gpu.dtype == hotaru.float32
    assert not hotaru.is_autocast_enabled("cpu")


def test_trace(hotaru, w):
    def f(a):
        return hotaru.mm(a, a)

    traced = hotaru.jit.trace(f, w.detach())
    with hotaru.autocast("cpu"):
        assert traced(w).dtype == hotaru.bfloat16
    assert traced(w).dtype == hotaru.float32


@pytest.mark.parametrize("how", ["compile", "make_graphed_callables"])
def test_graphs_are_of_one_state(hotaru, how):
    t = hotaru
    net = t.nn.Linear(4, 4)
    make = t.compile if how == "compile" else t.cpu.make_graphed_callables
    graphed = make(lambda x: net(x))
    x = t.rand(2, 4)
    for _ in range(3):
        assert graphed(x).dtype == t.float32
        with t.autocast("cpu"):
            assert graphed(x).dtype == t.bfloat16
        with t.autocast("cpu", dtype=t.float16):
            assert graphed(x).dtype == t.float16
        with t.autocast("cuda", enabled=False):
            assert graphed(x).dtype == t.float32


def test_graphs_see_later_weights(hotaru):
    """Casts that were kept, before or in the capture, are none of theirs."""
    t = hotaru
    net = t.nn.Linear(4, 4, bias=False)
    graphed = t.compile(lambda x: net(x))
    x = t.ones(1, 4)
    with t.autocast("cpu"):
        net(x)
        graphed(x)
        with t.no_grad():
            net.weight.fill_(2.0)
        assert graphed(x).tolist() == [[8.0] * 4]
    with t.autocast("cpu"):
        assert graphed(x).tolist() == [[8.0] * 4]
        assert net(x).tolist() == [[8.0] * 4]


def test_graphed_training(hotaru):
    t = hotaru

    def train(wrap):
        t.manual_seed(0)
        net = t.nn.Sequential(t.nn.Linear(4, 8), t.nn.ReLU(), t.nn.Linear(8, 1))
        run = wrap(net)
        optimizer = t.optim.SGD(net.parameters(), lr=0.1)
        scaler = t.amp.GradScaler("cpu", init_scale=4.0)
        x = t.rand(8, 4)
        for _ in range(4):
            optimizer.zero_grad()
            with t.autocast("cpu"):
                out = run(x)
                assert out.dtype == t.bfloat16
                loss = t.nn.functional.mse_loss(out, x[:, :1])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        return loss, *(p.detach().clone() for p in net.parameters())

    for got, want in zip(train(t.compile), train(lambda net: net)):
        assert (got - want).abs().max() < 1e-6


def test_scope_within_a_graph(hotaru, w):
    t = hotaru

    def f(x):
        with t.autocast("cpu"):
            y = x @ w
            with t.autocast("cpu", enabled=False):
                return y, x @ w

    graphed = t.compile(f)
    for _ in range(2):
        low, full = graphed(t.eye(4))
        assert (low.dtype, full.dtype) == (t.bfloat16, t.float32)
        assert (low == w.bfloat16()).all()
    assert not t.is_autocast_enabled("cpu")


def test_queued_stream(hotaru, w):
    stream = hotaru.cpu.Stream()
    with hotaru.autocast("cpu"):
        before = w @ w
        with hotaru.cpu.stream(stream):
            after = w @ w
    assert after.dtype == hotaru.bfloat16
    assert (before == after).all()


def test_backward_twice_through_one_cast(hotaru, w):
    with hotaru.autocast("cpu"):
        first, second = (w @ w).sum(), (w @ w.t()).sum()
    first.backward()
    once = w.grad.clone()
    second.backward()
    assert w.grad.dtype == hotaru.float32
    assert (w.grad != once).any()


def test_gradients_are_those_of_the_casts(hotaru, w):
    x = hotaru.rand(3, 4)
    with hotaru.autocast("cpu"):
        (hotaru.nn.functional.linear(x, w) * 2).float().sum().backward()
    v = w.detach().bfloat16().requires_grad_()
    low = hotaru.nn.functional.linear(x.bfloat16(), v)
    (low * 2).float().sum().backward()
    assert (w.grad == v.grad.float()).all()


def test_scaler_that_overflows_and_recovers(hotaru):
    """Losses of 2**17 times a scale overflow float16 until it has shrunk."""
    t = hotaru
    t.manual_seed(0)
    w = t.nn.Parameter(t.rand(4, 1))
    optimizer = t.optim.SGD([w], lr=0.05)
    scaler = t.amp.GradScaler("cpu", init_scale=2.0**30, growth_interval=4)
    x = t.rand(16, 4)
    y = x.sum(1, keepdim=True)
    scales, losses = [], []
    for _ in range(60):
        optimizer.zero_grad()
        with t.autocast("cpu", dtype=t.float16):
            loss = t.nn.functional.mse_loss(x @ w, y)
        before = w.detach().clone()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        shrinks = not w.grad.isfinite().all()
        assert (w == before).all().item() == shrinks
        scales.append(scaler.get_scale())
        scaler.update()
        assert (scaler.get_scale() < scales[-1]) == shrinks
        losses.append(loss.item())
    assert scales[0] == 2.0**30
    assert min(scales) < 2.0**20
    # It grows again, and is cut back when it has grown too much.
    lowest = scales.index(min(scales))
    assert max(scales[lowest:]) > min(scales)
    assert losses[-1] < losses[0] / 2


def test_devices_that_are_not_here_do_not_autocast(hotaru):
    with hotaru.autocast("cpu"):
        for device in ("mps", "xpu", "hpu", "mtia"):
            assert hotaru.is_autocast_enabled(device) is False
        assert hotaru.is_autocast_enabled("cpu") is True
    with pytest.raises(RuntimeError, match="device type"):
        hotaru.is_autocast_enabled("nowhere")
