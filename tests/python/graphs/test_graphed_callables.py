"""make_graphed_callables and compile: kinds of calls, gradients, states."""

import copy
import threading
from collections import namedtuple
from dataclasses import dataclass

import pytest
from hotaru.graphs import make_graphed_callables

import hotaru as torch
from hotaru import nn

make = make_graphed_callables


def mlp():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 10))


def test_a_function():
    f = make(lambda x, y: x * y + 1)
    a, b = torch.rand(3), torch.rand(3)
    assert f(a, b).equal(a * b + 1)
    assert f(b, a).equal(a * b + 1)
    assert f.captures == 1
    # A function can tell whether two arguments are one.
    assert f(b, b).equal(b * b + 1)
    assert f.captures == 2


def test_results_are_overwritten_by_the_next_call():
    f = make(lambda x: x + 1)
    first = f(torch.zeros(2))
    second = f(torch.ones(2))
    assert first.tolist() == second.tolist() == [2, 2]


def test_arguments_keep_their_values():
    f = make(lambda x: x + 1)
    a, b = torch.zeros(2), torch.ones(2)
    f(a)
    f(b)
    assert a.tolist() == [0, 0]


def test_samples_are_the_memory_of_the_graph():
    sample = torch.zeros(2)
    f = make(lambda x: x + 1, (sample,))
    f(torch.ones(2))
    assert sample.tolist() == [1, 1]
    sample.fill_(7)
    assert f(sample).tolist() == [8, 8]


@pytest.mark.parametrize("given", [False, True])
def test_a_module_keeps_its_identity(given):
    net, x = mlp(), torch.rand(4, 10)
    want = net(x)
    out = make(net, (torch.rand(4, 10),) if given else None)
    assert out is net
    assert torch.allclose(net(x), want, atol=1e-6)
    assert list(net.state_dict()) == list(mlp().state_dict())


def test_kinds_of_calls_are_captured_apart():
    def f(x, n=1, *, scale=None):
        return (x * n, None if scale is None else x * scale)

    g = make(f)
    kinds = [
        ((torch.ones(2),), {}),
        ((torch.ones(3),), {}),
        ((torch.ones(3, dtype=torch.float64),), {}),
        ((torch.ones(3), 2), {}),
        ((torch.ones(3), 2.0), {}),
        ((torch.ones(3),), {"n": 2}),
        ((torch.ones(3), 2), {"scale": torch.ones(1)}),
        ((torch.ones(3, 2).t(), 2), {}),
    ]
    for _ in range(2):
        for args, kwargs in kinds:
            got, want = g(*args, **kwargs), f(*args, **kwargs)
            assert got[0].equal(want[0])
            assert got[0].dtype == want[0].dtype
            assert got[0].stride() == want[0].stride()
            assert (got[1] is None) == (want[1] is None)
    assert g.captures == len(kinds)


def test_the_cache_drops_the_least_recently_used():
    f = make(lambda x: x + 1, cache_size=2)
    for n in (1, 2, 1, 3, 1, 1):
        f(torch.ones(n))
    assert f.captures == 3
    f(torch.ones(2))
    assert f.captures == 4
    with pytest.raises(ValueError, match="cache_size must be positive"):
        make(lambda x: x, cache_size=0)


@pytest.mark.parametrize("given", [False, True])
def test_without_dynamic_another_shape_is_an_error(given):
    sample = (torch.ones(2, 3),) if given else None
    f = make(lambda x: x + 1, sample, dynamic=False)
    f(torch.ones(2, 3))
    with pytest.raises(RuntimeError) as caught:
        f(torch.ones(1, 3))
    text = str(caught.value)
    assert "float32[2, 3]" in text
    assert "float32[1, 3]" in text
    assert f(torch.zeros(2, 3)).equal(torch.ones(2, 3))


Pair = namedtuple("Pair", "a b")


@dataclass
class Batch:
    image: torch.Tensor
    label: object = None


