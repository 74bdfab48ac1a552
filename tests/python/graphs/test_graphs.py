"""Graphs captured by hand: what replays compute, what cannot be captured."""

import json
import re
import threading
import weakref

import numpy as np
import pytest

import hotaru as torch


def captured(body, **options):
    """A graph of body() and what body returned."""
    g = torch.cpu.Graph(**options)
    with torch.cpu.graph(g):
        out = body()
    return g, out


def test_replays_with_the_values_of_then():
    x = torch.ones(4)
    g, y = captured(lambda: x * 2 + 1)
    g.replay()
    assert y.tolist() == [3] * 4
    x.fill_(5)
    assert y.tolist() == [3] * 4
    g.replay()
    assert y.tolist() == [11] * 4


def test_constants_that_are_written_begin_anew():
    x = torch.ones(2)

    def body():
        n = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        part = n.t()[1:]  # 2 and 4
        before = n + 1
        n[0, 0] = 7
        part.mul_(x)
        return n, part, before, n.sum()

    g, (n, part, before, total) = captured(body)
    for k in (1, 2, 3):
        x.fill_(k)
        g.replay()
        assert n.tolist() == [[7, 2 * k], [3, 4 * k]]
        assert part.tolist() == [[2 * k, 4 * k]]
        assert before.tolist() == [[2, 3], [4, 5]]
        assert total.item() == 10 + 6 * k
        n.zero_()


@pytest.mark.cpu_graphs("elsewhere the host's numbers come by a copy")
def test_constants_are_read_until_they_are_written():
    def body():
        n = torch.tensor([2.0])
        assert n.item() == 2
        n.add_(1)
        return n.item()

    with pytest.raises(RuntimeError, match="the value that add computes"):
        captured(body)


@pytest.mark.cpu_graphs("elsewhere the host's numbers come by a copy")
def test_values_of_other_streams_are_not_read_amid_a_capture():
    with torch.cpu.stream(torch.cpu.Stream()):
        x = torch.ones(3) + 1
    torch.cpu.synchronize()
    with pytest.raises(RuntimeError, match="asked for on the host"):
        captured(x.tolist)


def test_nothing_runs_while_it_is_captured():
    x = torch.ones(4)
    g, _ = captured(lambda: x.add_(1))
    assert x.tolist() == [1] * 4
    g.replay()
    assert x.tolist() == [2] * 4


def test_cuda_names_work_on_a_cpu_stream():
    g = torch.cuda.CUDAGraph()
    before = torch.cpu.current_stream()
    x = torch.ones(3)
    stream = torch.cpu.Stream()
    with torch.cuda.graph(g, stream=stream, capture_error_mode="relaxed"):
        y = x + x
    g.replay()
    assert y.tolist() == [2] * 3
    assert isinstance(g, torch.cpu.Graph)
    assert torch.cpu.current_stream() == before


def test_begin_and_end_by_hand():
    x = torch.ones(3)
    g = torch.cpu.Graph()
    stream = torch.cpu.Stream()
    assert not torch.cpu.is_current_stream_capturing()
    with torch.cpu.stream(stream):
        g.capture_begin()
        assert torch.cuda.is_current_stream_capturing()
        y = x * 3
        g.capture_end()
        assert not torch.cpu.is_current_stream_capturing()
    g.replay()
    assert y.tolist() == [3] * 3


def error_on_the_default_stream(call):
    """Error of call() in a thread of its own, whose stream that is."""
    errors = []

    def run():
        try:
            call()
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return errors


def test_texts_of_pytorch_for_states():
    g = torch.cpu.Graph()
    with pytest.raises(RuntimeError, match="Called CUDAGraph::replay without"):
        g.replay()
    with pytest.raises(RuntimeError, match=r"Called CUDAGraph::pool\(\) with"):
        g.pool()
    with pytest.raises(RuntimeError, match=r"capture_end\(\) called before"):
        g.capture_end()
    with pytest.raises(RuntimeError, match="before calling instantiate"):
        g.instantiate()
    (error,) = error_on_the_default_stream(g.capture_begin)
    assert "must be captured on a non-default stream" in str(error)
    with pytest.raises(ValueError, match="Unknown capture error mode"):
        g.capture_begin(capture_error_mode="never")
    with torch.cpu.graph(g):
        torch.ones(3)
    with (
        pytest.raises(RuntimeError, match="already owns a captured graph"),
        torch.cpu.graph(g),
    ):
        pass
    g.reset()
    with torch.cpu.graph(g):
        torch.ones(3)
    with pytest.raises(ValueError, match="there is no pass 'speed'"):
        torch.cpu.Graph(without=["speed"])


def test_it_ends_on_the_stream_it_began_on():
    g = torch.cpu.Graph()
    stream = torch.cpu.Stream()
    with torch.cpu.stream(stream):
        g.capture_begin()
    with pytest.raises(RuntimeError, match="end on the same stream it began"):
        g.capture_end()
    x = torch.ones(2)
    with torch.cpu.stream(stream):
        y = x + x
        g.capture_end()
    g.replay()
    assert y.tolist() == [2, 2]


