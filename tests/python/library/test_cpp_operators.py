"""Operators and functions in C++, built by torch.utils.cpp_extension."""

import copy
import importlib.util
import io
import warnings

import pytest
from hotaru.utils import cpp_extension

import hotaru as torch
from hotaru import cpu

SOURCE = """
at::Tensor twice(at::Tensor x) { return x * 2; }
std::tuple<at::Tensor, int64_t, std::string> many(
    const at::Tensor& x, std::vector<int64_t> sizes,
    std::optional<at::Tensor> y, at::ScalarType dtype, at::Device device,
    at::Scalar number) {
  return {x.to(device, dtype) * number, int64_t(sizes.size()) + y.has_value(),
          device.str()};
}
int64_t summed(at::IntArrayRef list) {
  int64_t sum = 0;
  for (int64_t v : list) sum += v;
  return sum;
}
void refuse() { TORCH_CHECK(false, "no, thanks"); }

at::Tensor muladd(const at::Tensor& a, const at::Tensor& b, double c) {
  at::Tensor out = at::empty_like(a);
  for (int64_t i = 0; i < a.numel(); ++i)
    out.data_ptr<float>()[i] =
        a.data_ptr<float>()[i] * b.data_ptr<float>()[i] + float(c);
  return out;
}

struct Counter : torch::CustomClassHolder {
  explicit Counter(int64_t start) : count(start) {}
  int64_t count;
};

TORCH_LIBRARY(cpp_case, m) {
  m.class_<Counter>("Counter")
      .def(torch::init<int64_t>())
      .def("add", [](const c10::intrusive_ptr<Counter>& self, int64_t n,
                     const at::Tensor& x) {
             self->count += n;
             return x + self->count;
           }, "", {torch::arg("n"), torch::arg("x")})
      .def_readwrite("count", &Counter::count)
      .def_static("zero", [] { return c10::make_intrusive<Counter>(0); })
      .def_pickle(
          [](const c10::intrusive_ptr<Counter>& self) { return self->count; },
          [](int64_t count) { return c10::make_intrusive<Counter>(count); });
  m.def("read", [](const c10::intrusive_ptr<Counter>& c) { return c->count; });
  m.def("muladd(Tensor a, Tensor b, float c=1.0) -> Tensor");
  m.def("derived(Tensor a, Tensor b, float c=1.0) -> Tensor");
  m.def("pick.one(Tensor x) -> Tensor",
        [](const at::Tensor& x) { return x + 1; });
  m.def("pick.two(Tensor x, Tensor y) -> Tensor",
        [](const at::Tensor& x, const at::Tensor& y) { return x + y; });
  m.def("fill_(Tensor(a!) x, float v) -> Tensor(a!)");
}
TORCH_LIBRARY_IMPL(cpp_case, CPU, m) {
  m.impl("muladd", &muladd);
  m.impl("derived", &muladd);
  m.impl("fill_", [](at::Tensor x, double v) {
    for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<float>()[i] = float(v);
    return x;
  });
}
"""

pytestmark = [
    pytest.mark.skipif(
        not importlib.util.find_spec("pybind11"), reason="pybind11 is not installed"
    ),
    pytest.mark.skipif(
        not cpp_extension._is_installed(),
        reason="the C++ headers were not built with this package",
    ),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return cpp_extension.load_inline(
        "cpp_case",
        SOURCE,
        functions=["twice", "many", "summed", "refuse"],
        extra_cflags=["-O0", "-std=c++17"],
        build_directory=str(tmp_path_factory.mktemp("build")),
    )


@pytest.fixture
def ops(built):
    return torch.ops.cpp_case


def test_arguments_and_results(built):
    x = torch.ones(2)
    assert torch.equal(built.twice(x), x * 2)
    y, count, name = built.many(x, [1, 2], x, torch.float64, torch.device("cpu"), 3)
    assert torch.equal(y, torch.full((2,), 3.0, dtype=torch.float64))
    assert (count, name) == (3, "cpu")
    assert built.many(x, [], None, torch.int32, "cpu", 2.0)[1] == 0
    assert built.summed([1, 2, 3]) == 6
    with pytest.raises(RuntimeError, match="no, thanks"):
        built.refuse()
    with pytest.raises(TypeError, match=r"torch\.Tensor"):
        built.twice(3)


def test_operators_are_in_torch_ops(ops):
    x = torch.ones(3)
    assert torch.equal(ops.muladd(x, x * 3), x * 4)
    assert torch.equal(ops.muladd.default(x, x, c=5), x * 6)
    assert ops.pick.overloads() == ["one", "two"]
    assert torch.equal(ops.pick(x), x + 1)
    assert torch.equal(ops.pick.two(x, x), x * 2)
    assert str(ops.muladd.default._schema) == (
        "cpp_case::muladd(Tensor a, Tensor b, float c=1.) -> Tensor"
    )
    assert torch._C._dispatch_has_kernel_for_dispatch_key("cpp_case::muladd", "CPU")
    assert not hasattr(ops, "nothing")
    with pytest.raises(RuntimeError, match="missing value for argument 'b'"):
        ops.muladd(x)
    assert ops.fill_(x, 7) is x
    assert x.tolist() == [7, 7, 7]


def test_a_backward_pass_without_derivative_warns(ops):
    x = torch.ones(3, requires_grad=True)
    with pytest.warns(UserWarning, match="an autograd kernel was not regis"):
        ops.muladd(x, x).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch._C._set_autograd_fallback_mode("nothing")
        try:
            assert not ops.muladd(x, x).requires_grad
        finally:
            torch._C._set_autograd_fallback_mode("warn")


def test_python_adds_kernels(ops):
    with pytest.raises(NotImplementedError, match="no fake impl or Meta"):
        ops.derived(torch.ones(2, device="meta"), torch.ones(2, device="meta"))
    lib = torch.library.Library("cpp_case", "FRAGMENT")
    torch.library.register_fake(
        "cpp_case::derived", lambda a, b, c=1.0: torch.empty_like(a), lib=lib
    )

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])

    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a, None

    torch.library.register_autograd(
        "cpp_case::derived", backward, setup_context=setup_context, lib=lib
    )
    meta = torch.ones(2, device="meta")
    assert ops.derived(meta, meta).device.type == "meta"
    x = torch.ones(3, requires_grad=True)
    ops.derived(x, torch.full((3,), 3.0)).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]
    checked = torch.library.opcheck(
        ops.derived.default, (torch.rand(3, requires_grad=True), torch.rand(3), 2.0)
    )
    assert set(checked.values()) == {"SUCCESS"}
    lib._destroy()
    with pytest.raises(NotImplementedError):
        ops.derived(meta, meta)


