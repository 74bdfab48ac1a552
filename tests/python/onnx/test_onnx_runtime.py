"""ONNX Runtime as an engine: models by `hotaru.onnx.runtime`, functions by
`compile(backend="onnxruntime")`, the command's `--engine`.
"""

from __future__ import annotations

import glob
import importlib.util
import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import onnx_bytes as ob
import pytest
from hotaru.onnx import runtime

import hotaru as torch

COMMAND = Path(sys.executable).with_name("hotaru")


def why_not() -> str:
    """Why there is no ONNX Runtime; "" if there is."""
    try:
        runtime.version()
    except RuntimeError as error:
        return str(error)
    return ""


needs_runtime = pytest.mark.skipif(bool(why_not()), reason=why_not())


def linear(rows: int = 4) -> bytes:
    """Y = relu(x W' + b) of three features, all small integers."""
    weights = [float(i % 5 - 2) for i in range(3 * rows)]
    return ob.model(
        ob.graph(
            [
                ob.node("Gemm", ["x", "w", "b"], ["h"], transB=1),
                ob.node("Relu", ["h"], ["y"]),
            ],
            [ob.value_info("x", dims=["batch", 3])],
            [ob.value_info("y", dims=["batch", rows])],
            [
                ob.tensor("w", ob.FLOAT, [rows, 3], weights),
                ob.tensor("b", ob.FLOAT, [rows], [float(i) for i in range(rows)]),
            ],
        )
    )


def expected(x: torch.Tensor, rows: int = 4) -> torch.Tensor:
    weight = torch.arange(3 * rows).remainder(5).sub(2).float().view(rows, 3)
    return torch.relu(x @ weight.t() + torch.arange(rows).float())


def add_and_multiply() -> bytes:
    return ob.model(
        ob.graph(
            [
                ob.node("Add", ["a", "b"], ["sum"]),
                ob.node("Mul", ["a", "b"], ["product"]),
            ],
            [ob.value_info(n, dims=["n"]) for n in "ab"],
            [ob.value_info(n, dims=["n"]) for n in ("sum", "product")],
        )
    )


def non_zero() -> bytes:
    return ob.model(
        ob.graph(
            [ob.node("NonZero", ["x"], ["places"])],
            [ob.value_info("x", dims=["n"])],
            [ob.value_info("places", ob.INT64, [1, "count"])],
        )
    )


# -- models ------------------------------------------------------------------


@needs_runtime
def test_a_model_from_bytes_a_file_and_a_path(tmp_path):
    path = tmp_path / "linear.onnx"
    path.write_bytes(linear())
    x = torch.arange(6).float().view(2, 3)
    with open(path, "rb") as file:
        models = [runtime.load(f) for f in (linear(), path, str(path), file)]
    for model in models:
        assert torch.equal(model(x), expected(x))
        assert torch.equal(model(x=x), expected(x))
    assert models[0].inputs == [("x", torch.float32, ("batch", 3))]
    assert models[0].outputs == [("y", torch.float32, ("batch", 4))]
    assert repr(models[0]).startswith(f"ONNX Runtime {runtime.version()} Model")


@needs_runtime
def test_inputs_by_name_and_several_outputs():
    model = runtime.load(add_and_multiply())
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    for result in (model(a, b), model(a, b=b), model(b=b, a=a)):
        assert [t.tolist() for t in result] == [[4.0, 7.0], [3.0, 10.0]]
    with pytest.raises(TypeError, match=r"missing are \['b'\], unknown or given"):
        model(a, c=b)
    with pytest.raises(TypeError, match=r"given twice \['a'\]"):
        model(a, a=b)
    with pytest.raises(TypeError, match="input 1 is no tensor but float"):
        model(a, 2.0)


@needs_runtime
def test_what_is_wrong_with_an_input_is_said():
    model = runtime.load(linear())
    with pytest.raises(TypeError, match=r"'x' is float32\[batch, 3\], got int64"):
        model(torch.ones(2, 3).long())
    with pytest.raises(ValueError, match=r"got a tensor of shape \[2, 4\]"):
        model(torch.ones(2, 4))
    with pytest.raises(RuntimeError, match="on meta; ONNX Runtime"):
        model(torch.ones(2, 3, device="meta"))
    x = torch.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="'x' requires a gradient, and ONNX"):
        model(x)
    with torch.no_grad():
        assert torch.equal(model(x), expected(x))


