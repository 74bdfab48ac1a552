"""Leftovers of tracing, and what graphs are besides their text."""

from __future__ import annotations

import copy
import gc
import linecache
import pickle
import subprocess
import sys

import fx_programs
import fx_wrapped
import pytest

import hotaru as torch
from hotaru import fx


def test_import_of_the_package_does_not_import_it():
    code = "import hotaru, sys; print('hotaru.fx' in sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "False"


def test_wrapped_functions_are_nodes_and_come_back():
    before = (fx_wrapped.leaf, fx_wrapped.decorated)
    module = fx.symbolic_trace(fx_wrapped.calls)
    assert (fx_wrapped.leaf, fx_wrapped.decorated) == before
    assert "len" not in vars(fx_wrapped)
    targets = [n.target for n in module.graph.nodes if n.op == "call_function"]
    assert targets[:3] == [fx_wrapped.leaf, len, targets[2]]
    assert fx_wrapped.decorated in targets
    x = torch.arange(3.0)
    assert torch.equal(module(x), fx_wrapped.calls(x))
    # Its code says what is wrapped, so that it can be traced again.
    again = fx.symbolic_trace(module)
    assert fx_wrapped.leaf in [n.target for n in again.graph.nodes]
    assert torch.equal(again(x), fx_wrapped.calls(x))


def test_functions_of_math_are_recorded_for_proxies_only():
    module = fx.symbolic_trace(fx_wrapped.root)
    assert [n.name for n in module.graph.nodes][-3:] == ["sqrt", "add", "output"]
    assert module(torch.ones(9)) == 5.0


def test_a_failed_trace_changes_nothing():
    call, get = torch.nn.Module.__call__, torch.nn.Module.__getattr__
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(lambda x: 1 if x else 2)
    assert torch.nn.Module.__call__ is call
    assert torch.nn.Module.__getattr__ is get
    assert not fx._symbolic_trace.is_fx_tracing()


