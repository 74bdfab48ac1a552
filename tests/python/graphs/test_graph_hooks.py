"""Hooks of captured graphs: of one, of all, and of what is lost."""

from __future__ import annotations

import gc

import pytest
from hotaru.cuda import graph_annotations, graphs

import hotaru as torch

KINDS = ("capture_start", "capture_end", "post_instantiate", "replay_start")


def _captured(graph, x):
    with graphs.graph(graph):
        y = x * 2 + 1
    return y


@pytest.fixture
def x():
    place = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.ones(3, device=place)


def test_hooks_of_one_graph_come_in_their_order(x):
    seen = []
    graph = graphs.CUDAGraph()
    handles = [
        getattr(graph, f"register_{kind}_hook")(lambda g, k=kind: seen.append((k, g)))
        for kind in (*KINDS, "replay_end")
    ]
    y = _captured(graph, x)
    assert [kind for kind, _ in seen] == list(KINDS[:3])
    graph.replay()
    assert y.tolist() == [3.0, 3.0, 3.0]
    assert [kind for kind, _ in seen[3:]] == ["replay_start", "replay_end"]
    assert all(g is graph for _, g in seen)
    _captured(graphs.CUDAGraph(), x)
    for handle in handles:
        handle.remove()
    graph.replay()
    assert len(seen) == 5


def test_errors_of_a_graphs_own_hooks_are_the_callers(x):
    graph = graphs.CUDAGraph()
    y = _captured(graph, x)
    ends = []

    def refuse(graph):
        raise ValueError("not now")

    handle = graph.register_replay_start_hook(refuse)
    graph.register_replay_end_hook(ends.append)
    with pytest.raises(ValueError, match="not now"):
        graph.replay()
    assert ends == []
    handle.remove()
    graph.replay()
    assert ends == [graph]
    assert y.tolist() == [3.0, 3.0, 3.0]


def test_hooks_of_all_graphs_and_their_errors_are_dropped(x):
    seen = []

    def note(kind):
        def hook(graph):
            seen.append((kind, graph))
            raise ValueError("dropped")

        return hook

    names = ("capture_start", "capture_end", "instantiate", "replay_start")
    handles = [
        getattr(graphs, f"register_graph_{name}_hook")(note(name))
        for name in (*names, "replay_end")
    ]
    try:
        first, second = graphs.CUDAGraph(), graphs.CUDAGraph(keep_graph=True)
        y = _captured(first, x)
        first.replay()
        z = _captured(second, x)
        assert [k for k, g in seen if g is second] == list(names[:2])
        second.replay()  # what it launches is made here
        second.replay()
    finally:
        for handle in handles:
            handle.remove()
    whole = [*names, "replay_end"]
    assert [k for k, g in seen if g is first] == whole
    assert [k for k, g in seen if g is second] == [*whole, *whole[3:]]
    assert y.equal(z)


def test_what_is_kept_goes_with_the_graph_or_its_capture(x):
    class Kept:
        pass

    calls, lost = [], []
    handle = graphs.register_graph_destroy_hook(lost.append)
    try:
        graph = graphs.CUDAGraph()
        y = _captured(graph, x)
        graph.register_destroy_callback(lambda: calls.append("a"))
        graph.register_destroy_callback(lambda: 1 / 0)
        graph.register_destroy_callback(
            lambda: calls.append(y.tolist()), synchronize_before_release=True
        )
        gone = graph.register_destroy_callback(lambda: calls.append("gone"))
        gone.remove()
        kept = Kept()
        before = len(gc.get_referrers(kept))
        graph.retain_object(kept)
        assert len(gc.get_referrers(kept)) == before + 1
        graph.replay()
        graph.reset()
        assert calls == ["a", [3.0, 3.0, 3.0]]
        assert len(gc.get_referrers(kept)) == before
        assert [len(numbers) for numbers in lost] == [1]
        _captured(graph, x)
        graph.register_destroy_callback(lambda: calls.append("b"))
        del graph
        gc.collect()
        assert calls[2:] == ["b"]
        assert len(lost) == 2
        assert not lost[0] & lost[1]
    finally:
        handle.remove()


def test_the_drawing_is_written_when_the_capture_ends(x, tmp_path):
    graph = graphs.CUDAGraph()
    for verbose in (True, False):
        path = str(tmp_path / f"{verbose}.dot")
        graph.register_capture_end_hook(graphs.export_dot(path, verbose=verbose))
    _captured(graph, x)
    long, short = ((tmp_path / f"{v}.dot").read_text() for v in (True, False))
    assert long.startswith("digraph {")
    assert "float32 [3]" in long
    assert len(short) < len(long)


def test_annotations_are_none(x):
    assert not graph_annotations.is_available()
    graph = graphs.CUDAGraph()
    with (
        graphs.graph(graph, enable_annotations=True),
        graph_annotations.mark_kernels("phase"),
        graph_annotations.mark_kernels({"name": "inner"}, backward=False),
    ):
        y = x + 1
    graph.replay()
    assert y.tolist() == [2.0, 2.0, 2.0]
    assert graph_annotations.get_kernel_annotations() == {}
    graph_annotations.clear_kernel_annotations()
    with pytest.raises(TypeError, match="must be a str or a dict"):
        graph_annotations.mark_kernels(3).__enter__()