@needs_runtime
def test_what_cannot_be_loaded(tmp_path):
    with pytest.raises(RuntimeError, match=r"<bytes>: ONNX Runtime .*proto"):
        runtime.load(b"no model")
    with pytest.raises(RuntimeError, match="no such file"):
        runtime.load(tmp_path / "none.onnx")
    with pytest.raises(RuntimeError, match="no such file"):
        runtime.load(tmp_path)
    sequence = ob.model(
        ob.graph(
            [ob.node("SequenceConstruct", ["x"], ["s"])],
            [ob.value_info("x", dims=["n"])],
            [
                ob.field(1, "s")
                + ob.field(
                    2, ob.field(4, ob.field(1, ob.field(1, ob.field(1, ob.FLOAT))))
                )
            ],
        )
    )
    with pytest.raises(NotImplementedError, match="output 's' is no tensor"):
        runtime.load(sequence)
    text = ob.model(
        ob.graph(
            [ob.node("Identity", ["x"], ["y"])],
            [ob.value_info("x", ob.STRING, ["n"])],
            [ob.value_info("y", ob.STRING, ["n"])],
        )
    )
    with pytest.raises(NotImplementedError, match="input 'x' has elements of"):
        runtime.load(text)


@needs_runtime
def test_options_and_providers():
    x = torch.ones(1, 3)
    model = runtime.load(
        linear(),
        providers=["CPUExecutionProvider"],
        options={
            "graph_optimization_level": 0,
            "enable_cpu_mem_arena": False,
            "enable_mem_pattern": False,
            "session.set_denormal_as_zero": True,
        },
    )
    assert torch.equal(model(x), expected(x))
    assert "CPUExecutionProvider" in runtime.get_available_providers()
    with pytest.raises(ValueError, match="unknown option 'threads'"):
        runtime.load(linear(), options={"threads": 2})
    with pytest.raises(ValueError, match="1 providers, but provider_options"):
        runtime.load(linear(), providers=["A"], provider_options=[{}, {}])
    with pytest.raises(ValueError, match=r"this library has .*CPUExecution"):
        runtime.load(linear(), providers=[("NoneExecutionProvider", {"a": 1})])
    many = torch.get_num_threads() + 1
    with pytest.raises(ValueError, match="oversubscribe allows it"):
        runtime.load(linear(), options={"intra_op_num_threads": many})


# -- streams and graphs ------------------------------------------------------


@needs_runtime
def test_calls_on_streams_wait_for_their_inputs():
    model = runtime.load(linear())
    x = torch.arange(6).float().view(2, 3)
    first, second = torch.cpu.Stream(), torch.cpu.Stream()
    with torch.cpu.stream(first):
        y = model(x + 1)
    with torch.cpu.stream(second):
        z = model(y[:, :3]) * 2
    assert torch.equal(z, expected(expected(x + 1)[:, :3]) * 2)


@needs_runtime
def test_captured_graphs_hold_calls():
    model = runtime.load(linear())
    x = torch.zeros(2, 3)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = model(x + 1) - 1
    for value in (1.0, -3.0):
        x.fill_(value)
        graph.replay()
        assert torch.equal(y, expected(x + 1) - 1)


@needs_runtime
def test_shapes_that_depend_on_values():
    model = runtime.load(non_zero())
    x = torch.tensor([0.0, 3.0, 0.0, 4.0])
    assert model(x).tolist() == [[1, 3]]
    with torch.cpu.stream(torch.cpu.Stream()):
        assert model(x * 0).shape == (1, 0)
    graph = torch.cuda.CUDAGraph()
    with (
        pytest.raises(RuntimeError, match="the shape of output 'places'"),
        torch.cuda.graph(graph),
    ):
        model(x)
    # The result is hotaru's to write to, and outlives the model.
    places = model(x)
    del model
    places += 1
    assert places.tolist() == [[2, 4]]


@needs_runtime
def test_profiles_show_calls():
    model = runtime.load(linear())
    with torch.profiler.profile() as profile:
        model(torch.ones(1, 3))
    assert "provider_run" in {event.key for event in profile.key_averages()}


