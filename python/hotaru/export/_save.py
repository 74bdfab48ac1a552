"""`save`: `.pt2` files that PyTorch 2.13 loads."""

from __future__ import annotations

import io
import json
import os

from ._serialize import program_json, tensor_meta
from ._traced_program import TracedProgram
from ._values import facts_of

__all__ = ["save"]


def save(
    ep,
    f,
    *,
    extra_files: dict | None = None,
    opset_version=None,
    pickle_protocol: int = 2,
) -> None:
    """Writes a program that `export` made, to a path or a file that is open
    for writing bytes; PyTorch 2.13 loads it, and so does `load`.

    A file appears under its name when it is complete.

    Raises:
        TypeError: `ep` is no exported program. NotImplementedError: it was
            loaded from a file, or holds what files have no place for.
    """
    if not isinstance(ep, TracedProgram):
        from .exported_program import ExportedProgram

        if isinstance(ep, ExportedProgram):
            raise NotImplementedError(
                "export.save: a program that was loaded is not saved again; "
                "save its module with torch.jit.save, or its state_dict"
            )
        raise TypeError(
            "The 'ep' parameter must be an instance of 'ExportedProgram', got "
            f"'{type(ep).__name__}' instead."
        )
    if opset_version is not None:
        raise NotImplementedError(
            "export.save: opset_version is that of PyTorch 2.13; leave it out"
        )
    from pathlib import Path

    if isinstance(f, (str, bytes, os.PathLike)):
        _to_path(ep, Path(os.fsdecode(f)), extra_files or {})
        return
    name = Path(getattr(f, "name", "") or "archive").stem
    _write(ep, f, str(name), extra_files or {})


def _to_path(ep, path, extra: dict) -> None:
    from .._extension.new_file import new_file

    with new_file(path) as file:
        _write(ep, file, path.stem, extra)


def _write(ep: TracedProgram, file, name: str, extra: dict) -> None:
    from ..serialization import save as save_tensors
    from ..serialization._archive import Writer

    archive = Writer(file, name)

    def record(path: str, data) -> None:
        data = data.encode() if isinstance(data, str) else data
        archive.write_record(path, data, len(data))

    program = json.dumps(program_json(ep))
    for folder, kind, prefix, tensors in (
        ("weights", "model_weights_config", "weight", ep.state_dict),
        ("constants", "model_constants_config", "tensor", ep.constants),
    ):
        config = _tensors(archive, ep, f"data/{folder}", prefix, tensors)
        record(f"data/{folder}/{kind}.json", json.dumps({"config": config}))
    record("models/model.json", program)
    examples = io.BytesIO()
    save_tensors(ep.example_inputs, examples)
    record("data/sample_inputs/model.pt", examples.getvalue())
    for key, text in extra.items():
        record(f"extra/{key}", text)
    record("archive_format", "pt2")
    record("archive_version", "0")
    record(".data/version", "6\n")
    record("byteorder", "little")
    archive.write_end_of_file()


def _tensors(archive, ep, folder: str, prefix: str, tensors: dict) -> dict:
    """Writes memory once, whatever number of tensors have it."""
    config: dict = {}
    written: dict = {}
    parameters = set(ep.graph_signature.parameters)
    for name, tensor in tensors.items():
        held = tensor.detach()
        if held.layout is not tensor.layout or "strided" not in str(held.layout):
            raise NotImplementedError(
                f"export.save: '{name}' is a sparse tensor, which is not saved"
            )
        storage = held.cpu().untyped_storage()
        key = storage.data_ptr(), storage.nbytes(), held.dtype
        if key not in written or storage.nbytes() == 0:
            path = f"{prefix}_{len(written)}"
            written[key if storage.nbytes() else (name,)] = path, storage
            archive.write_record(f"{folder}/{path}", storage, storage.nbytes())
        else:
            path = written[key][0]
        facts = facts_of(held)
        facts.requires_grad = bool(tensor.requires_grad)
        config[name] = {
            "path_name": path,
            "is_param": name in parameters,
            "use_pickle": False,
            "tensor_meta": tensor_meta(facts, ep._trace_sizes),
        }
    return config
