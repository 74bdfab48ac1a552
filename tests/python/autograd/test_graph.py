"""Nodes, edges, passes that nest, and hooks on several tensors."""

from __future__ import annotations

import threading
import warnings
import weakref

import pytest

import hotaru
from hotaru.autograd import Function, Variable, graph

_C = hotaru._C


def leaf(*values: float) -> hotaru.Tensor:
    return hotaru.tensor(values, requires_grad=True)


class Triple(Function):
    @staticmethod
    def forward(ctx, x, name="plain"):
        ctx.name_given = name
        return 3 * x, "no tensor", x.detach() > 0

    @staticmethod
    def backward(ctx, grad, none, flags):
        assert none is None
        return 3 * grad, None


def test_classes_of_nodes():
    a = leaf(1.0)
    node = (a * 2).grad_fn
    accumulate = node.next_functions[0][0]
    assert type(node).__name__ == "MulBackward0"
    assert type(accumulate).__name__ == "AccumulateGrad"
    assert type(accumulate) is _C._functions.AccumulateGrad
    assert accumulate.name() == "torch::autograd::AccumulateGrad"
    assert type((a * 3).grad_fn) is type(node)
    for found in (node, accumulate, Triple.apply(a)[0].grad_fn):
        assert isinstance(found, graph.Node)
        assert graph.Node not in type(found).mro()
    assert not isinstance(a, graph.Node)
    assert issubclass(_C._functions.DelayedError, graph.Node)


def test_a_function_is_its_node():
    a = leaf(1.0, 2.0)
    out, _text, _flags = Triple.apply(a, name="given")
    node = out.grad_fn
    assert type(node).__name__ == "TripleBackward"
    assert (node.name(), node.name_given) == ("TripleBackward", "given")
    assert node.needs_input_grad == (True, False)
    assert node.next_functions[0][0].variable is a
    assert [len(m.shape) for m in node._input_metadata] == [1, 0, 1]
    assert out.grad_fn is node
    out.sum().backward()
    assert a.grad.tolist() == [3.0, 3.0]


def test_metadata_of_outputs():
    mean = hotaru.var_mean(hotaru.rand(3, 2, requires_grad=True), dim=0)[1]
    metadata = mean.grad_fn._input_metadata
    assert [m.shape for m in metadata] == [(2,), (2,)]
    assert metadata[0].dtype is hotaru.float32
    with pytest.raises(TypeError, match="expected 2 arguments, got 1 instead"):
        mean.grad_fn(hotaru.ones(2))


def test_edges_stand_for_tensors():
    a = leaf(2.0)
    middle = a * 3
    out = middle**2
    edge = graph.get_gradient_edge(middle)
    assert edge.node is middle.grad_fn
    assert edge.output_nr == 0
    del middle
    (grad,) = hotaru.autograd.grad(out, edge, retain_graph=True)
    assert grad.item() == 12.0
    (rest,) = hotaru.autograd.grad(edge, a, grad, retain_graph=True)
    assert rest.item() == 36.0
    hotaru.autograd.backward(edge, inputs=[graph.get_gradient_edge(a)])
    assert a.grad.item() == 3.0
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(hotaru.ones(1))
    with pytest.raises(RuntimeError, match="the given input is a GradientEdge"):
        hotaru.autograd.grad(a * 2, edge, materialize_grads=True)


def test_an_edge_keeps_a_function_alive():
    a = leaf(2.0)
    edge = graph.get_gradient_edge(Triple.apply(a)[0])
    hotaru.autograd.backward(edge)
    assert a.grad.item() == 3.0


