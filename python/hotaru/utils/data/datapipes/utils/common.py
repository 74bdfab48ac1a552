"""Functions that pipes apply, and files that they open."""

from __future__ import annotations

import fnmatch
import functools
import inspect
import os
import warnings
from collections.abc import Callable, Iterable
from typing import ClassVar

__all__ = [
    "StreamWrapper",
    "get_file_binaries_from_pathnames",
    "get_file_pathnames_from_root",
    "match_masks",
    "validate_input_col",
    "validate_pathname_binary_tuple",
]


def check_pipes(datapipes: tuple, kind: type) -> None:
    """ValueError for none, TypeError for what is no pipe of the kind."""
    if not datapipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(pipe, kind) for pipe in datapipes):
        raise TypeError(f"Expected all inputs to be `{kind.__name__}`")


def check_batch_size(size: int) -> None:
    if size <= 0:
        raise AssertionError("Batch size is required to be larger than 0!")


def validate_input_col(fn: Callable, input_col) -> None:
    """Raises ValueError unless `fn` takes as many arguments as there are
    columns, None being one; functions without a signature may.
    """
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:
        return
    count = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    places = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    inner = fn.func if isinstance(fn, functools.partial) else fn
    name = getattr(inner, "__name__", repr(inner))
    needed = [
        p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty
    ]
    if needed:
        raise ValueError(
            f"The function {name} takes {len(needed)} non-default keyword-only "
            "parameters, which is not allowed."
        )
    more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if len(parameters) < count and not more:
        raise ValueError(
            f"The function {name} takes {len(parameters)} parameters, but "
            f"{count} are required."
        )
    too_few = len(places) < count and not more
    if too_few or any(p.default is p.empty for p in places[count:]):
        raise ValueError(
            f"The function {name} takes {len(places)} positional parameters, "
            f"but {count} are required."
        )


def check_function(fn) -> None:
    """Warns of functions that pickle refuses; TypeError for no function."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    fn = fn.func if isinstance(fn, functools.partial) else fn
    if _is_local(fn):
        kind = "Local"
    elif getattr(fn, "__name__", "") == "<lambda>":
        kind = "Lambda"
    else:
        return
    warnings.warn(
        f"{kind} function is not supported by pickle, please use regular "
        "python function or functools.partial instead.",
        stacklevel=3,
    )


def _is_local(fn) -> bool:
    if hasattr(fn, "__code__"):
        return bool(fn.__code__.co_flags & inspect.CO_NESTED)
    named = fn if hasattr(fn, "__qualname__") else type(fn)
    return "<locals>" in named.__qualname__


def columns_of(fn: Callable, data, input_col):
    """`fn` of the data, or of those of its columns."""
    if input_col is None:
        return fn(data)
    if isinstance(input_col, (list, tuple)):
        return fn(*(data[column] for column in input_col))
    return fn(data[input_col])


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Tells whether the name fits one of the patterns, or there are none."""
    masks = [masks] if isinstance(masks, str) and masks else masks
    return not masks or any(fnmatch.fnmatch(name, mask) for mask in masks)


def get_file_pathnames_from_root(
    root: str,
    masks: str | list[str],
    recursive: bool = False,
    abspath: bool = False,
    non_deterministic: bool = False,
) -> Iterable[str]:
    """Paths of the files in a folder whose names fit `masks`, in order of
    their names unless `non_deterministic`; of a file its own.

    Warns and raises OSError for a folder that cannot be read.
    """

    def fail(error: OSError):
        warnings.warn(f"{error.filename} : {error.strerror}", stacklevel=2)
        raise error

    placed = os.path.abspath if abspath else str
    if os.path.isfile(root):
        if match_masks(os.path.basename(root), masks):
            yield placed(root)
        return
    for folder, folders, files in os.walk(root, onerror=fail):
        if not non_deterministic:
            folders.sort()
            files.sort()
        for name in files:
            if match_masks(name, masks):
                yield os.path.join(placed(folder), name)
        if not recursive:
            return


