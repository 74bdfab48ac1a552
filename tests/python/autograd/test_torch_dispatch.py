"""`__torch_dispatch__`: classes and modes answer operators below autograd."""

import contextlib
import copy
import gc
import io
import pickle

import pytest
from hotaru.utils._mode_utils import all_same_mode, no_dispatch
from hotaru.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
)
from hotaru.utils._pytree import tree_map

import hotaru as torch
from hotaru import nn


class Wrapper(torch.Tensor):
    """Keeps its elements in `elem`, and says what it was asked."""

    seen: list = []  # noqa: RUF012

    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            elem.size(),
            strides=elem.stride(),
            dtype=elem.dtype,
            device=elem.device,
            requires_grad=requires_grad,
        )
        made.elem = elem.detach()
        return made

    def __repr__(self):
        return super().__repr__(tensor_contents=f"{self.elem!r}")

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func.name())
        args, kwargs = tree_map(
            lambda x: x.elem if isinstance(x, cls) else x, (args, kwargs or {})
        )
        return tree_map(
            lambda x: cls(x) if isinstance(x, torch.Tensor) else x,
            func(*args, **kwargs),
        )


@pytest.fixture(autouse=True)
def _nothing_seen():
    Wrapper.seen.clear()


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.name())
        return func(*args, **(kwargs or {}))


def _values(rows=3, columns=4):
    count = rows * columns
    return torch.linspace(-1.5, 2, count, dtype=torch.float64).view(rows, columns)


FUNCTIONS = {
    "product": lambda x: (x * x + 2) / 3 - x,
    "elementary": lambda x: torch.exp(x).sin() + torch.tanh(x),
    "matmul": lambda x: x @ x.t(),
    "linear": lambda x: nn.functional.linear(x, torch.ones_like(x)),
    "softmax": lambda x: torch.softmax(x, 1) * torch.log_softmax(x, 0),
    "layer_norm": lambda x: nn.functional.layer_norm(x, (4,)),
    "views": lambda x: x[1:, ::2].t().reshape(-1).unsqueeze(0).expand(2, 4),
    "index": lambda x: x[torch.tensor([0, 2, 0])] * x[:, 1].unsqueeze(1),
    "mask": lambda x: torch.where(x > 0, x**3, x),
    "reduce": lambda x: x.var(1) + x.amax(1) + x.prod(1),
    "several": lambda x: (
        torch.cat(torch.max(x, 1)[:1])
        if False
        else (torch.cat([x, x.flip(0)]).cumsum(0))
    ),
    "named": lambda x: torch.max(x, 1).values * torch.sort(x, 1).values[:, 0],
    "in_place": lambda x: (x * 1).mul_(x).add_(2).sqrt_(),
    "reflected": lambda x: 2 / (x + 4) - 1 + 2**x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives_are_those_of_plain_tensors(name):
    function = FUNCTIONS[name]
    plain = _values().requires_grad_()
    wrapped = Wrapper(_values(), requires_grad=True)
    expected, found = function(plain), function(wrapped)
    assert type(found) is Wrapper
    assert found.requires_grad
    torch.testing.assert_close(found.elem, expected.detach())
    first = [
        torch.autograd.grad((y**2).sum(), x, create_graph=True)[0]
        for x, y in ((plain, expected), (wrapped, found))
    ]
    assert type(first[1]) is Wrapper
    torch.testing.assert_close(first[1].elem, first[0].detach())
    second = [
        torch.autograd.grad((g**2).sum(), x)[0] for x, g in zip((plain, wrapped), first)
    ]
    torch.testing.assert_close(second[1].elem, second[0])


def test_operators_are_overloads_and_their_derivatives_operators():
    x = Wrapper(torch.ones(2), requires_grad=True)
    (x * x).sum().backward()
    assert Wrapper.seen == [
        "aten::mul.Tensor",
        "aten::sum",
        "hotaru::sum.default.vjp",
        "hotaru::mul.Tensor.vjp",
        "aten::add.Tensor",
    ]


def test_arguments_are_ordered_and_defaults_left_out():
    calls = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append((str(func), args[1:], kwargs))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, 3)
    with Mode():
        torch.sum(input=x, dim=[1], keepdim=True)
        x.sum([0], False)
        torch.add(x, other=x, alpha=2)
        x.view(3, 2)
    assert calls[0] == ("aten.sum.dim_IntList", ([1], True), {})
    assert calls[1] == ("aten.sum.dim_IntList", ([0],), {})
    assert calls[2][0] == "aten.add.Tensor"
    assert calls[2][2] == {"alpha": 2}
    assert calls[3] == ("aten.view.default", ([3, 2],), {})


