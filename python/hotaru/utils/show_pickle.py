"""Shows what a pickle holds and runs nothing of it.

``python -m hotaru.utils.show_pickle FILE``, or ``FILE@RECORD`` for a record of
an archive, where RECORD may be a pattern such as ``*/data.pkl``.
"""

from __future__ import annotations

import fnmatch
import pickle
import pprint
import sys
import zipfile

__all__ = ["DumpUnpickler", "FakeClass", "FakeObject", "main"]

_USAGE = """\
usage: show_pickle PICKLE_FILE
  PICKLE_FILE can be any of:
    path to a pickle file
    file.zip@member.pkl
    file.zip@*/pattern.*
      (shell glob pattern for members)
      (only first match will be shown)
"""


class FakeObject:
    """Stand-in for what a class or function of a pickle would have made.

    Attributes:
        module, name: of the class. args: it was called with. state: what it
            was given afterwards, or None.
    """

    def __init__(self, module: str, name: str, args: tuple) -> None:
        self.module = module
        self.name = name
        self.args = args
        self.state = None

    def __repr__(self) -> str:
        state = "" if self.state is None else f"(state={self.state!r})"
        return f"{self.module}.{self.name}{self.args!r}{state}"

    def __setstate__(self, state) -> None:
        self.state = state

    # A pickle adds items to what it takes for lists and dicts.

    def append(self, item) -> None:
        """Adds an item to the state."""
        self.extend([item])

    def extend(self, items) -> None:
        """Adds items to the state."""
        self.state = [*(self.state or []), *items]

    def __setitem__(self, key, value) -> None:
        self.state = {**(self.state or {}), key: value}

    @staticmethod
    def pp_format(printer, obj, stream, indent, allowance, context, level) -> None:
        """Writes it for a `pprint.PrettyPrinter`, whose table it stands in:
        the arguments and the state on lines of their own where they are long.
        """
        stream.write(f"{obj.module}.{obj.name}")
        rest = (allowance + 1, context, level)
        printer._format(obj.args, stream, indent + 1, *rest)
        if obj.state is not None:
            indent += printer._indent_per_level
            stream.write("(state=\n" + " " * indent)
            printer._format(obj.state, stream, indent, *rest)
            stream.write(")")


class FakeClass:
    """Stands for any class or function: calling it makes a FakeObject."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name
        # pickle asks the object for it, as it would a class.
        self.__new__ = self.fake_new

    def __repr__(self) -> str:
        return f"{self.module}.{self.name}"

    def __call__(self, *args) -> FakeObject:
        return FakeObject(self.module, self.name, args)

    def fake_new(self, *args) -> FakeObject:
        """Makes its object, asked as `__new__` is: with the class first."""
        return FakeObject(self.module, self.name, args[1:])


class DumpUnpickler(pickle._Unpickler):
    """An unpickler that makes only plain values and FakeObjects.

    Args:
        file: opened for reading bytes.
        catch_invalid_utf8: texts that are none become FakeObjects; otherwise
            they are a UnicodeDecodeError.
    """

    def __init__(self, file, *, catch_invalid_utf8: bool = False, **kwargs) -> None:
        super().__init__(file, **kwargs)
        self.catch_invalid_utf8 = catch_invalid_utf8

    def find_class(self, module: str, name: str) -> FakeClass:
        return FakeClass(module, name)

    def persistent_load(self, pid) -> FakeObject:
        return FakeObject("pers", "obj", (pid,))

    def get_extension(self, code: int) -> None:
        self.append(FakeClass("copyreg", f"extension_{code}"))

    def load_binunicode(self) -> None:
        """A text with four bytes of length."""
        size = int.from_bytes(self.read(4), "little")
        data = self.read(size)
        try:
            self.append(str(data, "utf-8", "surrogatepass"))
        except UnicodeDecodeError as error:
            if not self.catch_invalid_utf8:
                raise
            made = FakeObject("builtin", "UnicodeDecodeError", (str(error),))
            self.append(made)

    dispatch = {  # noqa: RUF012  (its protocol)
        **pickle._Unpickler.dispatch,
        pickle.BINUNICODE[0]: load_binunicode,
    }

    @classmethod
    def dump(cls, in_stream, out_stream=None):
        """Prints the value of a file to a stream, by default to the standard
        output; returns it.
        """
        value = cls(in_stream).load()
        _Printer(stream=out_stream).pprint(value)
        return value


class _Printer(pprint.PrettyPrinter):
    """Breaks the lines of FakeObjects, too."""

    _dispatch = {  # noqa: RUF012  (its protocol)
        **pprint.PrettyPrinter._dispatch,
        FakeObject.__repr__: FakeObject.pp_format,
    }


def main(argv: list[str], output_stream=None) -> int | None:
    """The command.

    Args:
        argv: its name and its argument.
        output_stream: where the text goes, by default the standard output.

    Raises:
        Exception: another number of arguments, unless it is the command's
            own, which then shows its usage and returns 2; no record that fits.
        OSError, zipfile.BadZipFile, pickle.UnpicklingError: of the file.
    """
    if len(argv) != 2:
        if output_stream is not None:
            raise Exception("Pass argv of length 2.")
        sys.stderr.write(_USAGE)
        return 2
    path, at, member = argv[1].partition("@")
    if not at:
        with open(path, "rb") as file:
            DumpUnpickler.dump(file, output_stream)
        return None
    with zipfile.ZipFile(path) as archive:
        names = [member]
        if "*" in member:
            names = fnmatch.filter(archive.namelist(), member)
        if not names:
            raise Exception(f"Could not find member matching {member} in {path}")
        with archive.open(names[0]) as file:
            DumpUnpickler.dump(file, output_stream)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv))
