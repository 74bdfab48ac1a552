"""Files of `torch.save`: tensors, state dicts, and objects of any class."""

from __future__ import annotations

import io
import os
import pickle
import re
import warnings
from collections.abc import Callable

from .. import _C, _weights_only_unpickler
from ..storage._typed import TypedStorage
from . import _file_classes
from ._archive import Reader
from ._files import is_zipfile as _is_zipfile
from ._files import open_file_like as _open_file_like
from ._files import open_zipfile_reader as _open_zipfile_reader
from ._files import open_zipfile_writer as _open_zipfile_writer
from ._legacy import load_legacy, save_legacy
from ._loader import load_archive
from ._module_version import check_module_version_greater_or_equal, mkdtemp
from ._names import StorageType, _get_layout
from ._names import text_of as _maybe_decode_ascii
from ._options import (
    DEFAULT_PROTOCOL,
    MAP_SHARED,
    LoadEndianness,
    _serialization_tls,
    _Settings,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from ._pickler import Storages, dump
from ._places import (
    default_restore_location,
    location_tag,
    register_package,
    validate_cuda_device,
)
from ._weights import is_weights, load_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "LoadEndianness",
    "SourceChangeWarning",
    "StorageType",
    "_get_layout",
    "add_safe_globals",
    "check_module_version_greater_or_equal",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "mkdtemp",
    "register_package",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
    "validate_cuda_device",
]

# Values that `map_location` may have.
MAP_LOCATION = (
    Callable[[TypedStorage, str], TypedStorage]
    | _C.device
    | str
    | dict[str, str]
    | None
)

_TRUE = ("1", "y", "yes", "true")
_UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` "
    "argument in `torch.load` from `False` to `True`. Re-running `torch.load` "
    "with `weights_only` set to `False` will likely succeed, but it can result "
    "in arbitrary code execution. Do it only if you got the file from a "
    "trusted source."
)


class SourceChangeWarning(Warning):
    """The source of a class is not that of when the file was written."""


def add_safe_globals(safe_globals: list) -> None:
    """Lets `load` make objects of these classes and call these functions.

    Each is the class or function, or a pair of it and of the full name that
    files have for it.
    """
    _weights_only_unpickler._add_safe_globals(safe_globals)


def get_safe_globals() -> list:
    """Lists what was added by `add_safe_globals`."""
    return _weights_only_unpickler._get_safe_globals()


def clear_safe_globals() -> None:
    """Forgets what was added by `add_safe_globals`."""
    _weights_only_unpickler._clear_safe_globals()


class safe_globals(_weights_only_unpickler._safe_globals):  # noqa: N801
    """`add_safe_globals` for a with statement."""


def get_unsafe_globals_in_checkpoint(f) -> list[str]:
    """The names in a file that `load` refuses by default.

    Raises:
        ValueError: a file of another format than `save` writes by default.
    """
    allowed = {
        *_weights_only_unpickler._get_user_allowed_globals(),
        *_weights_only_unpickler._get_allowed_globals(),
    }
    with _open_file_like(f, "rb") as file:
        if not _is_zipfile(file):
            raise ValueError("Expected input to be a checkpoint from torch.save")
        with _open_zipfile_reader(file) as reader:
            if _is_torchscript(reader):
                raise ValueError(
                    "Expected input to be a checkpoint returned by torch.save "
                    "but got a torchscript checkpoint"
                )
            text = io.BytesIO(reader.get_record("data.pkl"))
            found = _weights_only_unpickler.get_globals_in_pkl(text)
    return list(found - allowed)


def save(
    obj,
    f,
    pickle_module=None,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Writes a value so that `torch.load` reads it.

    Args:
        obj: anything that pickle takes. Tensors that share memory do so when
            loaded; those of a GPU are copied, and go back there.
        f: a path, whose file appears when it is complete, or a file opened
            for writing bytes, of which only `write` and `flush` are called.
        pickle_module: whose Pickler is used, by default one like Python's.
        pickle_protocol: the protocol of pickle.

    Raises:
        TypeError, AttributeError, pickle.PicklingError: what pickle refuses.
        RuntimeError: memory that tensors of several dtypes share, a path
            whose folder is not there.
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a "
            "'write' attribute"
        )
    if not _use_new_zipfile_serialization:
        if _serialization_tls.skip_data:
            raise RuntimeError(
                "Cannot use skip_data=True with _use_new_zipfile_serialization=False"
            )
        with _open_file_like(f, "wb") as file:
            save_legacy(obj, file, pickle_module, pickle_protocol)
        return
    with _open_zipfile_writer(f) as writer:
        storages = Storages()
        text = io.BytesIO()
        dump(obj, text, storages, pickle_protocol, pickle_module)
        data = text.getvalue()
        writer.write_record("data.pkl", data, len(data))
        if not _disable_byteorder_record:
            writer.write_record("byteorder", "little", 6)
        for key, (storage, _) in storages.by_key.items():
            size = storage.nbytes()
            if _serialization_tls.skip_data:
                writer.write_record_metadata(f"data/{key}", size)
            else:
                writer.write_record(f"data/{key}", storage, size)


def load(
    f,
    map_location=None,
    pickle_module=None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args,
) -> Any:
    """Reads what `torch.save` wrote; runs nothing by default.

    Files of weights (safetensors, GGUF) give the dict of their tensors; see
    `hotaru.weights`.

    Args:
        f: a path, or a file opened for reading bytes that can seek.
        map_location: where tensors go, by default where they were saved from:
            a device or its name; a dict from names of devices to such; or a
            function of a storage on the CPU and the name of its device, which
            returns it, or its copy elsewhere, or ``None`` for the default.
        pickle_module: whose Unpickler is used, only with weights_only=False.
        weights_only: False makes objects of any class, which runs what the
            file says: only for files that one trusts. By default True unless
            pickle_module is given or the variable
            TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD is set.
        mmap: maps the file, which must be given by its path, so bytes are
            read when they are used; see `set_default_mmap_options`.
        pickle_load_args: for the Unpickler, as `encoding`.

    Raises:
        pickle.UnpicklingError: with weights_only, what is not allowed, and
            the text says how to allow it.
        RuntimeError: an archive that is broken, a device that this machine
            lacks, memory that cannot be mapped. FileNotFoundError: no such
            file. AttributeError, io.UnsupportedOperation: a file that cannot
            seek.
    """
    module, safe = _module_and_safety(pickle_module, weights_only)
    if mmap is None:
        mmap = _Settings.mmap
    if pickle_load_args and safe:
        warnings.warn(
            "pickle_load_args only works if `weights_only=False`.", stacklevel=2
        )
    pickle_load_args.setdefault("encoding", "utf-8")
    try:
        with _open_file_like(f, "rb") as file:
            if not _is_zipfile(file):
                if is_weights(file):
                    return load_weights(f, file, map_location)
                if mmap:
                    _refuse_mapping(f)
                return load_legacy(file, map_location, module, **pickle_load_args)
            start = file.tell()
            with _open_zipfile_reader(file) as reader:
                if _is_torchscript(reader):
                    return _load_script(file, start, map_location, safe)
                mapped = _mapped(f) if mmap else None
                return load_archive(
                    reader, map_location, module, mapped, **pickle_load_args
                )
    except pickle.UnpicklingError as error:
        if not safe:
            raise
        raise pickle.UnpicklingError(_explained(str(error))) from None


def _module_and_safety(pickle_module, weights_only):
    """Whose Unpickler reads a file, and whether it is the careful one."""
    safe = pickle_module is None if weights_only is None else weights_only
    force = os.getenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0").lower() in _TRUE
    name = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
    no = os.getenv(name, "0").lower() in _TRUE
    if force and no:
        raise RuntimeError(
            f"Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `{name}` should "
            "be set, but both were set."
        )
    if force:
        safe = True
    elif no and weights_only is None:
        warnings.warn(
            f"Environment variable {name} detected, since the`weights_only` "
            "argument was not explicitly passed to `torch.load`, forcing "
            "weights_only=False.",
            UserWarning,
            stacklevel=3,
        )
        safe = False
    if not safe:
        return pickle if pickle_module is None else pickle_module, False
    if pickle_module is not None:
        raise RuntimeError(
            "Can not safely load weights when explicit pickle_module is specified"
        )
    return _weights_only_unpickler, True


def _refuse_mapping(f) -> None:
    name = f"{f}, " if isinstance(f, str) else ""
    raise RuntimeError(
        "mmap can only be used with files saved with "
        f"`torch.save({name}_use_new_zipfile_serialization=True), please "
        "torch.save your checkpoint with this option in order to use mmap."
    )


