"""Fate of captured calls on CUDA: nodes of one launch, calls between two,
arguments that are read where they lie.
"""

from __future__ import annotations

import json

import pytest
from captured import captured, same

import hotaru as torch

nn = torch.nn


def launches(g):
    """(kernels, copies and fills, what the host launches) of a replay."""
    return g._launches()


def test_one_launch_is_all_that_a_replay_needs(cuda):
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    model = model.to(cuda)
    x = torch.randn(2, 8, device=cuda)
    with torch.no_grad():
        g, y = captured(model, x, bitwise=False)
    nodes, launched = launches(g)
    assert launched == 1
    # Bias and rectifier go with the product, whose depth may be cut in two.
    assert [name for name, _ in g._nodes()] == ["linear", "matmul"]
    assert nodes <= 4
    g.replay()
    torch.testing.assert_close(y, model(x).detach())


def test_calls_that_cuda_cannot_capture_are_launched_in_between(cuda):
    x = torch.ones(3, device=cuda)
    host = torch.zeros(3)
    torch.cuda.manual_seed(5)

    def f():
        a = x * 2
        host.copy_(a)  # through the host
        b = host.to(cuda) + torch.randperm(3, device=cuda)
        return b * torch.rand(3, device=cuda)

    want = [f() for _ in range(2)]
    torch.cuda.manual_seed(5)
    g, y = captured(f)
    assert launches(g)[1] > 1
    for w in want:
        g.replay()
        same(y, w)
    assert host.tolist() == [2] * 3


def test_numbers_on_the_host_are_read_in_each_replay(cuda):
    x = torch.arange(4.0, device=cuda)
    scale, offset = torch.tensor(2.0), torch.tensor(1)
    g, _ = captured(lambda: x * scale)
    assert launches(g)[1] == 1
    g, y = captured(lambda: x * scale + offset)
    for a, b in ((2, 1), (3, 1), (3, -1), (0.5, 7)):
        scale.fill_(a)
        offset.fill_(b)
        g.replay()
        assert y.tolist() == [n * a + b for n in range(4)]


def test_branches_do_not_wait_for_each_other(cuda):
    """Values of branches share no memory, which would put them in order."""
    x = torch.randn(1000, device=cuda)
    apart = ["fuse_pointwise"]  # or a chain is one call

    def chain(v):
        for _ in range(4):
            v = (v * 1.5).tanh()
        return v

    def f():
        return chain(x) + chain(x + 1) + chain(x + 2)

    g, y = captured(f, without=apart)
    want = f()
    for _ in range(20):  # in some order each
        g.replay()
        same(y, want)
    one, _ = captured(lambda: chain(x), without=apart)
    assert g._plan()["nbytes"] >= 3 * one._plan()["nbytes"]
    assert g._plan()["nbytes"] < g._plan()["total"] / 2


def test_draws_of_several_generators_and_sizes(cuda):
    own = torch.Generator(cuda)

    def f():
        a = torch.randn(5, device=cuda)
        b = torch.rand(7, generator=own, device=cuda)
        c = torch.randint(100, (3, 3), device=cuda)
        d = torch.empty(9, device=cuda).bernoulli_(0.5, generator=own)
        e = torch._standard_gamma(torch.full((4,), 2.0, device=cuda))
        return a, b, c, d, e

    def seed():
        torch.cuda.manual_seed(1)
        own.manual_seed(2)

    seed()
    want = [f() for _ in range(3)]
    states = torch.cuda.get_rng_state(), own.get_state()
    seed()
    g, out = captured(f)
    assert torch.cuda.get_rng_state().tolist()[8:] == [0] * 8
    assert launches(g)[1] == 1
    for results in want:
        g.replay()
        for a, b in zip(out, results):
            same(a, b)
    assert torch.cuda.get_rng_state().equal(states[0])
    assert own.get_state().equal(states[1])


def test_another_seed_between_replays(cuda):
    g, y = captured(lambda: torch.rand(6, device=cuda))
    for seed in (3, 4, 3):
        torch.cuda.manual_seed(seed)
        want = torch.rand(6, device=cuda)
        torch.cuda.manual_seed(seed)
        g.replay()
        same(y, want)


