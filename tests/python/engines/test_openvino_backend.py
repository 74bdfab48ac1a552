"""OpenVINO as an engine: `compile(backend="openvino")`, `openvino.load`."""

from __future__ import annotations

import importlib.util
import os
import threading
import warnings

import hotaru.nn.functional as F
import pytest
from hotaru.onnx import openvino
from hotaru.utils import _pytree as pytree
from xla_networks import NETWORKS, network

import hotaru as torch
from hotaru import nn

needs_openvino = pytest.mark.skipif(
    importlib.util.find_spec("openvino") is None,
    reason="openvino is not installed (pip install openvino)",
)
X = torch.linspace(-2, 3, 12).reshape(3, 4)


def compiled(function, **options):
    return torch.compile(function, backend="openvino", fullgraph=True, options=options)


def exported(function, *args) -> bytes:
    return torch.onnx.export(function, args).to_bytes()


def perceptron():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()


def test_without_openvino_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install openvino"):
        torch.compile(lambda x: x, backend="openvino")
    with pytest.raises(ImportError, match="pip install openvino"):
        openvino.version()


@needs_openvino
@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name):
    model, inputs = network(name)
    run = compiled(model)
    with torch.no_grad():
        for batch in (2, 5):
            x = inputs(batch)
            found = pytree.tree_leaves(run(x))
            for a, b in zip(found, pytree.tree_leaves(model(x)), strict=True):
                assert a.shape == b.shape
                assert a.dtype == b.dtype
                largest = max(b.abs().max().item(), 1e-30)
                assert (a - b).abs().max().item() <= 1e-4 * largest


CALLS = {
    "unused": (lambda a, b: b + 1, lambda: (X, X * 2)),
    "the same again": (lambda a: (a, a + 1, a), lambda: (X,)),
    "no dimensions": (lambda a: a.sum() * 2, lambda: (X,)),
    "a number in": (lambda a: a * 2, lambda: (torch.tensor(3.0),)),
    "no elements": (lambda a: a + 1, lambda: (torch.empty(0, 4),)),
    "bool": (lambda a: ~(a & True), lambda: (X > 0,)),
    "int64": (lambda a: a * 2 + 1, lambda: (torch.arange(5),)),
    "uint8": (lambda a: a + 1, lambda: (torch.arange(5, dtype=torch.uint8),)),
    "float16": (lambda a: a.relu() + 1, lambda: (X.half(),)),
    "bfloat16": (lambda a: a.relu() + 1, lambda: (X.bfloat16(),)),
    "values decide the shape": (lambda a: a.nonzero(), lambda: (X,)),
    # Beyond what is copied: read and written where they lie.
    "large": (
        lambda a: F.relu(a) + 1,
        lambda: (torch.linspace(-1, 1, 40_000).view(200, 200),),
    ),
    "large and strided": (
        lambda a: a + 1,
        lambda: (torch.arange(80_000.0).view(200, 400).mT,),
    ),
    "containers": (lambda a: {"x": a[0] + a[1], "y": [a[0] * 2, 3]}, lambda: ([X, X],)),
}


@needs_openvino
@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    function, make = CALLS[name]
    run, args = compiled(function), make()
    with torch.no_grad():
        for _ in range(2):
            found = pytree.tree_leaves(run(*args))
            wanted = pytree.tree_leaves(function(*args))
            assert len(found) == len(wanted)
            for a, b in zip(found, wanted):
                if not isinstance(b, torch.Tensor):
                    assert a == b
                    continue
                assert a.shape == b.shape
                assert a.dtype == b.dtype
                assert torch.equal(a, b)


@needs_openvino
def test_results_are_tensors_of_their_own():
    for x in (X.clone(), torch.ones(200, 200)):
        run = compiled(lambda x: (x, x + 1))
        same, other = run(x)
        same.zero_()
        other.zero_()
        again, _ = run(x)
        assert torch.equal(again, x)
        assert other.sum() == 0


@needs_openvino
def test_weights_changed_in_place_or_replaced_are_seen():
    model = perceptron()
    run = compiled(model)
    with torch.no_grad():
        assert torch.allclose(run(X), model(X))
        model[0].weight.mul_(3)
        assert torch.allclose(run(X), model(X))
        model[2] = nn.Linear(8, 3)
        assert torch.allclose(run(X), model(X))