def test_keep_graph_is_instantiated_by_the_user():
    g = torch.cpu.Graph(keep_graph=True)
    x = torch.ones(2)
    with torch.cpu.graph(g):
        y = x + x
    g.instantiate()
    g.replay()
    assert y.tolist() == [2, 2]
    h, _ = captured(lambda: x + x)
    with pytest.raises(RuntimeError, match="only when keep_graph=true"):
        h.instantiate()


def test_an_empty_graph_warns():
    g = torch.cpu.Graph()
    with pytest.warns(UserWarning, match="The CUDA Graph is empty"), torch.cpu.graph(g):
        pass
    g.replay()


REFUSED = {
    "item": lambda x: x.sum().item(),
    "bool": lambda x: 1 if x.sum() > 0 else 2,
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x.sum()),
    "index": lambda x: [1, 2, 3][x.sum().long()],
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy(),
    "print": lambda x: str(x),
    "nonzero": lambda x: x.nonzero(),
    "masked_select": lambda x: x.masked_select(x > 0),
    "unique": lambda x: torch.unique(x),
    "equal": lambda x: torch.equal(x, x),
    "allclose": lambda x: torch.allclose(x, x),
    "bincount": lambda x: torch.bincount(x.long()),
    "repeat_interleave": lambda x: x.repeat_interleave(x.long()),
    "synchronize": lambda x: torch.cpu.synchronize(),
    "stream.synchronize": (lambda x: torch.cpu.current_stream().synchronize()),
    "stream.query": lambda x: torch.cpu.current_stream().query(),
    "seed": lambda x: torch.seed(),
    "manual_seed": lambda x: torch.manual_seed(3),
    "get_state": lambda x: torch.get_rng_state(),
    "mask": lambda x: x[x > 0],
}
NOT_NAMED = {
    "synchronize",
    "stream.synchronize",
    "stream.query",
    "seed",
    "manual_seed",
    "get_state",
    "mask",
}
# Operators that the public function calls.
CALLED = {"unique": "_?unique2?"}


def _refused(name):
    # Another device's tensor is an error in any case.
    on_the_host = pytest.mark.cpu_graphs("arrays are on the host")
    return pytest.param(name, marks=on_the_host if name == "numpy" else ())


@pytest.mark.parametrize("name", map(_refused, REFUSED))
def test_what_cannot_be_captured_names_operator_and_line(name):
    x = torch.ones(4)
    stream = torch.cpu.Stream()
    g = torch.cpu.Graph()
    before = torch.cpu.current_stream()
    torch.manual_seed(5)
    state = torch.get_rng_state()
    kept = []

    def capture():
        with torch.cpu.graph(g, stream=stream):
            kept.append(x + 1)
            torch.rand(3)
            REFUSED[name](x)

    with pytest.raises((RuntimeError, BufferError)) as caught:
        capture()
    text = str(caught.value)
    assert text.startswith("operation not permitted when stream is capturing")
    assert re.search(rf'File "{re.escape(__file__)}", line \d+', text)
    if name not in NOT_NAMED:
        called = CALLED.get(name, name)
        assert re.search(rf"capturing: {called}\(\): ", text), text
    # Everything works on, and nothing of the capture is left.
    assert not torch.cpu.is_current_stream_capturing()
    assert torch.cpu.current_stream() == before
    assert torch.get_rng_state().equal(state)
    stream.synchronize()
    with torch.cpu.stream(stream):
        assert (x + 1).tolist() == [2] * 4
    with pytest.raises(RuntimeError, match="never computed"):
        kept[0].tolist()
    with torch.cpu.graph(g, stream=stream):
        y = x + 1
    g.replay()
    assert y.tolist() == [2] * 4


# Operators whose course depends on elements, and what they say of it.
REASONS = {
    "nonzero": (lambda x: x.nonzero(), "the length of the result"),
    "repeat_interleave": (
        lambda x: x.repeat_interleave(x.long()),
        "the length of the result",
    ),
    "bincount": (lambda x: torch.bincount(x.long()), "the number of bins"),
    "histc": (lambda x: torch.histc(x), "the range of bins"),
    "one_hot": (
        lambda x: torch.nn.functional.one_hot(x.long()),
        "the number of classes",
    ),
    "allclose": (lambda x: torch.allclose(x, x), "its result, a Python bool"),
}


@pytest.mark.parametrize("name", REASONS)
def test_a_refused_look_at_elements_says_what_they_are_needed_for(name):
    use, reason = REASONS[name]
    x = torch.ones(4)
    with (
        pytest.raises(RuntimeError, match=f"needed on the host for {reason}"),
        torch.cpu.graph(torch.cpu.Graph()),
    ):
        use(x * 1)