def test_nests_of_arguments_and_results():
    def f(batch, extra):
        x = batch.image + extra["bias"][0]
        return {"pair": Pair(x, [x * 2, None]), "batch": Batch(x * 3, "name"), "n": 3}

    g = make(f)
    for value in (1.0, 2.0):
        batch = Batch(torch.full((2,), value))
        out = g(batch, {"bias": (torch.ones(2),)})
        assert type(out["pair"]) is Pair
        assert out["pair"].b[0].tolist() == [2 * value + 2] * 2
        assert out["pair"].b[1] is None
        assert out["batch"].image.tolist() == [3 * value + 3] * 2
        assert out["batch"].label == "name"
        assert out["n"] == 3
    assert g.captures == 1


def gradients(net, x):
    """Gradients of a loss, with respect to the input and all parameters."""
    net.zero_grad()
    x = x.clone().requires_grad_()
    loss = net(x).square().sum()
    loss.backward()
    return loss, [x.grad, *(p.grad for p in net.parameters())]


@pytest.mark.parametrize("given", [False, True])
def test_gradients(given):
    net = mlp()
    plain = copy.deepcopy(net)
    sample = (torch.rand(4, 10).requires_grad_(),) if given else None
    make(net, sample, bitwise=True)
    for _ in range(3):
        x = torch.rand(4, 10)
        loss, grads = gradients(net, x)
        want_loss, want = gradients(plain, x)
        assert loss.equal(want_loss)
        assert all(a.equal(b) for a, b in zip(grads, want))


def test_gradients_accumulate():
    net = mlp()
    plain = copy.deepcopy(net)
    make(net, bitwise=True)
    for n in (net, plain):
        torch.manual_seed(3)
        for _ in range(3):
            n(torch.rand(4, 10)).sum().backward()
    for a, b in zip(net.parameters(), plain.parameters()):
        assert a.grad.equal(b.grad)


def test_parameters_found_behind_a_function():
    net = mlp()
    plain = copy.deepcopy(net)
    f = make(lambda x: net(x) * 2, bitwise=True)
    x = torch.rand(4, 10)
    f(x).sum().backward()
    (plain(x) * 2).sum().backward()
    for a, b in zip(net.parameters(), plain.parameters()):
        assert a.grad.equal(b.grad)


def test_several_callables_share_a_pool_and_pass_gradients():
    one, two = mlp(), mlp()
    plain = copy.deepcopy(nn.Sequential(one, two))
    sample = torch.rand(4, 10).requires_grad_()
    one, two = make((one, two), ((torch.rand(4, 10),), (sample,)), bitwise=True)
    x = torch.rand(4, 10)
    two(one(x)).sum().backward()
    plain(x).sum().backward()
    params = [*one.parameters(), *two.parameters()]
    assert all(a.grad.equal(b.grad) for a, b in zip(params, plain.parameters()))


