"""Properties that a function gives its results are there in those of compiled
calls: their class, their attributes, and histories that are more than views.
"""

import re
import warnings

import numpy
import pytest
from hotaru.autograd.graph import register_multi_grad_hook

import hotaru as torch
from hotaru import nn

pytestmark = pytest.mark.filterwarnings("ignore:compile")


def graphed(function):
    return torch.cuda.make_graphed_callables(function, allow_unused_input=True)


WAYS = {"compile": torch.compile, "graphed": graphed}


class ReversedView(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -5 * grad


class Reversed(ReversedView):
    @staticmethod
    def forward(ctx, x):
        return x


class ReversedInTwo(ReversedView):
    @staticmethod
    def forward(x):
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass


weight = nn.Parameter(torch.tensor([3.0, 4.0]))


def _with_its_base(f, x):
    y = x * 2
    return y, f(y)


def _two_parts(f, x):
    y = f(x * 2)
    return y[:1], y[1:]


def _beside_its_values(f, x):
    y = f(x * 2)
    return y, y.detach()


PLACES = {
    "alone": lambda f, x: f(x),
    "part": lambda f, x: f(x)[:1],
    "of a part": lambda f, x: f(x[:1]),
    "with its base": _with_its_base,
    "two parts": _two_parts,
    "beside its values": _beside_its_values,
    "own": lambda f, x: f(x * 2)[1:],
    "a weight": lambda f, x: (f(weight), x * 2),
    "nested": lambda f, x: [{"a": f(x)}, x],
}


def tensors_of(result):
    if isinstance(result, torch.Tensor):
        return [result]
    values = result.values() if isinstance(result, dict) else result
    return [tensor for value in values for tensor in tensors_of(value)]


def gradients_of(run, x):
    """Gradients of an argument and of the weight."""
    weight.grad = None
    x = x.clone().requires_grad_()
    total = 0
    for result in tensors_of(run(x)):
        factors = torch.arange(1.0, 1 + result.numel()).view(result.shape)
        total = total + (result * factors).sum()
    total.backward()
    return [None if g is None else g.tolist() for g in (x.grad, weight.grad)]


def check_gradients(way, function):
    run = way(function)
    for k in range(1, 4):
        x = torch.tensor([1.0, 2.0]) * k
        assert gradients_of(run, x) == gradients_of(function, x)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", [ReversedView, Reversed, ReversedInTwo])
def test_views_of_functions(way, kind, place):
    check_gradients(WAYS[way], lambda x: PLACES[place](kind.apply, x))


@pytest.mark.parametrize("way", WAYS)
def test_reversed_gradient(way):
    run = WAYS[way](lambda x: ReversedView.apply(x))
    for _ in range(3):
        found = gradients_of(run, torch.ones(2))
        assert found == [[-5.0, -10.0], None]


def _hook_of_view(x):
    y = x.view(2, 1)
    y.register_hook(lambda grad: grad * 10)
    return y


def _hook_behind_view(x):
    return _hook_of_view(x)[0]


def _hook_of_step(x):
    y = x.view(2, 1)
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10,))
    return y


def _pre_hook_of_step(x):
    y = x.view(2, 1)
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 10,))
    return y


def _hook_of_a_step_before(x):
    y = x.view(2, 1)
    step = (y + 1).grad_fn.next_functions[0][0]
    step.register_hook(lambda inputs, outputs: (inputs[0] * 10,))
    return y


def _hook_of_one_of_two(x):
    y = x * 2
    z = y.view(2, 1)
    z.register_hook(lambda grad: grad * 10)
    return y, z