def test_compiled_code_calls_them(ops):
    @torch.jit.script
    def f(x, y):
        return torch.ops.cpp_case.muladd(x, y, 2.0)

    @torch.jit.script
    def g(x, y):
        return torch.ops.cpp_case.pick.two(x, y)

    x = torch.ones(3)
    assert torch.equal(f(x, x), x * 3)
    assert torch.equal(g(x, x), x * 2)


@pytest.fixture
def with_meta(ops):
    lib = torch.library.Library("cpp_case", "FRAGMENT")
    torch.library.register_fake(
        "cpp_case::muladd", lambda a, b, c=1.0: torch.empty_like(a), lib=lib
    )
    yield ops
    lib._destroy()


def test_queues_and_graphs_take_one_call(with_meta):
    ops = with_meta
    x = torch.ones(3)

    def f(a, b):
        return ops.muladd(a * 2, b, 1.0) + 1

    with torch.no_grad():
        stream = cpu.Stream()
        with cpu.stream(stream):
            queued = f(x, x)
        assert torch.equal(queued, x * 4)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = f(x, x)
        for value in (1.0, 2.0, 3.0):
            x.fill_(value)
            graph.replay()
            assert torch.equal(result, f(x, x))
    assert "cpp_case::muladd" in [name for name, _ in graph._nodes()]


def test_a_capture_without_a_meta_kernel_says_so(ops):
    x = torch.ones(3)

    def capture():
        with torch.no_grad(), torch.cuda.graph(torch.cuda.CUDAGraph()):
            ops.muladd(x * 2, x)

    with pytest.raises(RuntimeError, match="captur"):
        capture()


def test_classes(ops):
    x = torch.zeros(2)
    counter = torch.classes.cpp_case.Counter(3)
    assert isinstance(counter, torch._C.ScriptObject)
    assert counter.add(2, x).tolist() == [5, 5]
    assert counter.add(n=1, x=x).tolist() == [6, 6]
    assert counter.count == 6
    counter.count = 10
    assert ops.read(counter) == 10
    assert torch.classes.cpp_case.Counter.zero().count == 0
    assert copy.deepcopy(counter).count == 10
    with pytest.raises(AttributeError):
        counter.nothing  # noqa: B018
    with pytest.raises(TypeError, match="missing the argument 'x'"):
        counter.add(1)
    with pytest.raises(RuntimeError, match="but instead found type 'int'"):
        ops.read(3)
    with pytest.raises(RuntimeError, match="does not exist"):
        torch.classes.cpp_case.Nothing()


def test_modules_hold_objects_of_classes(ops):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.counter = torch.classes.cpp_case.Counter(1)

        def forward(self, x):
            other = torch.classes.cpp_case.Counter(5)
            return self.counter.add(1, x) + other.count

    compiled = torch.jit.script(Model())
    assert compiled(torch.zeros(1)).item() == 7
    buffer = io.BytesIO()
    torch.jit.save(compiled, buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    assert loaded(torch.zeros(1)).item() == 8


def test_building_again_only_after_a_change(built, tmp_path):
    source = tmp_path / "f.cpp"
    source.write_text('extern "C" int answer() { return 42; }\n')
    kwargs = {"build_directory": str(tmp_path), "is_python_module": False}
    path = cpp_extension.load("plain", str(source), **kwargs)
    written = (tmp_path / "plain.so").stat().st_mtime_ns
    assert cpp_extension.load("plain", [str(source)], **kwargs) == path
    assert (tmp_path / "plain.so").stat().st_mtime_ns == written
    source.write_text("this is no C++\n")
    with pytest.raises(RuntimeError, match=r"(?s)building extension.*f\.cpp"):
        cpp_extension.load("plain", str(source), **kwargs)


def test_cuda_sources_are_refused():
    with pytest.raises(RuntimeError, match="_compile_kernel"):
        cpp_extension.load("x", ["kernel.cu"])
    with pytest.raises(RuntimeError, match="_compile_kernel"):
        cpp_extension.CUDAExtension("x", ["kernel.cu"])


def test_a_library_built_against_pytorch_is_refused(tmp_path):
    source = tmp_path / "f.cpp"
    source.write_text(
        'extern "C" void _ZN3c106nobodyEv();\n'
        "__attribute__((constructor)) void f() { _ZN3c106nobodyEv(); }\n"
    )
    with pytest.raises(OSError, match="built against PyTorch's own libraries"):
        cpp_extension.load(
            "foreign",
            str(source),
            build_directory=str(tmp_path),
            is_python_module=False,
        )
