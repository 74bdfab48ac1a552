"""Elementwise calls behind attention, in its own kernel."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from captured import captured, same
from fused import check

import hotaru as torch
from hotaru import _C

F = torch.nn.functional
attention = F.scaled_dot_product_attention


pytestmark = pytest.mark.usefixtures("compiler")


def operands(cuda, dtype, batch=2, heads=3, queries=70, keys=45, width=16, values=None):
    """Query, key, value, and a function that makes more of the dtype."""
    torch.manual_seed(0)

    def make(*shape):
        return torch.randn(shape, device=cuda).to(getattr(torch, dtype))

    return (
        make(batch, heads, queries, width),
        make(batch, heads, keys, width),
        make(batch, heads, keys, values or width),
        make,
    )


# Rows of 16-bit floats go to tensor cores where they lie at multiples of 16
# bytes: those of 20 elements do not.
KINDS = [
    ("float32", 16),
    ("float16", 16),
    ("bfloat16", 16),
    ("float16", 20),
    ("bfloat16", 20),
]


@pytest.mark.parametrize(("dtype", "width"), KINDS)
def test_a_gate_a_residual_and_a_cast(cuda, dtype, width):
    q, k, v, make = operands(cuda, dtype, width=width)
    gate, residual = make(*q.shape), torch.randn(*q.shape, device=cuda)

    def f():
        return ((attention(q, k, v) * gate).float() + residual,)

    assert check(f) == (3 if dtype == "float32" else 4, 1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("width", [8, 40, 72, 128])
def test_each_step_rounds(cuda, dtype, width):
    """Each width that there are kernels for."""
    q, k, v, make = operands(cuda, dtype, 1, 2, 130, 66, width)
    x = make(*q.shape)

    def f():
        return (F.silu(attention(q, k, v) * x + x) * 0.3 - x,)

    before, after = check(f)
    assert before > after == 1


@pytest.mark.parametrize(("dtype", "width"), KINDS[:4])
def test_copies_into_another_layout(cuda, dtype, width):
    q, k, v, make = operands(cuda, dtype, width=width)
    joined = make(2, 70, 3 * width)

    def f():
        return (attention(q, k, v).transpose(1, 2).reshape(joined.shape),)

    assert check(f) == (2, 1)

    def g():
        a = attention(q, k, v).transpose(1, 2)
        return (a * joined.view(a.shape),)

    assert check(g) == (2, 1)

    def into_place():
        joined.view(2, 70, 3, width).copy_(attention(q, k, v).transpose(1, 2))
        return (joined,)

    assert check(into_place) == (2, 1)


def test_heads_that_lie_in_rows_are_joined(cuda):
    """The result is [batch, tokens, heads, width] in memory: a view has the
    last two as one, and elementwise calls see that.
    """
    _, _, _, make = operands(cuda, "float16")
    x = make(2, 70, 3, 3 * 16)
    residual, row = make(2, 70, 48), make(48)

    def f():
        q, k, v = (x[:, :, i].view(2, 70, 3, 16).transpose(1, 2) for i in range(3))
        y = attention(q, k, v).transpose(1, 2).reshape(2, 70, 48)
        return ((y * row + residual).relu(),)

    assert check(f) == (4, 1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_views_between_the_calls(cuda, dtype):
    """Dimensions are exchanged, joined and cut off along the chain."""
    q, k, v, make = operands(cuda, dtype)
    gate, column, residual = make(*q.shape), make(3, 1, 1), make(140, 48)

    def f():
        a = attention(q, k, v) * gate + column
        b = a.transpose(1, 2).reshape(2, 70, 48).sigmoid()  # in a copy
        return ((b.view(140, 48) - residual).T.unsqueeze(1).exp(),)

    assert check(f) == (7, 1)


def test_what_broadcasts(cuda):
    q, k, v, make = operands(cuda, "float16")
    number = torch.tensor(1.5).half()
    for shape in [(2, 3, 70, 1), (3, 1, 1), (16,), (70, 16), (2, 1, 1, 16), ()]:
        x = make(*shape)

        def f(x=x):
            return ((attention(q, k, v) * x - 0.25) * number,)

        assert check(f) == (4, 1)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_results_that_others_read_are_written(cuda, dtype):
    q, k, v, make = operands(cuda, dtype)
    gate = make(*q.shape)

    def f():
        a = attention(q, k, v)
        b = a * gate
        return b + 1, a.sum(-1), a

    assert check(f) == (4, 2)

    def g():
        a = attention(q, k, v)
        b = a.transpose(1, 2) * 2
        return b.exp(), b.sum()

    before, after = check(g)
    assert after <= before - 2


def test_in_place(cuda):
    q, k, v, make = operands(cuda, "float16")
    gate, residual = make(*q.shape), make(*q.shape)

    def f():
        a = attention(q, k, v)
        a.mul_(gate).add_(1)
        residual.sub_(a)
        return a, residual

    apart, want = captured(f, without=["fuse_pointwise"])
    start = residual.clone()
    apart.replay()
    want = [x.clone() for x in want]
    residual.copy_(start)
    g, out = captured(f)
    for _ in range(3):
        residual.copy_(start)
        g.replay()
        for a, b in zip(out, want):
            same(a, b)
        _C._cuda_finish_compiling()
    assert (apart._launches()[0], g._launches()[0]) == (4, 1)


def test_operands_of_attention_are_not_overwritten(cuda):
    """Other blocks still read them: copies there are a kernel of their own."""
    q, k, v, _ = operands(cuda, "float16", keys=70)
    starts = [x.clone() for x in (q, k, v)]

    def f():
        a = attention(q, k, v)
        b = a * 2
        for x in (q, k, v):
            x.copy_(b)
        return q, k, v

    copies = ["write_through"]
    apart, want = captured(f, without=["fuse_pointwise", *copies])
    apart.replay()
    want = [x.clone() for x in want]
    g, out = captured(f, without=copies)
    for graph, results in ((g, out), captured(f)):
        for _ in range(3):
            for x, start in zip((q, k, v), starts):
                x.copy_(start)
            graph.replay()
            for a, b in zip(results, want):
                same(a, b)
            _C._cuda_finish_compiling()
    assert (apart._launches()[0], g._launches()[0]) == (5, 2)


@pytest.mark.parametrize(
    "sizes",
    [
        (1, 1, 1, 1, 1, 1),
        (1, 2, 65, 3, 33, 7),
        (3, 1, 129, 200, 5, 3),
        (1, 1, 64, 64, 31, 33),
        (2, 2, 17, 0, 8, 8),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_odd_sizes(cuda, sizes, dtype):
    q, k, v, make = operands(cuda, dtype, *sizes)
    x = make(*q.shape[:3], v.shape[3])

    def f():
        return ((attention(q, k, v) + x) * x,)

    before, after = check(f)
    # Without keys there is no call of attention.
    assert after < before


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_masks_causal_and_grouped_heads(cuda, dtype):
    q, _, _, make = operands(cuda, dtype, heads=4, queries=70)
    k, v, x = make(2, 2, 70, 16), make(2, 2, 70, 16), make(*q.shape)
    seen = torch.randn(70, 70, device=cuda) > 0
    seen[3] = False

    def f(**options):
        a = attention(q, k, v, enable_gqa=True, **options)
        return (a * x + 1,)

    for options in (
        {"is_causal": True},
        {"attn_mask": seen},
        {"attn_mask": make(70, 70)},
        {"scale": 0.3},
    ):
        assert check(lambda options=options: f(**options)) == (3, 1)


def test_elements_that_are_not_in_step_stay_apart(cuda):
    q, k, v, make = operands(cuda, "float32", keys=70)
    halves, wide = make(2, 3, 70, 8), make(5, 1, 1, 1, 1)

    def f():
        a = attention(q, k, v)
        b = a.view(2, 3, 70, 2, 8)  # dimensions that attention does not have
        c = torch.cat([-b[..., 1, :], b[..., 0, :]], -1)
        return c * 2, a[..., :8] * halves, a * wide, a.mT + 1, a + a.flip(2)

    check(f)


def test_gradients(cuda):
    """Lse is read by the backward: it is written as ever."""
    q, k, v, make = operands(cuda, "float32")
    x = make(*q.shape)

    def f(q, k, v, x):
        return attention(q, k, v) * x + 1

    graphed = torch.compile(f)
    for _ in range(3):
        leaves = [t.clone().requires_grad_() for t in (q, k, v, x)]
        again = [t.clone().requires_grad_() for t in (q, k, v, x)]
        got, want = graphed(*leaves), f(*again)
        same(got, want)
        got.sum().backward()
        want.sum().backward()
        for a, b in zip(leaves, again):
            same(a.grad, b.grad)
        _C._cuda_finish_compiling()


def test_operands_that_move(cuda):
    """Out of line, too: then they are no words any more."""
    q, k, v, make = operands(cuda, "float16")
    base = make(2 * q.numel() + 1)
    x = base[: q.numel()].view(q.shape)
    g, (y,) = captured(lambda x: (attention(q, k, v) * x,), x)
    g.replay()
    _C._cuda_finish_compiling()
    g.replay()
    assert g._launches()[0] == 1
    base.normal_()
    g.replay()
    same(y, attention(q, k, v) * x)

    odd = base[1 : q.numel() + 1].view(q.shape)

    def f():
        return (attention(q, k, v) * odd,)

    assert check(f) == (2, 1)


def test_dropout_stays_apart(cuda):
    q, k, v, _ = operands(cuda, "float32")

    def f():
        return (F.dropout(attention(q, k, v) * 2, 0.5) + 1,)

    g, (y,) = captured(f)
    for _ in range(3):
        state = torch.cuda.get_rng_state()
        g.replay()
        torch.cuda.set_rng_state(state)
        same(y, f()[0])
        _C._cuda_finish_compiling()


def test_without_the_pass_calls_stay(cuda):
    q, k, v, _ = operands(cuda, "float16")
    g, (y,) = captured(lambda: (attention(q, k, v) * 2,), without=["fuse_pointwise"])
    g.replay()
    _C._cuda_finish_compiling()
    g.replay()
    assert g._launches()[0] == 2
    same(y, attention(q, k, v) * 2)


PROGRAM = """
import hotaru as torch
from hotaru import _C
attention = torch.nn.functional.scaled_dot_product_attention
for dtype, width in (("float32", 64), ("float16", 20), ("bfloat16", 128)):
    q, k, v, x = (
        torch.ones(1, 2, 9, width, device="cuda").to(getattr(torch, dtype))
        for _ in range(4)
    )
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y = (attention(q, k, v) * x).transpose(1, 2).float().gelu()
    g.replay()
    _C._cuda_finish_compiling()
