"""Times that bench/gpu/graphs.py measures; the same statements for both
libraries.

A case is a function of `Sizes` that gives its figures by name: functions that
prepare something and return a turn. A turn measures once: a number, or several
by name.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from functools import partial

import decoder
import models
import torch
import worker
from graph_tables import DECODER
from torch import nn

HOTARU = hasattr(torch, "graphs") and "hotaru" in torch.__version__
MIB = 1 << 20


@dataclass(frozen=True)
class Sizes:
    """How much is measured, and of what."""

    quick: bool = False
    # A turn by the synchronised wall clock; calls of one by the host's.
    seconds: float = 0.05
    calls: int = 200
    rounds: int = 9
    # Layers, hidden values and positions of the step at batch 1.
    step: tuple = (12, 768, 1024)
    batch: int = 32
    chain: int = 256 * MIB
    moved: int = 64 * MIB
    # The same of the decoder of many graphs; vLLM's list of 67 batch sizes.
    decoder: tuple = (32, 256, 16)
    dtype: torch.dtype = torch.float32
    batches: tuple = (1, 2, 4, *range(8, 513, 8))
    # How many, and after how many seconds without having done them all.
    captures: int = 1000
    capture_seconds: float = 30


FULL = Sizes()
LARGE = Sizes(decoder=(32, 4096, 16), dtype=torch.bfloat16)
QUICK = Sizes(
    quick=True,
    seconds=0,
    calls=2,
    rounds=1,
    step=(2, 64, 8),
    batch=2,
    chain=1 << 14,
    moved=1 << 19,
    decoder=(2, 64, 4),
    batches=(1, 2, 4),
    captures=20,
)


# -- captures and clocks ------------------------------------------------------


def warmed_up(function, stream=None) -> None:
    """Calls it on a side stream, as PyTorch wants it before a capture."""
    stream = stream or torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


def captured(function, **options):
    """A graph of a call, ready to be timed, and what the call returned."""
    warmed_up(function)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **options):
        out = function()
    settle(graph.replay)
    return graph, out


def settle(statement) -> None:
    """Calls it until it is as fast as it gets: hotaru compiles kernels of
    graphs in the background, torch.compile captures in its first calls.
    """
    for _ in range(3):
        statement()
    if HOTARU:
        from hotaru import _C

        _C._cuda_finish_compiling()
        statement()
    torch.cuda.synchronize()


def wall_us(sizes: Sizes, statement) -> float:
    """Time of a call among many, from one synchronisation to the next."""
    calls = 1
    while True:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            statement()
        torch.cuda.synchronize()
        taken = time.perf_counter() - begin
        if taken >= sizes.seconds:
            return taken / calls * 1e6
        calls *= 2


def host_ns(sizes: Sizes, statement) -> float:
    """Caller's time; fewer calls than a driver's queue has places."""
    return worker.host_ns(torch, statement, sizes.calls, sizes.rounds)


# -- 1: a replay and what it cannot do without --------------------------------


def driver() -> ctypes.CDLL:
    """The CUDA driver that the library has loaded."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.split()[-1]
            if "/libcuda.so" in path or "libhotaru_softgpu.so" in path:
                return ctypes.CDLL(path)
    raise RuntimeError("no CUDA driver among this process's libraries")


def replay(sizes: Sizes) -> dict:
    stream = torch.cuda.Stream()
    x = torch.ones(4, device="cuda")
    with torch.cuda.stream(stream):
        graph, _ = captured(lambda: x + 1, stream=stream)

    def timed(statement):
        with torch.cuda.stream(stream):
            return host_ns(sizes, statement)

    def raw():
        launch = driver().cuGraphLaunch
        launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        known = graph.raw_cuda_graph_exec(), stream.cuda_stream
        known = [ctypes.c_void_p(int(one)) for one in known]
        if error := launch(*known):
            raise RuntimeError(f"cuGraphLaunch returned {error}")
        return partial(timed, lambda: launch(*known))

    def call():
        """A driver's function that does next to nothing."""
        version = ctypes.c_int()
        nothing = driver().cuDriverGetVersion
        nothing.argtypes = [ctypes.c_void_p]
        where = ctypes.c_void_p(ctypes.addressof(version))
        # `version` has to live as long as `where` is written.
        return partial(timed, lambda version=version: nothing(where))

    return {"replay": lambda: partial(timed, graph.replay), "raw": raw, "call": call}


# -- 2: inference at batch 1 --------------------------------------------------


def tiny_network():
    """Network in the CNN's place where all has to be quick."""
    conv = nn.Conv2d(1, 2, 3, padding=1)
    return nn.Sequential(conv, nn.ReLU(), nn.Flatten(), nn.Linear(128, 10))


