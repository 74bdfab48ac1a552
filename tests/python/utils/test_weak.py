"""Dictionaries by the identity of keys, which they do not keep."""

import gc

import pytest
from hotaru.utils._python_dispatch import TorchDispatchMode, is_in_torch_dispatch_mode
from hotaru.utils.weak import (
    TensorWeakRef,
    WeakIdKeyDictionary,
    WeakTensorKeyDictionary,
)

import hotaru as torch


def test_keys_are_objects():
    x, y = torch.ones(2), torch.ones(2)
    found = WeakTensorKeyDictionary({x: 1})
    found[y] = 2
    found[x] = 3
    assert [found[x], found[y]] == [3, 2]
    assert len(found) == 2
    assert x in found
    assert torch.ones(2) not in found
    assert 5 not in found
    with pytest.raises(KeyError):
        found[torch.ones(2)]
    assert found.pop(y) == 2
    assert found == found.copy()
    assert (found | {y: 4})[y] == 4
    del found[x]
    assert not found


def test_keys_are_not_kept():
    class Key:
        pass

    key, other = Key(), Key()
    found = WeakIdKeyDictionary({key: "a", other: "b"})
    del key
    gc.collect()
    assert list(found.values()) == ["b"]
    assert len(found.keyrefs()) == 1
    x = torch.ones(1)
    ref = TensorWeakRef(x)
    assert ref() is x
    del x
    gc.collect()
    assert ref() is None


def test_whether_a_mode_is_asked():
    class Hidden(TorchDispatchMode):
        @classmethod
        def is_infra_mode(cls):
            return True

    assert not is_in_torch_dispatch_mode()
    with Hidden():
        assert is_in_torch_dispatch_mode()
        assert not is_in_torch_dispatch_mode(include_infra_modes=False)
        with TorchDispatchMode():
            assert is_in_torch_dispatch_mode(include_infra_modes=False)
