"""Recurrent layers on the device: by cuDNN where it is found, else composed.

Each test runs with what the process has; one more runs this file again with a
stand-in for the library, which it holds to have been asked.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import hotaru as torch

MODES = ("LSTM", "GRU", "tanh", "relu")
STOOD_IN = os.environ.get("HOTARU_CUDA_LIBRARIES") == "soft"
# The stand-in, or a GPU's own.
FOUND = torch.cuda.is_available() and any(
    library["path"] for library in torch._C._cuda_libraries("cuDNN")
)


def kernels(f):
    """f(), and how often which of the library's kernels ran in it."""
    with torch.profiler.profile() as profile:
        result = f()
        torch.cuda.synchronize()
    counts = {}
    for event in profile.key_averages():  # the host's before the device's
        if event.key.startswith("rnn_stack"):
            counts.setdefault(event.key, event.count)
    return result, counts


def expected(**counts):
    """Counts of kernels where the library is, and none where it is not."""
    if not FOUND:
        return {}
    names = {"forward": "rnn_stack"}
    return {names.get(k, f"rnn_stack_{k}"): n for k, n in counts.items()}


A_STEP = expected(pack=1, forward=1, data=1, weights=1)


def network(mode, dtype=torch.float64, place="cpu", **arguments):
    torch.manual_seed(4)
    if mode in ("tanh", "relu"):
        made = torch.nn.RNN(5, 7, nonlinearity=mode, **arguments)
    else:
        made = getattr(torch.nn, mode)(5, 7, **arguments)
    return made.to(dtype).to(place)


def states_of(net, batch, dtype, seed=6):
    torch.manual_seed(seed)
    ways = net.num_layers * (2 if net.bidirectional else 1)
    h = torch.randn(ways, batch, net.proj_size or 7, dtype=torch.float64)
    c = torch.randn(ways, batch, 7, dtype=torch.float64)
    return [s.to(dtype) for s in ((h, c) if net.mode == "LSTM" else (h,))]


def passed(net, x, states, seed=8):
    """Output, last states, and gradients of all that went in."""
    place = next(net.parameters()).device
    x = x.to(place).requires_grad_()
    states = [s.to(place).requires_grad_() for s in states]
    y, last = net(x, tuple(states) if len(states) == 2 else states[0])
    out = [y, *(last if isinstance(last, tuple) else (last,))]
    torch.manual_seed(seed)
    seeds = [torch.randn(t.shape, dtype=torch.float64) for t in out]
    seeds = [g.to(t.dtype).to(place) for g, t in zip(seeds, out)]
    leaves = [x, *states, *net.parameters()]
    return out + list(torch.autograd.grad(out, leaves, seeds))


def compare(got, want, dtype):
    # Sums of at most 4 steps * 3 rows * 14 products of numbers about 1, in
    # each of at most 4 * 2 cells one after another.
    eps = torch.finfo(dtype).eps
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert g.shape == w.shape
        torch.testing.assert_close(
            g.cpu().double(), w.double(), rtol=64 * eps, atol=170 * 8 * eps
        )


ARRANGEMENTS = {
    "plain": {},
    "both ways": {"bidirectional": True},
    "two layers": {"num_layers": 2},
    "two layers both ways": {"num_layers": 2, "bidirectional": True},
    "no bias": {"bias": False, "num_layers": 2},
    "batch first": {"batch_first": True, "bidirectional": True},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_and_gradients_are_the_cpus(cuda, mode, arrangement, dtype):
    dtype = getattr(torch, dtype)
    arguments = ARRANGEMENTS[arrangement]
    size = (3, 4, 5) if arguments.get("batch_first") else (4, 3, 5)
    torch.manual_seed(5)
    x = torch.randn(size, dtype=torch.float64)
    net = network(mode, **arguments)
    want = passed(net, x, states_of(net, 3, torch.float64))
    on_gpu = network(mode, place=cuda, **arguments).to(dtype)
    states = states_of(net, 3, dtype)
    got, used = kernels(lambda: passed(on_gpu, x.to(dtype), states))
    assert used == A_STEP
    compare(got, want, dtype)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"num_layers": 2, "bias": False}, {"num_layers": 2, "bidirectional": True}],
)
def test_projections(cuda, arguments):
    net = network("LSTM", proj_size=3, **arguments)
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5, dtype=torch.float64)
    states = states_of(net, 3, torch.float64)
    want = passed(net, x, states)
    got = passed(network("LSTM", place=cuda, proj_size=3, **arguments), x, states)
    compare(got, want, torch.float64)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("steps", [1, 3])