def test_errors_name_the_call_of_the_graph(cuda):
    table = torch.randn(4, 3, device=cuda)
    at = torch.zeros(2, dtype=torch.int64, device=cuda)
    more = torch.zeros(5, dtype=torch.int64, device=cuda)
    g, (y, z) = captured(
        lambda: (table.index_select(0, at), table.index_select(0, more))
    )
    stream = torch.cuda.Stream()
    for bad, sizes in ((at, r"\[2\]"), (more, r"\[5\]")):
        bad[1] = 9
        with torch.cuda.stream(stream):
            g.replay()
        with pytest.raises(IndexError, match=rf"(?s)graph's call of \w+ on .*{sizes}"):
            stream.synchronize()
        bad[1] = 1
        g.replay()
        same(y, table[at])
        same(z, table[more])


def test_errors_of_a_graph_that_is_gone(cuda):
    table = torch.randn(4, 3, device=cuda)
    at = torch.full((2,), 7, device=cuda)
    g, _ = captured(lambda: table.index_select(0, at))
    g.replay()
    del g
    with pytest.raises(IndexError):
        torch.cuda.synchronize()
    torch.cuda.synchronize()


def test_work_memory_is_shared_by_a_pool(cuda):
    x = torch.randn(300, 50, device=cuda)

    def f(n):
        return x[:n].sort(0)[0].cumsum(0).sum()

    small, y = captured(f, 100)
    before = torch.cuda.memory_allocated()
    graphs = [captured(f, n, pool=small.pool()) for n in (90, 60, 100)]
    # Seeds, results and the like, but no second set of work memory.
    assert torch.cuda.memory_allocated() - before < 64 << 10
    for (g, y), n in zip(graphs, (90, 60, 100)):
        g.replay()
        same(y, f(n))


LARGE = 1 << 17


@pytest.fixture
def calls(monkeypatch):
    """How often a graphed callable copied an argument."""

    def count(f, *args):
        activities = [torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=activities) as profile:
            out = f(*args)
        names = [e.name for e in profile.events()]
        return out, sum("copy_" in name for name in names)

    return count


def test_large_arguments_are_read_where_they_are(cuda, calls):
    @torch.cuda.make_graphed_callables
    def f(x, y):
        return (x * 2 + y).relu()

    with torch.no_grad():
        base = torch.randn(3 * LARGE + 3, device=cuda)
        small = torch.ones(1, device=cuda)
        f(base[:LARGE].clone(), small)
        for begin in (0, LARGE, 1, 2, LARGE + 3, 0):  # aligned or not
            x = base[begin : begin + LARGE]
            out, copies = calls(f, x, small)
            assert copies == 1  # of the small one
            same(out, (x * 2 + small).relu())
        # The argument is its owner's again.
        kept = x.clone()
        f(torch.zeros(LARGE, device=cuda), small)
        same(x, kept)


def test_arguments_of_other_streams_are_waited_for(cuda):
    @torch.cuda.make_graphed_callables
    def f(x):
        return x.cumsum(0)[-1:] + x.sum()

    other = torch.cuda.Stream()
    f(torch.ones(LARGE, device=cuda))
    for n in range(1, 6):
        with torch.cuda.stream(other):
            x = torch.full((LARGE,), 1.0, device=cuda)
            x.mul_(n).add_(1)
        out = f(x)
        with torch.cuda.stream(other):
            x.zero_()  # not before the replay has read it
        assert out.tolist() == [2.0 * LARGE * (n + 1)]


def test_an_argument_that_was_freed_stays_until_the_replay_ends(cuda):
    @torch.cuda.make_graphed_callables
    def f(x):
        return x * 3

    for n in range(5):
        out = f(torch.full((LARGE,), float(n), device=cuda))
        torch.full((LARGE,), -1.0, device=cuda)
        assert out[:3].tolist() == [3.0 * n] * 3


def test_samples_are_left_alone(cuda):
    """The samples' memory is the graph's, and nothing is moved away."""
    sample = torch.zeros(LARGE, device=cuda)
    f = torch.cuda.make_graphed_callables(lambda x: x + 1, (sample,))
    x = torch.ones(LARGE, device=cuda)
    assert f(x)[0].item() == 2
    assert sample[0].item() == 1
    f(torch.full((LARGE,), 5.0, device=cuda))
    assert x[0].item() == 1
    assert sample[0].item() == 5


