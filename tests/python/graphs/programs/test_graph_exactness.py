"""Compiled calls do all that eager ones do, or run as they are: what a capture
cannot carry, one family after the other.
"""

import itertools
import os
import warnings

import pytest
from hotaru.overrides import TorchFunctionMode
from hotaru.utils._python_dispatch import TorchDispatchMode
from view_checks import CHECKS, differing, report
from view_programs import Program
from wider_programs import WideProgram

import hotaru as torch
from hotaru import nn

# 10,000 of each by night: HOTARU_VIEW_PROGRAMS=10000.
PROGRAMS = int(os.environ.get("HOTARU_VIEW_PROGRAMS", "250"))

pytestmark = [
    pytest.mark.cpu_graphs("they compare with eager calls of the CPU"),
    pytest.mark.filterwarnings("ignore:compile"),
    pytest.mark.filterwarnings("ignore:The CUDA Graph is empty"),
]


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("kind", [Program, WideProgram])
def test_random_programs_of_views_and_writes(kind, name):
    for seed in range(PROGRAMS):
        program = kind(seed)
        if differing(program, CHECKS[name]):
            pytest.fail(report(program, name))


def _data(x):
    x.data = torch.ones(3, 4)


def _set(x):
    x.set_(torch.full((3, 2), 4.0))


CHANGES = {
    "data": _data,
    "set_": _set,
    "t_": lambda x: x.t_(),
    "unsqueeze_": lambda x: x.unsqueeze_(0),
    "squeeze_": lambda x: x.squeeze_(0).add_(1),
    "resize_": lambda x: x.resize_(1, 2),
    "resize_ to more": lambda x: x.resize_(4, 4).fill_(1),
    "swapaxes_": lambda x: x.swapaxes_(0, 1),
    "as_strided_": lambda x: x.as_strided_((2,), (1,)),
    "requires_grad_": lambda x: x.requires_grad_(),
    "write with a gradient": lambda x: x.mul_(WEIGHT),
    "attribute": lambda x: setattr(x, "tag", 3),
    "hook": lambda x: x.requires_grad_().register_hook(lambda g: g * 2),
}
WEIGHT = torch.full((1,), 2.0, requires_grad=True)


def _seen(x):
    return (x.tolist(), x.stride(), x.requires_grad, x.is_leaf, getattr(x, "tag", None))


@pytest.mark.parametrize("where", ["argument", "closure"])
@pytest.mark.parametrize("name", CHANGES)
def test_tensors_that_change_otherwise(name, where):
    change = CHANGES[name]
    found = []
    for compiles in (False, True):
        kept = torch.arange(3.0).reshape(1, 3)

        def f(x, kept=kept):
            y = x if where == "argument" else kept
            change(y)
            return y * 2

        run = torch.compile(f) if compiles else f
        seen = []
        for _ in range(2):
            x = torch.arange(3.0).reshape(1, 3)
            try:
                seen.append(run(x).tolist())
            except RuntimeError as error:
                seen.append(str(error))
            seen += [_seen(x), _seen(kept)]
        found.append(seen)
    assert found[0] == found[1]


def test_values_that_go_to_other_memory():
    def f(a, b):
        r = a * 2
        b.data = a
        return r

    run = torch.compile(f)
    for k in (1.0, 3.0):
        a, b = torch.full((2,), k), torch.zeros(2)
        assert run(a, b).tolist() == [2 * k] * 2
        assert b.tolist() == [k] * 2


# -- exceptions --------------------------------------------------------------


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
        self.bad = False

    def forward(self, x):
        self.seen.add_(1)
        if self.bad:
            raise KeyError("bad")
        return x + self.seen


def test_what_was_written_before_an_exception_stays():
    net = Counts()
    run = torch.compile(net)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for bad in (False, True, False, True, False):
            net.bad = bad
            try:
                found.append(run(torch.ones(1)).item())
            except KeyError:
                found.append("KeyError")
            found.append(net.seen.item())
    assert found == [2, 1, "KeyError", 2, 4, 3, "KeyError", 4, 6, 5]