def _mapped(f) -> _C.UntypedStorage:
    """All of a file as a storage."""
    if not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    shared = get_default_mmap_options() == MAP_SHARED
    path = os.fspath(f)
    return _C.UntypedStorage.from_file(path, shared, os.path.getsize(path))


def _is_torchscript(reader: Reader) -> bool:
    return reader.has_record("constants.pkl")


def _load_script(file, start: int, map_location, safe: bool):
    warnings.warn(
        "'torch.load' received a zip file that looks like a TorchScript "
        "archive dispatching to 'torch.jit.load' (call 'torch.jit.load' "
        "directly to silence this warning)",
        UserWarning,
        stacklevel=3,
    )
    if safe:
        raise RuntimeError(
            "Cannot use ``weights_only=True`` with TorchScript archives passed "
            f"to ``torch.load``. {_UNSAFE}"
        )
    from .. import jit

    file.seek(start)
    return jit.load(file, map_location=map_location)


def _explained(text: str) -> str:
    """The text of a refused file, with what can be done about it."""
    documentation = (
        "\n\nCheck the documentation of torch.load to learn more about types "
        "accepted by default with weights_only "
        "https://pytorch.org/docs/stable/generated/torch.load.html."
    )
    if re.search(r"GLOBAL (\S+) was not an allowed global by default.", text):
        return (
            "Weights only load failed. This file can still be loaded, to do so "
            "you have two options, \033[1mdo those steps only if you trust the "
            f"source of the checkpoint\033[0m. \n\t(1) {_UNSAFE}\n\t(2) "
            "Alternatively, to load with `weights_only=True` please check the "
            "recommended steps in the following error message.\n\t"
            f"WeightsUnpickler error: {text}{documentation}"
        )
    if text.startswith("``torch.nested``"):
        return f"Weights only load failed. {text}{documentation}"
    head = f"Weights only load failed. {_UNSAFE}\n"
    if not re.search(r"whose module (\S+) is blocked", text):
        head += (
            "Please file an issue with the following so that we can make "
            "`weights_only=True` compatible with your use case: "
            "WeightsUnpickler error: "
        )
    return f"{head}\n\n{text}{documentation}"


def normalize_storage_type(storage_type: type) -> type:
    """The class of that name that the package offers."""
    import hotaru

    return getattr(hotaru, storage_type.__name__)


def _typed(storage) -> TypedStorage:
    return storage if isinstance(storage, TypedStorage) else storage._typed()