print(*_C._cuda_compile_counts())
"""
COMPILE = """
import sys
import hotaru as torch
try:
    why_not = torch._C._cuda_libraries("NVRTC")[0]["why_not"]
except Exception as e:
    why_not = str(e)
if why_not:
    sys.exit("no NVRTC: " + why_not)
for text in sys.stdin.read().split(chr(0)):
    for architecture in ("80", "90"):
        code, symbol = torch._C._cuda_compile_image(
            text, "hotaru::cuda::Fused", architecture, [], [], True
        )
        print(code[:4] == b"\\x7fELF", "Fused" in symbol)
"""


def test_nvrtc_compiles_them(tmp_path):
    """NVIDIA's own, where it is found or its folder is in HOTARU_TEST_NVRTC:
    what a process with the stand-in keeps on disk.
    """
    if not _C._cuda_in_software():
        pytest.skip("the stand-in leaves texts on disk, a GPU runs them")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=dict(os.environ, HOTARU_CACHE=str(tmp_path)),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert ran.stdout.split() == ["3", "0"]
    begin, end = b'#include "hotaru/', b"}  // namespace hotaru::cuda\n"
    texts = []
    for path in tmp_path.rglob("*"):
        if path.is_file() and begin in (data := path.read_bytes()):
            texts.append(data[data.index(begin) : data.index(end) + len(end)])
    assert len(texts) == 3
    done = subprocess.run(
        [sys.executable, "-c", COMPILE],
        env=dict(
            os.environ,
            HOTARU_CUDA_DRIVER="",
            HOTARU_CUDA_LIBRARIES=os.environ.get("HOTARU_TEST_NVRTC", ""),
        ),
        input=b"\0".join(texts).decode(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.stderr.startswith("no NVRTC"):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"] * 12