def test_arguments_written_before_an_exception():
    def f(x):
        x.add_(1)
        raise ValueError(str(x.shape))

    run = torch.compile(f)
    x = torch.zeros(2)
    for k in (1, 2):
        with pytest.raises(ValueError, match="2"):
            run(x)
        assert x.tolist() == [k, k]


def test_one_warning_for_what_runs_as_it_is():
    run = torch.compile(lambda x: x.t_() * 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            run(torch.ones(2, 3))
    assert len(caught) == 1
    assert "without a graph" in str(caught[0].message)
    assert caught[0].filename == __file__
    whole = torch.compile(lambda x: x.t_() * 2, fullgraph=True)
    x = torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="shape of an argument"):
        whole(x)
    assert x.shape == (2, 3)


# -- who looks on --------------------------------------------------------------


class Adds(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return out + 10 if func in (torch.mul, torch.Tensor.mul) else out


class Sees(TorchDispatchMode):
    seen = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen += 1
        return func(*args, **(kwargs or {}))


def test_modes_around_a_call():
    run = torch.compile(lambda x: x * 2)
    x = torch.ones(1)
    assert run(x).item() == 2
    with Adds():
        assert run(x).item() == 12
    with Sees() as sees:
        assert run(x).item() == 2
    assert sees.seen
    assert run(x).item() == 2


class Shifted(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        out = super().__torch_function__(func, types, args, kwargs or {})
        return out + 100 if func in (torch.Tensor.mul, torch.mul) else out


class Plain(torch.Tensor):
    pass


def test_arguments_of_other_classes():
    run = torch.compile(lambda x: x * 2)
    found = []
    for kind in (torch.Tensor, Shifted, Plain, torch.Tensor, Shifted):
        y = run(torch.ones(1).as_subclass(kind))
        found.append((type(y), y.as_subclass(torch.Tensor).item()))
    assert found == [
        (torch.Tensor, 2),
        (Shifted, 102),
        (Plain, 2),
        (torch.Tensor, 2),
        (Shifted, 102),
    ]


def test_hooks_of_saved_tensors_around_a_call():
    w = torch.ones(2, requires_grad=True)
    run = torch.compile(lambda x: (x * w * w).sum())
    run(torch.ones(2)).backward()
    seen = []

    def pack(t):
        seen.append(t)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = run(torch.ones(2))
    y.backward()
    assert seen


def test_transforms_of_a_compiled_function():
    f = torch.compile(lambda x: x**2 + 1)
    x = torch.tensor([3.0, 4.0])
    _, tangent = torch.func.jvp(f, (x,), (torch.ones(2),))
    assert tangent.tolist() == [6, 8]
    assert torch.func.jacfwd(f)(x).tolist() == [[6, 0], [0, 8]]
    assert torch.func.jacrev(f)(x).tolist() == [[6, 0], [0, 8]]
    assert torch.func.hessian(lambda x: f(x).sum())(x).tolist() == [[2, 0], [0, 2]]
    assert torch.vmap(f)(x).tolist() == [10, 17]
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones(2))
        unpacked = torch.autograd.forward_ad.unpack_dual(f(dual))
        assert unpacked.tangent.tolist() == [6, 8]
    assert f(x).tolist() == [10, 17]


# -- gradients -----------------------------------------------------------------


def test_a_gradient_goes_through_an_argument_that_is_written():
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    y = torch.compile(lambda a: a.add_(w))(torch.ones(2))
    assert y.tolist() == [3, 4]
    assert torch.autograd.grad(y.sum(), w)[0].tolist() == [1, 1]


def test_the_gradient_of_a_view_of_what_is_written():
    def f(x):
        v = x * 2
        u = v[1:]
        v.add_(1)
        return u

    x = torch.arange(4.0, requires_grad=True)
    run = torch.compile(f)
    for _ in range(2):
        (grad,) = torch.autograd.grad(run(x).sum(), x)
        assert grad.tolist() == [0, 2, 2, 2]


def test_what_a_failed_capture_has_rebound_is_as_it_was():
    """Also behind an argument whose memory the call has grown."""
    w = torch.nn.Parameter(torch.arange(4.0))

    def f(x):
        torch.sum(x, 0, out=x)
        w.data = x * 3
        return x

    run = torch.cpu.make_graphed_callables(f)
    with pytest.raises(RuntimeError, match="changes the memory"):
        run(torch.ones(0, 4))
    assert w.tolist() == [0, 1, 2, 3]


def test_an_argument_that_is_to_retain_its_gradient():
    """A leaf does so anyway: its graph is not that of another tensor."""

    def f(x):
        x.retain_grad()
        return x * 2

    run = torch.compile(f)
    for made in (False, True, False, True):
        x = torch.ones(3, requires_grad=True)
        if made:
            x = x * 1
        run(x).sum().backward()
        assert x.grad.tolist() == [2, 2, 2]


def test_a_backward_pass_that_no_result_depends_on():
    """The history of results leads to none of the leaves that the code reads
    and does not use: passes towards these leave it alone.
    """
    w = torch.nn.Parameter(torch.ones(3))

    def f(x):
        x.sum().backward(inputs=[w])
        return -x

    run = torch.compile(f)
    leaf = x = torch.arange(3.0, requires_grad=True)
    for _ in range(4):
        x = run(x)
    assert torch.autograd.grad(x.sum(), leaf)[0].tolist() == [1, 1, 1]
    assert w.grad is None


def test_a_result_beside_the_elements_of_an_argument():
    """A call with out= lays an alias of it out anew, in memory that a graph
    does not know.
    """

    def f(x):
        alias = x.detach()
        torch.cat([alias, alias.chunk(2)[1]], out=alias)
        return alias

    run = torch.compile(f)
    for _ in range(2):
        seen = []
        for call in (f, run):
            numbers = torch.complex(torch.zeros(4), torch.arange(4.0))
            with pytest.warns(UserWarning, match="was resized"):
                seen.append(call(numbers.imag).tolist())
        assert seen[0] == seen[1] == [0, 1, 2, 3, 2, 3]


def test_an_argument_copied_onto_itself_is_as_it_was():
    """It counts as written, before the product keeps it for the gradient."""

    def f(x, y):
        x.copy_(x)
        return x * y

    run = torch.compile(f)
    y = torch.ones(3, requires_grad=True)
    for _ in range(3):
        x = torch.arange(3.0)
        (grad,) = torch.autograd.grad(run(x, y).sum(), y)
        assert grad.equal(x)
        assert x._version == 1


def test_empty_arguments_of_one_memory_are_written_together():
    def f(x, y):
        part = y.chunk(2, -1)[-1]
        x.detach().mul_(2)
        return part

    run = torch.compile(f)
    x, y = torch.ones(0, 4, requires_grad=True) * 1, torch.ones(4, 0)
    run(x, y).sum()  # they are not the same memory
    for _ in range(2):
        x = torch.ones(0, 4, requires_grad=True) * 1
        for call in (f, run):
            part = call(x, x.t())
            with pytest.raises(RuntimeError, match="multiple views"):
                part.sum()


def test_a_backward_pass_beyond_the_arguments():
    w = torch.tensor([2.0], requires_grad=True)

    def f(x):
        return torch.autograd.grad((x * w).sum(), w)[0]

    assert torch.compile(f)(w * 3).item() == f(w * 3).item() == 12


def test_two_arguments_of_one_memory():
    p = torch.tensor([1.0, 2.0])
    q = p.detach().requires_grad_()
    count = torch.zeros(())

    def f(a, b):
        count.add_(1)
        return b

    def g(a, b):
        count.add_(1)
        return b.view(2, 1)

    assert torch.compile(f)(p, q) is q
    r = torch.compile(g)(p, q)
    r.sum().backward()
    assert q.grad.tolist() == [1, 1]


class Looks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g * 3 if g.sum().item() > 0 else g * 0


class Remembers(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
        self.h = torch.zeros(2)

    def forward(self, x):
        self.h = self.h * 0.5 + x
        return Looks.apply(self.w * x)


def test_a_state_and_a_backward_that_cannot_be_captured():
    net = Remembers()
    bound = net.h
    run = torch.compile(net)
    for h in (1.0, 1.5, 1.75):
        y = run(torch.ones(2))
        y.sum().backward()
        assert net.h.tolist() == [h, h]
    assert net.w.grad.tolist() == [9, 9]
    assert bound.tolist() == [0, 0]


def test_a_backward_that_fails_and_nobody_wants():
    net = nn.Linear(2, 2)
    nn.init.zeros_(net.weight)
    nn.init.zeros_(net.bias)

    def f(x):
        y = torch.sigmoid(net(x))
        y *= 2
        return y

    assert torch.compile(f)(torch.ones(1, 2)).tolist() == [[1, 1]]


def test_views_without_gradients():
    def part(x):
        with torch.no_grad():
            v = x[1:]
        return v, x * 2

    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    v, y = torch.compile(part)(w)
    assert v.tolist() == [2, 3]
    y.sum().backward()
    assert w.grad.tolist() == [2, 2, 2]
    flat = torch.no_grad()(lambda x: x.view(-1))
    assert torch.compile(flat)(w).tolist() == [1, 2, 3]


def _unrecorded(x, mode=torch.no_grad):
    with mode():
        return x[1:]


def _moved(x, to):
    view = x[0]
    view.data = to
    return view


def _set_elsewhere(x):
    view = x[0]
    with torch.no_grad():
        view.set_(x[1].detach())
    return view


VIEWS = {
    "unrecorded": _unrecorded,
    "of inference mode": lambda x: _unrecorded(x, torch.inference_mode),
    "of an unrecorded one": lambda x: _unrecorded(x)[..., :1],
    "of one of inference mode": lambda x: _unrecorded(x, torch.inference_mode)[..., :1],
    "of one of several": lambda x: x.unbind()[1][:1],
    "recorded again": lambda x: _unrecorded(x[:, :1]),
    "moved in its base": lambda x: _moved(x, x[1]),
    "moved to its base": lambda x: _moved(x, x),
    "moved elsewhere": lambda x: _moved(x, torch.full(x[0].shape, 5.0)),
    "set elsewhere": _set_elsewhere,
}
SOURCES = {
    "argument": lambda x, w: x,
    "within": lambda x, w: x * 2,
    "outside": lambda x, w: w,
    "a view within": lambda x, w: (x * 2).t(),
}
RESULTS = {
    "alone": lambda view, whole: (view,),
    "with its base": lambda view, whole: (view, whole),
    "with a view of it": lambda view, whole: (view, view[:1]),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", VIEWS)
def test_histories_of_views(name, source):
    for leaf, results in itertools.product((True, False), RESULTS):
        found = []
        for compiles in (False, True):
            outside = torch.arange(6.0).reshape(3, 2).requires_grad_()

            def f(x, w=outside, results=results):
                whole = SOURCES[source](x, w)
                return RESULTS[results](VIEWS[name](whole), whole)

            run = torch.compile(f) if compiles else f
            found.append([_histories(run, leaf, outside) for _ in range(2)])
        assert found[0] == found[1], (leaf, results)


def _histories(run, leaf, outside):
    x = torch.full((3, 2), 2.0, requires_grad=True)
    outside.grad = None
    results = run(x if leaf else x * 1)
    recorded = [t for t in results if not t.is_leaf]
    if recorded:
        sum((t * t).sum() for t in recorded).backward()
    return (
        [(t.tolist(), t.requires_grad, t.is_leaf) for t in results],
        [None if g is None else g.tolist() for g in (x.grad, outside.grad)],
    )


def test_a_scaler_in_a_step():
    net = nn.Linear(2, 1)
    nn.init.ones_(net.weight)
    nn.init.zeros_(net.bias)
    optimizer = torch.optim.SGD(net.parameters(), 0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)

    @torch.compile
    def step(x):
        optimizer.zero_grad()
        loss = net(x).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    found = [step(torch.ones(1, 2)).item() for _ in range(3)]
    assert found == [2, 0.5, -1]


def test_writes_count_as_often_as_in_eager_code():
    weight, buffer = torch.ones(2, requires_grad=True), torch.zeros(2)

    def f(x):
        buffer.add_(1).mul_(2)
        x.add_(1)
        return (x * 1).add_(1).mul_(weight.detach())

    run = torch.compile(f)
    for k in (1, 2, 3):
        x = torch.ones(2)
        y = run(x)
        assert (x._version, buffer._version, y._version) == (1, 2 * k, 2)
    kept = torch.ones(2, requires_grad=True) * buffer
    run(torch.ones(2))
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        kept.sum().backward()