def _hook_of_values(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    return y


HOOKS = (
    _hook_of_view,
    _hook_behind_view,
    _hook_of_step,
    _pre_hook_of_step,
    _hook_of_a_step_before,
    _hook_of_one_of_two,
    _hook_of_values,
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", HOOKS)
def test_hooks_of_results(way, function):
    check_gradients(WAYS[way], function)
    found, _ = gradients_of(WAYS[way](function), torch.ones(2))
    assert max(found) >= 10


def test_hooks_of_several_results():
    calls = []

    def function(x):
        y = x.view(2, 1)
        register_multi_grad_hook([y], lambda grads: calls.append(1))
        return y

    check_gradients(torch.compile, function)
    assert len(calls) == 6


def test_hooks_of_a_weight_are_registered_once():
    p = nn.Parameter(torch.ones(2))
    calls = []

    def function(x):
        if not calls:
            p.register_hook(lambda grad: calls.append("hook"))
            p.register_post_accumulate_grad_hook(lambda p: calls.append("after"))
        return p * x

    run = torch.compile(function)
    for count in range(1, 4):
        run(torch.ones(2)).sum().backward()
        assert calls == ["hook", "after"] * count


@pytest.mark.parametrize("change", [lambda x: x * 2, lambda x: x.view(2, 1)])
def test_retained_gradients(change):
    def function(x):
        y = change(x)
        y.retain_grad()
        return y

    run = torch.compile(function)
    for _ in range(3):
        y = run(torch.ones(2, requires_grad=True))
        (y * 3).sum().backward()
        assert torch.equal(y.grad, torch.full(y.shape, 3.0))
    with pytest.raises(RuntimeError, match="retains its gradient"):
        graphed(function)(torch.ones(2, requires_grad=True))


def test_plain_views_are_captured():
    run = torch.compile(lambda x: (x.view(2, 1), x[:1]), fullgraph=True)
    for _ in range(3):
        assert gradients_of(run, torch.ones(2)) == [[2.0, 2.0], None]


def test_one_warning():
    run = torch.compile(lambda x: ReversedView.apply(x))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            run(torch.ones(2, requires_grad=True))
    assert len(caught) == 1
    assert "autograd.Function" in str(caught[0].message)


class Special(torch.Tensor):
    pass


def _named(y):
    y.tag = 7
    return y


MADE = {
    "attribute": lambda x: _named(x * 2),
    "attribute of a view": lambda x: _named(x[0]),
    "attribute of a part": lambda x: (x * 2, _named(x * 3)),
    "class": lambda x: (x * 2).as_subclass(Special),
    "class of a view": lambda x: x.as_subclass(Special),
    "class among others": lambda x: (x, (x * 2).as_subclass(Special)),
    "parameter": lambda x: nn.Parameter(x * 2, requires_grad=False),
    "trained parameter": lambda x: nn.Parameter(x * 2),
    "buffer": lambda x: nn.Buffer(x * 2),
}


@pytest.mark.parametrize("name", MADE)
def test_classes_and_attributes(name):
    run = torch.compile(MADE[name])
    for k in range(3):
        x = torch.ones(2) * k
        pairs = zip(as_tuple(run(x)), as_tuple(MADE[name](x)))
        for got, wanted in pairs:
            assert type(got) is type(wanted)
            assert vars(got) == vars(wanted)
            assert got.requires_grad == wanted.requires_grad
            assert torch.equal(got, wanted)


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def _leaf(v):
    return v.requires_grad_()


def _without_grad(x, view):
    with torch.no_grad():
        return view(x)


VIEWS_OF_TWO = {
    "slice": lambda x: x[1:],
    "expand": lambda x: x[None].expand(2, 2),
    "chunk": lambda x: x.chunk(2)[1],
    "unbind": lambda x: x.unbind()[0],
    "view": lambda x: x.view(2, 1),
    "diagonal": lambda x: x.view(2, 1).diagonal(),
    "t": lambda x: x.view(1, 2).t(),
}
# Their gradients end at what the call has made, beside that of the argument.
CUT = {
    "new leaf": lambda x, view: _leaf(view(x * 1)),
    "new leaf of detached": lambda x, view: _leaf(view((x * 1).detach())),
    "new leaf of an argument": lambda x, view: _leaf(view(x.detach())),
    "behind one": lambda x, view: view(_leaf(x.detach().view(2))),
    "beside one": lambda x, view: (lambda v: [v.view_as(v), v * 1])(
        _leaf(view(x.detach()))
    ),
    "behind one without gradients": lambda x, view: view(
        _without_grad(x, lambda x: x[:])
    ),
    "without gradients": _without_grad,
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("view", VIEWS_OF_TWO)
@pytest.mark.parametrize("cut", CUT)
def test_views_that_are_leaves_or_end_at_one(cut, view, grad):
    def function(x):
        x = x if grad or cut != "new leaf" else x.detach()
        return CUT[cut](x, VIEWS_OF_TWO[view])

    run = torch.compile(function)
    for _ in range(3):
        seen = []
        for f in (function, run):
            x = torch.ones(2, requires_grad=grad)
            try:
                results = tensors_of(f(x))
            except RuntimeError as error:
                seen.append(str(error))
                continue
            described = [(t.is_leaf, t.requires_grad) for t in results]
            if any(t.requires_grad for t in results):
                sum((t * t).sum() for t in results).backward()
            seen.append((described, None if x.grad is None else x.grad.tolist()))
        assert seen[0] == seen[1]


# Tensors of what Python holds, which a capture takes as they are.
MAKERS = {
    "tensor": lambda: torch.tensor([2.0, 3.0]),
    "as_tensor": lambda: torch.as_tensor([2.0, 3.0]),
    "legacy": lambda: torch.FloatTensor([2.0, 3.0]),
    "class": lambda: torch.Tensor([2.0, 3.0]),
    "like another": lambda: weight.new_tensor([2.0, 3.0]),
    "array": lambda: torch.from_numpy(numpy.array([2.0, 3.0], "f")),
    "buffer": lambda: torch.frombuffer(
        bytearray(numpy.array([2.0, 3.0], "f")), dtype=torch.float32
    ),
    "by name": lambda: getattr(torch, "tensor")([2.0, 3.0]),  # noqa: B009
}


def _in_part(n, x):
    n[0] = x[0]
    return n.add_(x) * 1


def _out(n, x):
    torch.mul(n, x, out=n)
    return n[1:] + 1


# How the call writes to them.
WRITING = {
    "in place": lambda n, x: n.add_(x),
    "and read": lambda n, x: n.add_(x) * 2,
    "a view": lambda n, x: n[1:].mul_(x[1:]) * 1,
    "a part": _in_part,
    "out": _out,
    "detached": lambda n, x: (n.detach().add_(x), n * x),
}


@pytest.mark.cpu_graphs("elsewhere a graph copies the numbers there anew")
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("write", WRITING)
def test_what_is_made_of_numbers_is_made_in_each_call(make, write):
    def function(x):
        return WRITING[write](MAKERS[make](), x)

    run = torch.compile(function)
    for k in range(1, 4):
        x = torch.full((2,), float(k))
        pairs = zip(as_tuple(run(x)), as_tuple(function(x)))
        assert all(torch.equal(*pair) for pair in pairs)
    if make in ("array", "buffer"):
        with pytest.raises(RuntimeError, match="memory of Python's"):
            graphed(function)(torch.ones(2))
    else:
        run = graphed(function)
        for k in range(1, 4):
            x = torch.full((2,), float(k))
            pairs = zip(as_tuple(run(x)), as_tuple(function(x)))
            assert all(torch.equal(*pair) for pair in pairs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.tensor([2.0, 3.0]),
        lambda: torch.tensor(1.0),
        lambda: torch.zeros(2),
        lambda: torch.zeros(0),
        lambda: torch.empty(0, 2),
    ],
)
@pytest.mark.parametrize("copied", [False, True])
def test_new_leaves_are_no_results(make, copied):
    def function(x):
        made = make()
        return (made.clone() if copied else made).requires_grad_()

    with pytest.raises(RuntimeError, match="a new leaf"):
        graphed(function)(torch.ones(2))
    assert torch.compile(function)(torch.ones(2)).is_leaf


@pytest.mark.cpu_graphs("arrays and buffers are on the host")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", MAKERS)
def test_what_is_made_of_numbers_is_the_users(make, way):
    def function(x):
        n = MAKERS[make]()
        rows = torch.empty(2, 2)
        rows[0], rows[1] = n, x
        return n, n[1:], rows * n, n * x

    run = WAYS[way](function)
    for k in range(1, 4):
        x = torch.full((2,), float(k))
        results = run(x)
        for found, wanted in zip(results, function(x)):
            assert torch.equal(found, wanted)
        for found in results:
            found.zero_()
    if way == "compile" and make not in ("array", "buffer"):
        assert run._last is not None  # as a graph


IN_ITS_MEMORY = {
    "it": lambda h: (h, torch.ones(2)),
    "a view": lambda h: (h.view_as(h), torch.ones(2)),
    "two views": lambda h: (h.view_as(h), h.detach()),
    "one view twice": lambda h: (h[:],) * 2,
    "behind another": lambda h: (torch.ones(2), h[:]),
    "a part": lambda h: (torch.ones(2), h[1:]),
}


@pytest.mark.parametrize("arguments", IN_ITS_MEMORY)
def test_a_tensor_from_outside_is_itself(arguments):
    """Also where the call writes to it, and arguments are views of it."""
    h = torch.zeros(2)

    def function(x, y):
        h.mul_(2).add_(1)
        return h, h.view_as(h), x + y

    run = torch.compile(function)
    run(torch.ones(2), torch.ones(2))
    for wanted in (3.0, 7.0, 15.0):
        x, y = IN_ITS_MEMORY[arguments](h)
        found, view, total = run(x, y)
        assert found is h
        assert view is not h
        assert view.data_ptr() == h.data_ptr()
        assert h.tolist() == [wanted] * 2
        assert total.tolist() == (x + y).tolist()


SEVERAL = {
    "split": lambda x: x.split(1),
    "chunk": lambda x: x.chunk(2)[1:],
    "unbind": lambda x: x.unbind(),
    "through a plain view": lambda x: [x.split(1)[1][:]],
}


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("base", [False, True])
@pytest.mark.parametrize("name", SEVERAL)
def test_one_of_several_views_is_not_written(name, base, own):
    """Nor used where what it is a view of was written."""

    def function(x):
        y = x * 2 if own else x
        return [y, *SEVERAL[name](y)]

    run = torch.compile(function, fullgraph=True)
    for _ in range(3):
        seen = []
        for f in (function, run):
            whole, *parts = f(torch.ones(2, 2, requires_grad=True) * 1)
            if base:
                whole.mul_(2)
            with pytest.raises(RuntimeError, match="multiple views") as error:
                parts[-1].add_(1)
            # Views of a graph's calls are made by strides.
            text = str(error.value)
            seen.append(re.sub(r"^Output \d of \w+", "", text))
        assert seen[0] == seen[1]


def _beside_its_base(f):
    def with_base(x):
        base = x * 2
        return base, f(base)

    return with_base


ADDRESSED = {
    "of a view": lambda x: x[:, 0].as_strided((2,), (1,)),
    "of a transposed one": lambda x: x.t()[0].as_strided((2, 2), (2, 1)),
    "of all": lambda x: x.as_strided((2,), (3,)),
    "twice": lambda x: x.as_strided((2,), (3,)).as_strided((2,), (1,)),
    "seen on": lambda x: x[:, 0].as_strided((4,), (1,))[1:],
}


@pytest.mark.parametrize("base", [False, True], ids=["argument", "base"])
@pytest.mark.parametrize("name", ADDRESSED)
def test_what_a_view_does_not_show_gets_no_gradient(name, base):
    f = _beside_its_base(ADDRESSED[name]) if base else ADDRESSED[name]

    def gradient(call, x):
        result = call(x)
        view = result[1] if base else result
        return torch.autograd.grad((view * view).sum(), x)[0]

    x = torch.arange(1.0, 13.0).reshape(3, 4).requires_grad_()
    want = gradient(f, x)
    compiled = torch.compile(f)
    for _ in range(3):
        assert gradient(compiled, x).equal(want)


# Rows whose first dimension, of one element, has other strides.
ROWS = {
    "row": lambda: torch.arange(4.0).view(1, 4),
    "one of two": lambda: torch.arange(8.0).view(2, 4)[::2],
    "one of three": lambda: torch.arange(12.0).view(3, 4)[::3],
    "column": lambda: torch.arange(4.0).view(4, 1).t(),
}


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + x.stride(0),
        lambda x: x[None] * x[None].stride()[1],
        lambda x: (x * 2)[::2] + x.stride()[0],
    ],
)
def test_code_that_asks_for_the_stride_of_one_element(f):
    compiled = torch.compile(f)
    for name in [*ROWS, *reversed(ROWS)]:
        x = ROWS[name]()
        assert compiled(x).equal(f(x)), name


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x * 2).view(2, 2)[::2],
        lambda x: (x * 2).view(4, 1).t(),
        lambda x: (x > 1).view(2, 2)[1:],
        lambda x: (x * 2)[:, :0],
        lambda x: (x * 2)[None].expand(1, 3, 4),
    ],
)
def test_results_have_the_strides_of_eager_ones(f):
    compiled = torch.compile(f)
    x = torch.arange(4.0).view(1, 4)
    for _ in range(3):
        got, want = compiled(x), f(x)
        assert got.equal(want)
        assert got.stride() == want.stride()


def test_results_that_were_copied_keep_their_strides():
    class Keeps(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = torch.zeros(3, 4)

        def forward(self, x):
            before, self.h = self.h, x * 1
            return before[:, 1:3], before[::2, :1]

    eager, module = Keeps(), Keeps()
    made = graphed(module)
    for step in range(4):
        x = torch.arange(12.0).view(3, 4) + step
        for got, want in zip(made(x), eager(x)):
            assert got.equal(want)
            assert got.stride() == want.stride()
