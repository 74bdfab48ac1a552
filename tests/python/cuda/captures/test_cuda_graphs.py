"""Graphs of CUDA streams: captured at the door, replayed beside eager runs."""

from __future__ import annotations

import threading

import pytest
from captured import captured, same

import hotaru as torch

nn = torch.nn


def test_a_replay_is_a_run(cuda):
    torch.manual_seed(0)
    w = torch.randn(7, 5).to(cuda)
    x = torch.randn(3, 7).to(cuda)

    def f(x):
        y = (x @ w).relu()
        return y - y.mean(1, keepdim=True), y.argmax(1)

    g, out = captured(f, x)
    for seed in range(3):
        torch.manual_seed(seed)
        x.copy_(torch.randn(3, 7))
        g.replay()
        for a, b in zip(out, f(x)):
            same(a, b)


def test_nothing_runs_during_a_capture(cuda):
    x = torch.zeros(4, device=cuda)
    g, _ = captured(lambda: x.add_(1))
    assert x.tolist() == [0] * 4
    for _ in range(3):
        g.replay()
    assert x.tolist() == [3] * 4


def test_training_step(cuda):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
    model = model.to(cuda)
    twin = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
    twin.load_state_dict(model.state_dict())
    twin = twin.to(cuda)
    x, y = torch.randn(5, 6).to(cuda), torch.randn(5, 2).to(cuda)
    steps = []
    for m in (model, twin):
        optimizer = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)

        def step(m=m, optimizer=optimizer):
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(m(x), y)
            loss.backward()
            optimizer.step()
            return loss

        steps.append(step)
    steps[0](), steps[1]()  # momentum has memory from here on
    g, loss = captured(steps[0])
    for _ in range(3):
        torch.manual_seed(1)
        x.copy_(torch.randn(5, 6))
        g.replay()
        same(loss.detach(), steps[1]().detach())
    for a, b in zip(model.parameters(), twin.parameters()):
        same(a.detach(), b.detach())


def test_draws_go_on_from_replay_to_replay(cuda):
    x = torch.ones(64, device=cuda)
    torch.cuda.manual_seed(3)
    eager = [nn.functional.dropout(x) for _ in range(3)]
    torch.cuda.manual_seed(3)
    g, y = captured(nn.functional.dropout, x)
    for want in eager:
        g.replay()
        same(y, want)


def test_copies_from_and_to_the_host(cuda):
    x = torch.zeros(3)
    y = torch.zeros(3)

    def f():
        y.copy_(x.to(cuda) * 2)

    g, _ = captured(f)
    for n in range(3):
        x.fill_(n)
        g.replay()
        assert y.tolist() == [2.0 * n] * 3


@pytest.mark.parametrize(
    "look",
    [
        lambda y: y.sum().item(),
        lambda y: y.tolist(),
        lambda y: bool(y.any()),
        lambda y: y.nonzero(),
        lambda y: y.cpu().numpy(),
        lambda y: print(y),
    ],
)
def test_looking_at_values_ends_a_capture_and_nothing_else(cuda, look):
    x = torch.ones(3, device=cuda)
    g = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()

    def capture():
        with torch.cuda.graph(g, stream=stream):
            look(x * 2)

    with pytest.raises((RuntimeError, BufferError), match=r"captur|not permitted"):
        capture()
    assert not torch.cuda.is_current_stream_capturing()
    with torch.cuda.stream(stream):
        assert (x * 3).tolist() == [3] * 3
    with torch.cuda.graph(g, stream=stream):
        y = x * 4
    g.replay()
    assert y.tolist() == [4] * 3


def test_the_cpu_goes_on_beside_a_capture(cuda):
    x = torch.ones(3, device=cuda)
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        y = x + 1
        assert torch.arange(4).sum().item() == 6
        assert torch.cuda.is_current_stream_capturing()
    assert y.shape == (3,)


def test_other_threads_use_the_device_meanwhile(cuda):
    x = torch.ones(3, device=cuda)
    failed = []

    def work():
        try:
            for n in range(20):
                z = torch.full((100,), n, device=cuda)
                torch.zeros(10).pin_memory()
                torch.cuda.synchronize()
                assert int(z.sum()) == 100 * n
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y = x
        for t in threads:
            t.start()
        for _ in range(50):
            y = y + 1
        for t in threads:
            t.join()
    assert not failed
    g.replay()
    assert y.tolist() == [51] * 3


