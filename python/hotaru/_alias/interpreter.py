"""Runs programs written for PyTorch: `import torch` gives hotaru.

`python -m hotaru SCRIPT [ARGS]` runs SCRIPT as `python SCRIPT [ARGS]` would,
but every import of `torch` or a part of it gives the hotaru module of the same
name: the same object, not a copy.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types

from . import install, is_installed

__all__ = ["install", "is_installed", "main"]

_USAGE = """\
usage: python -m hotaru SCRIPT [ARGS]
       python -m hotaru -m MODULE [ARGS]
       python -m hotaru -c CODE [ARGS]
       python -m hotaru - [ARGS]
       python -m hotaru alias [--remove]

Runs a program whose `import torch` gives hotaru. `alias` makes every program
of this environment such a one.
"""


def run_script(path: str, args: list[str]) -> None:
    """Runs the file `path` as the main program with `sys.argv[1:]` = `args`.

    A folder or a zip file is run by its `__main__.py`.
    """
    if _has_main(path):
        import runpy

        sys.argv = [path, *args]
        _set_first_path(path)
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        print(
            f"python -m hotaru: can't open file {os.path.abspath(path)!r}: "
            f"[Errno {error.errno}] {error.strerror}",
            file=sys.stderr,
        )
        sys.exit(2)
    sys.argv = [path, *args]
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    file_name = os.path.abspath(path)
    loader = importlib.machinery.SourceFileLoader("__main__", file_name)
    _run(source, file_name, __file__=file_name, __cached__=None, __loader__=loader)


def _has_main(path: str) -> bool:
    if path.endswith(".py"):
        return False
    import zipfile

    return os.path.isdir(path) or zipfile.is_zipfile(path)


def run_code(code: str, args: list[str]) -> None:
    """Runs `code` as `python -c` would."""
    sys.argv = ["-c", *args]
    _set_first_path("")
    _run(code, "<string>", __loader__=None)


def run_input(args: list[str]) -> None:
    """Runs what stands on the standard input as `python -` would."""
    sys.argv = ["-", *args]
    _set_first_path("")
    _run(sys.stdin.read(), "<stdin>", __loader__=None)


def run_module(name: str, args: list[str]) -> None:
    """Runs a module as `python -m` would."""
    import runpy

    sys.argv = [name, *args]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _set_first_path(directory: str) -> None:
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = directory


def _run(source: bytes | str, file_name: str, **attributes) -> None:
    """Executes `source` in a new module `__main__`.

    An exception is shown as the interpreter would, without the frames of this
    file, and ends the process with status 1.
    """
    main = types.ModuleType("__main__")
    main.__dict__.update(attributes, __builtins__=__builtins__, __annotations__={})
    sys.modules["__main__"] = main
    try:
        exec(compile(source, file_name, "exec", dont_inherit=True), main.__dict__)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Frame 0 is this function; a syntax error has no other.
        frames = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(frames), frames)
        sys.exit(1)


def main(args: list[str]) -> None:
    """The command `python -m hotaru`."""
    if not args or args[0] in ("-h", "--help"):
        print(_USAGE, end="", file=sys.stderr if not args else sys.stdout)
        sys.exit(0 if args else 2)
    if args[0] == "alias":
        from .environment import main as alias

        alias(args[1:])
        return
    runners = {"-m": run_module, "-c": run_code}
    if args[0] in runners:
        if len(args) == 1:
            print(f"python -m hotaru: {args[0]} needs an argument", file=sys.stderr)
            sys.exit(2)
        install()
        runners[args[0]](args[1], args[2:])
    elif args[0] == "-":
        install()
        run_input(args[1:])
    elif args[0].startswith("-"):
        print(f"python -m hotaru: unknown option {args[0]}", file=sys.stderr)
        print(_USAGE, end="", file=sys.stderr)
        sys.exit(2)
    else:
        install()
        run_script(args[0], args[1:])
