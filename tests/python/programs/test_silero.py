"""Silero VAD over real recordings, against what PyTorch computes."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from golden import recordings

import hotaru

ROOT = Path(__file__).parents[3]
GOLDEN = json.loads((ROOT / "tests/golden/silero.json").read_text())
MODEL = Path(os.environ.get("HOTARU_SILERO", ROOT / ".cache/silero_vad.jit"))
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def model():
    if not MODEL.exists():
        pytest.skip(f"{MODEL} is absent; ./dev test fetches it from PyPI")
    return hotaru.jit.load(str(MODEL)).eval()


def rows(name: str, size: int, step: int = 1):
    """The recording in chunks, shape (chunks, 1, size)."""
    _, samples = recordings.read(name)
    cut = recordings.chunks(samples[::step], size)
    return hotaru.from_numpy(cut).unsqueeze(1)


def answers(model, chunks, rate: int) -> np.ndarray:
    """The model's probabilities, shape (batch, chunks), from a fresh state."""
    model.reset_states()
    with hotaru.no_grad():
        return hotaru.cat([model(row, rate) for row in chunks], dim=1).numpy()


def deviation(found: np.ndarray, expected) -> float:
    expected = np.asarray(expected, np.float32)
    assert found.shape == expected.shape
    return float(np.abs(found - expected).max())


def test_every_recording_has_golden_values():
    assert recordings.names() == list(GOLDEN["mono"])
    assert sum(len(values) for values in GOLDEN["mono"].values()) == 1463


@pytest.mark.parametrize("name", GOLDEN["mono"])
def test_probabilities_of_a_recording(model, name):
    found = answers(model, rows(name, 512), 16000)
    assert deviation(found, [GOLDEN["mono"][name]]) < TOLERANCE


@pytest.mark.parametrize("name", GOLDEN["half_rate"])
def test_probabilities_at_8_khz(model, name):
    found = answers(model, rows(name, 256, step=2), 8000)
    assert deviation(found, [GOLDEN["half_rate"][name]]) < TOLERANCE


def test_probabilities_of_a_batch(model):
    several = [rows(name, 512) for name in GOLDEN["batch"]]
    length = min(len(one) for one in several)
    together = hotaru.cat([one[:length] for one in several], dim=1)
    found = answers(model, together, 16000)
    assert deviation(found, list(GOLDEN["batch"].values())) < TOLERANCE


def test_whole_recording_in_one_call(model):
    """audio_forward pads, resets the state and loops by itself."""
    name = "cards/001.wav"
    _, samples = recordings.read(name)
    with hotaru.no_grad():
        found = model.audio_forward(hotaru.from_numpy(samples).unsqueeze(0), 16000)
    assert deviation(found.numpy(), [GOLDEN["mono"][name]]) < TOLERANCE


def test_state_carries_from_chunk_to_chunk(model):
    """The second answer depends on the first chunk, until a reset."""
    chunks = rows("cards/001.wav", 512)[7:9]
    first, second = answers(model, chunks, 16000)[0]
    assert abs(answers(model, chunks[1:], 16000)[0, 0] - second) > 1e-3
    assert answers(model, chunks, 16000)[0].tolist() == [first, second]


@pytest.mark.parametrize(
    ("size", "rate", "message"),
    [
        (600, 16000, r"Provided number of samples is 600 \(Supported values: "),
        (500, 16000, "Input audio chunk is too short"),
        (512, 44100, "Supported sampling rates: "),
    ],
)
def test_bad_chunk_raises_the_models_own_message(model, size, rate, message):
    model.reset_states()
    with pytest.raises(RuntimeError, match=message):
        model(hotaru.zeros(1, size), rate)
