"""Names that older libraries import, with their behaviour beside PyTorch's."""

from __future__ import annotations

import importlib

import pytest

import hotaru as torch

PLACES = [
    "cuda.amp.grad_scaler.GradScaler",
    "cuda.amp.autocast_mode.autocast",
    "cuda.amp.common.amp_definitely_not_available",
    "fx.graph.Argument",
    "fx.proxy.Argument",
    "optim.optimizer.StateDict",
    "optim.optimizer.DeviceDict",
    "random.Generator",
    "utils.data.dataloader.Dataset",
    "utils.data.dataloader._collate_fn_t",
    "nn.modules.module._addindent",
]


@pytest.mark.parametrize("place", PLACES)
def test_places(place):
    module, _, name = place.rpartition(".")
    assert getattr(importlib.import_module(f"hotaru.{module}"), name) is not None


def test_lists_of_tensors_are_one_line_and_back():
    from hotaru._utils import _flatten_dense_tensors, _unflatten_dense_tensors

    a, b, none = torch.ones(2, 3).t(), torch.arange(4.0).view(2, 2), torch.ones(0, 3)
    line = _flatten_dense_tensors([a, none, b])
    assert line.tolist() == [1.0] * 6 + [0.0, 1.0, 2.0, 3.0]
    assert _flatten_dense_tensors((b,)).data_ptr() == b.data_ptr()
    parts = _unflatten_dense_tensors(line, [a, none, b])
    assert [x.shape for x in parts] == [a.shape, none.shape, b.shape]
    assert torch.equal(parts[2], b)
    parts[2].zero_()  # views of the line
    assert line.sum() == 6
    with pytest.raises(RuntimeError, match="exceeds dimension size"):
        _unflatten_dense_tensors(line, [torch.ones(11)])
    with pytest.raises(ValueError, match="non-empty list"):
        torch._C._nn.flatten_dense_tensors([])


def test_sparse_tensors_are_two_lines_and_back():
    from hotaru._utils import _flatten_sparse_tensors, _unflatten_sparse_tensors

    eye = torch.eye(2).to_sparse()
    indices, values = _flatten_sparse_tensors([eye, eye])
    assert indices.tolist() == [0, 1] * 4
    assert values.tolist() == [1.0] * 4
    first, second = _unflatten_sparse_tensors((indices, values), [eye, eye])
    assert torch.equal(first.to_dense(), torch.eye(2))
    assert torch.equal(second.to_dense(), torch.eye(2))


def test_tensors_are_taken_by_type_and_size():
    from hotaru._utils import _reorder_tensors_as, _take_tensors

    sizes = [(3, torch.float), (2, torch.double), (4, torch.float), (1, torch.float)]
    tensors = [torch.ones(n, dtype=d) for n, d in [*sizes, (9, torch.double)]]
    taken = list(_take_tensors(tensors, 24))
    # As PyTorch takes them, the first list that is full first.
    assert [[t.numel() for t in each] for each in taken] == [[3], [2], [4, 1], [9]]
    one, two = torch.ones(1), torch.ones(1, dtype=torch.int)
    assert _reorder_tensors_as([one, two], [two, one]) == (two, one)


BASES = {
    "_MaxPoolNd": "MaxPool1d MaxPool2d MaxPool3d",
    "_AvgPoolNd": "AvgPool1d AvgPool2d AvgPool3d",
    "_AdaptiveAvgPoolNd": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d",
    "_AdaptiveMaxPoolNd": "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d",
    "_LPPoolNd": "LPPool1d LPPool2d LPPool3d",
    "_MaxUnpoolNd": "MaxUnpool1d MaxUnpool2d MaxUnpool3d",
    "_ConstantPadNd": "ConstantPad1d ConstantPad2d ConstantPad3d ZeroPad1d ZeroPad2d",
    "_ReflectionPadNd": "ReflectionPad1d ReflectionPad2d ReflectionPad3d",
    "_ReplicationPadNd": "ReplicationPad1d ReplicationPad2d ReplicationPad3d",
    "_CircularPadNd": "CircularPad1d CircularPad2d CircularPad3d",
}


@pytest.mark.parametrize("base", BASES)
def test_layers_have_pytorchs_bases(base):
    places = (torch.nn.modules.pooling, torch.nn.modules.padding)
    (cls,) = [vars(p)[base] for p in places if base in vars(p)]
    named = BASES[base].split()
    for name in {x for names in BASES.values() for x in names.split()}:
        assert issubclass(getattr(torch.nn, name), cls) == (name in named)


def test_tracing_is_asked_for():
    asked = []

    def program(x):
        asked.append(torch._C._is_tracing())
        return x + 1

    torch.jit.trace(program, torch.ones(1), check_trace=False)
    assert asked == [True]
    assert torch._C._is_tracing() is False
