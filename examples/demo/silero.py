"""Finds the speech in recordings with a TorchScript model, and draws it.

    ./dev demo                      LibriVox recordings from Debian
    ./dev demo my.wav other.wav     your own: 16-bit mono, 8 or 16 kHz

The model, Silero VAD, hears 32 ms at a time and answers with the probability
that somebody speaks; its memory of what it heard before is its own state.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import time
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import picture

import hotaru

ROOT = Path(__file__).parents[2]
RECORDINGS = Path("/usr/share/pocketsphinx/test/data/librivox")

# Speech begins at ENTER and ends below LEAVE; shorter gaps and shorter speech
# than these, in seconds, do not count.
ENTER, LEAVE = 0.5, 0.35
SHORTEST_GAP, SHORTEST_SPEECH = 0.1, 0.25


@dataclass
class Segment:
    """A stretch of speech: seconds from the start, mean probability."""

    start: float
    end: float
    probability: float


@dataclass
class Result:
    """Result of the model for one recording, and how long it took."""

    name: str
    words: str
    rate: int
    samples: np.ndarray
    probabilities: list[float]
    times: list[float]
    segments: list[Segment]

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    @property
    def step(self) -> float:
        """Seconds of sound in a chunk."""
        return chunk_size(self.rate) / self.rate

    @property
    def chunk_time(self) -> float:
        """Median seconds that a chunk took."""
        return statistics.median(self.times)

    @property
    def speed(self) -> float:
        """How many times faster than the sound a median chunk is."""
        return self.step / self.chunk_time


def chunk_size(rate: int) -> int:
    """Samples that the model takes at once."""
    return 512 if rate == 16000 else 256


def read_wave(path: Path) -> tuple[int, np.ndarray]:
    """Sampling rate in Hz and samples in [-1, 1); ValueError on other kinds."""
    with wave.open(str(path)) as file:
        if file.getnchannels() != 1 or file.getsampwidth() != 2:
            raise ValueError("must be 16-bit mono")
        if file.getframerate() not in (8000, 16000):
            raise ValueError("must be sampled at 8 or 16 kHz")
        data = file.readframes(file.getnframes())
        return file.getframerate(), np.frombuffer(data, "<i2") / np.float32(32768)


def find_segments(probabilities: list[float], step: float) -> list[Segment]:
    """Joins chunks of `step` seconds to stretches of speech, by hysteresis."""
    found: list[list[int]] = []
    speaking = False
    for index, probability in enumerate(probabilities):
        if not speaking and probability >= ENTER:
            speaking = True
            gap = (index - found[-1][1]) * step if found else SHORTEST_GAP
            if gap < SHORTEST_GAP:
                found[-1][1] = index + 1
            else:
                found.append([index, index + 1])
        elif speaking:
            speaking = probability >= LEAVE
            found[-1][1] = index + speaking
    return [
        Segment(begin * step, end * step, statistics.fmean(probabilities[begin:end]))
        for begin, end in found
        if (end - begin) * step >= SHORTEST_SPEECH
    ]


class Progress:
    """A bar that fills in place; silent where the output is no terminal."""

    WIDTH = 30

    def __init__(self, label: str, total: int):
        self.label, self.total = label, total
        self.shown = -1
        self.on = sys.stdout.isatty()

    def update(self, done: int) -> None:
        filled = done * self.WIDTH // self.total
        if self.on and filled != self.shown:
            self.shown = filled
            bar = "━" * filled + "╌" * (self.WIDTH - filled)
            print(f"\r{self.label}  {bar}", end="", flush=True)

    def close(self) -> None:
        if self.on:
            print("\r\033[K", end="")


def listen(model, path: Path, label: str) -> Result:
    """Runs the model over a recording, chunk by chunk, from a fresh state."""
    rate, samples = read_wave(path)
    size = chunk_size(rate)
    count = -(-len(samples) // size)
    padded = np.zeros((count, 1, size), np.float32)
    padded.reshape(-1)[: len(samples)] = samples
    chunks = hotaru.from_numpy(padded)
    probabilities, times = [], []
    progress = Progress(label, count)
    model.reset_states()
    for index, chunk in enumerate(chunks):
        start = time.perf_counter()
        probability = model(chunk, rate).item()
        times.append(time.perf_counter() - start)
        probabilities.append(probability)
        progress.update(index + 1)
    progress.close()
    return Result(
        name=label.strip(),
        words=transcript(path),
        rate=rate,
        samples=samples,
        probabilities=probabilities,
        times=times,
        segments=find_segments(probabilities, size / rate),
    )


def report(result: Result, label: str) -> None:
    print(
        f"{label}  {result.seconds:5.2f} s  {len(result.times):4d} chunks  "
        f"{result.chunk_time * 1e6:6.1f} µs each  "
        f"{result.speed:5.0f} x real time"
    )
    if result.words:
        print(f'    "{result.words}"')
    for segment in result.segments:
        print(
            f"    speech {segment.start:6.2f} to {segment.end:6.2f} s  "
            f"probability {segment.probability:.3f}"
        )


def short_names(paths: list[Path]) -> list[str]:
    """File names without the words that all begin with, of equal width."""
    words = [path.stem.split("-") for path in paths]
    while min(map(len, words)) > 1 and len({word[0] for word in words}) == 1:
        words = [word[1:] for word in words]
    names = ["-".join(word) for word in words]
    width = max(map(len, names))
    return [name.ljust(width) for name in names]


def transcript(path: Path) -> str:
    """Words that are said, if a file `transcription` beside tells."""
    beside = path.with_name("transcription")
    if not beside.exists():
        return ""
    pattern = rf"^<s> (.*) </s> \({re.escape(path.stem)}\)$"
    match = re.search(pattern, beside.read_text(), re.MULTILINE)
    return match[1] if match else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wav", nargs="*", type=Path, help="recordings")
    parser.add_argument(
        "--model",
        type=Path,
        default=os.environ.get("HOTARU_SILERO", ROOT / ".cache/silero_vad.jit"),
    )
    parser.add_argument("--out", type=Path, default=Path("demo-out"))
    arguments = parser.parse_args()
    paths = arguments.wav or sorted(RECORDINGS.glob("*.wav"))
    if not paths:
        parser.error(f"no recordings in {RECORDINGS}")

    hotaru.set_num_threads(1)
    begin = time.perf_counter()
    model = hotaru.jit.load(str(arguments.model)).eval()
    load_time = time.perf_counter() - begin
    print(
        f"hotaru {hotaru.__version__}, one thread; "
        f"{arguments.model.name} loaded in {load_time * 1e3:.0f} ms\n"
    )

    results = []
    with hotaru.no_grad():
        for path, label in zip(paths, short_names(paths)):
            try:
                result = listen(model, path, label)
            except (OSError, EOFError, ValueError, wave.Error) as error:
                print(f"silero.py: {path}: {error}", file=sys.stderr)
                return 1
            report(result, label)
            results.append(result)

    times = [taken for result in results for taken in result.times]
    sound = sum(result.seconds for result in results)
    print(
        f"\n{sound:.1f} s of sound in {sum(times) * 1e3:.0f} ms: "
        f"{statistics.median(times) * 1e6:.1f} µs a chunk (median), "
        f"{sound / sum(times):.0f} times faster than real time"
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    target = arguments.out / "silero.png"
    picture.draw(results, LEAVE, ENTER, target)
    print(f"picture: {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
