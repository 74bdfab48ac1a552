"""autograd.graph.node_creation_hook: what it is called with, and when."""

from __future__ import annotations

import threading

import pytest
from hotaru.autograd.graph import node_creation_hook

import hotaru as torch

LEAF = "torch::autograd::AccumulateGrad"


def leaf():
    return torch.ones(3, requires_grad=True)


def names(program):
    seen = []
    with node_creation_hook(lambda node: seen.append(node.name())):
        program()
    return seen


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def in_place():
    x = leaf().clone()
    x.mul_(2)
    x[0].mul_(3)


def without():
    with torch.no_grad():
        leaf() * 2


# As PyTorch 2.14.1 calls them.
PROGRAMS = {
    "operator": (lambda: leaf() * 2, [LEAF, "MulBackward0"]),
    "chain": (lambda: leaf().exp().sum(), [LEAF, "ExpBackward0", "SumBackward0"]),
    "several": (lambda: leaf().split(1), [LEAF, "SplitBackward0"]),
    "two leaves": (lambda: leaf() * leaf(), [LEAF, LEAF, "MulBackward0"]),
    "view": (lambda: leaf().view(3, 1), [LEAF, "ViewBackward0"]),
    "function": (lambda: Double.apply(leaf()), [LEAF, "DoubleBackward"]),
    "indices": (lambda: leaf().max(0), [LEAF, "MaxBackward0"]),
    "no gradient": (lambda: torch.ones(2) * 2, []),
    "no grad": (without, []),
    "detached": (lambda: leaf().detach(), []),
    "hook": (lambda: leaf().register_hook(lambda g: g), []),
    "backward": (lambda: leaf().sum().backward(), [LEAF, "SumBackward0"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nodes(name):
    program, expected = PROGRAMS[name]
    assert names(program) == expected


def test_writes():
    found = names(in_place)
    assert found[:4] == [LEAF, "CloneBackward0", "MulBackward0", "SelectBackward0"]
    assert found[4:] == ["torch::autograd::CopySlices"]


def test_a_leaf_that_was_met_before():
    x = leaf()
    kept = x * 2
    assert names(lambda: x * 3) == ["MulBackward0"]
    del kept
    assert names(lambda: x * 3) == [LEAF, "MulBackward0"]


def test_nodes_are_complete():
    seen = []

    def hook(node):
        saved = getattr(node, "_saved_result", None)
        if isinstance(node, torch.autograd.function.FunctionCtx):
            saved = node.saved_tensors[0]
        seen.append((len(node.next_functions), saved is not None))

    with node_creation_hook(hook):
        leaf().exp()
        y = Double.apply(leaf())
    assert seen == [(0, False), (1, True)] * 2
    nodes = []
    with node_creation_hook(nodes.append):
        y = leaf() * 2
    assert nodes[1] is y.grad_fn
    assert nodes[0] is y.grad_fn.next_functions[0][0]


def test_hooks_and_notes_that_it_leaves():
    ran = []

    def hook(node):
        node.metadata["place"] = len(ran)
        node.register_hook(lambda *_: ran.append(node.name()))
        node.register_prehook(lambda *_: ran.append("before " + node.name()))

    with node_creation_hook(hook):
        y = (leaf() * 2).sum()
    assert y.grad_fn.metadata == {"place": 0}
    y.backward()
    order = ["SumBackward0", "MulBackward0", LEAF]
    assert ran == [text for name in order for text in ("before " + name, name)]


def test_contexts_within_contexts():
    seen = []
    with node_creation_hook(lambda n: seen.append(("outer", n.name()))):
        with node_creation_hook(lambda n: seen.append(("inner", n.name()))):
            x = leaf() * 2
        x.exp()
    assert seen == [
        ("outer", LEAF),
        ("inner", LEAF),
        ("outer", "MulBackward0"),
        ("inner", "MulBackward0"),
        ("outer", "ExpBackward0"),
    ]


def test_what_a_hook_computes():
    x, y = leaf(), leaf() * 2
    for program in (lambda n: leaf() * 2, lambda n: y.exp(), lambda n: y.mul_(2)):
        with (
            pytest.raises(RuntimeError, match="inside a node creation hook is not"),
            node_creation_hook(program),
        ):
            x.sin()
    seen = []

    def quiet(node):
        with torch.no_grad():
            seen.append((x * 2).requires_grad)

    with node_creation_hook(quiet):
        x.sin()
    assert seen == [False, False]
    assert x.cos().requires_grad


def test_errors_of_hooks():
    def fails(node):
        raise ValueError(node.name())

    x = leaf()
    with pytest.raises(ValueError, match="AccumulateGrad"), node_creation_hook(fails):
        x.sin()
    assert names(lambda: x.sin()) == [LEAF, "SinBackward0"]
    with pytest.raises(TypeError), node_creation_hook(3):
        pass
    with pytest.raises(RuntimeError, match="no node creation hook"):
        torch._C._autograd._pop_node_creation_hook()


def test_backward_passes_and_threads():
    x = leaf()
    y = x.exp().sum()
    assert names(lambda: torch.autograd.grad(y, x, create_graph=True)) == [
        "MulBackward0"
    ]

    def elsewhere():
        thread = threading.Thread(target=lambda: leaf() * 2)
        thread.start()
        thread.join()

    assert names(elsewhere) == []

    def recomputed():
        from hotaru.utils.checkpoint import checkpoint

        function = lambda x: x.exp().sin()  # noqa: E731
        checkpoint(function, leaf(), use_reentrant=False).sum().backward()

    found = [name for name in names(recomputed) if name.endswith("Backward0")]
    assert found[:3] == ["ExpBackward0", "SinBackward0", "SumBackward0"]
    assert "ExpBackward0" in found[3:]
