"""Makes silero.json: what PyTorch computes with silero_vad.jit.

Run it in an environment with torch and numpy (./dev bench --peers makes one):

    .venv-peers/bin/python tests/golden/make_silero.py .cache/silero_vad.jit

The file holds, for every recording of pocketsphinx-testdata, the probability
of speech in each 512-sample chunk ("mono"); for one recording the same at
8 kHz, every second sample in chunks of 256 ("half_rate"); and for the first
chunks of three recordings at once, a row each ("batch").
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import recordings
import torch

HALF_RATE = "librivox/sense_and_sensibility_01_austen_64kb-0880.wav"
BATCH = ["cards/001.wav", "cards/003.wav", "cards/004.wav"]


def probabilities(model, rows: torch.Tensor, rate: int) -> list:
    """The model's answers to rows of shape (chunks, batch, samples)."""
    model.reset_states()
    answers = torch.cat([model(row, rate) for row in rows], dim=1)
    # Nine digits give every float32 back exactly.
    digits = [[float(f"{p:.9g}") for p in row] for row in answers.tolist()]
    return digits if len(digits) > 1 else digits[0]


def main() -> None:
    path = Path(sys.argv[1])
    torch.set_num_threads(1)
    model = torch.jit.load(path)
    model.eval()

    def rows(name: str, size: int, step: int = 1) -> torch.Tensor:
        rate, samples = recordings.read(name)
        assert rate == 16000, (name, rate)
        cut = recordings.chunks(samples[::step], size)
        return torch.from_numpy(cut).unsqueeze(1)

    with torch.no_grad():
        mono = {
            name: probabilities(model, rows(name, 512), 16000)
            for name in recordings.names()
        }
        half = probabilities(model, rows(HALF_RATE, 256, 2), 8000)
        several = [rows(name, 512) for name in BATCH]
        length = min(len(one) for one in several)
        together = torch.cat([one[:length] for one in several], dim=1)
        batch = probabilities(model, together, 16000)
    golden = {
        "torch": torch.__version__,
        "model_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "mono": mono,
        "half_rate": {HALF_RATE: half},
        "batch": dict(zip(BATCH, batch)),
    }
    target = Path(__file__).with_name("silero.json")
    text = json.dumps(golden, indent=1)
    # One line for each recording's numbers.
    text = text.replace("\n   ", " ").replace("\n  ]", " ]")
    target.write_text(text + "\n")
    counts = sum(len(values) for values in mono.values())
    print(f"{target}: {len(mono)} recordings, {counts} chunks")


if __name__ == "__main__":
    main()