@needs_openvino
@pytest.mark.parametrize(
    ("function", "args", "why"),
    [
        (nn.Linear(4, 2), (X,), "OpenVINO computes none"),
        (lambda x: x + torch.rand(3, 4), (X,), "draws random numbers"),
        (lambda x: x if x.sum() > 0 else -x, (X,), "depends on values"),
        (lambda x: x * 2, (X.double(),), "f64"),
        (lambda x: torch.linalg.qr(x)[1], (X,), "linalg_qr"),
    ],
)
def test_what_it_cannot_do_runs_as_it_is_with_one_warning(function, args, why):
    run = torch.compile(function, backend="openvino")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            torch.manual_seed(1)
            found = run(*args)
            torch.manual_seed(1)
            assert torch.equal(found, function(*args))
    assert len(caught) == 1
    assert "runs without OpenVINO: " in str(caught[0].message)
    assert why in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.raises((RuntimeError, TypeError), match=why):
        compiled(function)(*args)


@needs_openvino
def test_calls_on_streams_wait_for_their_inputs():
    run = compiled(lambda x: x * 2)
    slow = torch.eye(300)
    with torch.no_grad():
        run(torch.zeros(4))
        for _ in range(5):
            with torch.cpu.stream(torch.cpu.Stream()):
                product = slow
                for _ in range(10):
                    product = product @ slow
                x = torch.zeros(4) + product[0, :1]
                y = run(x)
            with torch.cpu.stream(torch.cpu.Stream()):
                z = run(y) + 1
            assert z.tolist() == [5.0] * 4


@needs_openvino
def test_within_a_capture_the_function_is_captured():
    model = perceptron()
    run, x = compiled(model), X.clone()
    loaded = openvino.load(exported(model, X))
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad():
        with torch.cuda.graph(graph):
            y = run(x)
        x.mul_(-3)
        graph.replay()
        assert torch.allclose(y, model(x))
        with (
            pytest.raises(RuntimeError, match="cannot be captured"),
            torch.cuda.graph(torch.cuda.CUDAGraph()),
        ):
            loaded(x)


@needs_openvino
def test_threads_call_at_once():
    model = perceptron()
    run = compiled(model)
    wrong = []
    with torch.no_grad():
        given = [torch.full((3, 4), float(i)) for i in range(6)]
        wanted = [model(x) for x in given]

        def work(i: int) -> None:
            with torch.no_grad():
                for _ in range(50):
                    if not torch.allclose(run(given[i]), wanted[i], atol=1e-6):
                        wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


@needs_openvino
def test_one_thread_is_the_calling_one():
    model = nn.Sequential(nn.Linear(512, 512), nn.ReLU()).eval()
    run, x = compiled(model), torch.ones(64, 512)
    before = torch.get_num_threads()
    allowed = os.sched_getaffinity(0)
    try:
        torch.set_num_threads(2)
        with torch.no_grad():
            run(x)
            torch.set_num_threads(1)  # compiled again
            assert torch.allclose(run(x), model(x), atol=1e-5)
            idle = set(os.listdir("/proc/self/task"))
            idle -= {str(threading.get_native_id())}
            ticks = _ticks(idle)
            for _ in range(30):
                run(x)
            assert _ticks(idle) - ticks <= 1
    finally:
        torch.set_num_threads(before)
    assert os.sched_getaffinity(0) == allowed


def _ticks(names: set) -> int:
    """Ticks that these threads of the process have computed for."""
    found = 0
    for name in names:
        with open(f"/proc/self/task/{name}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        found += int(fields[11]) + int(fields[12])
    return found


@needs_openvino
def test_a_loaded_model(tmp_path):
    model = perceptron()
    path = tmp_path / "model.onnx"
    path.write_bytes(exported(model, X))
    with torch.no_grad():
        for given in (path, str(path), path.read_bytes(), path.open("rb")):
            loaded = openvino.load(given)
            assert torch.allclose(loaded(X), model(X), atol=1e-6)
    (port,) = loaded.inputs
    assert port[1:] == (torch.float32, (3, 4))
    assert torch.equal(loaded(**{port.name: X}), loaded(X))
    with pytest.raises(TypeError, match=r"got torch.float64 on cpu"):
        loaded(X.double())
    with pytest.raises(ValueError, match=r"of shape \[3, 4\], but got \[4\]"):
        loaded(X[0])
    with pytest.raises(TypeError, match="takes 1 inputs, but got 2"):
        loaded(X, X)
    with pytest.raises(TypeError, match="missing are"):
        loaded(nothing=X)
    with pytest.raises(RuntimeError, match="<bytes>: OpenVINO cannot read it"):
        openvino.load(b"no model")


@needs_openvino
def test_options_are_passed_on():
    data = exported(perceptron(), X)
    loaded = openvino.load(data, options={"PERF_COUNT": True})
    properties = loaded._run._compiled.model
    assert properties.get_property("PERF_COUNT")
    threads = properties.get_property("INFERENCE_NUM_THREADS")
    assert threads == torch.get_num_threads()
    with pytest.raises(RuntimeError, match="NO_SUCH"):
        openvino.load(data, options={"NO_SUCH": 1})
    assert "CPU" in openvino.get_available_devices()