def test_a_custom_tracer_decides_what_is_a_leaf():
    class Everything(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return False

    class Nothing(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return True

    network = fx_programs.network(torch)
    inside = Everything().trace(network)
    assert all(node.op != "call_module" for node in inside.nodes)
    called = [n.target for n in Nothing().trace(network).nodes]
    assert "seq" in called
    x = torch.ones(2, 3)
    made = fx.GraphModule(network, inside)
    assert torch.equal(made(x)["u"], network(x)["u"])


def test_gradients_flow_to_the_traced_module():
    network = fx_programs.network(torch)
    module = fx.symbolic_trace(network)
    module(torch.ones(2, 3))["u"].sum().backward()
    assert network.w.grad is not None
    assert module.w is network.w


def test_a_pickle_keeps_what_the_graph_does_not_name():
    module = fx.symbolic_trace(fx_programs.network(torch))
    module.add_submodule("other", torch.nn.ReLU())
    module.register_buffer("kept", torch.ones(1))
    loaded = pickle.loads(pickle.dumps(module))
    assert isinstance(loaded.other, torch.nn.ReLU)
    assert torch.equal(loaded.kept, torch.ones(1))
    assert loaded.graph._tracer_cls is fx.Tracer


def annotated(x: torch.Tensor, n: int = 2):
    return x * n


def test_a_pickle_keeps_annotations_that_are_text():
    loaded = pickle.loads(pickle.dumps(fx.symbolic_trace(annotated)))
    types = [n.type for n in loaded.graph.nodes if n.op == "placeholder"]
    assert [str(t).strip("'") for t in types] == ["torch.Tensor", "int"]
    assert loaded(torch.ones(1)).item() == 2.0


def test_copies_are_apart():
    module = fx.symbolic_trace(lambda x: torch.relu(x))
    module.meta["self"] = module
    copied = copy.deepcopy(module)
    assert copied.meta["self"] is copied
    for node in copied.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.neg
    copied.recompile()
    x = torch.tensor([-1.0, 2.0])
    assert module(x).tolist() == [0.0, 2.0]
    assert copied(x).tolist() == [1.0, -2.0]


def test_a_graph_as_long_as_it_likes_can_be_copied_and_pickled():
    graph = fx.Graph()
    x = graph.placeholder("x")
    for _ in range(sys.getrecursionlimit() + 20):
        x = graph.call_function(torch.relu, (x,))
    graph.output(x)
    for copied in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert str(copied) == str(graph)


def test_sources_live_as_long_as_their_functions():
    module = fx.symbolic_trace(lambda x: x + 1)
    name = module.forward.__code__.co_filename
    assert "def forward" in "".join(linecache.getlines(name))
    del module
    gc.collect()
    assert name not in linecache.cache


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="errors have no notes before 3.11"
)
def test_an_error_in_generated_code_names_the_line():
    module = fx.symbolic_trace(lambda x: x.relu().foo)
    with pytest.raises(AttributeError) as caught:
        module(torch.ones(1))
    note = caught.value.__notes__[0]
    assert note.startswith("Call using an FX-traced Module, line 6 of")
    assert "getattr_1 = relu.foo" in note


def test_nodes_stay_in_order_wherever_they_are_put():
    graph = fx.Graph()
    first = graph.placeholder("x")
    last = graph.output(first)
    place = first
    for i in range(40):
        with graph.inserting_after(place):
            made = graph.call_function(torch.relu, (first,))
        place = made if i % 3 else first
    nodes = list(graph.nodes)
    assert nodes == sorted(nodes, key=lambda n: n._sort_key)
    assert nodes[0] is first
    assert nodes[-1] is last
    assert list(reversed(graph.nodes)) == nodes[::-1]


def test_hooks_are_told_of_changes():
    module = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    told = []
    module._register_create_node_hook(lambda n: told.append(("made", n.name)))
    module._register_erase_node_hook(lambda n: told.append(("gone", n.name)))
    relu = next(n for n in module.graph.nodes if n.target is torch.relu)
    with module.graph.inserting_after(relu):
        made = module.graph.call_function(torch.neg, relu.args)
    with module._set_replace_hook(
        lambda old, new, user: told.append((old.name, new, user.name))
    ):
        relu.replace_all_uses_with(made)
    module.graph.erase_node(relu)
    assert told == [("made", "neg"), ("relu", "neg", "add"), ("gone", "relu")]


def test_side_effects_are_kept():
    calls = []

    def note(x):
        calls.append(x)

    def silent(x):
        calls.append(x)

    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(fx.has_side_effect(note), (x,))
    graph.call_function(silent, (x,))
    graph.call_function(torch.relu_, (x,))
    graph.call_function(torch.rand, ((2,),))
    graph.output(x)
    assert graph.eliminate_dead_code()
    kept = [n.name for n in graph.nodes]
    assert kept == ["x", "note", "relu_", "rand", "output"]


def test_operands_of_einsum_are_written_without_their_list():
    for function in (
        lambda a, b: torch.einsum("ij,jk->ik", (a, b)),
        lambda a, b: torch.einsum("ij,jk->ik", [a, b]),
        lambda a, b: torch.einsum("ij,jk->ik", a, b),
    ):
        traced = fx.symbolic_trace(function)
        (call,) = [n for n in traced.graph.nodes if n.op == "call_function"]
        assert [str(one) for one in call.args] == ["ij,jk->ik", "a", "b"]
        a, b = torch.rand(2, 3), torch.rand(3, 4)
        assert torch.allclose(traced(a, b), a @ b)


@pytest.mark.parametrize(
    "again",
    [
        fx.symbolic_trace,
        copy.deepcopy,
        lambda traced: pickle.loads(pickle.dumps(traced)),
    ],
    ids=["traced", "copied", "pickled"],
)
@pytest.mark.parametrize("concrete", [{"k": None}, {"k": None, "y": 2}])
def test_specialized_arguments_stay_so(again, concrete):
    def function(x, k=None, y=2):
        return x * y if k is None else k

    traced = again(fx.symbolic_trace(function, concrete_args=concrete))
    assert traced(torch.ones(1)).tolist() == [2.0]
    with pytest.raises(AssertionError, match="k has been specialized"):
        traced(torch.ones(1), 3)