def test_differentiating_twice_is_refused():
    f = make(lambda x: x * x)
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    (grad,) = torch.autograd.grad((f(x) * w).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()


def test_a_backward_after_the_next_call_is_refused():
    f = make(lambda x: x * x)
    x = torch.ones(2, requires_grad=True)
    first = f(x)
    f(x)
    with pytest.raises(RuntimeError, match="ran again before the backward"):
        first.sum().backward()


def test_compiled_calls_may_wait_for_their_backward():
    f = torch.compile(lambda x: x * x)
    inputs = [torch.full((2,), float(n), requires_grad=True) for n in range(4)]
    for _ in range(3):
        for x in inputs:
            x.grad = None
        outputs = [f(x) for x in inputs]
        for out in outputs:
            out.sum().backward()
        assert [x.grad[0].item() for x in inputs] == [0, 2, 4, 6]
    assert f.captures <= 4


def test_compiled_gradients_are_their_own():
    f = torch.compile(lambda x: x * x)
    x = [torch.full((2,), float(n), requires_grad=True) for n in (1, 2)]
    grads = [torch.autograd.grad(f(t).sum(), t)[0] for t in x]
    assert [grad[0].item() for grad in grads] == [2, 4]


def test_compiled_results_are_their_own():
    f = torch.compile(lambda x: x + 1)
    first, second = f(torch.zeros(2)), f(torch.ones(2))
    assert first.tolist() == [1, 1]
    assert second.tolist() == [2, 2]


def test_unused_inputs():
    def f(x, y):
        return x * 2

    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    with pytest.raises(RuntimeError, match="allow_unused"):
        make(f)(x, y)
    g = make(f, allow_unused_input=True)
    g(x, y).sum().backward()
    assert x.grad.tolist() == [2, 2]
    assert y.grad is None


def test_training_mode_and_gradient_mode_are_kinds():
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    make(net)
    x = torch.ones(2, 4)
    net.eval()
    with torch.no_grad():
        want = net[0].forward(x)
        assert net(x).equal(want)
    assert net(x).requires_grad
    net.train()
    torch.manual_seed(5)
    want = net[1].forward(net[0].forward(x))
    torch.manual_seed(5)
    assert net(x).equal(want)
    net.eval()
    with torch.no_grad():
        assert not net(x).requires_grad
    assert net.forward.captures == 3


def test_without_dynamic_another_mode_runs_the_module():
    net = nn.Dropout(0.5)
    make(net, (torch.ones(100),), dynamic=False)
    x = torch.ones(100)
    assert not net(x).equal(x)
    net.eval()
    assert net(x).equal(x)


def test_a_parameter_that_moves_is_seen():
    net = mlp()
    make(net, bitwise=True)
    x = torch.rand(3, 10)
    with torch.no_grad():
        net(x)
        net[0].weight.fill_(0)
        assert net(x).equal(net[2](net[0].bias.relu()).expand(3, 10))
        net[0].weight.data = torch.ones(64, 10)
        assert net(x).equal(net[2].forward(net[0].forward(x).relu()))
        net[2].bias = nn.Parameter(torch.full((10,), 100.0))
        assert net(x).equal(net[2].forward(net[0].forward(x).relu()))


def test_pytorchs_rules_for_modules():
    net = mlp()
    handle = net.register_forward_hook(lambda *a: None)
    with pytest.raises(AssertionError, match="must not have hooks registered"):
        make(net)
    handle.remove()
    net.register_buffer("b", torch.ones(1, requires_grad=True))
    with pytest.raises(AssertionError, match="only parameters may be trainab"):
        make(net)
    with pytest.raises(AssertionError, match="must contain only Tensors"):
        make(lambda x: x, (object(),))
    with pytest.raises(ValueError, match="Unknown capture error mode"):
        make(mlp(), capture_error_mode="never")
    with pytest.raises(TypeError, match="expected functions or modules"):
        make(3)
    with pytest.raises(ValueError, match="1 callables, but sample_args for 2"):
        make((mlp(),), ((torch.ones(1),), (torch.ones(1),)))


def test_hooks_after_it_run_outside():
    net = make(mlp())
    seen = []
    net.register_forward_hook(lambda m, args, out: seen.append(out.shape))
    net(torch.ones(2, 10))
    net(torch.ones(2, 10))
    assert seen == [(2, 10)] * 2


def test_warm_up_and_capture_leave_no_trace():
    net = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))
    plain = copy.deepcopy(net)
    sample = torch.rand(8, 3)
    values = sample.clone()
    torch.manual_seed(4)
    make(net, (sample,), bitwise=True)
    assert net[0].running_mean.tolist() == [0, 0, 0]
    assert net[0].num_batches_tracked.item() == 0
    assert sample.equal(values)
    x = torch.rand(8, 3)
    got = net(x)
    torch.manual_seed(4)
    torch.rand(8, 3)
    assert got.equal(plain(x))
    assert net[0].running_mean.equal(plain[0].running_mean)
    assert net[0].num_batches_tracked.item() == 1


