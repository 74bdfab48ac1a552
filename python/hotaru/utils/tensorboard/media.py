"""Pictures with boxes, films and sound as TensorBoard's messages."""

from __future__ import annotations

import io
import wave

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from .summary import array, pixels, png, rows


def image_boxes(tag, value, boxes, rescale, formats, labels) -> Summary:
    """A picture with boxes drawn in.

    Args:
        boxes: a row for each: left, top, right, bottom.
        labels: a text for each, or None.
    """
    from PIL import Image

    picture = Image.fromarray(pixels(value, rows(value, formats)))
    width, height = picture.size
    for i, corners in enumerate(array(boxes)):
        _draw(picture, corners, labels[i] if labels else None)
    picture = picture.resize(
        (int(width * rescale), int(height * rescale)), Image.Resampling.LANCZOS
    )
    held = Summary.Image(
        height=height,
        width=width,
        colorspace=len(picture.getbands()),
        encoded_image_string=png(picture),
    )
    return Summary(value=[Summary.Value(tag=tag, image=held)])


def _draw(picture, corners, label: str | None) -> None:
    from PIL import ImageDraw, ImageFont

    draw = ImageDraw.Draw(picture)
    left, top, right, bottom = (float(x) for x in corners)
    outline = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
    draw.line(outline, width=2, fill="Red")
    if not label:
        return
    font = ImageFont.load_default()
    x0, y0, x1, y1 = font.getbbox(label)
    margin = np.ceil(0.05 * (y1 - y0))
    draw.rectangle(
        [(left, bottom - (y1 - y0) - 2 * margin), (left + x1 - x0, bottom)], fill="Red"
    )
    at = (left + margin, bottom - (y1 - y0) - margin)
    draw.text(at, label, fill="black", font=font)


def video(tag, value, fps) -> Summary:
    """Films [N, T, C, H, W], side by side, as an animated GIF."""
    from PIL import Image

    films = array(value)
    n, steps, channels, height, width = films.shape
    places = 1 << (n - 1).bit_length()
    down = 1 << ((n.bit_length() - 1) // 2)
    across = places // down
    whole = np.zeros((across * down, *films.shape[1:]), films.dtype)
    whole[:n] = films
    whole = whole.reshape(down, across, steps, channels, height, width)
    whole = whole.transpose(2, 0, 4, 1, 5, 3)
    whole = whole.reshape(steps, down * height, across * width, channels)
    whole = pixels(value, whole)
    if channels == 1:
        whole = whole[..., 0]
    frames = [Image.fromarray(frame) for frame in whole]
    data = io.BytesIO()
    frames[0].save(
        data,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=1000 / fps,
        loop=0,
    )
    held = Summary.Image(
        height=whole.shape[1],
        width=whole.shape[2],
        colorspace=channels,
        encoded_image_string=data.getvalue(),
    )
    return Summary(value=[Summary.Value(tag=tag, image=held)])


def audio(tag, value, sample_rate: int) -> Summary:
    """Sound of one channel, between -1 and 1, as WAV of 16 bits."""
    sound = array(value).squeeze()
    if abs(sound).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        sound = sound.clip(-1, 1)
    if sound.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    sound = (sound * np.iinfo(np.int16).max).astype("<i2")
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(sound.tobytes())
    held = Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=len(sound),
        encoded_audio_string=data.getvalue(),
        content_type="audio/wav",
    )
    return Summary(value=[Summary.Value(tag=tag, audio=held)])