TINY = {
    "CNN": (tiny_network, [(1, 1, 8, 8)]),
    "ResNet-18-like": (partial(models.resnet, 2), [(1, 3, 16, 16)]),
}


def network(sizes: Sizes, name: str):
    """A model with fresh weights on the device, and its arguments."""
    torch.manual_seed(0)
    if name == DECODER:
        layers, hidden, length = sizes.step
        model = decoder.Decoder(layers, hidden, length=length)
        arguments = torch.randn(1, 1, hidden), torch.tensor([length // 2])
    else:
        tiny = TINY if sizes.quick else {}
        build, shapes = tiny.get(name) or models.MODELS[name]
        model, arguments = build(), [torch.randn(shape) for shape in shapes]
    return model.cuda(), tuple(x.cuda() for x in arguments)


def inference(name: str, sizes: Sizes) -> dict:
    def eager(model, arguments):
        return model

    def graph(model, arguments):
        return torch.cuda.make_graphed_callables(model, arguments)

    def compiled(model, arguments):
        return torch.compile(model, mode="reduce-overhead")

    @torch.no_grad()
    def prepare(way):
        model, arguments = network(sizes, name)
        made = way(model.eval().requires_grad_(False), arguments)
        settle(lambda: made(*arguments))

        @torch.no_grad()
        def turn():
            return wall_us(sizes, lambda: made(*arguments))

        return turn

    return {
        "eager": partial(prepare, eager),
        "graph": partial(prepare, graph),
        "compile": partial(prepare, compiled),
    }


# -- 3: steps of training -----------------------------------------------------


def training(name: str, optimizer: str, sizes: Sizes) -> dict:
    def step():
        """Forward, backward and the optimizer's step, of fresh weights."""
        model, (one,) = network(sizes, name)
        x = torch.randn(sizes.batch, *one.shape[1 if one.dim() > 1 else 0 :])
        x, y = x.cuda(), torch.randint(0, 10, (sizes.batch,)).cuda()
        options = {"capturable": True} if optimizer == "Adam" else {}
        kind = getattr(torch.optim, optimizer)
        made = kind(model.parameters(), lr=1e-3, **options)

        def run():
            made.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            made.step()
            return loss.detach()

        return run

    def eager():
        run = step()
        settle(run)
        return partial(wall_us, sizes, run)

    def graph():
        run = step()
        made, loss = captured(run)
        # The loss's memory is the graph's as long as somebody has it; PyTorch's
        # graphs read inputs and weights where they lay, whoever has them now.
        kept = loss, run
        return lambda kept=kept: wall_us(sizes, made.replay)

    return {"eager": eager, "graph": graph}


# -- 4: a chain over a large tensor -------------------------------------------


def chain(sizes: Sizes) -> dict:
    x = torch.rand(sizes.chain // 4, device="cuda")

    def twelve():
        y = x
        for _ in range(4):
            y = (y * 0.75 + 0.125).sqrt()
        return y

    def terabytes(statement):
        rounds = 1 if sizes.quick else 20
        ms = worker.device_ms(torch, statement, rounds)
        return 2 * sizes.chain / ms / 1e9

    def replayed():
        with torch.no_grad():
            graph, y = captured(twelve)

        def turn(y=y):
            found = {"chain": terabytes(graph.replay)}
            if HOTARU:
                found["kernels"] = graph._launches()[0]
            return found

        return turn

    def copy():
        out = torch.empty_like(x)
        return partial(terabytes, lambda: out.copy_(x))

    return {"chain": replayed, "copy": copy}


# -- 6: an input that moves ---------------------------------------------------


def moving(sizes: Sizes) -> dict:
    """Both ways from one callable: PyTorch's copies what is not its sample."""
    inputs = [torch.rand(sizes.moved // 4, device="cuda") for _ in range(3)]

    def function(x):
        return (x * 2 + 1).relu()

    with torch.no_grad():
        made = torch.cuda.make_graphed_callables(function, (inputs[0],))

    def stays():
        made(inputs[0])

    def moves():
        made(inputs[1])
        made(inputs[2])

    @torch.no_grad()
    def figure(clock, statement, calls):
        settle(statement)

        @torch.no_grad()
        def turn():
            return clock(sizes, statement) / calls

        return turn

    return {
        "host stays": partial(figure, host_ns, stays, 1),
        "host moves": partial(figure, host_ns, moves, 2),
        "wall stays": partial(figure, wall_us, stays, 1),
        "wall moves": partial(figure, wall_us, moves, 2),
    }