def test_a_value_of_a_capture_is_nobody_elses(cuda):
    x = torch.ones(3, device=cuda)
    g = torch.cuda.CUDAGraph()
    caught = []
    with torch.cuda.graph(g):
        y = x + 1

        def look():
            try:
                y.sum().item()
            except RuntimeError as error:
                caught.append(str(error))

        t = threading.Thread(target=look)
        t.start()
        t.join()
    assert len(caught) == 1
    assert "captur" in caught[0]


def test_streams_that_wait_are_captured_too(cuda):
    x = torch.ones(3, device=cuda)
    main, side = torch.cuda.Stream(), torch.cuda.Stream()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g, stream=main):
        y = x + 1
        side.wait_stream(main)
        with torch.cuda.stream(side):
            z = y * 2
        main.wait_stream(side)
        out = z + y
    x.fill_(4)
    g.replay()
    assert out.tolist() == [15] * 3

    def unjoined():
        with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=main):
            y = x + 1
            side.wait_stream(main)
            with torch.cuda.stream(side):
                y * 2

    with pytest.raises(RuntimeError, match="unjoined work"):
        unjoined()
    with torch.cuda.stream(side):
        assert (x + 1).tolist() == [5] * 3


def test_graphs_of_a_pool_share_their_memory_in_order(cuda):
    pool = torch.cuda.graph_pool_handle()
    x = torch.ones(1000, device=cuda)

    def chain(n):
        y = x
        for _ in range(6):
            y = (y + n).sin()
        return y

    graphs = [captured(chain, n, pool=pool) for n in range(4)]
    want = [chain(n) for n in range(4)]
    streams = [torch.cuda.Stream() for _ in range(4)]
    for _ in range(5):
        for (g, _), stream in zip(graphs, streams):
            with torch.cuda.stream(stream):
                g.replay()
        torch.cuda.synchronize()
        for (_, y), w in zip(graphs, want):
            same(y, w)


def test_errors_of_kernels_are_told_and_the_graph_goes_on(cuda):
    table = torch.arange(5.0, device=cuda)
    at = torch.tensor([1, 2], device=cuda)
    g, y = captured(lambda: table[at] * 2)
    at.fill_(7)
    g.replay()
    with pytest.raises(IndexError):
        torch.cuda.synchronize()
    at.fill_(3)
    g.replay()
    assert y.tolist() == [6, 6]


def test_a_tensor_that_was_resized_is_followed(cuda):
    x = torch.ones(4, device=cuda)
    g, y = captured(lambda: x * 2)
    x.untyped_storage().resize_(1 << 20)
    x.fill_(3)
    g.replay()
    assert y.tolist() == [6] * 4


def test_graphed_callables(cuda):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).to(cuda)
    x = torch.randn(2, 4).to(cuda)
    graphed = torch.cuda.make_graphed_callables(
        lambda x: model(x).softmax(1), (x.clone(),)
    )
    for seed in range(3):
        torch.manual_seed(seed)
        x = torch.randn(2, 4).to(cuda).requires_grad_()
        model.zero_grad()
        graphed(x).square().sum().backward()
        got = [x.grad, *(p.grad for p in model.parameters())]
        model.zero_grad()
        y = x.detach().clone().requires_grad_()
        model(y).softmax(1).square().sum().backward()
        for a, b in zip(got, [y.grad, *(p.grad for p in model.parameters())]):
            same(a, b)


def test_eight_threads_replay(cuda):
    x = torch.zeros((), device=cuda)
    g, _ = captured(lambda: x.add_(1))
    failed = []

    def work():
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(20):
                    g.replay()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed
    assert x.item() == 160


def test_capture_is_refused_where_it_cannot_be(cuda):
    with pytest.raises(RuntimeError, match="non-default stream"):
        torch.cuda.CUDAGraph().capture_begin()
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        torch.ones(1, device=cuda)
        with (
            pytest.raises(RuntimeError, match="another capture"),
            torch.cuda.graph(torch.cuda.CUDAGraph()),
        ):
            pass
