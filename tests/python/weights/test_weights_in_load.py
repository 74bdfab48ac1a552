"""`torch.load` of files of weights, descriptions, and how long they take."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
import weight_bytes as wb

FILES = ("weights.safetensors", "weights.gguf")


@pytest.fixture
def readable(hotaru, tmp_path):
    """A file of each format, under a name that says nothing."""
    data = struct.pack("<3f", 1, 2, 3)
    header = {"a": wb.entry("F32", [3], 0, 12)}
    one, two = tmp_path / "one.bin", tmp_path / "two.bin"
    one.write_bytes(wb.safetensors(header, data))
    two.write_bytes(wb.gguf((), [wb.tensor("a", [3], 0, 0)], data))
    return one, two


def test_files_are_known_by_their_bytes(hotaru, readable):
    for path in readable:
        for source in (path, str(path), io.BytesIO(path.read_bytes())):
            for mmap in (None, True) if source is path else (None,):
                found = hotaru.load(source, mmap=mmap)
                assert list(found) == ["a"]
                assert found["a"].tolist() == [1.0, 2.0, 3.0]


def test_map_location(hotaru, readable):
    for path in readable:
        for place in ("meta", hotaru.device("meta"), {"cpu": "meta"}):
            found = hotaru.load(path, map_location=place)["a"]
            assert found.device.type == "meta"
            assert found.shape == (3,)
        seen = []

        def place(storage, location, seen=seen):
            seen.append(location)
            return storage

        found = hotaru.load(path, map_location=place)["a"]
        assert found.tolist() == [1.0, 2.0, 3.0]
        assert seen == ["cpu"]


def test_files_that_are_none_of_weights(hotaru, tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}')
    with pytest.raises(Exception, match="Weights only load failed"):
        hotaru.load(path)


def test_descriptions(hotaru):
    from hotaru import weights

    info = weights.info(wb.GOLDEN / FILES[0])
    assert info.format == "safetensors"
    by_name = {tensor.name: tensor for tensor in info.tensors}
    assert by_name["b.weight"].shape == (2, 3)
    assert by_name["b.weight"].dtype == hotaru.float32
    assert by_name["b.weight"].type == "F32"
    assert info.numel == 6 + 3 + 5 + 3 + 2 + 1 + 2 + 0 + 2
    assert info.nbytes == 24 + 12 + 5 + 6 + 2 + 8 + 16 + 0 + 8


def test_the_command_describes_files(hotaru):
    command = Path(sys.executable).with_name("hotaru")
    if not command.exists():
        pytest.skip("the command is not built")
    for name in FILES:
        path = wb.GOLDEN / name
        shown = subprocess.run(
            [command, "info", path], capture_output=True, text=True, check=True
        ).stdout
        told = subprocess.run(
            [command, "info", path, "--json"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        report = json.loads(told)
        assert report["format"] in shown
        assert "tensors" in shown
        assert {t["name"] for t in report["tensors"]} == {
            t.name for t in hotaru.weights.info(path).tensors
        }
    refused = subprocess.run(
        [command, "info", __file__], capture_output=True, text=True
    )
    assert refused.returncode == 1
    assert "no weights" in refused.stderr


@pytest.mark.parametrize("kind", ["safetensors", "gguf"])
def test_opening_half_a_gigabyte_takes_milliseconds(hotaru, tmp_path, kind):
    """The file has holes, which count as bytes and take no disk."""
    count, size = 200, 2_500_000
    names = [f"model.layers.{i}.weight" for i in range(count)]
    if kind == "gguf":
        size = size // 32 * 32
        lines = [wb.tensor(n, [size // 4], 0, i * size) for i, n in enumerate(names)]
        head = wb.gguf((), lines)
    else:
        entries = {
            name: wb.entry("F32", [size // 4], i * size, (i + 1) * size)
            for i, name in enumerate(names)
        }
        header = json.dumps(entries)
        head = wb.safetensors(header + " " * (-len(header) % 8))
    path = tmp_path / "large"
    path.write_bytes(head)
    os.truncate(path, len(head) + count * size)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        found = hotaru.weights.load_file(path)
        times.append(time.perf_counter() - start)
    assert len(found) == count
    assert min(times) < 0.05
    # A number that an experiment can ask for.
    print(f"{kind}: {min(times) * 1e3:.2f} ms", file=sys.stderr)
