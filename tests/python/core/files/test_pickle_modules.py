"""`torch.save` and `torch.load` with another module's Pickler."""

import io
import pickle
import pickletools
import types

import pytest

import hotaru as torch
from hotaru import nn


class _InC(pickle.Pickler):
    pass


class _InPython(pickle._Pickler):
    pass


def _module(kind):
    return types.SimpleNamespace(
        __name__="other",
        Pickler=kind,
        Unpickler=pickle.Unpickler,
        load=pickle.load,
        dump=pickle.dump,
    )


def _written(value, module, **options):
    file = io.BytesIO()
    torch.save(value, file, pickle_module=module, **options)
    file.seek(0)
    return file


@pytest.mark.parametrize("kind", [_InC, _InPython])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("zipped", [True, False])
def test_tensors_and_storages_come_back(kind, protocol, zipped):
    module = _module(kind)
    shared = torch.arange(3.0)
    value = {
        "shared": [shared, shared[1:]],
        "long": torch.ones(2, dtype=torch.int64),
        "parameter": nn.Parameter(torch.ones(1).double()),
        "storage": torch.ones(1).untyped_storage(),
        "dtype": torch.float16,
    }
    file = _written(
        value, module, pickle_protocol=protocol, _use_new_zipfile_serialization=zipped
    )
    for reader in (module, None):
        file.seek(0)
        got = torch.load(file, pickle_module=reader, weights_only=False)
        a, b = got["shared"]
        a[1] = 5
        assert b.tolist() == [5, 2]
        assert got["long"].dtype is torch.int64
        assert got["parameter"].dtype is torch.float64
        assert got["parameter"].requires_grad
        assert got["storage"].tolist() == [0, 0, 128, 63]
        assert got["dtype"] is torch.float16


@pytest.mark.parametrize("kind", [_InC, _InPython])
def test_names_are_those_that_files_know(kind):
    value = [nn.Linear(1, 2), torch.ones(1).untyped_storage(), torch.Size([2])]
    for protocol in (2, 3):
        own, other = io.BytesIO(), io.BytesIO()
        torch.save(
            value, own, pickle_protocol=protocol, _use_new_zipfile_serialization=False
        )
        torch.save(
            value,
            other,
            pickle_module=_module(kind),
            pickle_protocol=protocol,
            _use_new_zipfile_serialization=False,
        )
        assert _globals(other) == _globals(own)


def _globals(file):
    file.seek(0)
    found = set()
    for _ in range(4):
        for op, argument, _ in pickletools.genops(file):
            if op.name == "GLOBAL":
                found.add(argument)
    return found


def test_plain_data_is_read_by_the_careful_reader():
    file = _written({"a": torch.arange(3.0)}, _module(_InC))
    assert torch.load(file)["a"].tolist() == [0, 1, 2]
