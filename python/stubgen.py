"""Writes the package's type stubs from what the extension knows.

usage: stubgen.py FOLDER_OF_EXTENSION OUTPUT_FOLDER

Run by the build; the stubs are part of what is installed and of no commit. The
package is read beside this file, its extension from the folder that is named.
`made` in the output folder is newer than all stubs; `made.d` names the sources
that they were made from, for ninja.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import pathlib
import sys
import warnings

from stubs import write


def extension_in(folder: str):
    """The extension in a folder, as the one that the package has."""
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = pathlib.Path(folder, f"_C{suffix}")
        if path.exists():
            spec = importlib.util.spec_from_file_location("hotaru._C", path)
            sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise SystemExit(f"stubgen.py: no extension in {folder}")


def main() -> None:
    """Writes them all."""
    folder, output = sys.argv[1:]
    warnings.simplefilter("ignore")  # of deprecated names that are asked for
    out = pathlib.Path(output)
    read = write.write_stubs(extension_in(folder), out)
    names = " ".join(str(path).replace(" ", "\\ ") for path in read)
    (out / "made.d").write_text(f"{out / 'made'}: {names}\n", encoding="utf-8")
    (out / "made").touch()


if __name__ == "__main__":
    main()