@needs_runtime
def test_eight_threads_and_no_more_in_the_process():
    model = runtime.load(linear())
    inputs = [torch.full((i + 1, 3), float(i)) for i in range(8)]
    wrong = []
    begun = len(os.listdir("/proc/self/task"))
    counted = threading.Event()
    called = threading.Barrier(9)

    def work(x):
        if not all(torch.equal(model(x), expected(x)) for _ in range(50)):
            wrong.append(x)
        called.wait()
        counted.wait()

    torch.set_num_threads(1)  # of hotaru's own pool nobody starts
    try:
        threads = [threading.Thread(target=work, args=(x,)) for x in inputs]
        for thread in threads:
            thread.start()
        called.wait()
        assert len(os.listdir("/proc/self/task")) <= begun + 8
    finally:
        counted.set()
        for thread in threads:
            thread.join()
        torch.set_num_threads(threads_at_first)
    assert not wrong


threads_at_first = torch.get_num_threads()


# -- compile -----------------------------------------------------------------


@pytest.fixture
def exporter(monkeypatch):
    """The programs that were exported."""
    calls = []
    export = torch.onnx.export

    def counted(program, *args, **kwargs):
        calls.append(program)
        return export(program, *args, **kwargs)

    monkeypatch.setattr(torch.onnx, "export", counted)
    return calls


def small_net() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()).eval()


@needs_runtime
def test_a_compiled_module_follows_its_weights(exporter):
    net = small_net()
    compiled = torch.compile(net, backend="onnxruntime", fullgraph=True)
    x = torch.randn(2, 3)
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(compiled(x), net(x))
        assert len(exporter) == 1
        torch.testing.assert_close(compiled(x[:1]), net(x[:1]))
        assert len(exporter) == 2
        net[0].bias.add_(1)
        torch.testing.assert_close(compiled(x), net(x))
        net[0] = torch.nn.Linear(3, 4)
        torch.testing.assert_close(compiled(x), net(x))
        assert len(exporter) == 4


@needs_runtime
def test_results_have_the_functions_form(exporter):
    net = small_net()

    @torch.compile(backend="onnxruntime", fullgraph=True)
    def function(x, *, scale=None):
        return {"y": net(x), "n": (x.shape[0], scale)}

    with torch.no_grad():
        result = function(torch.ones(2, 3), scale=7)
    assert list(result) == ["y", "n"]
    assert result["n"] == (2, 7)
    torch.testing.assert_close(result["y"], net(torch.ones(2, 3)).detach())


@needs_runtime
def test_gradients_run_the_function_itself(exporter):
    net = small_net()
    compiled = torch.compile(net, backend="onnxruntime")
    x = torch.ones(2, 3)
    with pytest.warns(UserWarning, match="ONNX Runtime computes none"):
        compiled(x).sum().backward()
    assert net[0].weight.grad is not None
    assert not exporter
    strict = torch.compile(net, backend="onnxruntime", fullgraph=True)
    with pytest.raises(RuntimeError, match="gradients, and ONNX Runtime"):
        strict(x)


def writes(x):
    x.add_(1)
    return x * 2


def draws(x):
    return x + torch.rand(3)


def looks(x):
    return x * 2 if x.sum() > 0 else x


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return x * self.calls


@needs_runtime
def test_resetting_compiles_again(exporter):
    net = small_net()
    compiled = torch.compile(net, backend="onnxruntime", fullgraph=True)
    with torch.no_grad():
        compiled(torch.ones(2, 3))
        torch.compiler.reset()
        compiled(torch.ones(2, 3))
        assert len(exporter) == 2
        with torch.compiler.set_stance("fail_on_recompile"):
            compiled(torch.ones(2, 3))
            with pytest.raises(RuntimeError, match="no program for this call"):
                compiled(torch.ones(5, 3))
        with torch.compiler.set_stance("force_eager"):
            compiled(torch.ones(5, 3))
    assert len(exporter) == 2