def get_file_binaries_from_pathnames(
    pathnames: Iterable, mode: str, encoding: str | None = None
):
    """Pairs of a path and its open file. TypeError for paths that are none."""
    mode = f"r{mode}" if mode in ("b", "t") else mode
    for path in pathnames if isinstance(pathnames, Iterable) else [pathnames]:
        if not isinstance(path, str):
            raise TypeError(f"Expected string type for pathname, but got {type(path)}")
        stream = open(path, mode, encoding=encoding)  # noqa: SIM115
        yield path, StreamWrapper(stream)


def validate_pathname_binary_tuple(data) -> None:
    """Raises TypeError unless it is a pair of a path and an open file."""
    import io

    if not isinstance(data, tuple):
        raise TypeError(
            f"pathname binary data should be tuple type, but it is type {type(data)}"
        )
    if len(data) != 2:
        raise TypeError(
            f"pathname binary stream tuple length should be 2, but got {len(data)}"
        )
    if not isinstance(data[0], str):
        raise TypeError(
            "pathname within the tuple should have string type pathname, but "
            f"it is type {type(data[0])}"
        )
    if not isinstance(data[1], (io.IOBase, StreamWrapper)):
        raise TypeError(
            "binary stream within the tuple should have IOBase orits "
            f"subclasses as type, but it is type {type(data[1])}"
        )


class StreamWrapper:
    """An open file that is closed when nobody has it any more.

    With a parent (an archive that the file is in) that was told `autoclose`,
    the parent is closed with the last of its children.
    """

    session_streams: ClassVar[dict] = {}
    debug_unclosed_streams = False

    def __init__(self, file_obj, parent_stream=None, name=None) -> None:
        if not isinstance(parent_stream, (StreamWrapper, type(None))):
            raise RuntimeError(
                "Parent stream should be StreamWrapper, "
                f"{type(parent_stream)} was given"
            )
        self.file_obj, self.name = file_obj, name
        self.child_counter, self.close_on_last_child = 0, False
        self.parent_stream, self.closed = parent_stream, False
        if parent_stream is not None:
            parent_stream.child_counter += 1
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams[self] = 1

    @classmethod
    def close_streams(cls, v, depth: int = 0) -> None:
        """Closes all that are in nested dicts, lists and tuples."""
        if depth > 10:
            return
        if isinstance(v, StreamWrapper):
            v.close()
        elif isinstance(v, (dict, list, tuple)):
            for item in v.values() if isinstance(v, dict) else v:
                cls.close_streams(item, depth + 1)

    def __getattr__(self, name: str):
        return getattr(self.__dict__["file_obj"], name)

    def close(self, *args, **kwargs) -> None:
        """Closes the file, once."""
        if self.closed:
            return
        self.closed = True
        StreamWrapper.session_streams.pop(self, None)
        parent = self.parent_stream
        if parent is not None:
            parent.child_counter -= 1
            if parent.child_counter == 0 and parent.close_on_last_child:
                parent.close()
        if hasattr(self.file_obj, "close"):
            self.file_obj.close(*args, **kwargs)

    def autoclose(self) -> None:
        """Closes it with its last child, or now if it has none."""
        self.close_on_last_child = True
        if self.child_counter == 0:
            self.close()

    def __dir__(self):
        return sorted({*vars(self), *vars(StreamWrapper), *dir(self.file_obj)})

    def __del__(self) -> None:
        if not self.__dict__.get("closed", True):
            self.close()

    def __iter__(self):
        yield from self.file_obj

    def __next__(self):
        return next(self.file_obj)

    def __repr__(self) -> str:
        named = "" if self.name is None else f"{self.name},"
        return f"StreamWrapper<{named}{self.file_obj!r}>"

    def __getstate__(self):
        return self.file_obj

    def __setstate__(self, obj) -> None:
        self.__init__(obj)