def test_gradients_add_up_and_stay_of_the_class():
    x = Wrapper(torch.ones(3), requires_grad=True)
    (x * 2 + x * 3).sum().backward()
    (x * 5).sum().backward()
    gc.collect()  # the object of the gradient was nobody's in between
    assert type(x.grad) is Wrapper
    assert x.grad.elem.tolist() == [10, 10, 10]


def test_objects_live_as_long_as_somebody_may_ask_for_them():
    """The history of a result keeps what no variable holds any more."""
    x = torch.ones(3, requires_grad=True)
    factor = Wrapper(torch.full((3,), 4.0))
    result = (factor * x).sum()
    del factor
    gc.collect()
    result.backward()
    assert x.grad.elem.tolist() == [4, 4, 4]
    again = x.grad
    again.note = "kept"
    for _ in range(3):  # goes and comes back, more than once
        del again
        gc.collect()
        again = x.grad
    assert again.note == "kept"


def test_nothing_is_kept_for_good():
    import weakref

    class Note:
        pass

    x = torch.ones(3, requires_grad=True)
    (Wrapper(torch.ones(3)) * x).sum().backward()
    x.grad.note = Note()
    gone = weakref.ref(x.grad.note)
    gc.collect()
    assert gone() is not None
    x.grad = None
    gc.collect()
    assert gone() is None


