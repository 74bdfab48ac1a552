"""The files of a package as a tree."""

from __future__ import annotations

from .glob_group import GlobGroup, GlobPattern

__all__ = ["Directory"]


class Directory:
    """A file, or a folder with what is in it; its text draws the tree.

    Attributes:
        name: without the folders around. is_dir: whether it is a folder.
        children: of a folder, by their names.
    """

    def __init__(self, name: str, is_dir: bool) -> None:
        self.name = name
        self.is_dir = is_dir
        self.children: dict[str, Directory] = {}

    def _add_file(self, file_path: str) -> None:
        *folders, file = file_path.split("/")
        at = self
        for name in folders:
            at = at.children.setdefault(name, Directory(name, True))
        at.children[file] = Directory(file, False)

    def has_file(self, filename: str) -> bool:
        """Tells whether there is a file or folder of that path."""
        at = self
        for name in filename.split("/"):
            if name not in at.children:
                return False
            at = at.children[name]
        return True

    def __str__(self) -> str:
        return "".join(self._lines("", "─── ", "    "))

    def _lines(self, indent: str, branch: str, below: str):
        yield f"{indent}{branch}{self.name}\n"
        inner = indent + below
        order = sorted(
            self.children, key=lambda name: (not self._is_folder(name), name)
        )
        for name in order:
            child = self.children[name]
            if name == order[-1]:
                yield from child._lines(inner, "└── ", "    ")
            else:
                yield from child._lines(inner, "├── ", "│   ")

    def _is_folder(self, name: str) -> bool:
        return self.children[name].is_dir


def _create_directory_from_file_list(
    filename: str,
    file_list: list[str],
    include: GlobPattern = "**",
    exclude: GlobPattern = (),
) -> Directory:
    """The files that fit the patterns, below a folder named `filename`."""
    wanted = GlobGroup(include, exclude=exclude, separator="/")
    top = Directory(filename, True)
    for file in filter(wanted.matches, file_list):
        top._add_file(file)
    return top
