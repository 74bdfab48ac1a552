"""The files of TensorBoard's projector: points with names and pictures."""

from __future__ import annotations

import math
import os

import numpy as np
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo

from .summary import array, png


def _folder(log_dir: str, step: int, tag: str) -> str:
    name = tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")
    return os.path.join(log_dir, str(step).zfill(5), name)


def write(log_dir, points, names, pictures, step, tag, header) -> EmbeddingInfo:
    """Writes the files of an embedding, and says where they are.

    Args:
        points: [N, D].
        names: of each point a text, or with `header` a list of texts.
        pictures: of each point, [N, C, H, W], or None.

    Raises:
        AssertionError: names or pictures of another number of points.
        NotADirectoryError: a file is in the way.
    """
    points, step = array(points), 0 if step is None else step
    folder = _folder(log_dir, step, tag)
    if os.path.isdir(folder):
        print(
            "warning: Embedding dir exists, did you set global_step for "
            "add_embedding()?"
        )
    elif os.path.exists(folder):
        raise NotADirectoryError(
            f"Path: `{folder}` exists, but is a file. Cannot proceed."
        )
    os.makedirs(folder, exist_ok=True)
    at = os.path.relpath(folder, log_dir)
    info = EmbeddingInfo(
        tensor_name=f"{tag}:{str(step).zfill(5)}",
        tensor_path=os.path.join(at, "tensors.tsv"),
    )
    if names is not None:
        if len(points) != len(names):
            raise AssertionError("#labels should equal with #data points")
        _table(os.path.join(folder, "metadata.tsv"), _named(names, header))
        info.metadata_path = os.path.join(at, "metadata.tsv")
    if pictures is not None:
        pictures = array(pictures)
        if len(points) != len(pictures):
            raise AssertionError("#images should equal with #data points")
        with open(os.path.join(folder, "sprite.png"), "wb") as file:
            file.write(_sprite(pictures))
        info.sprite.image_path = os.path.join(at, "sprite.png")
        height, width = pictures.shape[2:]
        info.sprite.single_image_dim.extend([width, height])
    if points.ndim != 2:
        raise AssertionError(
            "mat should be 2D, where mat.size(0) is the number of data points"
        )
    _table(os.path.join(folder, "tensors.tsv"), points.tolist())
    return info


def _named(names, header) -> list:
    if not header:
        return [[name] for name in names]
    if len(header) != len(names[0]):
        raise AssertionError(
            "len of header must be equal to the number of columns in metadata"
        )
    return [header, *names]


def _table(path: str, lines) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write("\t".join(map(str, line)) + "\n")


def _sprite(pictures: np.ndarray) -> bytes:
    """All pictures on one square, row by row."""
    from PIL import Image

    n, _, height, width = pictures.shape
    across = math.ceil(n**0.5)
    side = across * width
    square = np.zeros((max(side, -(-n // across) * height), side, 3))
    for i, picture in enumerate(pictures):
        top, left = i // across * height, i % across * width
        place = square[top : top + height, left : left + width]
        place[:] = picture.transpose(1, 2, 0)
    return png(Image.fromarray(np.uint8((square * 255).clip(0, 255))))
