"""Kernels of a program's own: values, order, graphs, errors.

NVRTC compiles them. With `HOTARU_CUDA_LIBRARIES=soft` a stand-in does, by the
machine's C++ compiler, for the GPU in software.
"""

from __future__ import annotations

import ctypes
import shutil

import numpy as np
import pytest
from own_kernels import ADD, SAXPY, why_no_compiler

import hotaru as torch


@pytest.fixture(autouse=True, scope="module")
def compiler(tmp_path_factory):
    """Skips where nothing compiles; kernels are kept in a folder of ours."""
    why_not = why_no_compiler()
    if why_not:
        pytest.skip(why_not)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOTARU_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


@pytest.fixture(scope="module")
def saxpy():
    return torch.cuda.compile_kernel(SAXPY, "saxpy", reads=(0,))


@pytest.fixture(scope="module")
def add():
    """Out = a + by, for n elements."""
    return torch.cuda.compile_kernel(ADD, "add", reads=(0,), writes=(1,))


def plus(add, x, by: float):
    out = torch.empty_like(x)
    n = x.numel()
    add((-(-n // 64),), (64,), [x, out, by, n])
    return out


# --- values -------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 255, 256, 257, 5000])
def test_a_tail_is_left_alone(cuda, saxpy, n):
    x, y = torch.randn(2, n + 7).to(cuda)
    want = y.clone()
    want[:n] += 3 * x[:n]
    saxpy(grid=((n + 255) // 256, 1, 1), block=(256, 1, 1), args=[x, y, 3.0, n])
    # The compiler multiplies and adds at once: 3 * x is rounded here alone, to
    # 2**-24 of at most 3 * 6.
    assert y.cpu().allclose(want.cpu(), atol=2e-6)
    assert y[n:].cpu().equal(want[n:].cpu())


def test_pytorchs_name_and_signature(cuda):
    kernel = torch.cuda._compile_kernel(
        'extern "C" __global__ void twice(int* p) { p[threadIdx.x] *= 2; }',
        "twice",
        None,
        None,
        ["-DUNUSED=1"],
    )
    x = torch.arange(6, dtype=torch.int32, device=cuda)
    kernel((1, 1, 1), (5, 1, 1), [x], 0, torch.cuda.current_stream())
    assert x.tolist() == [0, 2, 4, 6, 8, 5]


def test_templates_and_blocks_of_two_dimensions(cuda):
    text = """
    template <class T, int kBy>
    __global__ void turn(const T* in, T* out, int rows, int columns) {
      const int x = blockIdx.x * blockDim.x + threadIdx.x;
      const int y = blockIdx.y * blockDim.y + threadIdx.y;
      if (x < columns && y < rows)
        out[x * rows + y] = kBy * in[y * columns + x];
    }
    """
    for dtype, name in (("float32", "float"), ("int64", "long long")):
        kernel = torch.cuda.compile_kernel(text, f"turn<{name}, 3>")
        x = torch.arange(7 * 19).view(7, 19).to(getattr(torch, dtype))
        out = torch.zeros(19, 7, dtype=x.dtype, device=cuda)
        kernel((3, 2), (8, 4), [x.to(cuda), out, 7, 19])
        assert out.cpu().equal(3 * x.t())


REDUCE = """
__global__ void sums(const float* in, float* out, int n) {
  __shared__ float part[128];
  const unsigned i = threadIdx.x;
  part[i] = 0;
  for (int k = blockIdx.x * blockDim.x + i; k < n; k += gridDim.x * blockDim.x)
    part[i] += in[k];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (i < half) part[i] += part[i + half];
  }
  if (i == 0) out[blockIdx.x] = part[0];
}
__global__ void reversed(int* p) {
  extern __shared__ int kept[];
  kept[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}
"""


def test_threads_of_a_block_share_memory(cuda):
    sums = torch.cuda.compile_kernel(REDUCE, "sums")
    x = torch.arange(5000.0)
    out = torch.empty(6, device=cuda)
    sums((6,), (128,), [x.to(cuda), out, 5000])
    assert out.sum().item() == x.sum().item()
    assert out[1].item() == sum(
        x[k : k + 128].sum().item() for k in range(128, 5000, 768)
    )


def test_shared_memory_of_a_launch(cuda):
    kernel = torch.cuda.compile_kernel(REDUCE, "reversed")
    x = torch.arange(100, dtype=torch.int32, device=cuda)
    kernel(1, 100, [x], shared_mem=400)
    assert x.tolist() == list(range(99, -1, -1))
    with pytest.raises(RuntimeError, match=r"65536 bytes .*not configured"):
        kernel(1, 100, [x], shared_mem=65536)
    with pytest.raises(RuntimeError, match="exceeds device limit"):
        kernel.set_shared_memory_config(1 << 20)
    kernel.set_shared_memory_config(65536)
    kernel(1, 100, [x], shared_mem=65536)
    assert x.tolist() == list(range(100))
    with pytest.raises(RuntimeError, match=r"only 65536 bytes configured"):
        kernel(1, 100, [x], shared_mem=65540)


def test_atomics(cuda):
    kernel = torch.cuda.compile_kernel(
        """
        __global__ void count(const long long* of, int* counts, int n) {
          const int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) atomicAdd(counts + of[i], 1);
        }
        """,
        "count",
    )
    x = torch.arange(1000) * 7 % 10
    counts = torch.zeros(10, dtype=torch.int32, device=cuda)
    kernel((8,), (128,), [x.to(cuda), counts, 1000])
    assert counts.tolist() == [100] * 10


def test_every_kind_of_argument(cuda):
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int16), ("b", ctypes.c_double)]

    kernel = torch.cuda.compile_kernel(
        """
        struct Pair { short a; double b; };
        extern "C" __global__ void keep(
            double* out, int i, double d, bool t, bool f, float nf, long long l,
            signed char c, unsigned u, Pair pair, unsigned full) {
          const double all[] = {double(i), d, double(t), double(f), double(nf),
                                double(l), double(c), double(u),
                                double(pair.a), pair.b, double(full)};
          for (int k = 0; k < 11; ++k) out[k] = all[k];
        }
        """,
        "keep",
    )
    out = torch.zeros(11, dtype=torch.float64, device=cuda)
    kernel(
        args=[
            out,
            -5,
            0.1,
            True,
            False,
            np.float32(1.5),
            np.int64(1 << 40),
            ctypes.c_int8(-3),
            np.uint32(1 << 31),
            Pair(7, 0.25),
            0xFFFFFFFF,
        ]
    )
    assert out.tolist() == [
        -5,
        0.1,
        1,
        0,
        1.5,
        1 << 40,
        -3,
        1 << 31,
        7,
        0.25,
        0xFFFFFFFF,
    ]


def test_views_begin_at_their_first_element(cuda, saxpy):
    base = torch.zeros(10, device=cuda)
    saxpy(1, 4, [torch.ones(4, device=cuda), base[3:7], 1.0, 4])
    assert base.tolist() == [0] * 3 + [1] * 4 + [0] * 3


def test_header_code(cuda):
    kernel = torch.cuda.compile_kernel(
        "__global__ void f(int* p) { p[0] = kNumber; }",
        "f",
        header_code="constexpr int kNumber = 42;",
    )
    x = torch.zeros(1, dtype=torch.int32, device=cuda)
    kernel(args=[x])
    assert x.item() == 42


# --- order --------------------------------------------------------------------


def test_streams_wait_for_each_other(cuda, add):
    """Kernels read what another stream's kernel writes, and nobody waits."""
    streams = [torch.cuda.Stream() for _ in range(3)]
    x = torch.zeros(300, device=cuda)
    for n in range(60):
        with torch.cuda.stream(streams[n % 3]):
            x = plus(add, x, 1.0) if n % 2 else x + 1
    assert x.eq(60).all().item()


def test_a_kernel_on_a_given_stream(cuda, saxpy):
    stream = torch.cuda.Stream()
    x, y = torch.ones(200, device=cuda), torch.zeros(200, device=cuda)
    for n in range(20):
        saxpy(1, 200, [x, y, 1.0, 200], stream=stream if n % 2 else None)
        x += 1
    assert y.eq(210).all().item()


def test_readers_do_not_wait_but_writers_do(cuda, add):
    stream = torch.cuda.Stream()
    x = torch.ones(300, device=cuda)
    outs = []
    for n in range(20):
        with torch.cuda.stream(stream):
            outs.append(plus(add, x, 0.0))
        x.fill_(n + 2)  # not before the other stream has read it
    for n, out in enumerate(outs):
        assert out.eq(n + 1).all().item()


def test_arguments_that_are_written_have_a_new_version(cuda, saxpy, add):
    x, y = torch.ones(4, device=cuda), torch.zeros(4, device=cuda)
    saxpy(1, 4, [x, y, 1.0, 4])
    assert (x._version, y._version) == (0, 1)
    saxpy(1, 4, [x, y, 1.0, 4], reads=[x, y])
    assert (x._version, y._version) == (0, 1)
    saxpy(1, 4, [x, y, 1.0, 4], reads=(), writes=())
    assert (x._version, y._version) == (1, 2)
    saxpy(1, 4, [x, y, 1.0, 4], reads=(), writes=[y])
    assert (x._version, y._version) == (1, 3)
    w = torch.ones(4, device=cuda, requires_grad=True)
    out = (w * y).sum()
    saxpy(1, 4, [x, y, 1.0, 4])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()
    with pytest.raises(ValueError, match="is no argument of the kernel"):
        saxpy(1, 4, [x, y, 1.0, 4], reads=[w])


# --- graphs -------------------------------------------------------------------


def captured(f, *args):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        out = f(*args)
    return g, out


def test_in_a_graph(cuda, add, saxpy):
    x, y = torch.zeros(100, device=cuda), torch.zeros(100, device=cuda)

    def f(x):
        a = plus(add, x * 2, 5.0)  # an intermediate value on both sides
        saxpy(1, 128, [a, y, 2.0, 100])
        return a.sqrt()

    g, out = captured(f, x)
    assert y.eq(0).all().item()
    total = torch.zeros(100)
    for n in range(3):
        values = torch.randn(100).abs() + n
        x.copy_(values)
        g.replay()
        total += 2 * (values * 2 + 5)
        assert out.cpu().allclose((values * 2 + 5).sqrt())
    assert y.cpu().allclose(total)


def test_a_graph_follows_what_was_moved(cuda, saxpy):
    x, y = torch.ones(64, device=cuda), torch.zeros(64, device=cuda)
    g = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(g):
        saxpy(1, 64, [x, y, 1.0, 64])
    g.instantiate()
    g.replay()
    made = g.raw_cuda_graph()
    for storage in (x.untyped_storage(), y.untyped_storage()):
        before = storage.data_ptr()
        storage.resize_(4 << 20)
        assert storage.data_ptr() != before
    x.fill_(5)
    g.replay()
    assert y.eq(6).all().item()
    assert g.raw_cuda_graph() == made  # its kernel has other parameters


def test_a_graphed_callable(cuda, add):
    f = torch.cuda.make_graphed_callables(lambda x: plus(add, x, 1.0) * 2)
    with torch.no_grad():
        for size in (50, 70000):  # copied, and read where it is
            for n in range(4):
                x = torch.full((size,), float(n), device=cuda)
                assert f(x).eq(2 * (n + 1)).all().item()


def test_a_name_that_an_operator_has(cuda):
    """Graphs know operators by name; such a kernel is none."""
    text = """
    __global__ void NAME(float* p) { p[threadIdx.x] += 1; }
    """
    for name in ("matmul", "copy_", "relu"):
        kernel = torch.cuda.compile_kernel(text.replace("NAME", name), name)
        x = torch.zeros(8, device=cuda)
        g, out = captured(lambda k=kernel, x=x: (k(1, 8, [x]), x.relu())[1])
        g.replay()
        g.replay()
        assert out.tolist() == [2] * 8


def test_profiles_show_the_kernels_name(cuda, saxpy):
    from hotaru.profiler import ProfilerActivity, profile

    x, y = torch.ones(64, device=cuda), torch.zeros(64, device=cuda)
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=both) as prof:
        saxpy(1, 64, [x, y, 1.0, 64])
    assert [e.name for e in prof.events()].count("saxpy") >= 1


# --- errors -------------------------------------------------------------------


def test_lines_of_errors_are_the_texts(cuda):
    text = "__global__ void f(int* p) {\n\n  p[0] = nothing_here;\n}"
    for header in ("", "struct A {};\nstruct B {};\n"):
        with pytest.raises(RuntimeError, match="compilation failed") as error:
            torch.cuda.compile_kernel(text, "f", header_code=header)
        # NVRTC writes "f.cu(3)", GCC "f.cu:3:10".
        assert "f.cu(3)" in str(error.value) or "f.cu:3:" in str(error.value)
        assert "nothing_here" in str(error.value)
        assert "was asked for" not in str(error.value)


def test_a_name_that_is_not_there(cuda):
    text = """
    extern "C" __global__ void __launch_bounds__(128, 2) first(int* p) {}
    __global__ void second(int) {}
    """
    with pytest.raises(RuntimeError) as error:
        torch.cuda.compile_kernel(text, "third")
    assert "'third' was asked for; __global__ functions here: first, second" in str(
        error.value
    )


def test_wrong_arguments(cuda, saxpy):
    x = torch.ones(4, device=cuda)
    with pytest.raises(
        ValueError, match="All tensor arguments must be CUDA tensors or pinned CPU"
    ):
        saxpy(1, 4, [x, torch.ones(4), 1.0, 4])
    with pytest.raises(NotImplementedError, match="copy them to the device"):
        saxpy(1, 4, [x, torch.ones(4).pin_memory(), 1.0, 4])
    for wrong in ("text", [1], None, np.ones(3), b"1234"):
        with pytest.raises(TypeError, match="Unsupported argument type: "):
            saxpy(1, 4, [x, x, wrong, 4])
    with pytest.raises(ValueError, match=r"numpy\.int64"):
        saxpy(1, 4, [x, x, 1.0, 1 << 32])
    with pytest.raises(ValueError, match="grid must have one to three"):
        saxpy((), 4, [x, x, 1.0, 4])


@pytest.mark.parametrize(
    ("grid", "block"), [((0,), 1), (1, 0), (1, (32, 32, 2)), ((1, 65536), 1)]
)
def test_sizes_that_no_device_takes(cuda, saxpy, grid, block):
    x, y = torch.ones(4, device=cuda), torch.ones(4, device=cuda)
    with pytest.raises(RuntimeError, match=r"CUDA error: .*invalid"):
        saxpy(grid, block, [x, y, 1.0, 4])
    saxpy(1, 4, [x, y, 1.0, 4])  # the device works on
    assert y.tolist() == [2] * 4


def test_a_kernel_that_goes_astray_is_named(run):
    program = f"""
import hotaru as torch
k = torch.cuda.compile_kernel({SAXPY!r}, "saxpy")
x = torch.ones(4, device="cuda")
k(1, 64, [x, x.new_zeros(4), 1.0, 1 << 30])
k(1024, 1024, [x, x, 1.0, 1 << 30])
try:
    torch.cuda.synchronize()
except RuntimeError as e:
    print("illegal" in str(e) or str(e))
"""
    assert run(program) == "True\n"


def test_two_devices(run):
    if shutil.which("c++") is None or not torch._C._cuda_in_software():
        pytest.skip("the GPU in software makes a second one")
    program = f"""
import hotaru as torch
k = torch.cuda.compile_kernel({SAXPY!r}, "saxpy", reads=(0,))
for d in (0, 1, 0):
    x, y = torch.ones(2, 9, device=f"cuda:{{d}}")
    k(1, 9, [x, y, 2.0, 9])
    assert y.eq(3).all().item()
try:
    k(1, 9, [torch.ones(9, device="cuda:0"), y.to("cuda:1"), 2.0, 9])
except RuntimeError as e:
    print("same device" in str(e))
print(torch._C._cuda_compile_counts()[0])
"""
    assert run(program, HOTARU_CUDA_DRIVER="soft:2") == "True\n0\n"