def test_raw_graph(cuda):
    x = torch.ones(3, device=cuda)
    g = torch.cuda.CUDAGraph(keep_graph=True)
    with pytest.raises(RuntimeError, match="until capture_end"):
        g.raw_cuda_graph()
    with torch.cuda.graph(g):
        y = x + 1
    assert g.raw_cuda_graph() != 0
    first = g.raw_cuda_graph_exec()
    g.instantiate()
    assert g.raw_cuda_graph_exec() not in (0, first, g.raw_cuda_graph())
    g.replay()
    assert y.tolist() == [2] * 3
    plain, _ = captured(lambda: x + 1)
    with pytest.raises(RuntimeError, match="keep_graph=true"):
        plain.raw_cuda_graph()
    cut = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(cut):
        (x + 1).cpu()
        x * 2
    with pytest.raises(RuntimeError, match="copies to or from the host"):
        cut.raw_cuda_graph()


def test_a_trace_of_one_replay(cuda, tmp_path):
    x = torch.randn(40, 40, device=cuda)
    torch.cuda.manual_seed(0)
    g, y = captured(lambda: (x @ x).relu() + torch.rand(40, device=cuda))
    g.debug_dump(tmp_path / "g.json")
    trace = json.loads((tmp_path / "g.json").read_text())
    assert [e["name"] for e in trace["traceEvents"]] == [name for name, _ in g._nodes()]
    ends = [e["ts"] + e["dur"] for e in trace["traceEvents"]]
    starts = [e["ts"] for e in trace["traceEvents"]]
    assert all(b >= a - 1e-3 for a, b in zip(ends, starts[1:]))
    torch.cuda.manual_seed(0)
    want = (x @ x).relu() + torch.rand(40, device=cuda)
    torch.cuda.manual_seed(0)
    g.debug_dump(tmp_path / "g.json")
    same(y, want)
    g.debug_dump(tmp_path / "g.dot")
    assert "matmul" in (tmp_path / "g.dot").read_text()


def test_sampling(cuda):
    """Draws by probabilities, as decoders of text do it; those that are none
    are an error when somebody waits.
    """
    weights = torch.tensor([[1.0, 2, 3], [0, 1, 0]], device=cuda)
    chances = torch.tensor([0.0, 1, 0.5], device=cuda)

    def f():
        return (
            torch.multinomial(weights, 1),
            torch.multinomial(weights, 4, replacement=True),
            torch.bernoulli(chances),
        )

    torch.cuda.manual_seed(3)
    want = [f() for _ in range(2)]
    torch.cuda.manual_seed(3)
    g, out = captured(f)
    for results in want:
        g.replay()
        for a, b in zip(out, results):
            same(a, b)
    for bad, where, text in (
        (-1.0, weights, "probability tensor contains"),
        (float("nan"), weights, "probability tensor contains"),
        (1.5, chances, "Expected p_in >= 0 && p_in <= 1"),
    ):
        before = where.clone()
        where.view(-1)[1] = bad
        g.replay()
        with pytest.raises(RuntimeError, match=text):
            torch.cuda.synchronize()
        f()
        with pytest.raises(RuntimeError, match=text):
            torch.cuda.synchronize()
        where.copy_(before)
    weights[1] = 0
    g.replay()
    with pytest.raises(RuntimeError, match="sum of probabilities <= 0"):
        torch.cuda.synchronize()


def test_assertions(cuda):
    x = torch.ones((), device=cuda)
    torch._assert_async(x)
    torch._assert_async(x > 0, "not above")
    g, y = captured(lambda: (torch._assert_async(x > 0, "not above"), x * 2)[1])
    g.replay()
    torch.cuda.synchronize()
    x.fill_(-1)
    g.replay()
    with pytest.raises(RuntimeError, match=r"^not above"):
        torch.cuda.synchronize()
    assert y.item() == -2
    with pytest.raises(RuntimeError, match="Expected Tensor with single"):
        torch._assert_async(torch.zeros(1))
    with pytest.raises(RuntimeError, match="more than one value"):
        torch._assert_async(torch.ones(2))
