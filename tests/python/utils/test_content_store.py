"""Tensors in a folder by what is in their memory."""

import os

import pytest
from hotaru.utils._content_store import (
    ContentStoreReader,
    ContentStoreWriter,
    hash_storage,
)

import hotaru as torch


def test_equal_memory_is_written_once(tmp_path):
    writer = ContentStoreWriter(str(tmp_path))
    x = torch.arange(4.0)
    writer.write_tensor("x", x)
    writer.write_tensor("deep/z", x.view(2, 2).t())
    writer.write_tensor("same", torch.arange(4.0))
    x.add_(1)
    writer.write_tensor("x2", x)
    assert len(os.listdir(tmp_path / "storages")) == 2

    reader = ContentStoreReader(str(tmp_path))
    first, other = reader.read_tensor("x"), reader.read_tensor("deep/z")
    assert first.tolist() == [0, 1, 2, 3]
    assert other.tolist() == [[0, 2], [1, 3]]
    assert other.stride() == (1, 2)
    assert first.data_ptr() == other.data_ptr()
    assert reader.read_tensor("x2").tolist() == [1, 2, 3, 4]
    with pytest.raises(FileNotFoundError):
        reader.read_tensor("none")


def test_conjugates_dtypes_and_offsets(tmp_path):
    writer = ContentStoreWriter(str(tmp_path))
    made = {
        "c": torch.tensor([1 + 2j, 3j]).conj(),
        "b": torch.tensor([True, False, True])[1:],
        "h": torch.ones(3, dtype=torch.bfloat16),
        "e": torch.ones(0, 2),
    }
    for name, tensor in made.items():
        writer.write_tensor(name, tensor)
    reader = ContentStoreReader(str(tmp_path), cache=False)
    for name, tensor in made.items():
        found = reader.read_tensor(name)
        assert found.dtype is tensor.dtype
        assert found.shape == tensor.shape
        assert torch.equal(found, tensor)


def test_hashes_are_of_bytes():
    a = torch.tensor([1, 2], dtype=torch.int32)
    b = a.clone()
    assert hash_storage(a.untyped_storage()) == hash_storage(b.untyped_storage())
    b[0] = 5
    assert hash_storage(a.untyped_storage()) != hash_storage(b.untyped_storage())
    assert len(hash_storage(a.untyped_storage(), stable_hash=True)) == 40
