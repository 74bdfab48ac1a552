"""Packages: exported programs in files, compiled when they are loaded.

A package of one program is what `torch.export.save` writes; one of several holds
such files by name. PyTorch's hold a library that its compiler made of a program.
"""

from __future__ import annotations

import io
import logging
import os
import tempfile
import zipfile

from ... import no_grad
from ...export import ExportedProgram, load, save
from ...export._traced_program import TracedProgram
from ...graphs import compile as compiled
from ...serialization._archive import Writer

__all__ = ["AOTICompiledModel", "load_package", "package_aoti"]

logger = logging.getLogger(__name__)

_PYTORCHS = (
    "{}: this package holds a shared library that PyTorch's compiler made for its own "
    "run time, which hotaru has not. In PyTorch write the program instead, with "
    "torch.export.save(exported_program, path): torch.export.load reads it here, and "
    "torch._inductor.aoti_compile_and_package makes a package of it"
)
_FOLDER = "programs/"


class AOTICompiledModel:
    """A program from a package: called as its module, without gradients."""

    def __init__(self, loader: ExportedProgram, device=None) -> None:
        self.loader = loader
        self._module = loader.module()
        if device is not None:
            self._module.to(device)
        self._device = device
        self._run = compiled(self._module)

    def __call__(self, *args, **kwargs):
        with no_grad():
            return self._run(*args, **kwargs)

    def _state(self) -> dict:
        return {
            **dict(self._module.named_parameters()),
            **dict(self._module.named_buffers()),
        }

    def get_metadata(self) -> dict[str, str]:
        """Facts of the package: where it runs."""
        tensors = list(self._state().values())
        place = tensors[0].device.type if tensors else str(self._device or "cpu")
        return {"AOTI_DEVICE_KEY": place}

    def get_constant_fqns(self) -> list[str]:
        """Names of parameters and buffers."""
        return list(self._state())

    def load_constants(
        self,
        constants_map: dict,
        *,
        check_full_update: bool,
        user_managed: bool = False,
        allow_h2d_copy: bool = False,
    ) -> None:
        """Copies tensors into parameters and buffers, by name.

        Args:
            constants_map: them.
            check_full_update: whether all have to be there.
            user_managed, allow_h2d_copy: taken; tensors are copied, from
                wherever they are.

        RuntimeError: a name that is missing, or of nothing here; a shape or a
        dtype that differs.
        """
        state = self._state()
        missing = [name for name in state if name not in constants_map]
        if check_full_update and missing:
            raise RuntimeError(f"load_constants: no tensor for {', '.join(missing)}")
        for name, tensor in constants_map.items():
            known = state.get(name)
            if known is None:
                raise RuntimeError(f"load_constants: there is no constant '{name}'")
            if (known.shape, known.dtype) != (tensor.shape, tensor.dtype):
                raise RuntimeError(
                    f"load_constants: '{name}' is {known.dtype} of "
                    f"{tuple(known.shape)}, not {tensor.dtype} of {tuple(tensor.shape)}"
                )
        with no_grad():
            for name, tensor in constants_map.items():
                state[name].copy_(tensor)

    def __deepcopy__(self, memo):
        logger.warning(
            "AOTICompiledModel deepcopy warning: AOTICompiledModel.loader is not "
            "deepcopied."
        )
        return AOTICompiledModel(self.loader, self._device)


def write_program(program: ExportedProgram, file) -> None:
    """Writes a program: one that was loaded as the file that it is of."""
    if isinstance(program, TracedProgram):
        save(program, file)
        return
    source = program._source()
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as before:
            data = before.read()
    else:
        data = source.getvalue()
    if hasattr(file, "write"):
        file.write(data)
        return
    with open(file, "wb") as made:
        made.write(data)


def fresh_path() -> str:
    """Path of a package that was given none."""
    return os.path.join(tempfile.mkdtemp(prefix="hotaru_aoti_"), "model.pt2")


def _data(files) -> bytes:
    """The program's file among those that `aot_compile` gave."""
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    for path in paths:
        if os.fspath(path).endswith(".pt2"):
            with open(path, "rb") as file:
                return file.read()
    raise RuntimeError(
        f"package_aoti: {paths} has no .pt2 file that torch._inductor.aot_compile made"
    )


def package_aoti(archive_file, aoti_files):
    """Writes a package. Returns `archive_file`.

    Args:
        archive_file: a path, or a file that is open for writing bytes.
        aoti_files: what `aot_compile` gave; or that by the models' names.
    """
    if isinstance(aoti_files, dict):
        made = io.BytesIO()
        archive = Writer(made, "package")
        for name, files in aoti_files.items():
            data = _data(files)
            archive.write_record(f"{_FOLDER}{name}.pt2", data, len(data))
        archive.write_end_of_file()
        data = made.getvalue()
    else:
        data = _data(aoti_files)
    if hasattr(archive_file, "write"):
        archive_file.write(data)
        return archive_file
    with open(archive_file, "wb") as file:
        file.write(data)
    return archive_file


def load_package(
    path,
    model_name: str = "model",
    run_single_threaded: bool = False,
    num_runners: int = 1,
    device_index: int = -1,
) -> AOTICompiledModel:
    """Loads a program of a package, to be called.

    Args:
        path: the package: a path, or a file opened for reading bytes.
        model_name: which program, of several.
        run_single_threaded, num_runners: taken, and change nothing.
        device_index: the GPU that it runs on; -1: where its tensors are.

    RuntimeError: it is PyTorch's, which holds machine code; or there is no such
    program.
    """
    held = None
    if isinstance(path, (str, os.PathLike)):
        os.stat(path)
        shown = os.fspath(path)
    else:
        path.seek(0)
        shown, held = str(getattr(path, "name", "<bytes>")), path.read()
        path = io.BytesIO(held)
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            inner = next(
                (n for n in names if n.endswith(f"{_FOLDER}{model_name}.pt2")), None
            )
            if inner is not None:
                held = archive.read(inner)
    except zipfile.BadZipFile as error:
        raise RuntimeError(f"{shown}: not a package: {error}") from error
    if any("data/aotinductor/" in name for name in names):
        raise RuntimeError(_PYTORCHS.format(shown))
    several = any(f"/{_FOLDER}" in name for name in names)
    if inner is None and (several or model_name != "model"):
        raise RuntimeError(f"Model {model_name} not found in package")
    program = load(path if held is None else io.BytesIO(held))
    device = f"cuda:{device_index}" if device_index >= 0 else None
    return AOTICompiledModel(program, device)
