"""Modules, whose parameters may share memory, to safetensors files and back."""

from __future__ import annotations

import os

from .. import _C
from ._open import load_file
from ._save import extent, groups_in_memory, save_file


def save_model(
    model,
    filename: str | os.PathLike,
    metadata: dict[str, str] | None = None,
    force_contiguous: bool = True,
) -> None:
    """Writes a module's state; of tensors with memory in common, one.

    Args:
        model: a module.
        filename: the file's path.
        metadata: texts to go with it. The names that are left out are added,
            each with the one that stands for it.
        force_contiguous: writes tensors of other strides row-major, too.

    Raises:
        RuntimeError: tensors with memory in common of which none covers all.
    """
    state = model.state_dict()
    texts = dict(metadata or {})
    for kept, dropped in _duplicates(state, ()).items():
        for name in dropped:
            texts.setdefault(name, kept)
            del state[name]
    if force_contiguous:
        state = {name: tensor.contiguous() for name, tensor in state.items()}
    save_file(state, filename, texts)


def load_model(
    model,
    filename: str | os.PathLike,
    strict: bool = True,
    device: str | int = "cpu",
    *,
    backend: str = "mmap",
) -> tuple[list[str], list[str]]:
    """Reads what `save_model` wrote into a module.

    Args:
        model: a module of the same structure.
        filename: the file's path.
        strict: names that lack or are too many are an error.
        device: where tensors are read to, before they are copied.
        backend: as for `load_file`.

    Returns:
        The names that the file lacks, and those that the module lacks.
    """
    state = load_file(filename, device, backend=backend)
    duplicates = _duplicates(model.state_dict(), state)
    missing, unexpected = model.load_state_dict(state, strict=False)
    missing, unexpected = set(missing), list(unexpected)
    for dropped in duplicates.values():
        for name in dropped:
            if name in missing:
                missing.discard(name)
            else:
                unexpected.append(name)
    if strict and (missing or unexpected):
        parts = [f"Error(s) in loading state_dict for {type(model).__name__}:"]
        for what, names in (("Missing", missing), ("Unexpected", unexpected)):
            if names:
                quoted = ", ".join(f'"{name}"' for name in sorted(names))
                parts.append(f"    {what} key(s) in state_dict: {quoted}")
        raise RuntimeError("\n".join(parts))
    return sorted(missing), unexpected


def _duplicates(state: dict[str, _C.Tensor], preferred) -> dict[str, list[str]]:
    """Groups tensors with memory in common: the one to keep and the others.

    Args:
        state: tensors by name.
        preferred: names to keep rather than others.
    """
    out = {}
    for names in groups_in_memory(state):
        if len(names) == 1:
            continue
        complete = sorted(name for name in names if _is_complete(state[name]))
        if not complete:
            raise RuntimeError(
                f"none of {sorted(names)}, which share memory, covers all of "
                "it, so none can be saved for the others"
            )
        kept = next((n for n in complete if n in preferred), complete[0])
        out[kept] = sorted(name for name in names if name != kept)
    return out


def _is_complete(tensor: _C.Tensor) -> bool:
    storage = tensor.untyped_storage()
    begin, end = extent(tensor)
    return begin == storage.data_ptr() and end - begin == storage.nbytes()
