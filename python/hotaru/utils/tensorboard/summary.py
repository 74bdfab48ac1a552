"""Values as the messages of TensorBoard's files."""

from __future__ import annotations

import io

import numpy as np
from tensorboard.compat.proto.summary_pb2 import (
    HistogramProto,
    Summary,
    SummaryMetadata,
)
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from ._array import array
from .tables import custom_scalars, hparams, tensor_proto  # noqa: F401


def scalar(tag: str, value, new_style: bool, double_precision: bool) -> Summary:
    """One number, as a field of its own or as a tensor."""
    single = array(value)
    if single.size != 1:
        raise AssertionError(
            "Tensor should contain one element (0 dimensions). "
            f"Was given size: {single.size} and {single.ndim} dimensions."
        )
    number = float(single.item())
    if not new_style:
        return Summary(value=[Summary.Value(tag=tag, simple_value=number)])
    if double_precision:
        held = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    else:
        held = TensorProto(float_val=[number], dtype="DT_FLOAT")
    plugin = SummaryMetadata.PluginData(plugin_name="scalars")
    metadata = SummaryMetadata(plugin_data=plugin)
    value = Summary.Value(tag=tag, tensor=held, metadata=metadata)
    return Summary(value=[value])


def _default_bins() -> list[float]:
    """Limits that grow by a tenth, from 1e-12 on, on both sides of zero."""
    limits, limit = [], 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    return [-x for x in reversed(limits)] + [0.0] + limits


BINS = _default_bins()


def _joined(counts: np.ndarray, limits: np.ndarray, most: int):
    """Neighbouring buckets as one, so that there are about `most`."""
    several = len(counts) // most
    whole = np.pad(counts, (0, -len(counts) % several))
    joined = whole.reshape(-1, several).sum(1)
    return joined, np.append(limits[:-1:several], limits[-1])


def histogram(tag: str, values, bins, max_bins: int | None = None) -> Summary:
    """Counts between limits, and the moments. ValueError of no values."""
    values = array(values).astype(float).reshape(-1)
    if values.size == 0:
        raise ValueError("The input has no element.")
    counts, limits = np.histogram(
        values, BINS if isinstance(bins, str) and bins == "tensorflow" else bins
    )
    if max_bins is not None and len(counts) > max_bins:
        counts, limits = _joined(counts, limits, max_bins)
    filled = np.flatnonzero(counts)
    if filled.size == 0:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = filled[0], filled[-1]
    # One empty bucket before the first says where that begins.
    shown = counts[first : last + 1].tolist()
    proto = HistogramProto(
        min=values.min(),
        max=values.max(),
        num=len(values),
        sum=values.sum(),
        sum_squares=values.dot(values),
        bucket_limit=limits[first : last + 2].tolist(),
        bucket=[0, *shown],
    )
    return Summary(value=[Summary.Value(tag=tag, histo=proto)])


def histogram_raw(
    tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts
) -> Summary:
    """A histogram that was counted already."""
    proto = HistogramProto(
        min=min,
        max=max,
        num=num,
        sum=sum,
        sum_squares=sum_squares,
        bucket_limit=bucket_limits,
        bucket=bucket_counts,
    )
    return Summary(value=[Summary.Value(tag=tag, histo=proto)])


def _stacked(value) -> np.ndarray:
    if isinstance(value, (list, tuple)):
        return np.stack([array(one) for one in value])
    return array(value)


def rows(value, formats: str) -> np.ndarray:
    """Height, width, channels; several pictures are eight in a row."""
    picture = _stacked(value)
    letters = formats.upper()
    if picture.ndim != len(letters) or len(set(letters)) != len(letters):
        raise AssertionError(
            "size of input tensor and input format are different. "
            f"tensor shape: {picture.shape}, input_format: {formats}"
        )
    if "C" not in letters:
        picture, letters = picture[..., None], letters + "C"
    if "N" not in letters:
        return picture.transpose([letters.index(c) for c in "HWC"])
    several = picture.transpose([letters.index(c) for c in "NHWC"])
    n, height, width, channels = several.shape
    across = min(n, 8)
    down = int(np.ceil(n / across))
    grid = np.zeros((down * height, across * width, channels), several.dtype)
    for k, one in enumerate(several):
        top, left = k // across * height, k % across * width
        grid[top : top + height, left : left + width] = one
    return grid


def pixels(value, arranged: np.ndarray) -> np.ndarray:
    """As bytes; values that are no bytes already are between 0 and 1."""
    scale = 1 if _stacked(value).dtype == np.uint8 else 255
    scaled = arranged.astype(np.float32) * scale
    made = scaled.clip(0, 255).astype(np.uint8)
    last = made.shape[-1] == 1 and made.ndim == 3
    return made.repeat(3, 2) if last else made


def png(picture) -> bytes:
    """The file of a picture of Pillow's."""
    data = io.BytesIO()
    picture.save(data, format="PNG")
    return data.getvalue()


def image(tag: str, value, formats: str) -> Summary:
    """A picture as PNG; floating-point values are between 0 and 1."""
    from PIL import Image

    made = pixels(value, rows(value, formats))
    height, width, channels = made.shape
    held = Summary.Image(
        height=height,
        width=width,
        colorspace=channels,
        encoded_image_string=png(Image.fromarray(made)),
    )
    return Summary(value=[Summary.Value(tag=tag, image=held)])


def text(tag: str, value: str) -> Summary:
    """A text, shown as Markdown."""
    content = TextPluginData(version=0).SerializeToString()
    plugin = SummaryMetadata.PluginData(plugin_name="text", content=content)
    held = TensorProto(
        dtype="DT_STRING",
        string_val=[value.encode("utf_8")],
        tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]),
    )
    value = Summary.Value(
        tag=f"{tag}/text_summary",
        metadata=SummaryMetadata(plugin_data=plugin),
        tensor=held,
    )
    return Summary(value=[value])


def figure_pixels(figure) -> np.ndarray:
    """A figure of matplotlib as (channels, height, width)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].transpose(2, 0, 1)
