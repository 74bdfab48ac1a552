"""Makes gguf_blocks.json, weights.gguf and weights.safetensors.

    python tests/golden/make_weights.py

Needs the packages gguf 0.19, safetensors 0.8 and numpy.
"""

import json
from pathlib import Path

import gguf
import numpy as np
from gguf.quants import dequantize
from safetensors.numpy import save

HERE = Path(__file__).resolve().parent
# Types, and where in a block its scales (half floats) stand.
TYPES = {
    "Q4_0": (0,),
    "Q4_1": (0, 2),
    "Q5_0": (0,),
    "Q5_1": (0, 2),
    "Q8_0": (0,),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208,),
}


def blocks(kind, scales: tuple[int, ...], count: int) -> np.ndarray:
    """Blocks of random bits whose scales are ordinary numbers."""
    random = np.random.default_rng(int(kind))
    _, size = gguf.GGML_QUANT_SIZES[kind]
    out = random.integers(0, 256, (count, size), dtype=np.uint8)
    for at in scales:
        halves = random.normal(0, 0.05, count).astype(np.float16)
        out[:, at : at + 2] = halves[:, None].view(np.uint8)
    return out


def block_values() -> dict:
    """Each type's blocks and what they stand for, as bytes in hexadecimal."""
    out = {}
    for name, scales in TYPES.items():
        kind = gguf.GGMLQuantizationType[name]
        packed = blocks(kind, scales, 2 if name.endswith("K") else 4)
        floats = dequantize(packed, kind).astype("<f4")
        out[name] = {"blocks": packed.tobytes().hex(), "floats": floats.tobytes().hex()}
    return out


def write_gguf(path: Path) -> None:
    writer = gguf.GGUFWriter(str(path), "tiny")
    writer.add_uint32("tiny.block_count", 2)
    writer.add_float32("tiny.epsilon", 0.5)
    writer.add_bool("tiny.flag", True)
    writer.add_int64("tiny.negative", -(2**40))
    writer.add_array("tokenizer.tokens", ["<s>", "ü", "ab"])
    writer.add_array("tokenizer.scores", [0.0, -1.5, 2.0])
    writer.add_array("tokenizer.types", [1, 2, 3])
    writer.add_tensor("embed.weight", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("half", np.arange(5, dtype=np.float16))
    kind = gguf.GGMLQuantizationType.Q8_0
    packed = blocks(kind, (0,), 6).reshape(3, 68)
    writer.add_tensor("blk.0.q", packed, raw_dtype=kind)
    kind = gguf.GGMLQuantizationType.Q3_K
    packed = blocks(kind, (108,), 1)
    writer.add_tensor("blk.0.unknown", packed, raw_dtype=kind)
    writer.add_tensor("counts", np.arange(4, dtype=np.int32).reshape(2, 1, 2))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def safetensors() -> bytes:
    return save(
        {
            "b.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
            "b.bias": np.arange(3, dtype=np.float32),
            "a": np.arange(5, dtype=np.uint8),
            "half": np.arange(3, dtype=np.float16),
            "mask": np.array([True, False]),
            "scalar": np.array(7, dtype=np.int64),
            "double": np.ones((1, 2)),
            "empty": np.ones((0, 4), dtype=np.int16),
            'odd "name"\n\u00fc': np.arange(2, dtype=np.uint32),
        },
        {"format": "pt"},
    )


def main() -> None:
    text = json.dumps(block_values(), indent=1)
    (HERE / "gguf_blocks.json").write_text(text + "\n")
    write_gguf(HERE / "weights.gguf")
    (HERE / "weights.safetensors").write_bytes(safetensors())


if __name__ == "__main__":
    main()