LATER = {
    "bernoulli_": (lambda x: torch.empty(4).bernoulli_(x), 3.0, "Expected p_in >= 0"),
    "multinomial": (
        lambda x: torch.multinomial(x, 1),
        -1.0,
        "probability tensor contains",
    ),
    "normal": (lambda x: torch.normal(0.0, x), -1.0, "elements of std >= 0"),
    "searchsorted": (
        lambda x: torch.searchsorted(
            torch.arange(4.0), x, sorter=torch.arange(4) + (x[:1] > 1).long()
        ),
        2.0,
        "sorter index out of range",
    ),
    "_assert_async": (
        lambda x: (torch._assert_async(x[0] < 2, "too large"), x * 1)[1],
        2.0,
        "too large",
    ),
}


@pytest.mark.parametrize("name", LATER)
def test_checks_of_values_are_made_in_each_replay(name):
    use, bad, text = LATER[name]
    x = torch.ones(4)
    g, out = captured(lambda: use(x))
    stream = torch.cpu.Stream()
    for value in (1.0, bad, 1.0):
        x.fill_(value)
        with torch.cpu.stream(stream):
            torch.manual_seed(1)
            g.replay()
        if value == bad:
            with pytest.raises(RuntimeError, match=text):
                stream.synchronize()
        else:
            stream.synchronize()
            torch.manual_seed(1)
            assert out.equal(use(x))


def test_another_exception_is_left_alone():
    g = torch.cpu.Graph()
    error = KeyError("mine")
    with pytest.raises(KeyError) as caught, torch.cpu.graph(g):
        raise error
    assert caught.value is error
    assert error.args == ("mine",)


def test_a_refused_capture_keeps_no_tensor():
    class Marked(torch.nn.Parameter):
        pass

    x = Marked(torch.ones(100))
    ref = weakref.ref(x)
    g = torch.cpu.Graph()
    with pytest.raises(RuntimeError), torch.cpu.graph(g), torch.no_grad():
        (x * 2).sum().item()
    del x
    assert ref() is None


def test_a_capture_within_a_capture_is_refused():
    g, inner = torch.cpu.Graph(), torch.cpu.Graph()
    with (
        pytest.raises(RuntimeError, match="another capture goes on here"),
        torch.cpu.graph(g),
        torch.cpu.graph(inner),
    ):
        pass
    with torch.cpu.graph(inner):
        torch.ones(3)


def test_streams_that_join_are_captured():
    x = torch.ones(3)
    other = torch.cpu.Stream()

    def body(join):
        stream = torch.cpu.current_stream()
        other.wait_stream(stream)
        with torch.cpu.stream(other):
            y = x + 1
        if join:
            stream.wait_stream(other)
        return y

    with pytest.raises(RuntimeError, match="unjoined work"):
        captured(lambda: body(False))
    g, y = captured(lambda: body(True))
    g.replay()
    assert y.tolist() == [2] * 3


def test_random_numbers_are_those_of_eager():
    torch.manual_seed(11)
    want = [torch.rand(5).tolist() for _ in range(3)]
    torch.manual_seed(11)
    g, y = captured(lambda: torch.rand(5))
    for numbers in want:
        g.replay()
        assert y.tolist() == numbers


def test_pools_are_shared():
    x = torch.ones(100)
    g, y = captured(lambda: (x + 1) * 2)
    h = torch.cpu.Graph()
    with torch.cpu.graph(h, pool=g.pool()):
        z = (y + 1) * 2
    assert h.pool() == g.pool()
    handle = torch.cuda.graph_pool_handle()
    assert handle != g.pool()
    k = torch.cpu.Graph()
    with torch.cpu.graph(k, pool=handle):
        x.sin().cos()
    assert k.pool() == handle
    g.replay()
    h.replay()
    assert z[0].item() == 10


def test_drawing_and_trace(tmp_path):
    x = torch.ones(8)
    g, y = captured(lambda: (x.sin() + x).sum())
    g.enable_debug_mode()
    g.debug_dump(tmp_path / "g.dot")
    text = (tmp_path / "g.dot").read_text()
    assert re.search(r"captured: 3 calls \(.*1 sin.*\).nrun: \d calls", text)
    nodes = re.findall(r'(n\d+) \[label="', text)
    assert nodes
    assert all(f"-> {node}" in text for node in nodes)
    g.debug_dump(str(tmp_path / "g.json"))
    assert y.item() == pytest.approx(8 * (np.sin(1) + 1))
    events = json.loads((tmp_path / "g.json").read_text())["traceEvents"]
    assert len(events) == len(nodes)
    assert all(event["dur"] >= 0 for event in events)
    # One after the other.
    ends = [event["ts"] + event["dur"] for event in events]
    starts = [event["ts"] for event in events]
    assert all(e <= s + 1e-3 for e, s in zip(ends, starts[1:]))


def test_eight_threads_share_one_and_replay_their_own():
    x, total = torch.ones(64), torch.zeros(64)
    shared, _ = captured(lambda: total.add_(x))
    failures = []

    def work(n):
        try:
            mine = torch.full((300, 300), float(n))
            own, y = captured(lambda: (mine * 2 + 1).sum(1))
            for _ in range(50):
                shared.replay()
                own.replay()
                if y[7].item() != 300 * (2 * n + 1):
                    raise AssertionError(y[7].item())
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert total.tolist() == [400] * 64
