"""The recordings of Debian's pocketsphinx-testdata, as a model takes them."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

FOLDER = Path("/usr/share/pocketsphinx/test/data")
# The .raw files are 16-bit little-endian mono without a header.
RAW_RATE = 16000


def names() -> list[str]:
    """Every recording below FOLDER, wave files before raw ones, sorted."""
    found = [*sorted(FOLDER.rglob("*.wav")), *sorted(FOLDER.rglob("*.raw"))]
    return [path.relative_to(FOLDER).as_posix() for path in found]


def read(name: str) -> tuple[int, np.ndarray]:
    """Sampling rate in Hz and the samples, float32 in [-1, 1), shape (N,)."""
    path = FOLDER / name
    if path.suffix == ".raw":
        rate, data = RAW_RATE, path.read_bytes()
    else:
        with wave.open(str(path)) as file:
            if file.getnchannels() != 1 or file.getsampwidth() != 2:
                raise ValueError(f"{path}: not 16-bit mono")
            rate, data = file.getframerate(), file.readframes(file.getnframes())
    return rate, np.frombuffer(data, "<i2").astype(np.float32) / 32768


def chunks(samples: np.ndarray, size: int) -> np.ndarray:
    """Samples in rows of `size`, the last one filled up with zeros."""
    count = -(-len(samples) // size)
    padded = np.zeros(count * size, np.float32)
    padded[: len(samples)] = samples
    return padded.reshape(count, size)
