"""Values as the messages of TensorBoard's files."""

from __future__ import annotations

import io
import re

import numpy as np
from tensorboard.compat.proto.summary_pb2 import (
    HistogramProto,
    Summary,
    SummaryMetadata,
)
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from ... import Tensor, float32


def array(value) -> np.ndarray:
    """A tensor, an array or a number as an array."""
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        if value.is_floating_point() and value.element_size() < 4:
            value = value.to(float32)
        return value.numpy()
    return np.asarray(value)


def _clean(tag: str) -> str:
    """A tag of letters, digits and -._/ alone, as TensorBoard groups them."""
    return re.sub(r"[^-/\w\.]", "_", tag).lstrip("/")


def scalar(tag: str, value, new_style: bool, double_precision: bool) -> Summary:
    """One number, as a field of its own or as a tensor."""
    number = float(array(value).reshape(-1)[0])
    if array(value).size != 1:
        raise AssertionError("scalar should be 0D")
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


_BINS = _default_bins()


def histogram(tag: str, values, bins) -> Summary:
    """Counts between limits, and the moments. ValueError of no values."""
    values = array(values).astype(float).reshape(-1)
    if values.size == 0:
        raise ValueError("The input has no element.")
    counts, limits = np.histogram(
        values, _BINS if bins == "tensorflow" else bins
    )
    filled = np.flatnonzero(counts)
    if filled.size == 0:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = filled[0], filled[-1]
    # One empty bucket before the first says where that begins.
    shown = counts[first : last + 1].tolist()
    proto = HistogramProto(
        min=values.min(), max=values.max(), num=len(values),
        sum=values.sum(), sum_squares=values.dot(values),
        bucket_limit=limits[first : last + 2].tolist(), bucket=[0, *shown],
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, histo=proto)])


def histogram_raw(
    tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts
) -> Summary:
    """A histogram that was counted already."""
    proto = HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
        bucket_limit=bucket_limits, bucket=bucket_counts,
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, histo=proto)])


def _rows(value, formats: str) -> np.ndarray:
    """Height, width, channels; several pictures are eight in a row."""
    picture = array(value)
    letters = formats.upper()
    if picture.ndim != len(letters) or len(set(letters)) != len(letters):
        raise AssertionError(
            f"size of input tensor and input format are different. tensor "
            f"shape: {picture.shape}, input_format: {formats}"
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


def image(tag: str, value, formats: str) -> Summary:
    """A picture as PNG; floating-point values are between 0 and 1."""
    from PIL import Image

    scale = 1 if array(value).dtype == np.uint8 else 255
    rows = _rows(value, formats)
    pixels = (rows.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)
    height, width, channels = pixels.shape
    if channels == 1:
        pixels, channels = pixels.repeat(3, 2), 3
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, format="PNG")
    held = Summary.Image(
        height=height, width=width, colorspace=channels,
        encoded_image_string=data.getvalue(),
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=_clean(tag), image=held)])


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
