"""Compiled modules in packages: all of them share code and storages.

A package has `.data/ts_code/N/data.pkl` and `constants.pkl` of each module,
`.data/ts_code/code/` with the programs, `.data/K.storage` with the numbers.
"""

from __future__ import annotations

import io
import tokenize

from .. import _C
from .._extension.grad_mode import no_grad
from ..serialization._archive import Reader, Writer
from ._script_pickles import live_tensors, rewritten, storage_keys

_ROOT = ".data/ts_code/"
_CODE = _ROOT + "code/"
_PROGRAM = "__torch__"
_PICKLES = ("data", "constants")


class ScriptWriter:
    """Writes compiled modules into a package.

    Args:
        writer: where records are written.
        storages: the package's `WrittenStorages`.
    """

    def __init__(self, writer, storages) -> None:
        self._writer = writer
        self._storages = storages
        self._code: dict[str, bytes] = {}
        self._count = 0
        self._renamed = 0

    def serialize(self, module) -> int:
        """Writes a module; returns its number.

        RuntimeError, TypeError: what `jit.save` refuses.
        """
        archive = Reader(io.BytesIO(module.save_to_buffer()))
        self._writer.set_min_version(_version(archive))
        code = {
            name.removeprefix("code/"): archive.get_record(name)
            for name in archive.get_all_records()
            if name.startswith("code/")
        }
        program = self._fitting_name(code)
        self._code.update(_renamed(code, program))
        number, self._count = self._count, self._count + 1
        data = archive.get_record("data.pkl")
        live = {record.key: tensor for record, tensor in live_tensors(data, module._c)}
        for kind in _PICKLES:
            known = live if kind == "data" else {}
            data = self._moved(archive, kind, known, program)
            name = f"{_ROOT}{number}/{kind}.pkl"
            self._writer.write_record(name, data, len(data))
        return number

    def write_files(self) -> None:
        """Writes the programs of all modules."""
        for path, text in self._code.items():
            self._writer.write_record(_CODE + path, text, len(text))

    def _fitting_name(self, code: dict[str, bytes]) -> str:
        """A name under which a program stands beside those that are there."""
        program = _PROGRAM
        while any(
            self._code.get(path, text) != text
            for path, text in _renamed(code, program).items()
        ):
            program = f"{_PROGRAM}.___torch_package_program_{self._renamed}"
            self._renamed += 1
        return program

    def _moved(self, archive: Reader, kind: str, live, program: str) -> bytes:
        """A pickle that refers to storages and classes of the package."""
        keys: dict[str, str] = {}

        def key(old: str) -> str:
            if old not in keys:
                if old in live:
                    storage = live[old].detach().untyped_storage()
                    number = self._storages.number(storage)
                else:
                    data = archive.get_record(f"{kind}/{old}")
                    number = self._storages.add_bytes(data)
                keys[old] = f"{number}.storage"
            return keys[old]

        def name(old: str) -> str:
            return program + old.removeprefix(_PROGRAM)

        return rewritten(archive.get_record(f"{kind}.pkl"), key, name)


def _version(archive) -> int:
    for name in (".data/version", "version"):
        if archive.has_record(name):
            return int(archive.get_record(name))
    return 0


def _renamed(code: dict[str, bytes], program: str) -> dict[str, bytes]:
    """The files of a program whose names begin otherwise."""
    if program == _PROGRAM:
        return code
    folder = program.replace(".", "/")
    return {
        folder + path.removeprefix(_PROGRAM): _with_names(text, program)
        for path, text in code.items()
        if path.endswith(".py")
    }


def _with_names(text: bytes, program: str) -> bytes:
    """A source text in which names begin otherwise; texts in it stay."""
    lines = text.decode().splitlines(keepends=True)
    tokens = tokenize.generate_tokens(iter(lines).__next__)
    places = [
        token.start
        for token in tokens
        if token.type == tokenize.NAME and token.string == _PROGRAM
    ]
    for row, column in reversed(places):
        line = lines[row - 1]
        end = column + len(_PROGRAM)
        lines[row - 1] = line[:column] + program + line[end:]
    return "".join(lines).encode()


def read_module(reader, number: str, storage):
    """The native module of a number in a package.

    Args:
        reader: of the package's records.
        storage: a function of a key and a number of bytes, with the storage.

    Raises:
        RuntimeError: what is not in the package or not valid.
    """
    root = f"{_ROOT}{number}/"
    pickles = {kind: reader.get_record(f"{root}{kind}.pkl") for kind in _PICKLES}
    native = _load(reader, pickles)
    with no_grad():
        for record, tensor in live_tensors(pickles["data"], native):
            plain = tensor.detach()
            shared = storage(record.key, plain.untyped_storage().nbytes())
            tensor.set_(shared, record.offset, record.shape, record.stride)
    return native


def _load(reader, pickles: dict[str, bytes]):
    """Loads what `jit.save` would have written of the module."""
    file = io.BytesIO()
    writer = Writer(file)
    for kind, data in pickles.items():
        writer.write_record(f"{kind}.pkl", data, len(data))
        for key in storage_keys(data):
            numbers = reader.get_record(f".data/{key}")
            writer.write_record(f"{kind}/{key}", numbers, len(numbers))
    for name in reader.get_all_records():
        if name.startswith(_CODE):
            text = reader.get_record(name)
            path = "code/" + name.removeprefix(_CODE)
            writer.write_record(path, text, len(text))
    version = f"{max(_version(reader), 3)}\n"
    writer.write_record("version", version, len(version))
    writer.write_end_of_file()
    return _C._script_load_bytes(file.getvalue(), "<package>", {})
