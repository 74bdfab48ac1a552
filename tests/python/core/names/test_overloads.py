"""torch.ops.aten: packets of operators and their overloads."""

import copy
import pickle

import pytest
from hotaru.utils._python_dispatch import TorchDispatchMode

import hotaru as torch

aten = torch.ops.aten


def test_packets_and_overloads_have_pytorchs_names():
    assert str(aten.add) == "aten.add"
    assert str(aten.add.Tensor) == "aten.add.Tensor"
    assert repr(aten.add) == "<OpOverloadPacket(op='aten.add')>"
    assert repr(aten.add.Tensor) == "<OpOverload(op='aten.add', overload='Tensor')>"
    assert aten.add.Tensor.name() == "aten::add.Tensor"
    assert aten.relu.default.name() == "aten::relu"
    assert aten.add.Tensor.__name__ == "add.Tensor"
    assert aten.add.overloads()[:2] == ["Tensor", "Scalar"]
    assert isinstance(aten.add.Tensor, torch._ops.OpOverload)
    assert isinstance(aten.add, torch._ops.OpOverloadPacket)


def test_they_are_the_same_each_time_and_in_copies():
    assert aten.add is torch.ops.aten.add
    for op in (aten.add, aten.add.Tensor):
        assert copy.deepcopy(op) is op
        assert pickle.loads(pickle.dumps(op)) is op


def test_they_call_the_operator():
    x = torch.tensor([1.0, 2.0])
    assert aten.add.Tensor(x, x, alpha=2).tolist() == [3.0, 6.0]
    assert aten.add.Tensor(x, 1).tolist() == [2.0, 3.0]
    assert aten.add.Scalar(x, 1).tolist() == [2.0, 3.0]
    assert aten.cat([x, x]).tolist() == [1.0, 2.0, 1.0, 2.0]


def test_what_does_not_fit_is_refused():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="value for argument 'other'"):
        aten.add.Tensor(x)
    with pytest.raises(
        RuntimeError, match="Expected a value of type 'number' for argument 'other'"
    ):
        aten.add.Scalar(x, x)
    with pytest.raises(
        AttributeError, match=r"op of 'aten\.add' has no overload name 'foo'"
    ):
        aten.add.foo  # noqa: B018
    with pytest.raises(
        AttributeError, match="'_OpNamespace' 'aten' object has no attribute 'nonesuch'"
    ):
        aten.nonesuch  # noqa: B018


def test_the_protocol_sees_them():
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func

    assert aten.add.Tensor(Duck(), 1) is aten.add.Tensor
    assert aten.cat([Duck()]) is aten.cat


def test_scripts_may_call_them():
    @torch.jit.script
    def program(x):
        return torch.ops.aten.relu(x)

    assert program(torch.tensor([-1.0, 1.0])).tolist() == [0.0, 1.0]


QUESTIONS = (
    "is_complex",
    "is_conj",
    "is_contiguous",
    "is_distributed",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_signed",
    "element_size",
    "get_device",
    "numel",
    "dense_dim",
    "sparse_dim",
    "storage_offset",
    "dim",
)


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_are_operators(name):
    for x in (torch.ones(3, 4)[1:].t(), torch.ones(2, dtype=torch.cfloat)):
        wanted = getattr(x, name)()
        packet = getattr(aten, name)
        assert packet(x) == wanted
        assert packet.default(self=x) == wanted
        assert packet.overloads() == ["default"]
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor'"):
        packet(3)


def test_questions_about_sizes_histories_and_kinds():
    x = torch.ones(3, 4).t()
    assert aten.size(x) == aten.sym_size(x) == [4, 3]
    assert aten.size.int(x, -1) == 3
    assert aten.stride(x) == aten.sym_stride(x) == [1, 4]
    assert aten.stride.int(x, 1) == 4
    assert aten.sym_numel(x) == 12
    assert aten.sym_storage_offset(x[1:]) == 1
    assert aten.is_same_size(x, torch.ones(4, 3))
    assert not aten.is_same_size(x, x.t())
    assert aten.is_set_to(x, x.view_as(x))
    assert not aten.is_set_to(x, x.clone())
    y = x.clone().requires_grad_()
    z = y * 2
    z.retain_grad()
    assert [aten.is_leaf(t) for t in (y, z)] == [True, False]
    assert [aten.retains_grad(t) for t in (y, z)] == [False, True]
    assert aten._version(x.add_(1)) == x._version == 1
    assert aten.is_coalesced(torch.eye(2).to_sparse())


@pytest.mark.parametrize("value", [3, 2.5, True, 1j])
def test_a_number_is_taken_out_by_an_operator(value):
    x = torch.tensor([[value]])
    for operator in (aten._local_scalar_dense, aten.item):
        for form in (operator, operator.default):
            assert form(x) == value
            assert type(form(x)) is type(value)
    assert aten.is_nonzero(x)
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        aten._local_scalar_dense(torch.ones(2))
    for arguments in ((), (x, x)):
        with pytest.raises(RuntimeError, match="self"):
            aten._local_scalar_dense(*arguments)
        with pytest.raises(RuntimeError, match=r"self|at most 1"):
            aten.item(*arguments)


def test_modes_are_asked_for_the_operator_that_is_there():
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = torch.ones(1)
    with Mode():
        x.item(), aten.item(x), aten._local_scalar_dense(x), aten.numel(x)
    assert seen == [aten._local_scalar_dense.default] * 3
    for func in (aten._local_scalar_dense, aten.lift_fresh):
        assert copy.deepcopy(func) is func
        assert pickle.loads(pickle.dumps(func)) is func
    assert aten.lift_fresh(x) is x


def test_every_parameter_may_be_given_by_its_name():
    x = torch.tensor([1.0, -2.0])
    assert aten.add.Tensor(self=x, other=x, alpha=2).tolist() == [3, -6]
    for relu in (aten.relu, aten.relu.default):
        assert relu(self=x).tolist() == [1, 0]

    @torch.library.custom_op("overloads::scaled", mutates_args=())
    def scaled(self: torch.Tensor, name: float) -> torch.Tensor:
        return self * name

    packet = torch.ops.overloads.scaled
    for form in (scaled, packet, packet.default):
        assert form(self=x, name=2.0).tolist() == [2, -4]
    run = torch.compile(lambda self, x: self * x)
    for _ in range(2):
        assert run(self=x, x=x).tolist() == [1, 4]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda a: torch.ops.aten.relu(1, 2), "expected at most 1 argument"),
        (lambda a: torch.ops.aten.relu(), "missing value for argument 'self'"),
        (lambda a: torch.ops.aten.relu(1), "instead found type 'int'"),
        (lambda a: torch.ops.aten.relu(a, foo=1), "argument 'foo'"),
        (lambda a: torch.ops.aten.type_as(a), "missing value for argument 'other'"),
        (lambda a: torch.ops.aten.add(a, a, 2), "takes 2 positional argument"),
        (lambda a: torch.ops.aten.add("a", 1), "failed to match any schema"),
        (lambda a: torch.ops.aten.relu.default(1, 2), "expected at most 1 argument"),
        (lambda a: torch.ops.aten.add.Tensor(a, a, 2), "takes 2 positional argument"),
    ],
)
def test_arguments_that_fit_no_schema(call, text):
    """A RuntimeError that says it as PyTorch does, with the schema."""
    with pytest.raises(RuntimeError, match=text):
        call(torch.ones(2))
