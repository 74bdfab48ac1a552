"""Files that `SummaryWriter` writes, read by TensorBoard's own reader."""

from __future__ import annotations

import io

import numpy as np
import pytest

pytest.importorskip("tensorboard")
from hotaru.utils.tensorboard import SummaryWriter

import hotaru


def events(folder) -> list:
    from tensorboard.backend.event_processing.event_file_loader import (
        LegacyEventFileLoader,
    )

    found = []
    for path in sorted(folder.glob("events*")):
        for event in LegacyEventFileLoader(str(path)).Load():
            found += [(event.step, value) for value in event.summary.value]
    return found


def test_numbers_by_step(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", hotaru.tensor(1.5), 3)
        writer.add_scalars("both", {"a": 1, "b": 2}, 4)
    ((step, value),) = events(tmp_path)
    assert (step, value.tag, value.simple_value) == (3, "loss", 1.5)
    ((step, value),) = events(tmp_path / "both_b")
    assert (step, value.tag, value.simple_value) == (4, "both", 2)


def test_histogram_counts_every_value_once(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_histogram("h", hotaru.tensor([-1.0, 0.5, 0.5, 2.0]))
        with pytest.raises(ValueError, match="no element"):
            writer.add_histogram("h", hotaru.zeros(0))
    ((_, value),) = events(tmp_path)
    counts, limits = value.histo.bucket, value.histo.bucket_limit
    assert sum(counts) == value.histo.num == 4
    assert counts[0] == 0
    below_zero = [c for c, top in zip(counts, limits) if top <= 0]
    assert sum(below_zero) == 1
    assert value.histo.sum_squares == 1 + 0.25 + 0.25 + 4


def test_fewer_buckets_hold_the_same_values(tmp_path):
    values = hotaru.linspace(-3, 5, 100)
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_histogram("all", values)
        writer.add_histogram("few", values, max_bins=64)
        writer.add_histogram("three", values, bins=10, max_bins=3)
    (_, every), (_, few), (_, three) = events(tmp_path)
    assert len(few.histo.bucket) < len(every.histo.bucket)
    assert sum(few.histo.bucket) == sum(every.histo.bucket) == 100
    assert list(few.histo.bucket[:3]) == [0, 21, 15]
    assert list(three.histo.bucket) == [0, 30, 30, 30, 10]
    assert list(three.histo.bucket_limit) == pytest.approx([-3, -0.6, 1.8, 4.2, 5])


def test_a_complex_number_is_no_scalar(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer, pytest.raises(TypeError):
        writer.add_scalar("z", 1j)


def test_tags_stay_as_they_are(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_image("a b/\u00e9", hotaru.zeros(3, 2, 2))
        writer.add_scalar("a b/\u00e9", 1.0)
    assert [value.tag for _, value in events(tmp_path)] == ["a b/\u00e9"] * 2


def test_pictures_side_by_side(tmp_path):
    from PIL import Image

    pictures = hotaru.zeros(3, 3, 4, 5)
    pictures[1] = 1
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_images("p", pictures)
    ((_, value),) = events(tmp_path)
    data = np.asarray(Image.open(io.BytesIO(value.image.encoded_image_string)))
    assert data.shape == (4, 15, 3)
    assert data[:, 5:10].min() == 255
    assert data[:, :5].max() == data[:, 10:].max() == 0


def test_what_is_missing_is_said(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        with pytest.raises(NotImplementedError, match="add_onnx_graph"):
            writer.add_onnx_graph("model.onnx")
        with pytest.raises(AttributeError):
            _ = writer.add_nothing
