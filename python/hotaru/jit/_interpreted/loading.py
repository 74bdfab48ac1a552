"""Archives that Python runs, read."""

from __future__ import annotations

import contextlib
import io
import zipfile

from .objects import InterpretedModule
from .pickles import Reader
from .source import Code

# Most bytes of code, beyond which the native loader refuses an archive.
_LEAST, _TIMES = 80 << 20, 32


def _opened(file) -> zipfile.ZipFile:
    given = io.BytesIO(file) if isinstance(file, bytes) else file
    return zipfile.ZipFile(given)


def _texts(archive: zipfile.ZipFile):
    """Names and bytes of the code's files. RuntimeError: too many bytes."""
    infos = [
        info
        for info in archive.infolist()
        if "/code/" in info.filename and info.filename.endswith(".py")
    ]
    size = sum(info.compress_size for info in infos)
    if sum(info.file_size for info in infos) > _LEAST + _TIMES * size:
        raise RuntimeError("the archive's code is too large")
    for info in infos:
        yield info.filename, archive.read(info)


class Archive:
    """Parts of an archive that are kept to save it again."""

    def __init__(self, version: bytes, texts: dict) -> None:
        self.version = version
        self.texts = texts


def load_archive(file, extra: dict) -> InterpretedModule:
    """The module of an archive; `extra` receives the contents of its keys.

    RuntimeError: the archive is damaged, or has what Python does not run.
    """
    try:
        with _opened(file) as archive:
            return _loaded(archive, extra)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise RuntimeError(f"a damaged archive: {error}") from error


def program_of(file) -> Code:
    """The code of an archive with its constants."""
    with _opened(file) as archive:
        return _program(archive)[0]


def _program(archive: zipfile.ZipFile) -> tuple:
    """The code, what reads a record, and what reads a pickle."""
    root = archive.namelist()[0].partition("/")[0]

    def record(name: str) -> bytes:
        return archive.read(f"{root}/{name}")

    texts, sources = {}, {}
    start = f"{root}/code/"
    for name, text in _texts(archive):
        if name.startswith(start):
            short = name[len(start) :]
            texts[short] = text
            module = short.removesuffix(".py").replace("/", ".")
            sources[module] = text.decode()
    code = Code(sources)
    names = set(archive.namelist())
    place = ".data/version" if f"{root}/.data/version" in names else "version"
    code.archive = Archive(record(place), texts)

    def read(name: str, constants=()):
        reader = Reader(
            record(f"{name}.pkl"),
            code.find,
            lambda key: record(f"{name}/{key}"),
            constants,
        )
        return _checked(reader.load, name)

    if f"{root}/constants.pkl" in names:
        code.constants = read("constants")
    return code, record, read


def _loaded(archive: zipfile.ZipFile, extra: dict) -> InterpretedModule:
    code, record, read = _program(archive)
    module = read("data", code.constants)
    if not isinstance(module, InterpretedModule):
        raise RuntimeError("data.pkl does not hold a module")
    for name in extra:
        with contextlib.suppress(KeyError):
            extra[name] = record(f"extra/{name}")
    return module


def _checked(load, name: str):
    import pickle

    try:
        return load()
    except (
        pickle.UnpicklingError,
        ValueError,
        TypeError,
        IndexError,
        AttributeError,
        OverflowError,
    ) as error:
        raise RuntimeError(f"{name}.pkl is damaged: {error}") from error


def load_interpreted(file, extra: dict):
    """The module of an archive that Python runs, as Python sees it."""
    return load_archive(file, extra).face()


def program_module(qualified: str, text: str, values: dict):
    """A module of the class that a text defines, with these attributes."""
    module = qualified.rpartition(".")[0]
    code = Code({module: text})
    code.archive = Archive(b"3", {module.replace(".", "/") + ".py": text.encode()})
    kind = code.find(qualified)
    made = kind.__new__(kind)
    made.values = dict(values)
    return made.face()
