"""Names of PyTorch's inner modules that libraries import, and what they do.

imported_names.txt has names that thirty libraries read: "module:name" of an
import, others as attributes. Values and errors are PyTorch 2.13's.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import hotaru._subclasses.functional_tensor as functional
import hotaru.nested._internal.nested_tensor as jagged
import hotaru.nn.utils._named_member_accessor as members
import hotaru.utils._contextlib as contexts
import pytest
from hotaru._subclasses.meta_utils import MetaConverter
from hotaru.fx import _pytree as specs
from hotaru.nested._internal.ops import extract_kwargs
from hotaru.utils import _pytree as pytree
from hotaru.utils._python_dispatch import TorchDispatchMode

import hotaru as torch
from hotaru import nn

NAMES = Path(__file__).with_name("imported_names.txt").read_text().split()


def _resolve(name: str):
    path, _, inside = name.partition(":")
    try:  # a module that its package hides behind a function of its name
        module = importlib.import_module(torch.__name__ + path.removeprefix("torch"))
        return getattr(module, inside) if inside else module
    except (ImportError, AttributeError):
        found = torch
    for part in name.replace(":", ".").split(".")[1:]:
        if not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


def test_names_are_there():
    missing = []
    for name in NAMES:
        try:
            _resolve(name)
        except (AttributeError, ImportError) as error:
            missing.append(f"{name}: {error}")
    assert not missing


class _Counted(contexts._DecoratorContextManager):
    entered = 0

    def __enter__(self):
        type(self).entered += 1

    def __exit__(self, *failure):
        type(self).entered -= 1


def test_contexts_decorate_functions_and_generators():
    @_Counted()
    def plain():
        return _Counted.entered

    @_Counted()
    def steps():
        yield _Counted.entered

    assert (plain(), list(steps()), _Counted.entered) == (1, [1], 0)
    context = _Counted()
    assert contexts.context_decorator(lambda: context, plain)() == 2
    with pytest.raises(RuntimeError, match="Cannot decorate classes"):
        contexts.context_decorator(lambda: context, int)
    with pytest.raises(RuntimeError, match="both callable and also"):
        contexts.context_decorator(_Counted(), plain)

    class Plain(contexts._NoParamDecoratorContextManager, _Counted):
        pass

    assert Plain(lambda: Plain.entered)() == 1
    assert isinstance(Plain(), Plain)


def test_members_are_swapped():
    layer = nn.Linear(2, 2)
    before, other = layer.weight, nn.Parameter(torch.ones(2, 2))
    assert members.swap_tensor(layer, "weight", other) is before
    assert layer.weight is other
    members.set_tensor(layer, "extra", torch.ones(1))
    assert layer.extra.item() == 1
    outer = nn.Sequential(layer)
    assert members.swap_submodule(outer, "0", nn.ReLU()) is layer
    for wrong, error in (
        (lambda: members.swap_tensor(outer, "0.weight", other), KeyError),
        (lambda: members.swap_tensor(outer, "", other), KeyError),
        (lambda: members.swap_tensor(1, "x", other), TypeError),
        (lambda: members.swap_tensor(outer, "gone", other), AttributeError),
        (lambda: members.swap_submodule(outer, "1", layer), AttributeError),
        (lambda: members.swap_submodule(outer, "0", 1), TypeError),
    ):
        with pytest.raises(error):
            wrong()


def test_buffers_are_seen_as_nested_tensors():
    sizes = torch.tensor([[2, 3], [4, 5]])
    made = torch._nested_compute_contiguous_strides_offsets(sizes)
    strides, offsets = made
    assert strides.tolist() == [[3, 1], [5, 1]]
    assert offsets.tolist() == [0, 6]
    buffer = torch.arange(26.0, requires_grad=True)
    view = torch._nested_view_from_buffer(buffer, sizes, strides, offsets)
    first, second = view.unbind()
    assert torch.equal(first, buffer[:6].view(2, 3))
    assert torch.equal(second, buffer[6:].view(4, 5))
    (first.sum() * 2 + second.sum()).backward()
    assert buffer.grad.tolist() == [2.0] * 6 + [1.0] * 20
    for wrong in (buffer[:25], buffer.view(2, 13)):
        with pytest.raises(RuntimeError):
            torch._nested_view_from_buffer(wrong, sizes, strides, offsets)


def test_jagged_tensors_are_made_again_from_their_parts():
    x = torch.nested.nested_tensor(
        [torch.ones(2, 3), torch.zeros(1, 3)], layout=torch.jagged
    )
    again = jagged.NestedTensor(x.values() + 1, **extract_kwargs(x))
    assert again.shape == x.shape
    assert [t.tolist() for t in again.unbind()] == [[[2.0] * 3] * 2, [[1.0] * 3]]
    sizes = jagged._tensor_symint_registry
    copy = x.offsets().clone()
    assert copy not in sizes
    sizes[copy] = sizes[x.offsets()]
    same = jagged.nested_view_from_values_offsets(x.values(), copy)
    assert same.shape == x.shape
    del sizes[copy]
    assert copy not in sizes


def test_forms_of_containers():
    spec = pytree.tree_structure({"a": 1, "b": 2})
    assert specs._dict_flatten_spec({"b": 4, "a": 3, "c": 5}, spec) == [3, 4]
    assert not specs._dict_flatten_spec_exact_match({"a": 1}, spec)
    spec = pytree.tree_structure([1, 2])
    assert specs._list_flatten_spec([3, 4, 5], spec) == [3, 4]
    assert specs._tuple_flatten_spec_exact_match((1, 2), spec)


def test_meta_tensors_share_what_their_models_share():
    convert = MetaConverter()
    whole = torch.arange(24.0).reshape(4, 6)
    weight = nn.Parameter(torch.ones(3))
    view = convert(whole[1:, ::2])
    made = convert(whole)
    assert made.device.type == view.device.type == "meta"
    assert (view.shape, view.stride()) == ((3, 3), (6, 2))
    assert view.storage_offset() == 6
    same = made.untyped_storage()._cdata == view.untyped_storage()._cdata
    assert same
    assert convert(whole) is made
    assert type(convert(weight)) is nn.Parameter
    assert convert("text") == "text"
    assert convert(torch.ones(2, dtype=torch.int8)).dtype == torch.int8


def test_no_tensor_is_functional():
    x = torch.ones(1)
    assert not isinstance(x, functional.FunctionalTensor)
    assert functional.mb_unwrap_functional_tensor(x) is x
    with functional.disable_functional_mode():
        pass
    for make in (
        functional.FunctionalTensor,
        functional.FunctionalTensorMode,
        functional.FunctionalTensor.to_functional,
    ):
        with pytest.raises(NotImplementedError, match="make_fx"):
            make(*[x] * (make is not functional.FunctionalTensorMode))


class _Run(torch._ops.HigherOrderOperator):
    def __init__(self):
        super().__init__("run_of_test")

    def __call__(self, function, x):
        return super().__call__(function, x)


def test_operators_that_take_functions_have_kernels():
    op = _Run()
    keys = torch._C.DispatchKey
    assert torch.ops.higher_order.run_of_test is op
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(NotImplementedError, match="could not find kernel"):
        op(torch.sin, x)
    called = []

    @op.py_impl(keys.CompositeExplicitAutograd)
    def dense(function, x):
        called.append("dense")
        return function(x)

    @op.py_impl(keys.Autograd)
    def derived(function, x):
        called.append("autograd")
        return op(function, x)

    assert torch.equal(op(torch.sin, x), x.sin())
    assert called == ["autograd", "dense"]
    with pytest.raises(RuntimeError, match="already has a kernel"):
        op.py_impl(keys.Autograd)

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with pytest.raises(NotImplementedError, match="no rule"), Mode():
        op(torch.sin, x)

    @op.py_impl(Mode)
    def of_mode(mode, function, x):
        called.append(type(mode).__name__)
        return function(x)

    with Mode():
        op(torch.sin, x)
    assert called[2:] == ["Mode"]
    assert isinstance(torch.ops.higher_order.cond, torch._ops.HigherOrderOperator)
    with pytest.raises(TypeError, match="abstract"):
        torch._ops.HigherOrderOperator("x")


def test_small_names():
    assert torch._C._get_accelerator().type in ("cpu", "cuda")
    assert torch._utils._get_device_module("cpu") is torch.cpu
    with pytest.raises(RuntimeError, match="does not have a corresponding"):
        torch._utils._get_device_module("bogus")
    rpc = torch._C._distributed_rpc
    assert not isinstance(1, rpc.PyRRef)
    with pytest.raises(NotImplementedError, match="no transport"):
        rpc.PyRRef()
    with pytest.warns(UserWarning, match="nvfuser"):
        assert torch._C._jit_set_nvfuser_enabled(False) is None
    program = torch.export._trace._export(
        nn.ReLU(), (torch.ones(2),), pre_dispatch=True
    )
    assert program.module()(torch.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]


def test_small_names_of_the_extension_and_around_it():
    assert torch._C._get_default_device() == str(torch.get_default_device())
    assert torch._C._cuda_clearCublasWorkspaces() is None
    before = torch._C._get_math_sdp_allow_fp16_bf16_reduction()
    torch._C._set_math_sdp_allow_fp16_bf16_reduction(not before)
    try:
        cuda = torch.backends.cuda
        assert cuda.fp16_bf16_reduction_math_sdp_allowed() is not before
    finally:
        torch._C._set_math_sdp_allow_fp16_bf16_reduction(before)
    index = torch._utils._get_device_index
    assert [index(3), index("cuda:1"), index("cpu", allow_cpu=True)] == [3, 1, -1]
    assert isinstance(index(None, optional=True), int)
    for wrong in ("cpu", None, "cuda"):
        with pytest.raises(ValueError, match="Expected a"):
            index(wrong)
    assert torch._prims_common.is_contiguous_or_false(torch.ones(2, 3))
    assert not torch._prims_common.is_contiguous_or_false(torch.ones(2, 3).t())
    c10d = torch._C._distributed_c10d
    assert c10d.ReduceOp is torch.distributed.ReduceOp


def test_flags_may_be_set_within_a_block():
    allow = getattr(torch.backends, "__allow_nonbracketed_mutation")
    from hotaru.backends import _flags

    _flags._frozen = True
    try:
        with pytest.raises(RuntimeError, match="not allowed to set"):
            torch.backends.cudnn.benchmark = True
        with allow():
            torch.backends.cudnn.benchmark = False
        with pytest.raises(RuntimeError, match="not allowed to set"):
            torch.backends.fp32_precision = "ieee"
    finally:
        _flags._frozen = False


def test_kinds_of_data_sets():
    from hotaru.utils.data import dataloader

    kinds = dataloader._DatasetKind
    assert dataloader.DataLoader([1, 2])._dataset_kind == kinds.Map

    class Endless(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter([])

    assert dataloader.DataLoader(Endless())._dataset_kind == kinds.Iterable


def test_states_are_brought_together(tmp_path):
    from hotaru.distributed.utils import _sync_module_states

    from hotaru import distributed as dist

    dist.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1
    )
    try:
        layer = nn.BatchNorm1d(2)
        before = {k: v.clone() for k, v in layer.state_dict().items()}
        _sync_module_states(layer, dist.group.WORLD, 2**20, 0, {"weight"})
        for name, value in layer.state_dict().items():
            assert torch.equal(value, before[name])
    finally:
        dist.destroy_process_group()
