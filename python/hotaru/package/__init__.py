"""Programs and their data in one file, loaded apart from those installed.

A package holds source code, pickles and other records. `PackageExporter`
collects the modules that these need by the patterns it was given;
`PackageImporter` runs them in names of their own, so several packages with
modules of one name live side by side. The files are PyTorch's, both ways.
"""

from . import (
    analyze,
    file_structure_representation,
    find_file_dependencies,
    glob_group,
    importer,
    package_exporter,
    package_importer,
)
from .analyze.is_from_package import is_from_package
from .file_structure_representation import Directory
from .glob_group import GlobGroup
from .importer import (
    Importer,
    ObjMismatchError,
    ObjNotFoundError,
    OrderedImporter,
    sys_importer,
)
from .package_exporter import EmptyMatchError, PackageExporter, PackagingError
from .package_importer import PackageImporter

__all__ = [
    "Directory",
    "EmptyMatchError",
    "GlobGroup",
    "Importer",
    "ObjMismatchError",
    "ObjNotFoundError",
    "OrderedImporter",
    "PackageExporter",
    "PackageImporter",
    "PackagingError",
    "analyze",
    "file_structure_representation",
    "find_file_dependencies",
    "glob_group",
    "importer",
    "is_from_package",
    "package_exporter",
    "package_importer",
    "sys_importer",
]
