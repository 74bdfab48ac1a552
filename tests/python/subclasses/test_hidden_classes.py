"""Tensors of layouts and dtypes that a class of the library answers for: their
type is Tensor, as PyTorch's is, whoever looks.
"""

import copy
import io
import pickle

import pytest
from hotaru.overrides import TorchFunctionMode, has_torch_function

import hotaru as torch
from hotaru import _C


def _quantized():
    return torch.quantize_per_tensor(torch.ones(2, 2), 0.1, 0, torch.quint8)


MAKERS = {
    "coo": lambda: torch.eye(2).to_sparse(),
    "csr": lambda: torch.eye(2).to_sparse_csr(),
    "csc": lambda: torch.eye(2).to_sparse_csc(),
    "bsr": lambda: torch.eye(2).to_sparse_bsr((1, 1)),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "quantized": _quantized,
}


class Named(torch.Tensor):
    """A user's class, which notes what it is told of the arguments."""

    seen: list

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(types)
        return super().__torch_function__(func, types, args, kwargs or {})


def _saved(x):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(
    "way",
    [
        lambda x: x,
        lambda x: x.detach(),
        lambda x: x.clone(),
        lambda x: x.data,
        copy.copy,
        copy.deepcopy,
        lambda x: pickle.loads(pickle.dumps(x)),
        _saved,
    ],
    ids=["made", "detach", "clone", "data", "copy", "deepcopy", "pickle", "save"],
)
def test_the_type_is_tensor(kind, way):
    x = MAKERS[kind]()
    try:
        found = way(x)
    except NotImplementedError:
        assert kind == "nested"  # has no `data`, as in PyTorch
        return
    assert type(found) is torch.Tensor
    assert found.layout is x.layout
    assert (found.is_nested, found.is_quantized) == (x.is_nested, x.is_quantized)


@pytest.mark.parametrize("kind", MAKERS)
def test_programs_see_no_protocol(kind):
    x = MAKERS[kind]()
    assert not has_torch_function((x,))
    assert not torch.overrides.has_torch_function_unary(x)
    assert not torch.overrides.has_torch_function_variadic(1, x)
    for off in (torch._C.DisableTorchFunctionSubclass, torch._C.DisableTorchFunction):
        with off():
            assert x.layout is MAKERS[kind]().layout
            assert type(x.clone()) is torch.Tensor


@pytest.mark.parametrize("kind", MAKERS)
def test_modes_are_told_of_no_class(kind):
    told = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            told.append(types)
            return func(*args, **(kwargs or {}))

    x = MAKERS[kind]()
    with Mode():
        x.clone()
    assert told
    assert not any(issubclass(t, _C.Tensor) and t is not _C.Tensor for t in told[0])


@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_classes_of_users_stand_beside_them(kind):
    Named.seen = []
    dense = torch.arange(4.0).view(2, 2)
    found = MAKERS[kind]() @ dense.as_subclass(Named)
    assert Named.seen == [(Named,)]
    assert type(found) is Named
    assert torch.equal(found.as_subclass(torch.Tensor), dense)


def test_attributes_and_weak_references_are_those_of_any_tensor():
    import weakref

    x = MAKERS["coo"]()
    x.note = [1]
    assert x.note == [1]
    assert weakref.ref(x)() is x
    assert {x: 1}[x] == 1


def test_gradients_are_tensors():
    weight = torch.ones(3, 2, requires_grad=True)
    torch.nn.functional.embedding(
        torch.tensor([1]), weight, sparse=True
    ).sum().backward()
    assert type(weight.grad) is torch.Tensor
    assert weight.grad.layout is torch.sparse_coo


@pytest.mark.parametrize("kind", ["coo", "quantized"])
def test_swapped_objects_are_answered_for_by_the_others_class(kind):
    one, other = MAKERS[kind](), MAKERS[kind]()
    want = other.to_dense() if kind == "coo" else other.dequantize()
    torch.utils.swap_tensors(one, other)
    assert type(one) is type(other) is torch.Tensor
    found = one.to_dense() if kind == "coo" else one.dequantize()
    assert torch.equal(found, want)


def test_compiled_calls_tell_them_from_dense_tensors():
    calls = torch.compile(lambda x: x * 2)
    for kind in ("coo", "quantized", "nested"):
        dense = torch.eye(2)
        assert torch.equal(calls(dense), dense * 2)
        x = MAKERS[kind]()
        try:
            want = x * 2
        except NotImplementedError:
            with pytest.raises(NotImplementedError):
                calls(x)
            continue
        found = calls(x)
        assert found.layout is want.layout
        assert found.is_nested is want.is_nested
        assert torch.equal(calls(dense + 1), (dense + 1) * 2)


def test_profiles_and_traces_see_calls_that_hidden_classes_answer():
    from hotaru.utils._operator_log import OperatorLog

    x = torch.eye(2).to_sparse()
    with torch.profiler.profile() as profile:
        assert x.coalesce().values().tolist() == [1.0, 1.0]
    assert profile.events() is not None
    with OperatorLog().contexts()[0]:
        assert x.coalesce().values().tolist() == [1.0, 1.0]


def test_workers_send_them(tmp_path):
    kinds = list(MAKERS)
    made = [MAKERS[kind]() for kind in kinds]
    loader = torch.utils.data.DataLoader(made, batch_size=None, num_workers=1)
    for kind, found in zip(kinds, loader, strict=True):
        assert type(found) is torch.Tensor, kind
        assert repr(found) == repr(MAKERS[kind]()), kind
