"""Makes the exported programs in pt2/ and what PyTorch computes with them.

    python tests/golden/make_pt2.py     # with PyTorch 2.13

They are entries of the conformance's table (tests/conformance/export), without
what a file says of the machine that made it.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance" / "export"))

import export_oracle as oracle  # noqa: E402
import torch  # noqa: E402
from export_table import entries  # noqa: E402

# Programs, and whether in training IR or decomposed.
CHOSEN = (
    "bn_train",
    "cond",
    "counter.core",
    "items",
    "lstm",
    "numbers",
    "rows",
    "shared",
    "trees",
)
ALIGNMENT = 64
DATE = (1980, 1, 1, 0, 0, 0)


def plain_graph(graph: dict) -> None:
    """Takes stack traces out of a graph and those in it."""
    for node in graph["nodes"]:
        node["metadata"] = {}
        for given in node["inputs"]:
            if "as_graph" in given["arg"]:
                plain_graph(given["arg"]["as_graph"]["graph"])


def rewrite(path: Path, out: Path) -> None:
    """Copies an archive without traces and times; records stay aligned."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("models/model.json"):
                program = json.loads(data)
                plain_graph(program["graph_module"]["graph"])
                text = json.dumps(program, separators=(",", ":"))
                data = text.encode()
            elif name.endswith("serialization_id"):
                data = b"0" * len(data)
            info = zipfile.ZipInfo(name, DATE)
            begin = new.fp.tell() + 30 + len(name)
            padding = -(begin + 4) % ALIGNMENT
            info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
            new.writestr(info, data)


def old_layout(path: Path, out: Path) -> None:
    """The archive as PyTorch 2.5 to 2.7 would have laid it out."""
    program = torch.export.load(path)
    pickles = {
        "serialized_state_dict.pt": dict(program.state_dict),
        "serialized_constants.pt": dict(program.constants),
        "serialized_example_inputs.pt": program.example_inputs,
    }
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        text = old.read(f"{path.stem}/models/model.json")
        records = {"version": b"7.3", "serialized_exported_program.json": text}
        for name, value in pickles.items():
            buffer = io.BytesIO()
            torch.save(value, buffer)
            records[name] = buffer.getvalue()
        for name, data in records.items():
            new.writestr(zipfile.ZipInfo(name, DATE), data)


def main() -> None:
    folder = HERE / "pt2"
    folder.mkdir(exist_ok=True)
    made = folder / "made"
    made.mkdir(exist_ok=True)
    names = {name.removesuffix(".core") for name in CHOSEN}
    for entry in entries():
        if entry.name in names:
            oracle.write(entry, made)
    for name in CHOSEN:
        rewrite(made / f"{name}.pt2", folder / f"{name}.pt2")
        expected = (made / f"{name}.expected").read_bytes()
        (folder / f"{name}.expected").write_bytes(expected)
    old_layout(folder / "shared.pt2", folder / "old_layout.pt2")
    for path in made.iterdir():
        path.unlink()
    made.rmdir()


if __name__ == "__main__":
    main()