def test_inputs_lie_anywhere(cuda, mode, steps):
    torch.manual_seed(5)
    wide = torch.randn(10, 3, 2 * steps, dtype=torch.float64)
    net, on_gpu = network(mode), network(mode, place=cuda)
    x = wide.permute(2, 1, 0)[::2, :, ::2]
    X = wide.to(cuda).permute(2, 1, 0)[::2, :, ::2]
    states = states_of(net, 3, torch.float64)
    turned = [s.mT.contiguous().mT for s in states]
    with torch.no_grad():
        y, last = net(x, *([tuple(states)] if len(states) == 2 else states))
        Y, Last = on_gpu(
            X,
            *(
                [tuple(s.to(cuda) for s in turned)]
                if len(states) == 2
                else [turned[0].to(cuda)]
            ),
        )
    pick = (lambda s: s) if len(states) == 2 else (lambda s: (s,))
    compare([Y, *pick(Last)], [y, *pick(last)], torch.float64)


@pytest.mark.parametrize("mode", MODES)
def test_no_batch_and_no_state(cuda, mode):
    net = network(mode, place=cuda)
    y, last = net(torch.randn(4, 0, 5, dtype=torch.float64, device=cuda))
    assert y.shape == (4, 0, 7)
    for state in last if isinstance(last, tuple) else (last,):
        assert state.shape == (1, 0, 7)
    torch.manual_seed(5)
    x = torch.randn(4, 5, dtype=torch.float64)
    with torch.no_grad():
        compare([net(x.to(cuda))[0]], [network(mode)(x)[0]], torch.float64)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arguments", [{}, {"bidirectional": True, "num_layers": 2}])
def test_packed_sequences(cuda, mode, arguments):
    utils = torch.nn.utils.rnn
    torch.manual_seed(5)
    x = torch.randn(6, 4, 5, dtype=torch.float64)

    def run(place):
        net = network(mode, place=place, **arguments)
        leaf = x.to(place).requires_grad_()
        packed = utils.pack_padded_sequence(leaf, [6, 4, 4, 1])
        y, last = net(packed)
        data, lengths = utils.pad_packed_sequence(y)
        assert lengths.tolist() == [6, 4, 4, 1]
        out = [data, *(last if isinstance(last, tuple) else (last,))]
        total = sum((t * t.detach().cos()).sum() for t in out)
        grads = torch.autograd.grad(total, [leaf, *net.parameters()])
        return [*out, *grads]

    got, used = kernels(lambda: run(cuda))
    assert used == A_STEP
    compare(got, run("cpu"), torch.float64)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats(cuda, dtype):
    dtype = getattr(torch, dtype)
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5).to(dtype)
    rounded = network("LSTM").to(dtype).double()
    on_gpu = network("LSTM", place=cuda).to(dtype)
    with torch.no_grad():
        want = rounded(x.double())[0]
        got, used = kernels(lambda: on_gpu(x.to(cuda))[0])
    # The stand-in does not take bfloat16.
    takes = dtype == torch.float16 or not STOOD_IN
    assert used == (expected(pack=1, forward=1) if takes else {})
    assert got.dtype == dtype
    # Each of 4 steps rounds sums of 12 products of at most 3.
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(got.cpu().double(), want, rtol=0, atol=4 * 12 * eps)


WRITES = {
    "in place": lambda p: p.mul_(2),
    "through data": lambda p: p.data.mul_(2),
    "from the host": lambda p: p.copy_(2 * p.cpu()),
    "another memory": lambda p: setattr(p, "data", p.data * 2),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("which", range(4))
def test_written_weights_are_seen(cuda, write, which):
    net, on_gpu = network("LSTM"), network("LSTM", place=cuda)
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5, dtype=torch.float64)
    with torch.no_grad():
        for _ in range(2):
            compare([on_gpu(x.to(cuda))[0]], [net(x)[0]], torch.float64)
            WRITES[write](list(net.parameters())[which])
            WRITES[write](list(on_gpu.parameters())[which])
        compare([on_gpu(x.to(cuda))[0]], [net(x)[0]], torch.float64)