def test_arguments_changed_in_place():
    f = torch.compile(lambda x: x.add_(1))
    a, b = torch.zeros(2), torch.ones(2)
    f(a)
    f(b)
    f(b)
    assert a.tolist() == [1, 1]
    assert b.tolist() == [3, 3]


def test_what_cannot_be_captured():
    def f(x):
        return x * 2 if x.sum() > 0 else x * 3

    g = make(f)
    with pytest.raises(RuntimeError, match=r"bool\(\)(.|\n)*return x \* 2"):
        g(torch.ones(2))
    strict = torch.compile(f, fullgraph=True)
    with pytest.raises(RuntimeError, match="not permitted when stream is cap"):
        strict(torch.ones(2))
    loose = torch.compile(f)
    with pytest.warns(UserWarning, match="f runs without a graph") as seen:
        found = [loose(x).tolist() for x in (torch.ones(2), -torch.ones(3))]
    assert found == [[2, 2], [-3] * 3]
    assert loose(-torch.ones(2)).tolist() == [-3, -3]
    assert len(seen) == 1


def test_errors_of_the_function_are_its_own():
    def f(x):
        raise KeyError("mine")

    for g in (make(f), torch.compile(f)):
        with pytest.raises(KeyError, match="mine"):
            g(torch.ones(1))
    with pytest.raises(RuntimeError, match=r"must match|shape"):
        make(lambda x: x + torch.ones(3))(torch.ones(2))


def test_options_of_compile():
    net = mlp()
    assert torch.compile(net, disable=True) is net
    with pytest.raises(ValueError, match="unknown backend 'other'"):
        torch.compile(net, backend="other")
    with pytest.raises(ValueError, match=r"unknown options \['speed'\]"):
        torch.compile(net, options={"speed": 1})

    @torch.compile(options={"bitwise": True})
    def f(x):
        return net(x)

    x = torch.rand(2, 10)
    assert f(x).equal(net(x))
    assert f.__name__ == "f"
    compiled = torch.compile(net)
    assert torch.allclose(compiled(x), net(x), atol=1e-6)
    assert next(compiled.children()) is net
    compiled.eval()
    assert not net[0].training


def test_without_graphs_a_module_is_wrapped_as_well():
    net = mlp()
    plain = torch.compile(net, backend="eager")
    assert isinstance(plain, torch._dynamo.eval_frame.OptimizedModule)
    assert plain._orig_mod is net
    assert [name for name, _ in plain.named_children()] == ["_orig_mod"]
    x = torch.rand(2, 10)
    assert plain(x).equal(net(x))
    # A copy calls the module that was copied with it.
    copied = copy.deepcopy(plain)
    with torch.no_grad():
        copied._orig_mod[0].weight.zero_()
    assert copied(x).equal(copied._orig_mod(x))
    assert not copied(x).equal(net(x))
    net.compile(backend="eager")
    assert type(net) is type(mlp())


def test_a_compiled_function_within_a_captured_one():
    inner = torch.compile(lambda x: x + 1)
    outer = torch.compile(lambda x: inner(x) * 2)
    assert outer(torch.ones(2)).tolist() == [4, 4]
    assert inner.captures == 0


def test_threads_share_a_compiled_function():
    f = torch.compile(lambda x: (x * 2).sum(1) + 1)
    failures = []

    def work(n):
        x = torch.full((200, 300), float(n))
        for _ in range(30):
            if f(x)[3].item() != 600 * n + 1:
                failures.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert f.captures == 1


