"""`utils.serialization.config`: what `save` and `load` do by default."""

from __future__ import annotations

import io
import mmap
import zipfile

import pytest
from hotaru.utils.serialization import config

import hotaru as torch


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "f.pt"
    torch.save(torch.arange(4.0), made)
    return made


def test_defaults_are_those_of_the_functions():
    assert torch.utils.serialization.config is config
    assert config.load.mmap is False
    assert config.load.endianness is None
    assert config.load.mmap_flags == mmap.MAP_PRIVATE
    assert config.load.calculate_storage_offsets is False
    assert config.save.compute_crc32 is True
    assert config.save.storage_alignment == 64
    assert config.save.use_pinned_memory_for_d2h is False


def test_files_are_mapped_where_nothing_else_is_said(path):
    with config.patch("load.mmap", True):
        mapped = torch.load(path)
        copied = torch.load(path, mmap=False)
        with pytest.raises(ValueError, match="f must be a file path"):
            torch.load(io.BytesIO(path.read_bytes()))
    # A shared mapping writes to the file, and a copy does not.
    with config.patch({"load.mmap": True, "load.mmap_flags": mmap.MAP_SHARED}):
        torch.load(path)[0] = 7
    copied[1] = mapped[1] = 9
    assert torch.load(path).tolist() == [7, 1, 2, 3]
    assert config.load.mmap is False
    assert config.load.mmap_flags == mmap.MAP_PRIVATE


def test_settings_are_those_of_the_functions():
    order = torch.serialization.LoadEndianness.BIG
    with config.patch({"load.endianness": order, "save.compute_crc32": False}):
        assert torch.serialization.get_default_load_endianness() is order
        assert not torch.serialization.get_crc32_options()
        file = io.BytesIO()
        torch.save(torch.ones(2), file)
        data = zipfile.ZipFile(file).getinfo("archive/data/0")
        assert data.CRC == 0
        torch.serialization.set_crc32_options(True)
        assert config.save.compute_crc32
    assert config.load.endianness is None


def test_what_is_not_there_is_refused():
    with pytest.raises(AttributeError):
        config.load.no_such = 1
    for name in ("load.no_such", "no_such.mmap", "load"):
        with pytest.raises(AttributeError), config.patch(name, 1):
            pass
    with pytest.raises(NotImplementedError, match="64 bytes"):
        config.save.storage_alignment = 4096
    with pytest.raises(TypeError):
        config.load.endianness = 5
    with (
        pytest.raises(AttributeError),
        config.patch({"load.mmap": True, "load.no_such": 1}),
    ):
        pass
    assert config.load.mmap is False