def test_training_goes_as_on_the_cpu(cuda):
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5, dtype=torch.float64)
    losses = []
    for place in ("cpu", cuda):
        net = network("GRU", place=place, num_layers=2)
        steps = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.5)
        for _ in range(4):
            steps.zero_grad()
            loss = net(x.to(place))[0].square().sum()
            loss.backward()
            steps.step()
            losses.append(loss.item())
    assert losses[4:] == pytest.approx(losses[:4], rel=1e-9)
    assert losses[3] < losses[0]


def test_weights_that_stay_are_not_copied_again(cuda):
    net = network("LSTM", place=cuda)
    x = torch.randn(4, 3, 5, dtype=torch.float64, device=cuda)

    with torch.no_grad():
        assert kernels(lambda: net(x))[1] == expected(pack=1, forward=1)
        assert kernels(lambda: net(x))[1] == expected(forward=1)
        net.bias_hh_l0.zero_()
        assert kernels(lambda: net(x))[1] == expected(pack=1, forward=1)


def test_kept_weights_go_with_their_module(cuda):
    before = torch.cuda.memory_allocated()
    net = network("LSTM", place=cuda)
    with torch.no_grad():
        net(torch.randn(4, 3, 5, dtype=torch.float64, device=cuda))
    del net
    assert torch.cuda.memory_allocated() == before


def test_streams_follow_each_other(cuda):
    net, on_gpu = network("LSTM"), network("LSTM", place=cuda)
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5, dtype=torch.float64)
    X = x.to(cuda)
    others = [torch.cuda.Stream() for _ in range(2)]
    with torch.no_grad():
        for stream in others * 2:
            with torch.cuda.stream(stream):
                got = on_gpu(X)[0]
                for p in on_gpu.parameters():
                    p.mul_(0.9)
            want = net(x)[0]
            for p in net.parameters():
                p.mul_(0.9)
            compare([got], [want], torch.float64)


def test_each_device_has_its_own(two_devices):
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5, dtype=torch.float64)
    net = network("LSTM", bidirectional=True)
    states = states_of(net, 3, torch.float64)
    want = passed(net, x, states)
    for place in ("cuda:1", "cuda:0"):
        net.to(place)
        compare(passed(net, x, states), want, torch.float64)
        assert torch.cuda.current_device() == 0


def test_a_graph_that_is_kept_serves_twice(cuda):
    net = network("LSTM", place=cuda)
    x = torch.randn(4, 3, 5, dtype=torch.float64, device=cuda)
    y = net(x)[0].sum()
    once = torch.autograd.grad(y, list(net.parameters()), retain_graph=True)
    again = torch.autograd.grad(y, list(net.parameters()))
    for a, b in zip(once, again):
        assert a.equal(b)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(y, list(net.parameters()))


def test_memory_may_hold_anything(cuda):
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5, dtype=torch.float64)
    grads = []
    for place in ("cpu", cuda):
        net = network("LSTM", place=place)
        y = net(x.to(place))[0].sum()
        # Every size that a workspace may have, freed again.
        nans = [
            torch.full((64 * n,), float("nan"), dtype=x.dtype, device=place)
            for n in range(1, 33)
        ]
        del nans
        grads.append(torch.autograd.grad(y, list(net.parameters())))
    compare(grads[1], grads[0], torch.float64)


def test_some_gradients_only(cuda):
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5, dtype=torch.float64)
    grads = []
    for place in ("cpu", cuda):
        net = network("GRU", place=place, num_layers=2)
        for p in net.parameters():
            p.requires_grad_(False)
        leaf = x.to(place).requires_grad_()
        h = net(leaf)[1].square().sum()
        grads.append(torch.autograd.grad(h, leaf)[0])
        net.weight_hh_l1.requires_grad_()
        h = net(x.to(place))[1].square().sum()
        grads.append(torch.autograd.grad(h, net.weight_hh_l1)[0])
    compare(grads[2:], grads[:2], torch.float64)


