"""Our own kernels of a graph are set up while those before them end; edges to
and from all others stay full. The GPU in software fails a launch whose kernel
does not wait behind such an edge.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from captured import captured, same
from own_kernels import ADD
from stand_ins import check_program

import hotaru as torch

# Elementwise kernels that are made at run time are tests' of their own.
APART = ["fuse_pointwise", "write_through"]


def counts(g):
    """(kernels, copies and fills; dependent pairs) of a replay."""
    return g._launches()[0], g._dependent()


def check(f, *args, without=()):
    """Replays of f's graph give what f gives; its counts."""
    want = f(*args)
    g, out = captured(f, *args, without=[*APART, *without])
    for _ in range(3):
        g.replay()
        same(out, want)
    return counts(g)


def test_a_chain(cuda):
    x = torch.randn(3000, device=cuda)

    def f():
        y = x.cumsum(0).sort()[0].roll(7)  # some are several kernels each
        return (y * 2).relu().sum()

    kernels, pairs = check(f)
    assert kernels >= 6
    assert pairs >= kernels - 2
    assert check(f, without=["dependent_launch"]) == (kernels, 0)


def test_branches_that_meet(cuda):
    x = torch.randn(50, device=cuda)

    def f():
        a, b, c = x * 2, x + 1, x.abs()
        return torch.cat([a, b, c])

    assert check(f) == (4, 3)
    assert check(lambda: torch.cat([x, x.neg(), x])) == (2, 1)


def test_fills_wait_for_nothing(cuda):
    x = torch.rand(50, device=cuda)

    def f():
        # Counts begin with a fill, between two kernels each.
        return torch.histc(x.neg(), 8, -1, 0).neg().clone()

    assert check(f) == (6, 3)


def test_draws_follow_their_seed(cuda):
    torch.cuda.manual_seed(3)
    want = [torch.rand(70, device=cuda) * 2 for _ in range(3)]
    torch.cuda.manual_seed(3)
    g, y = captured(lambda: torch.rand(70, device=cuda) * 2, without=APART)
    assert counts(g) == (3, 2)
    for w in want:
        g.replay()
        same(y, w)


def test_pieces_between_calls_that_are_launched(cuda):
    x = torch.randn(9, device=cuda)
    host = torch.zeros(9)

    def f():
        host.copy_((x * 2).abs())
        return host.to(cuda).neg().exp()

    assert check(f)[1] == 2


def test_moves_get_new_parameters(cuda):
    large = 1 << 17

    @torch.cuda.make_graphed_callables
    def f(x):
        return (x.cumsum(0) * 2).flip(0) + x

    with torch.no_grad():
        base = torch.randn(2 * large + 1, device=cuda)
        for begin in (0, large, 1, 0):  # aligned or not
            x = base[begin : begin + large]
            same(f(x), (x.cumsum(0) * 2).flip(0) + x)

    x = torch.randn(400, device=cuda)
    g, y = captured(lambda: x.neg().cumsum(0), without=APART)
    before = counts(g)
    assert before[1] == before[0] - 1
    for _ in range(2):
        x.resize_(0)
        x.resize_(400).normal_()
        g.replay()
        same(y, x.neg().cumsum(0))
    assert counts(g) == before


def test_leaving_it_out(cuda):
    assert ("dependent_launch", True) in [
        (name, exact) for name, _, exact in torch.graphs.passes()
    ]
    x = torch.randn(20, 30, device=cuda)

    def f(x):
        return (x @ x.t()).softmax(0).cumsum(1)

    without = ["dependent_launch"]
    for graphed in (
        torch.cuda.make_graphed_callables(f, without=without),
        torch.compile(f, options={"without": without}),
    ):
        torch.testing.assert_close(graphed(x), f(x))
    _, pairs = check(lambda: f(x))
    assert pairs > 0


def test_graphs_of_the_cpu_have_none():
    x = torch.ones(3)
    g = torch.cpu.Graph()
    with torch.cpu.graph(g):
        y = x.cumsum(0).exp()
    g.replay()
    assert g._dependent() == 0
    assert y.equal(x.cumsum(0).exp())


def test_kernels_of_users_wait_for_nothing(cuda, compiler):
    add = torch.cuda._compile_kernel(ADD, "add")
    x = torch.randn(64, device=cuda)

    def f():
        a = x.neg().exp()
        b = torch.empty_like(a)
        add((1, 1, 1), (64, 1, 1), (a, b, 2.0, 64))
        return b.abs().log()

    assert check(f) == (5, 2)


def test_libraries_kernels_wait_for_nothing(cuda):
    check_program(
        "cuBLASLt",
        """
x = torch.randn(64, 64, device="cuda")
w = torch.randn(64, 64, device="cuda")


def f():
    a = x.neg().exp()
    return (a @ w).abs().log1p()


want, asked = counted(f)
assert asked > 0
g = torch.cuda.CUDAGraph(bitwise=True, without=["fuse_pointwise"])
with torch.cuda.graph(g):
    y = f()
for _ in range(3):
    g.replay()
    assert y.equal(want)
assert (g._launches()[0], g._dependent()) == (5, 2), (
    g._launches(), g._dependent())
""",
    )


@pytest.mark.usefixtures("cuda", "compiler")
def test_a_graph_made_anew_keeps_its_memory(tmp_path, monkeypatch):
    """Kernels that come later are launched in a new graph, with the draws'
    starts and work memory of the first: replays are kept in order by those.
    """
    # A process that has compiled nothing and finds nothing on disk.
    monkeypatch.setenv("HOTARU_CACHE", str(tmp_path))
    program = """
import hotaru as torch
from hotaru import _C
x = torch.randn(300, device="cuda")

def f():
    y = (torch.rand(300, device="cuda") * 2 - 1).tanh()
    return (y + x).sort()[0].cumsum(0)

torch.cuda.manual_seed(1)
want = [f() for _ in range(4)]
torch.cuda.manual_seed(1)
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    y = f()
g.replay()
assert y.equal(want[0])
kernels = g._launches()[0]
before = torch.cuda.memory_allocated()
_C._cuda_finish_compiling()
for w in want[1:]:
    with torch.cuda.stream(torch.cuda.Stream()):
        g.replay()
        assert y.equal(w)
    assert g._launches()[0] < kernels
    assert torch.cuda.memory_allocated() == before
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
