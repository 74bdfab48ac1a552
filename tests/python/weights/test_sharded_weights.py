"""Models in several safetensors files."""

from __future__ import annotations

import json

import pytest
import weight_bytes as wb


@pytest.fixture
def weights(hotaru):
    from hotaru import weights

    return weights


@pytest.fixture
def folder(hotaru, weights, tmp_path):
    inner = tmp_path / "model"
    inner.mkdir()
    weights.save_file({"out": hotaru.ones(1)}, tmp_path / "outside")
    weights.save_file(
        {"a": hotaru.ones(2), "b": hotaru.zeros(3)}, inner / "m-1.safetensors"
    )
    weights.save_file({"c": hotaru.arange(4)}, inner / "m-2.safetensors")
    return inner


def write(folder, weight_map, **more):
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({**more, "weight_map": weight_map}))
    return path


def test_tensors_of_all_parts(hotaru, weights, folder):
    where = {"a": "m-1.safetensors", "c": "m-2.safetensors"}
    path = write(folder, where, metadata={"total_size": 40, "format": "pt"})
    found = weights.load_file(path)
    assert {k: v.tolist() for k, v in found.items()} == {
        "a": [1.0, 1.0],
        "c": [0, 1, 2, 3],
    }
    info = weights.info(path)
    assert info.format == "safetensors index"
    assert info.metadata == {"total_size": 40, "format": "pt"}
    assert {t.name: t.file for t in info.tensors} == {
        "a": str(folder / "m-1.safetensors"),
        "c": str(folder / "m-2.safetensors"),
    }
    assert list(hotaru.load(path)) == list(found)


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/passwd", ".", "..", "", "x/../../outside", "a\\b"]
)
def test_parts_lie_in_the_folder(weights, folder, name):
    path = write(folder, {"out": name})
    with pytest.raises(RuntimeError, match="'out' is said to be in") as caught:
        weights.load_file(path)
    assert "folder" in str(caught.value)


def test_indexes_that_are_refused(weights, folder):
    for weight_map, reason in (
        ({"a": "m-2.safetensors"}, "'a' is not in .*m-2.safetensors"),
        ({"a": "m-3.safetensors"}, "m-3.safetensors: cannot open"),
        ({"a": 1}, "'a' is said to be in a number, which"),
        (["a"], "no object 'weight_map'"),
    ):
        with pytest.raises(RuntimeError, match=reason):
            weights.load_file(write(folder, weight_map))
    path = write(folder, {})
    path.write_text('{"weight_map": {"a": "m-1.safetensors"')
    with pytest.raises(RuntimeError, match="offset 38: no JSON"):
        weights.load_file(path)
    path.write_bytes(b'{"a": 1}')
    with pytest.raises(RuntimeError, match="no weights"):
        weights.load_file(path)


def test_an_index_needs_its_path(weights, folder):
    path = write(folder, {"a": "m-1.safetensors"})
    with pytest.raises(RuntimeError, match="must be opened by its path"):
        weights.load(path.read_bytes())


def test_a_broken_part_names_itself(weights, folder):
    (folder / "m-1.safetensors").write_bytes(wb.safetensors("{}", b"rest"))
    path = write(folder, {"a": "m-1.safetensors"})
    with pytest.raises(RuntimeError, match=r"m-1.safetensors: offset 10"):
        weights.load_file(path)