def test_dropout_is_our_own(cuda):
    net = network("LSTM", place=cuda, num_layers=3, dropout=0.5)
    x = torch.randn(4, 3, 5, dtype=torch.float64, device=cuda)
    results = []
    for enabled in (True, False):
        with torch.backends.cudnn.flags(enabled=enabled):
            torch.manual_seed(3)
            (y, (h, c)), used = kernels(lambda: net(x))
            results.append([t.detach().cpu() for t in (y, h, c)])
        assert used == (expected(pack=3, forward=3) if enabled else {})
    compare(*results, torch.float64)


def test_tf32_is_as_it_was_in_the_forward_pass(cuda):
    net = network("LSTM", torch.float32, cuda)
    x = torch.randn(4, 3, 5, device=cuda)
    weights = list(net.parameters())
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=True):
        y = net(x)[0].sum()
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        got = torch.autograd.grad(y, weights)
        want = torch.autograd.grad(net(x)[0].sum(), weights)
    # The forward pass rounded what it multiplied to 11 bits, the other not.
    for g, w in zip(got, want):
        near = 2.0**-9 * w.abs().max().item()
        torch.testing.assert_close(g, w, rtol=0, atol=near)


def test_switched_off_it_gives_the_same(cuda):
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5, dtype=torch.float64)
    net = network("LSTM", place=cuda, num_layers=2)
    states = states_of(net, 3, torch.float64)
    want = passed(net, x, states)
    with torch.backends.cudnn.flags(enabled=False):
        got, used = kernels(lambda: passed(net, x, states))
        assert not used
        y = net(x.to(cuda))[0].square().sum()
    weights = list(net.parameters())
    assert torch.backends.cudnn.enabled
    assert kernels(lambda: net(x.to(cuda)))[1] == expected(forward=1)
    compare(got, [t.cpu() for t in want], torch.float64)
    [first, *_] = torch.autograd.grad(y, weights, create_graph=True)
    assert torch.autograd.grad(first.sum(), weights[1])[0].abs().sum() > 0


@pytest.mark.skipif(not STOOD_IN, reason="composed layers have them")
def test_what_the_library_has_no_gradient_for(cuda):
    net = network("LSTM", place=cuda)
    x = torch.randn(4, 3, 5, dtype=torch.float64, device=cuda)
    weights = list(net.parameters())
    y = net(x)[0].square().sum()
    [first, *_] = torch.autograd.grad(y, weights, create_graph=True)
    with pytest.raises(
        NotImplementedError,
        match=r"(?s)'_cudnn_rnn_backward' is not implemented\. Double "
        r"backwards is not supported.*flags\(enabled=False\)",
    ):
        first.sum().backward()
    with pytest.raises(
        RuntimeError, match=r"^cudnn RNN backward can only be called in training mode"
    ):
        net.eval()(x)[0].sum().backward()


@pytest.mark.skipif(not STOOD_IN, reason="what a library kept")
def test_weights_written_before_the_backward_pass(cuda):
    net = network("LSTM", place=cuda)
    y = net(torch.randn(4, 3, 5, dtype=torch.float64, device=cuda))[0].sum()
    with torch.no_grad():
        net.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_autocast(cuda):
    torch.manual_seed(5)
    x = torch.randn(4, 3, 5)
    want = network("LSTM", torch.float32)(x)[0]
    net = network("LSTM", torch.float32, cuda)

    def run():
        with torch.autocast("cuda"):
            y = net(x.to(cuda))[0]
        y.float().sum().backward()
        return y

    y, used = kernels(run)
    assert used == A_STEP
    assert net.weight_hh_l0.grad.dtype == torch.float32
    if STOOD_IN:
        assert y.dtype == torch.float16
    # As test_short_floats, with factors that were rounded.
    torch.testing.assert_close(
        y.float().cpu(), want, rtol=0, atol=2 * 4 * 12 * 2.0**-10
    )


@pytest.mark.skipif(STOOD_IN, reason="that is this run")
def test_all_of_it_with_the_library(cuda):
    if not torch._C._cuda_in_software():
        pytest.skip("a GPU: stand-ins compute in the GPU in software only")
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            __file__,
        ],
        env=dict(os.environ, HOTARU_CUDA_LIBRARIES="soft"),
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout
