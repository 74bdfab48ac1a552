"""The protocol __torch_function__: who is asked, in which order, with what."""

import copy
import pickle
from typing import ClassVar

import hotaru.nn.functional as F
import pytest
from hotaru.overrides import TorchFunctionMode

import hotaru as torch
from hotaru import overrides


class Logged(torch.Tensor):
    log: ClassVar[list] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append(overrides.resolve_name(func))
        return super().__torch_function__(func, types, args, kwargs)


class Plain(torch.Tensor):
    pass


class Duck:
    """No tensor; answers with the function's name and its arguments."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, args, kwargs


def seen(call):
    Logged.log.clear()
    call(torch.ones(2, 2).as_subclass(Logged))
    return Logged.log[0]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: torch.sin(x), "torch.sin"),
        (lambda x: x.sin(), "torch.Tensor.sin"),
        (lambda x: torch.cat([x, x]), "torch.cat"),
        (lambda x: x.shape, "torch.Tensor.shape.__get__"),
        (lambda x: x.size(0), "torch.Tensor.size"),
        (lambda x: x.dim(), "torch.Tensor.dim"),
        (lambda x: len(x), "torch.Tensor.__len__"),
        (lambda x: x[0], "torch.Tensor.__getitem__"),
        (lambda x: x + 1, "torch.Tensor.add"),
        (lambda x: 1 - x, "torch.Tensor.__rsub__"),
        (lambda x: torch.ones(2, 2) @ x, "torch.Tensor.matmul"),
        (lambda x: -x, "torch.Tensor.neg"),
        (lambda x: x < 2, "torch.Tensor.lt"),
        (lambda x: x**2, "torch.Tensor.__pow__"),
        (lambda x: bool(x.sum() > 0), "torch.Tensor.sum"),
        (lambda x: F.dropout(x), "torch.nn.functional.dropout"),
        (lambda x: torch.einsum("ij->i", x), "torch.functional.einsum"),
        (lambda x: x.requires_grad_(), "torch.Tensor.requires_grad_"),
        (lambda x: torch.linalg.svd(x), "torch.linalg.svd"),
    ],
)
def test_what_subclasses_see(call, name):
    assert seen(call) == name


def test_a_write_is_seen():
    x = torch.ones(2).as_subclass(Logged)
    Logged.log.clear()
    x[0] = 5
    assert Logged.log == ["torch.Tensor.__setitem__"]
    assert x.tolist() == [5, 1]


def test_results_are_of_the_subclass():
    x = torch.ones(2, requires_grad=True).as_subclass(Plain)
    y = (x * 2).sum()
    assert type(y) is Plain
    assert type(x.max(0)[0]) is Plain
    assert type(torch.stack([x, x])) is Plain
    assert type(x.shape) is torch.Size
    assert [type(part) for part in x.split(1)] == [Plain, Plain]
    y.backward()
    assert type(torch.ones(2) + 1) is torch.Tensor
    assert type(torch.nn.Parameter(torch.ones(2)) + 1) is torch.Tensor


def test_history_passes_through_as_subclass():
    x = torch.ones(2, requires_grad=True)
    (x.as_subclass(Plain) * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert type(x.grad) is torch.Tensor
    with pytest.raises(TypeError, match=r"must be a subclass of torch\.Tensor"):
        x.as_subclass(int)


def test_objects_that_are_no_tensors():
    duck = Duck()
    assert torch.add(duck, 2) == ("add", (duck, 2), None)
    assert torch.sum(duck, dim=0) == ("sum", (duck,), {"dim": 0})
    told = {"p": 0.5, "training": True, "inplace": False}
    assert F.dropout(duck, p=0.5) == ("dropout", (duck,), told)
    one = torch.ones(1)
    assert (one + duck)[0] == "add"
    assert torch.cat([one, duck])[0] == "cat"


def test_subclasses_are_asked_before_their_bases():
    class Base:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return cls.__name__

    class Derived(Base):
        pass

    class Shy(Base):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    assert torch.add(Base(), Derived()) == "Derived"
    assert torch.add(Base(), Shy()) == "Base"
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch\.a"):
        torch.add(Shy(), 1)
    with pytest.raises(TypeError, match=r"no implementation found for 'torch\.nn"):
        F.dropout(Shy())
    with pytest.raises(TypeError, match="unsupported operand type"):
        torch.ones(2) + Shy()


def test_an_answer_may_be_an_error():
    class Bad:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        torch.sin(Bad())


class Noting(TorchFunctionMode):
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append((self.name, func.__name__))
        return func(*args, **(kwargs or {}))


def test_modes_see_every_call_the_inner_one_first():
    log = []
    with Noting(log, "outer"), Noting(log, "inner"):
        torch.ones(2)
        assert overrides._get_current_function_mode().name == "inner"
    assert log == [("inner", "ones"), ("outer", "ones")]
    torch.ones(2)
    assert len(log) == 2
    assert overrides._get_current_function_mode() is None


def test_a_mode_ends_with_an_error():
    with pytest.raises(ZeroDivisionError), Noting([], ""):
        1 / 0  # noqa: B018
    assert not overrides._get_current_function_mode_stack()


def test_switches():
    x = torch.ones(2).as_subclass(Plain)
    log = []
    with Noting(log, ""), torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor
    assert log
    with Noting(log, ""), torch._C.DisableTorchFunction():
        count = len(log)
        assert type(x + 1) is torch.Tensor
        assert len(log) == count
    assert type(x + 1) is Plain


def test_functions_of_users():
    @overrides.wrap_torch_function(lambda a, b: (a, b))
    def mine(a, b):
        return 7

    duck = Duck()
    assert mine(1, 2) == 7
    assert mine(1, duck) == ("mine", (1, duck), {})
    assert overrides.has_torch_function((1, duck))
    assert not overrides.has_torch_function((1, torch.ones(2)))
    assert overrides.is_tensor_like(duck)
    assert not overrides.is_tensor_like(1)


def test_python_functions_stay_functions_to_others():
    import inspect

    assert F.dropout.__name__ == "dropout"
    assert "p" in F.dropout.__doc__
    assert next(iter(inspect.signature(F.dropout).parameters)) == "input"
    assert pickle.loads(pickle.dumps(F.dropout)) is F.dropout
    assert copy.deepcopy(torch.einsum) is torch.einsum
    scripted = torch.jit.script(F.softmax)
    assert torch.allclose(scripted(torch.ones(2), 0), torch.full((2,), 0.5))


def test_every_overridable_function_has_a_stand_in():
    stand_ins = overrides.get_testing_overrides()
    for functions in overrides.get_overridable_functions().values():
        for function in functions:
            assert stand_ins[function]() == -1
    assert overrides.resolve_name(torch.add) == "torch.add"
    assert overrides.resolve_name(len) is None
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
    assert not overrides.is_tensor_method_or_property(torch.add)


def test_pickles_keep_attributes():
    x = torch.ones(2, dtype=torch.int64).as_subclass(Attributed)
    x.label = "seven"
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        twin = pickle.loads(pickle.dumps(x, protocol))
        assert type(twin) is Attributed
        assert twin.label == "seven"
        assert twin.tolist() == [1, 1]
    plain = torch.zeros(2)
    plain.label = [1]
    assert pickle.loads(pickle.dumps(plain)).label == [1]
    assert not vars(pickle.loads(pickle.dumps(torch.zeros(2))))
    meta = torch.zeros(2, device="meta")
    meta.label = 3
    assert pickle.loads(pickle.dumps(meta)).label == 3


def test_the_protocol_is_on_as_long_as_the_guard_lives():
    x = torch.ones(2).as_subclass(Attributed)
    with torch._C.DisableTorchFunctionSubclass():
        guard = torch._C._EnableTorchFunction()
        assert type(x + 1) is Attributed
        del guard
        assert type(x + 1) is torch.Tensor
    with torch._C.DisableTorchFunction():
        guard = torch._C._EnableTorchFunction()
        assert type(x + 1) is Attributed
        del guard
        assert type(x + 1) is torch.Tensor
    assert type(x + 1) is Attributed


class Attributed(torch.Tensor):
    pass


class Like:
    """Answers as a tensor without being one."""

    def __init__(self, elem):
        self.elem = elem

    shape = property(lambda self: self.elem.shape)
    dtype = property(lambda self: self.elem.dtype)
    device = property(lambda self: self.elem.device)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        def bare(x):
            return x.elem if isinstance(x, cls) else x

        found = func(*map(bare, args), **(kwargs or {}))
        return tuple(map(cls, found))


def test_distributions_take_what_answers_as_a_tensor():
    from hotaru.distributions.utils import broadcast_all

    found = broadcast_all(Like(torch.ones(3)), 2.0)
    assert [type(f) for f in found] == [Like, Like]
    assert found[1].elem.tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="instances of Number"):
        broadcast_all("text")


def test_switches_of_the_protocol_are_public():
    class Doubled(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            with torch.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {})) * 2

    x = torch.ones(2).as_subclass(Doubled)
    assert torch.neg(x).tolist() == [-2, -2]
    with torch.DisableTorchFunction():
        assert torch.neg(x).tolist() == [-1, -1]


class Own(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


PROTOCOLS = {
    "iteration": lambda x: list(x),
    "unpacking": lambda x: (lambda a, b: [a, b])(*x),
    "zip": lambda x: [a for a, _ in zip(x, x)],
    "max": lambda x: [max(x)],
    "sorted": lambda x: sorted(x),
    "enumerate": lambda x: [row for _, row in enumerate(x)],
    "reversed": lambda x: list(reversed(x)),
    "reversed itself": lambda x: [reversed(x)],
    "sum": lambda x: [sum(x)],
    "copy": lambda x: [copy.copy(x)],
    "deepcopy": lambda x: [copy.deepcopy(x)],
    "pickle": lambda x: [pickle.loads(pickle.dumps(x))],
    "getitem": lambda x: [x[0], x[:1], x[torch.tensor([0])], x[None]],
    "abs": lambda x: [abs(x), -x, +x, x + 1, 1 - x, x @ x],
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_protocols_keep_the_class(protocol):
    x = torch.tensor([1.0, 2.0]).as_subclass(Own)
    found = PROTOCOLS[protocol](x)
    assert found
    assert {type(made) for made in found} == {Own}
    plain = PROTOCOLS[protocol](torch.tensor([1.0, 2.0]))
    assert [a.tolist() for a in found] == [b.tolist() for b in plain]


@pytest.mark.parametrize("cls", [torch.Tensor, Own])
def test_reversed_is_flipped(cls):
    x = torch.arange(6).reshape(2, 3).as_subclass(cls)
    assert reversed(x).tolist() == [[3, 4, 5], [0, 1, 2]]
    assert reversed(torch.tensor(3)).item() == 3
    assert len(x) == 2
    assert 4 in x
    assert 7 not in x
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(torch.tensor(1.0).as_subclass(cls))