def test_callbacks_run_at_the_end_of_their_pass():
    order = []
    engine = Variable._execution_engine

    class Nested(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            engine.queue_callback(lambda: order.append("outer"))
            with hotaru.enable_grad():
                inner = leaf(1.0)
                inner.register_hook(
                    lambda g: engine.queue_callback(lambda: order.append("inner"))
                )
                (inner * 2).backward()
                order.append("after inner")
            return grad

    Nested.apply(leaf(1.0)).backward()
    assert order == ["inner", "after inner", "outer"]
    with pytest.raises(RuntimeError, match="only be installed during backward"):
        engine.queue_callback(print)


def test_what_a_pass_can_be_asked():
    seen = []

    def ask(grad):
        seen.append(
            (
                _C._current_graph_task_id(),
                [n.name() for n in _C._current_graph_task_execution_order()],
                _C._will_engine_execute_node(used.grad_fn),
                _C._will_engine_execute_node(unused.grad_fn),
            )
        )

    a = leaf(1.0)
    used = a.sin()
    unused = used.cos()
    out = used.exp()
    out.register_hook(ask)
    with hotaru.autograd.set_multithreading_enabled(False):
        out.backward(retain_graph=True)
        out.backward()
    (first, names, yes, no), (second, *_) = seen
    assert (second - first, yes, no) == (1, True, False)
    assert names == ["ExpBackward0", "SinBackward0", "torch::autograd::AccumulateGrad"]
    assert _C._current_graph_task_id() == -1
    with pytest.raises(RuntimeError, match="during the backward pass"):
        _C._will_engine_execute_node(out.grad_fn)


def test_passes_far_within_each_other():
    class Deeper(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.left = x.detach() - 1
            return ctx.left.clone()

        @staticmethod
        def backward(ctx, grad):
            if ctx.left > 0:
                with hotaru.enable_grad():
                    left = ctx.left.requires_grad_()
                    Deeper.apply(left).backward()
            return grad

    Deeper.apply(hotaru.tensor(400.0, requires_grad=True)).backward()


def test_error_far_within_comes_out():
    class Deeper(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.left = x.detach() - 1
            return ctx.left.clone()

        @staticmethod
        def backward(ctx, grad):
            if ctx.left <= 0:
                raise KeyError("deep")
            with hotaru.enable_grad():
                Deeper.apply(ctx.left.requires_grad_()).backward()
            return grad

    with pytest.raises(KeyError, match="deep"):
        Deeper.apply(hotaru.tensor(100.0, requires_grad=True)).backward()


def test_hook_on_several_tensors():
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    calls = []
    every = graph.register_multi_grad_hook((a, b, c), calls.append)
    out = a * b + c
    out.backward(retain_graph=True)
    assert [[g.item() for g in gs] for gs in calls] == [[2.0, 1.0, 1.0]]
    calls.clear()
    out.backward(inputs=[a, c], retain_graph=True)
    assert [g is None for g in calls[0]] == [False, True, False]
    every.remove()
    firsts = []
    graph.register_multi_grad_hook((a, b), firsts.append, mode="any")
    out.backward(retain_graph=True)
    assert (len(calls), len(firsts)) == (1, 1)
    with pytest.raises(ValueError, match=r"\('all', 'any'\) but got some"):
        graph.register_multi_grad_hook((a,), print, mode="some")


def test_hooks_on_several_tensors_know_their_pass():
    a, b = leaf(1.0), leaf(2.0)
    lock, counts = threading.Lock(), []

    def count(grads):
        with lock:
            counts.append(len(grads))

    graph.register_multi_grad_hook((a, b), count)
    out = a * b

    def run():
        out.backward(retain_graph=True)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [2] * 8


def test_functions_for_the_backward_pass():
    a = leaf(1.0)
    failing = _C._functions.DelayedError("Boom!", 1)(a * 2)
    assert failing.item() == 2.0
    with pytest.raises(RuntimeError, match="Boom!"):
        failing.backward()
    out = _C._functions.UndefinedGrad()(a * 2)
    out.backward()
    assert a.grad is None


def test_posthook_and_prehook_of_a_leaf():
    def add_half(tensor):
        tensor.grad.add_(0.5)

    a = leaf(1.0)
    node = (a * 1).grad_fn.next_functions[0][0]
    a.register_hook(lambda g: g - 2)
    node.register_prehook(lambda gs: (gs[0] / 5,))
    a.register_post_accumulate_grad_hook(add_half)
    node.register_hook(lambda inputs, gs: setattr(a, "grad", a.grad * 10))
    a.sum().backward()
    assert a.grad.item() == pytest.approx(3.0)
    a.register_post_accumulate_grad_hook(lambda t: t.grad)
    with pytest.raises(RuntimeError, match="hooks should return None"):
        a.sum().backward()


def test_multithreading_switch():
    asked = hotaru.autograd.is_multithreading_enabled
    with hotaru.autograd.set_multithreading_enabled(False):
        assert not asked()
        hotaru.autograd.set_multithreading_enabled(True)
        assert asked()
    assert asked()


def test_profile_of_autograd():
    profiler = hotaru.autograd.profiler
    with profiler.profile() as profile:
        with profiler.record_function("mine"):
            hotaru.ones(4) * 2
        with pytest.raises(RuntimeError, match="didn't finish"):
            _ = profile.function_events
    assert "mine" in [event.name for event in profile.function_events]
    assert str(profile) == profile.table()
    assert not profiler.kineto_available()


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Triple.apply(leaf(1.0))[0].backward()


def test_a_leaf_that_became_another_tensor():
    w = hotaru.ones(3, requires_grad=True)
    before = (w * 2).sum()
    w.data = w.data.double()
    (w * 3).sum().backward()
    assert w.grad.dtype == hotaru.float64
    assert w.grad.tolist() == [3, 3, 3]
    assert before.requires_grad


COUNTS = {
    "backward": hotaru.autograd.backward,
    "grad": lambda y, g, **k: hotaru.autograd.grad(y, _COUNTED, g, **k),
}
_COUNTED = hotaru.ones(2, requires_grad=True)


@pytest.mark.parametrize("call", COUNTS)
@pytest.mark.parametrize("given", [[None], (), hotaru.tensor(1.0)])
def test_as_many_gradients_as_outputs(call, given):
    outputs = [(_COUNTED * 2).sum(), (_COUNTED * 3).sum()]
    count = 1 if isinstance(given, hotaru.Tensor) else len(given)
    with pytest.raises(RuntimeError, match=f"got 2 tensors and {count} grad"):
        COUNTS[call](outputs, given)
    COUNTS[call](outputs, [None, None, None])  # as in PyTorch


@pytest.mark.parametrize("other", ["a", [None], [[1.0]]])
def test_what_is_no_output_or_input(other):
    with pytest.raises(AssertionError, match=r"output to be a torch.Tensor"):
        hotaru.autograd.grad(other, _COUNTED)
    with pytest.raises(AssertionError, match=r"output to be a torch.Tensor"):
        hotaru.autograd.backward(other)
    with pytest.raises(RuntimeError, match="have to be Tensors or Gradient"):
        hotaru.autograd.grad(_COUNTED.sum(), other)


@pytest.mark.parametrize("value", [3, (1,)])
def test_hooks_after_accumulation_return_nothing(value):
    x = hotaru.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda p: value)
    with pytest.raises(TypeError, match="expected Variable, but hook returned"):
        x.sum().backward()


def test_gradients_lie_where_their_tensors_do():
    x = hotaru.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="with device type 'meta'"):
        x.grad = hotaru.ones(2, device="meta")
    x.register_hook(lambda g: hotaru.ones(2, device="meta"))
    with pytest.raises(RuntimeError, match="FloatTensor got MetaFloatType"):
        (x * 2).sum().backward()


def test_powers_of_tensors_have_no_modulus():
    """It was passed over in silence."""
    with pytest.raises(TypeError, match="unsupported operand"):
        pow(hotaru.tensor(3), 2, 3)
    with pytest.raises(TypeError, match="unsupported operand"):
        pow(2, hotaru.tensor(3), 5)
    assert pow(hotaru.tensor(3), 2, None) == 9


def test_generators_take_weak_references():
    generator = hotaru.Generator()
    there = weakref.ref(generator)
    assert there() is generator
    del generator
    assert there() is None


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: 1 - x, "RsubBackward1"),
        (lambda x: x - 1, "SubBackward0"),
        (lambda x: x - x, "SubBackward0"),
        (lambda x: hotaru.rsub(x, 1), "RsubBackward1"),
        (lambda x: hotaru.rsub(x, x, alpha=2), "RsubBackward0"),
        (lambda x: hotaru.lerp(x, x, 0.5), "LerpBackward0"),
        (lambda x: hotaru.lerp(x, x, hotaru.tensor(0.5)), "LerpBackward1"),
        (lambda x: x.clone().lerp_(x, 0.5), "LerpBackward0"),
    ],
)
def test_numbers_and_tensors_make_other_nodes(call, name):
    x = hotaru.ones(2, requires_grad=True)
    assert call(x).grad_fn.name() == name
