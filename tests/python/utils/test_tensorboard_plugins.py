"""Data of `SummaryWriter` for plugins, read by TensorBoard's own code."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest

pytest.importorskip("tensorboard")
from hotaru.utils.tensorboard import SummaryWriter

import hotaru
from hotaru import nn


def summaries(folder) -> list:
    from tensorboard.backend.event_processing.event_file_loader import (
        RawEventFileLoader,
    )
    from tensorboard.compat.proto.event_pb2 import Event

    found = []
    for path in sorted(folder.glob("events*")):
        for raw in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(raw)
            found += [event] if event.HasField("graph_def") else []
            found += list(event.summary.value)
    return found


DTYPES = [
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    *("int8", "uint8", "int16", "int32", "int64", "bool"),
]


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_of_every_dtype_come_back(tmp_path, name):
    from tensorboard.util.tensor_util import make_ndarray

    dtype = getattr(hotaru, name)
    tensor = hotaru.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
    if name not in ("bool", "uint8"):
        tensor = -tensor
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_tensor("t", tensor.t())
    (value,) = summaries(tmp_path)
    if name == "bfloat16":  # which NumPy lacks
        bits = np.array(value.tensor.half_val, np.uint16).view(np.int16)
        held = hotaru.from_numpy(bits).view(dtype).reshape(3, 2)
    else:
        held = hotaru.from_numpy(make_ndarray(value.tensor))
    assert held.dtype == dtype
    assert hotaru.equal(held, tensor.t())


def test_hyperparameters(tmp_path):
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    given = {"lr": 0.1, "kind": "a", "size": hotaru.tensor(3.0), "no": None}
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_hparams(given, {"loss": 0.5}, {"kind": ["a", "b"]}, "run", 7)
        for bad, choices in (({"a": [1]}, {}), ({"a": 1}, {"a": 3})):
            with pytest.raises((TypeError, ValueError)):
                writer.add_hparams(bad, {}, choices)
        with pytest.raises(TypeError, match="should be dictionary"):
            writer.add_hparams([1], {})
    experiment, start, end, loss = summaries(tmp_path / "run")
    plugins = [
        HParamsPluginData.FromString(part.metadata.plugin_data.content)
        for part in (experiment, start, end)
    ]
    infos = {x.name: x for x in plugins[0].experiment.hparam_infos}
    assert list(infos) == ["lr", "kind", "size"]
    listed = infos["kind"].domain_discrete.values
    assert [one.string_value for one in listed] == ["a", "b"]
    held = plugins[1].session_start_info.hparams
    assert held["lr"].number_value == 0.1
    assert held["size"].number_value == 3
    assert plugins[2].session_end_info.status == 1
    assert (loss.tag, loss.simple_value) == ("loss", 0.5)


def test_precision_and_recall(tmp_path):
    labels = hotaru.tensor([0, 1, 1, 0, 1])
    predictions = hotaru.tensor([0.1, 0.9, 0.4, 0.6, 0.8])
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_pr_curve("p", labels, predictions, num_thresholds=3)
        writer.add_pr_curve(
            "w",
            labels,
            predictions,
            num_thresholds=3,
            weights=hotaru.tensor([1.0, 2.0, 3.0, 4.0, 5.0]),
        )
        writer.add_pr_curve("p", labels, predictions, num_thresholds=500)
    plain, weighted, fine = summaries(tmp_path)
    rows = np.array(plain.tensor.float_val).reshape(6, 3)
    # Above 0, 0.5 and 1: hits, false alarms, right and wrong rejections.
    assert rows[:4].tolist() == [[3, 2, 0], [2, 1, 0], [0, 1, 2], [0, 1, 3]]
    assert rows[4].tolist() == pytest.approx([0.6, 2 / 3, 0])
    assert rows[5].tolist() == pytest.approx([1, 2 / 3, 0])
    rows = np.array(weighted.tensor.float_val).reshape(6, 3)
    assert rows[0].tolist() == [10, 7, 0]
    assert len(fine.tensor.float_val) == 6 * 127


def test_charts_and_meshes(tmp_path):
    from tensorboard.plugins.custom_scalar import layout_pb2

    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_custom_scalars(
            {"A": {"x": ["Multiline", ["a", "b"]], "y": ["Margin", [*"vlu"]]}}
        )
        with pytest.raises(AssertionError, match="3 tags"):
            writer.add_custom_scalars_marginchart(["a"])
        points = hotaru.rand(1, 4, 3)
        writer.add_mesh("m", points, faces=hotaru.tensor([[[0, 1, 2]]]))
    layout, vertices, faces = summaries(tmp_path)
    held = layout_pb2.Layout.FromString(layout.tensor.string_val[0])
    multi, margin = held.category[0].chart
    assert list(multi.multiline.tag) == ["a", "b"]
    assert margin.margin.series[0].upper == "u"
    assert vertices.tensor.float_val == pytest.approx(points.flatten().tolist())
    assert list(faces.tensor.float_val) == [0, 1, 2]


def test_sound_and_pictures(tmp_path):
    from PIL import Image

    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_audio("s", hotaru.tensor([0.0, 0.5, -1.0]), sample_rate=100)
        writer.add_image_with_boxes(
            "b",
            hotaru.zeros(3, 20, 30),
            hotaru.tensor([[2, 3, 10, 12]]),
            rescale=2,
            labels="it",
        )
        writer.add_video("v", hotaru.rand(3, 2, 3, 4, 5), fps=5)
    sound, boxes, film = summaries(tmp_path)
    with wave.open(io.BytesIO(sound.audio.encoded_audio_string)) as file:
        assert file.getframerate() == 100
        data = np.frombuffer(file.readframes(3), "<i2")
    assert data.tolist() == [0, 16383, -32767]
    picture = Image.open(io.BytesIO(boxes.image.encoded_image_string))
    assert picture.size == (60, 40)
    assert np.asarray(picture)[10, 4].tolist()[0] > 200
    frames = Image.open(io.BytesIO(film.image.encoded_image_string))
    assert (frames.n_frames, frames.size) == (2, (20, 4))
    assert frames.info["duration"] == 200


def test_embeddings(tmp_path):
    points = hotaru.arange(6.0).reshape(3, 2)
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_embedding(points, ["a", "b", "c"], global_step=1, tag="x/y")
        writer.add_embedding(
            points,
            [["a", 1], ["b", 2], ["c", 3]],
            label_img=hotaru.rand(3, 3, 4, 4),
            metadata_header=["n", "k"],
        )
        with pytest.raises(AssertionError, match="#labels"):
            writer.add_embedding(points, ["a"], global_step=2)
    first = tmp_path / "00001" / "x%2fy"
    assert (first / "tensors.tsv").read_text() == "0.0\t1.0\n2.0\t3.0\n4.0\t5.0\n"
    assert (first / "metadata.tsv").read_text() == "a\nb\nc\n"
    second = tmp_path / "00000" / "default"
    assert (second / "metadata.tsv").read_text().startswith("n\tk\na\t1\n")
    assert (second / "sprite.png").stat().st_size
    config = (tmp_path / "projector_config.pbtxt").read_text()
    assert config.count("embeddings {") == 2
    assert 'image_path: "00000/default/sprite.png"' in config


def test_graph(tmp_path):
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_graph(model, hotaru.ones(1, 4))
    assert model.training
    (event,) = summaries(tmp_path)
    nodes = {x.name: x for x in GraphDef.FromString(event.graph_def).node}
    linear = [x for x in nodes.values() if x.op == "aten::linear"]
    assert [x.name.rpartition("/")[0] for x in linear] == [
        "Sequential/Linear[0]",
        "Sequential/Linear[2]",
    ]
    # Whatever a node names is a node, from the output back to the input.
    assert all(name in nodes for x in nodes.values() for name in x.input)
    reached, wanted = set(), ["output/output.1"]
    while wanted:
        name = wanted.pop()
        reached.add(name)
        wanted += nodes[name].input
    assert "Sequential/Linear[0]/weight" in {
        name.rpartition("/")[0] for name in reached
    }
    assert any(name.startswith("input/") for name in reached)