def test_a_decorated_method_has_graphs_of_its_own():
    class Net(nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.factor = torch.full((2,), factor)

        @torch.compile
        def forward(self, x):
            """Scales."""
            return x * self.factor

    one, two = Net(2.0), Net(3.0)
    for _ in range(3):
        assert one(torch.ones(2)).tolist() == [2, 2]
        assert two(torch.ones(2)).tolist() == [3, 3]
    assert one.forward.captures == two.forward.captures == 1
    assert Net.forward.__doc__ == "Scales."


def test_copies_have_graphs_of_their_own():
    net = make(mlp())
    x = torch.rand(2, 10)
    want = net(x).clone()
    other = copy.deepcopy(net)
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    assert other(x).tolist() == [[0] * 10] * 2
    assert net(x).equal(want)


def test_freezing_and_thawing_parameters_is_seen():
    net = make(mlp())
    x = torch.rand(2, 10)
    net.requires_grad_(False)
    assert not net(x).requires_grad
    net[2].requires_grad_(True)
    net(x).sum().backward()
    assert net[0].weight.grad is None
    assert net[2].weight.grad is not None
    net.requires_grad_(True)
    net(x).sum().backward()
    assert net[0].weight.grad is not None


def test_a_graphed_call_on_a_stream():
    f = make(lambda x: x * 2)
    x = torch.ones(300, 300)
    f(x)
    with torch.cpu.Stream():
        y = f(x + 1)
        z = y + 1
    assert z[0, 0].item() == 5


def test_memory_of_a_callable_that_is_gone_is_given_back():
    import gc
    import weakref

    marked = torch.ones(10)
    net = nn.Linear(10, 10)
    ref = weakref.ref(net)
    compiled = torch.compile(net)
    compiled(marked).sum().backward()
    del net, compiled
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("nested", [False, True])
def test_floats_are_told_apart_by_their_bits(nested):
    f = make(lambda x, s: x * (s[0] if nested else s))
    x = torch.ones(1)
    for value in (0.0, -0.0, float("nan"), float("nan"), -0.0):
        out = f(x, [value] if nested else value)
        assert str(out.item()) == str(value)
    assert f.captures == 3


def test_inference_mode_leaves_no_tensor_that_cannot_be_used():
    f = make(lambda x: x * 2)
    x = torch.ones(2)
    with torch.inference_mode():
        f(x)
    with torch.no_grad():
        assert (f(x + 1) + 1).tolist() == [5, 5]


def test_generators_of_ones_own():
    generator = torch.Generator(torch.get_default_device())
    generator.manual_seed(1)
    want = [torch.rand(2, generator=generator) for _ in range(3)]
    generator.manual_seed(1)
    f = torch.compile(lambda x: x + torch.rand(2, generator=generator))
    for numbers in want:
        assert f(torch.zeros(2)).equal(numbers)


def test_script_functions_and_modules():
    @torch.jit.script
    def f(x, n: int):
        for i in range(n):
            x = x + i
        return x

    g = make(f)
    assert g(torch.ones(2), 3).tolist() == [4, 4]
    assert g(torch.zeros(2), 3).tolist() == [3, 3]
    assert g(torch.zeros(2), 4).tolist() == [6, 6]
    net = mlp()
    scripted = make(torch.jit.script(copy.deepcopy(net)), bitwise=True)
    x = torch.rand(4, 10)
    for n in (scripted, net):
        for _ in range(2):
            n(x).sum().backward()
    for a, b in zip(scripted.parameters(), net.parameters()):
        assert a.grad.equal(b.grad)


def test_threads_train_through_a_compiled_module():
    net = mlp()
    f = torch.compile(net, options={"bitwise": True})
    failures = []

    def work(n):
        for i in range(40):
            x = torch.full((4 + i % 3, 10), (n + 1) / 10).requires_grad_()
            grads = [
                torch.autograd.grad(model(x).square().sum(), x)[0] for model in (f, net)
            ]
            if not grads[0].equal(grads[1]):
                failures.append((n, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_code_that_finds_names_while_it_runs():
    """Whoever asks for a graph of it gets one."""
    run = torch.cuda.make_graphed_callables(
        lambda x: eval("x * 2", {"x": x}), (torch.ones(2),)
    )
    assert run(torch.full((2,), 3.0)).tolist() == [6, 6]