def test_modules_train():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    twin = copy.deepcopy(model)
    batch = torch.randn(5, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        loss = model(Wrapper(batch)).pow(2).mean()
        assert type(loss) is Wrapper
        loss.backward()
        for p in model.parameters():
            p.grad = p.grad.elem
        optimizer.step()
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        twin(batch).pow(2).mean().backward()
        optimizer.step()
    for p, q in zip(model.parameters(), twin.parameters()):
        torch.testing.assert_close(p, q)


def test_functions_that_modes_see_are_pickled_by_their_names():
    with Recorder():
        pass
    for function in (torch.tensor, torch.from_numpy, torch.as_tensor):
        assert pickle.loads(pickle.dumps(function)) is function


def test_modes_see_what_classes_do_not():
    with Recorder() as outer, Recorder() as inner:
        assert _get_current_dispatch_mode() is inner
        torch.zeros(2) + 1
        with _disable_current_modes():
            torch.ones(2)
    torch.ones(2)
    assert inner.seen == ["aten::zeros", "aten::add.Tensor"]
    assert outer.seen == inner.seen
    assert _get_current_dispatch_mode() is None


def test_modes_see_backward_passes():
    x = torch.ones(2, 2, requires_grad=True)
    with Recorder() as mode:
        y = (x @ x).sum()
        y.backward()
    assert mode.seen[:2] == ["aten::mm", "aten::sum"]
    assert mode.seen[-1] == "hotaru::mm.default.vjp"
    assert x.grad.tolist() == [[4, 4], [4, 4]]


def test_a_mode_may_answer_otherwise():
    class Doubled(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is torch.ops.aten.exp.default else result

    with Doubled():
        assert torch.exp(torch.zeros(1)).item() == 2


def test_results_without_gradients():
    x = Wrapper(_values(), requires_grad=True)
    assert not x.detach().requires_grad
    assert not (x > 0).requires_grad
    assert not torch.ones_like(x).requires_grad
    assert torch.zeros_like(x, requires_grad=True).requires_grad
    with torch.no_grad():
        assert not (x * 2).requires_grad
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(1)


def test_numbers_and_texts():
    x = Wrapper(torch.tensor(2.5))
    assert x.item() == 2.5
    assert float(x) == 2.5
    assert bool(x)
    assert repr(x) == "Wrapper(tensor(2.5000))"
    assert "aten::_local_scalar_dense" in Wrapper.seen
    leaf = Wrapper(torch.ones(1, dtype=torch.float64), requires_grad=True)
    assert repr(leaf) == (
        "Wrapper(tensor([1.], dtype=torch.float64), dtype=torch.float64, "
        "requires_grad=True)"
    )
    with pytest.raises(RuntimeError, match=r"\.tolist\(\) is not supported"):
        x.tolist()
    with pytest.raises(NotImplementedError, match="without memory"):
        x.data_ptr()


def test_copies_and_pickles():
    x = Wrapper(_values(), requires_grad=True)
    twin = copy.deepcopy(x)
    assert type(twin) is Wrapper
    assert twin.requires_grad
    assert twin.is_leaf
    assert torch.equal(twin.elem, x.elem)
    assert twin.elem.data_ptr() != x.elem.data_ptr()
    parameter = nn.Parameter(Wrapper(_values()))
    assert isinstance(parameter, nn.Parameter)
    assert type(parameter) is Wrapper
    file = io.BytesIO()
    torch.save({"x": x}, file)
    file.seek(0)
    with torch.serialization.safe_globals([Wrapper]):
        loaded = torch.load(file)["x"]
    assert type(loaded) is Wrapper
    assert torch.equal(loaded.elem, x.elem)


def test_classes_that_do_not_answer():
    class Silent(torch.Tensor):
        pass

    with pytest.raises(TypeError, match="must define __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(Silent, (2,))

    class Deaf(Wrapper):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="returned NotImplemented"):
        torch.add(Deaf(torch.ones(1)), 1)


def test_dropout_is_a_mask_and_a_product():
    x = Wrapper(torch.ones(100), requires_grad=True)
    kept = nn.functional.dropout(x, 0.5)
    assert set(kept.elem.tolist()) == {0.0, 2.0}
    kept.sum().backward()
    assert x.grad.elem.tolist() == kept.elem.tolist()
    with pytest.raises(NotImplementedError, match="random numbers"):
        nn.functional.rrelu(x, training=True)


def test_a_class_may_be_asked_for_its_sizes():
    class Grown(Wrapper):
        @staticmethod
        def __new__(cls, elem, requires_grad=False):
            made = torch.Tensor._make_wrapper_subclass(
                cls, (1,), dispatch_sizes_strides_policy="sizes"
            )
            made.elem = elem
            return made

    x = Grown(torch.ones(2, 5))
    assert x.shape == (2, 5)
    assert x.size(1) == 5
    assert x.dim() == 2
    assert x.numel() == 10


def test_other_threads_do_not_see_a_mode():
    import threading

    seen = []
    with Recorder() as mode:
        thread = threading.Thread(target=lambda: seen.append(torch.ones(2) + 1))
        thread.start()
        thread.join()
    assert mode.seen == []
    assert seen[0].tolist() == [2, 2]


def test_what_a_derivative_depends_on_is_nobodys_business():
    """Found on the meta device, which a mode must not see."""
    x = torch.rand(3, requires_grad=True)
    with Recorder() as mode:
        (first,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
        torch.autograd.grad(first.sum(), x)
    assert len(mode.seen) < 20
    assert not [name for name in mode.seen if "empty_strided" in name]


def test_derivatives_have_names_and_no_history_of_their_own():
    import pickle

    vjp = torch.ops.hotaru.mul.Tensor.vjp
    assert str(vjp.vjp) == "hotaru.mul.Tensor.vjp.vjp"
    assert pickle.loads(pickle.dumps(vjp)) == vjp
    x = torch.tensor([2.0])
    found = vjp([torch.ones(1)], [0], (x, x * 3), {})
    assert found[0].item() == 6
    assert not found[0].requires_grad


def test_tensors_made_of_numbers_are_shown_to_modes():
    with Recorder() as mode:
        x = torch.tensor([1.0, 2.0])
        assert x.tolist() == [1, 2]
        assert x[[0, 1]].tolist() == [1, 2]
        torch.empty(2)
    assert mode.seen[0] == "aten::lift_fresh"
    assert mode.seen.count("aten::lift_fresh") == 2
    with Recorder() as outer, Recorder() as inner:
        torch.tensor(1.0).item()
    assert inner.seen == outer.seen
    assert inner.seen[-1] == "aten::_local_scalar_dense"


def test_sizes_may_be_tensors():
    calls = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append((func.name(), args[1:]))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Mode():
        x.new_full([2, torch.tensor(3)], 1.0)
        torch.ones(2)
    assert ("aten::new_full", ([2, 3], 1.0)) in calls


def test_the_answer_may_be_recorded_and_left_to_nobody():
    seen = []

    class Twice(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with torch.overrides.enable_reentrant_dispatch():
                seen.append(torch.ones(1, requires_grad=True).exp().grad_fn)
            with no_dispatch():
                return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Twice():
        found = x.sin()
    assert torch.equal(found, x.sin())
    assert len(seen) == 1
    assert all(type(node).__name__ == "ExpBackward0" for node in seen)
    with Twice(), torch.no_grad():
        x.sin()
    assert seen[-1] is None

    wrapped = Wrapper(_values())
    with no_dispatch(), pytest.raises(NotImplementedError):
        wrapped.sin()


def test_nodes_say_what_they_saved():
    x = Wrapper(_values(2, 3), requires_grad=True)
    view = x.view(3, 2)
    node = view.grad_fn
    assert node._saved_self is x
    assert node._saved_self_sym_sizes == [2, 3]
    assert list(node._saved_size) == [3, 2]
    total = x.sum(1, keepdim=True)
    node = total.grad_fn
    assert list(node._saved_dim) == [1]
    assert node._saved_keepdim is True
    with pytest.raises(AttributeError, match="_saved_other"):
        node._saved_other  # noqa: B018
    del total
    assert list(node._saved_dim) == [1]  # who has the node keeps it


def test_make_dual_asks_for_an_alias_of_the_primal():
    s = Wrapper(_values())
    Wrapper.seen.clear()
    with torch.autograd.forward_ad.dual_level():
        torch.autograd.forward_ad.make_dual(s, torch.ones_like(s))
    assert "aten::alias" in Wrapper.seen


def test_all_same_mode():
    first, second = Recorder(), Recorder()
    assert all_same_mode([first, first])
    assert not all_same_mode([first, second])
    assert not all_same_mode([first, None])


def test_results_are_written_where_the_caller_wants_them():
    x, out = torch.eye(3), torch.empty(0)
    with Recorder() as mode:
        assert torch.mm(x, x, out=out) is out
        assert torch.ops.aten.add.out(x, x, out=out) is out
        torch.mm(x, x, out=None)
    names = ["aten::mm.out", "aten::add.out", "aten::mm"]
    assert mode.seen == names
    assert torch.equal(out, x + x)
    pair = (torch.empty(0), torch.empty(1, 3, dtype=torch.int64))
    with Recorder() as mode:
        found = torch.max(x, 1, keepdim=True, out=pair)
    assert found.values is pair[0]
    assert found.indices is pair[1]
    assert mode.seen == ["aten::max.dim_max"]
    assert [part.tolist() for part in pair] == [[[1]] * 3, [[0], [1], [2]]]
    wrapped = Wrapper(torch.empty(3, 3))
    assert torch.mm(Wrapper(x), Wrapper(x), out=wrapped) is wrapped
    assert torch.equal(wrapped.elem, x)
    with Recorder(), pytest.raises(RuntimeError, match=r"mm\(\).*don't support auto"):
        torch.mm(x.requires_grad_(), x, out=out)


MASK = torch.tensor([[True, False, True]] * 2)
INDICES = {
    "true": True,
    "false": False,
    "flags": (True, 0, False),
    "a true tensor": torch.tensor(True),
    "a false tensor": (torch.tensor(False), 1),
    "a number's tensor": torch.tensor(1),
    "bounds in tensors": slice(torch.tensor(0), torch.tensor(1)),
    "a mask before indices": (MASK, [0, -1, 1, 0]),
    "a mask behind": (..., torch.tensor([True, False, False, True])),
    "a list of a list": [[0, 1], [1, 2]],
    "a range": (slice(None), range(2)),
    "new dimensions": (None, [1], None, torch.tensor([2])),
    "an ellipsis": (1, ..., torch.tensor([0, -1])),
    "nothing": [],
}


@pytest.mark.parametrize("name", INDICES)
def test_indices_are_those_of_plain_tensors(name):
    index, plain = INDICES[name], torch.arange(24.0).view(2, 3, 4)
    values = [5.0, torch.tensor(6.0), torch.ones(1, 1, 1, 1, 1)]
    if isinstance(index, bool):
        values.append(torch.tensor([7], dtype=torch.int64))
    with Recorder() as mode:
        got = plain[index]
    assert mode.seen
    assert torch.equal(got, plain[index])
    for value in values[: 4 if index is not False else 3]:
        written, expected = plain.clone(), plain.clone()
        if not isinstance(index, bool):
            expected[index] = value
        elif index:
            expected.copy_(torch.as_tensor(value).reshape(()))
        with Recorder():
            written[index] = value
        assert torch.equal(written, expected)


@pytest.mark.parametrize("index", ["a", 1.5, {}, slice(None, None, -1)])
def test_what_is_no_index_is_refused(index):
    x = torch.arange(3.0)
    with pytest.raises((IndexError, ValueError, TypeError)) as plain:
        x[index]
    with Recorder(), pytest.raises(plain.type):
        x[index]


def test_methods_whose_tensor_is_not_the_operators_first():
    x, other = torch.tensor([True, False]), torch.tensor([False, False])
    some, ones = torch.tensor([False, True]), torch.ones(2)
    with Recorder() as mode:
        kept = x.where(some, other)
        named = x.where(condition=some, other=other)
        chosen = torch.where(x, some, other)
        slopes = ones.polygamma(1)
    assert kept.tolist() == named.tolist() == [False, False]
    assert chosen.tolist() == [False, False]
    assert mode.seen == ["aten::where.self"] * 3 + ["aten::polygamma"]
    assert torch.equal(slopes, torch.polygamma(1, ones))


OVERWRITING = {
    "copy_": lambda y, o: y.copy_(o[:1]),
    "copy_ of another dtype": lambda y, o: y.copy_(o.double()),
    "zero_": lambda y, o: y.zero_(),
    "normal_": lambda y, o: y.normal_(),
    "pow_": lambda y, o: y.pow_(o),
    "pow_ of a number": lambda y, o: y.pow_(3),
    "ldexp_": lambda y, o: y.ldexp_(torch.tensor(2)),
    "fill_": lambda y, o: y.fill_(o.sum()),
}


@pytest.mark.parametrize("name", OVERWRITING)
def test_what_writes_in_place_has_its_derivative(name):
    gradients = []
    for mode in (contextlib.nullcontext(), Recorder()):
        x = torch.tensor([1.5, 2.0, 3.0], requires_grad=True)
        o = torch.tensor([1.0, 2.0, 0.5], requires_grad=True)
        with mode:
            y = x * 2
            OVERWRITING[name](y, o)
            (y * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
        gradients.append([t.grad for t in (x, o) if t.grad is not None])
    expected, got = gradients
    assert len(got) == len(expected)
    for one, other in zip(got, expected):
        torch.testing.assert_close(one, other)