@needs_runtime
@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: writes, "writes to its arguments"),
        (lambda: draws, "draws random numbers"),
        (lambda: looks, r"a Python boolean, so what it does depends on values"),
        (lambda: lambda x: torch.fft.rfft(x).abs(), "aten::fft_rfft"),
        (Counts, "writes to its arguments or its state"),
        (lambda: lambda x: x.shape[0], "holds no tensor"),
    ],
)
def test_what_no_model_can_do_runs_as_it_is(make, why):
    plain, compiled = make(), torch.compile(make(), backend="onnxruntime")
    for _ in range(2):
        x = torch.ones(3)
        torch.manual_seed(0)
        want = plain(x.clone())
        torch.manual_seed(0)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            got = compiled(x)
        assert want == got if isinstance(want, int) else torch.equal(want, got)
        if _ == 0:
            assert why in str(told[0].message)
        else:
            assert not told
    assert getattr(compiled, "graphed", compiled).programs == 0
    strict = torch.compile(make(), backend="onnxruntime", fullgraph=True)
    with pytest.raises(RuntimeError, match=why):
        strict(torch.ones(3))


@needs_runtime
def test_errors_name_operator_and_line():
    def function(x):
        y = x + 1
        return torch.linalg.inv(y)

    strict = torch.compile(function, backend="onnxruntime", fullgraph=True)
    line = function.__code__.co_firstlineno + 2
    with pytest.raises(
        RuntimeError, match=rf"(?s)aten::linalg_inv.*runtime.py.*line {line}: return"
    ):
        strict(torch.eye(3))


@needs_runtime
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.nn.LSTM(4, 3, bidirectional=True, batch_first=True),
        lambda: torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
        lambda: torch.nn.Sequential(
            torch.nn.Conv1d(5, 6, 3, padding=1),
            torch.nn.BatchNorm1d(6),
            torch.nn.GELU(),
        ),
        lambda: lambda x: {"s": x.softmax(-1), "t": (x.transpose(1, 2), x)},
        lambda: lambda x: (x > 0, x.argmax(-1), x.nonzero(), torch.arange(3)),
    ],
)
def test_compiled_programs_give_the_same(make):
    torch.manual_seed(0)
    plain = make()
    if isinstance(plain, torch.nn.Module):
        plain.eval()
    compiled = torch.compile(plain, backend="onnxruntime", fullgraph=True)
    x = torch.randn(2, 5, 4)
    with torch.no_grad():
        for given in (x, x, x + 1, torch.randn(3, 5, 4), x):
            torch.testing.assert_close(compiled(given), plain(given))


def test_options_of_compile_are_checked_at_once():
    with pytest.raises(ValueError, match="unknown option 'threads'"):
        torch.compile(torch.relu, backend="onnxruntime", options={"threads": 1})


# -- the command and the library --------------------------------------------


def library_path() -> str:
    named = os.environ.get("HOTARU_ONNXRUNTIME")
    if named:
        return named
    spec = importlib.util.find_spec("onnxruntime")
    folder = next(iter(spec.submodule_search_locations))
    return sorted(glob.glob(f"{folder}/capi/libonnxruntime.so*"))[-1]


@needs_runtime
def test_the_command_runs_and_times_models(tmp_path):
    path = tmp_path / "linear.onnx"
    path.write_bytes(linear())
    environment = {**os.environ, "HOTARU_ONNXRUNTIME": library_path()}

    def command(*words):
        return subprocess.run(
            [str(COMMAND), *map(str, words)],
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
        )

    net = tmp_path / "net.pt"
    torch.jit.save(torch.jit.script(small_net()), str(net))
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    words = ("run", net, "--input", tmp_path / "x.npy", "--json")
    own, other = (
        json.loads(command(*words, *more).stdout)["result"]["values"]
        for more in ((), ("--engine", "onnxruntime"))
    )
    np.testing.assert_allclose(own, other, rtol=1e-6, atol=1e-6)
    words = ("--engine", "onnxruntime", path, "--shape", "2,3:float32")
    done = command("run", "--json", *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"]["shape"] == [2, 4]
    done = command("bench", "--seconds", "0.01", "--json", *words)
    assert json.loads(done.stdout)["calls"] >= 20, done.stderr
    done = command("run", *words, "--method", "other")
    assert (done.returncode, "has no methods" in done.stderr) == (1, True)
    done = command("run", *words, "--shape", "1")
    assert "takes 1 inputs (x: float32[batch, 3]), got 2" in done.stderr


def test_a_library_that_is_none():
    code = (
        "import hotaru.onnx.runtime as r\n"
        "try: r.version()\n"
        "except RuntimeError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "HOTARU_ONNXRUNTIME": __file__},
    )
    assert f"HOTARU_ONNXRUNTIME names {__file__}, which is no" in done.stdout
