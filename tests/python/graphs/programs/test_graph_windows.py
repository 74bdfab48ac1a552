"""Windows whose elements share memory, read and written by one call: in a graph
and on a stream as in eager code, which goes on with what it has just written.
"""

import pytest

import hotaru as torch

pytestmark = [
    pytest.mark.cpu_graphs("elements that share memory race on a device"),
    pytest.mark.filterwarnings("ignore"),
]


def windows(x):
    return (x * 0.5).unfold(0, 2, 1)


def in_place(name, *more):
    def f(x, v):
        getattr(v, name)(*more)

    return f


def into_itself(name, *more):
    def f(x, v):
        getattr(torch, name)(v, *more, out=v)

    return f


def with_itself(name):
    def f(x, v):
        getattr(torch, name)(v, v, out=v)

    return f


def candidates():
    """Each public function that may take windows and write into them."""
    for name in sorted(dir(torch)):
        if name.startswith("_") or not hasattr(torch.ops.aten, name):
            continue
        if "empty" in name:
            continue  # what memory held
        yield f"{name}(v, out=v)", into_itself(name)
        yield f"{name}(v, 2, out=v)", into_itself(name, 2)
        yield f"{name}(v, v, out=v)", with_itself(name)
    for name in dir(torch.Tensor):
        if name.endswith("_") and not name.startswith("_"):
            yield f"v.{name}()", in_place(name)
            yield f"v.{name}(2)", in_place(name, 2)


def written(f, x):
    """The tensor that the windows look at, written; None where f refuses."""
    v = windows(x)
    f(x, v)
    return v._base if v._base is not None else v


def outcome(f, x):
    torch.manual_seed(0)
    return written(f, x).numpy().tobytes()


@pytest.fixture(scope="module")
def accepted():
    """Calls that write into windows, and the bytes that come of them."""
    x = torch.linspace(0.1, 1.9, 6)
    before = windows(x)._base.numpy().tobytes()
    found = {}
    for name, f in candidates():
        try:
            want = outcome(f, x)
        except Exception:  # whatever it says, it takes no windows
            continue
        if len(want) == len(before) and want != before:
            found[name] = f, want
    return x, found


def test_there_are_many(accepted):
    _, found = accepted
    assert len(found) > 150
    assert {"mul(v, 2, out=v)", "exp(v, out=v)", "v.exp_()"} <= set(found)


def test_in_a_graph(accepted):
    x, found = accepted
    differ, refused = [], []
    for name, (f, want) in found.items():
        graph = torch.cpu.Graph()
        torch.manual_seed(0)
        try:
            with torch.cpu.graph(graph):
                got = written(f, x)
        except RuntimeError:  # views of a new size
            refused.append(name)
            continue
        torch.manual_seed(0)
        graph.replay()
        if got.numpy().tobytes() != want:
            differ.append(name)
    assert differ == []
    assert len(refused) < len(found) / 4, refused


def test_on_a_stream(accepted):
    x, found = accepted
    differ = []
    for name, (f, want) in found.items():
        with torch.cpu.stream(torch.cpu.Stream()):
            torch.manual_seed(0)
            got = written(f, x)
        torch.cpu.synchronize()
        if got.numpy().tobytes() != want:
            differ.append(name)
    assert differ == []
