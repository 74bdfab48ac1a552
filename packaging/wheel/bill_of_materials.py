"""The list of what is linked into a wheel, as CycloneDX (PEP 770), and licences."""

import hashlib
import json
import re
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Part:
    """A project whose code is in the wheel's binaries."""

    name: str
    licence: str  # as SPDX names it
    package: str  # Debian's, or "" for one of PyPI
    of: str  # what of it is there


PARTS = (
    Part("zlib", "Zlib", "zlib1g-dev", "linked statically"),
    Part("highway", "Apache-2.0", "libhwy-dev", "headers"),
    Part("rapidjson", "MIT", "rapidjson-dev", "headers"),
    Part("protozero", "BSD-2-Clause", "libprotozero-dev", "headers"),
    Part("nlohmann-json", "MIT", "nlohmann-json3-dev", "headers, in the command"),
    Part("CLI11", "BSD-3-Clause", "libcli11-dev", "headers, in the command"),
    Part("nanobind", "BSD-3-Clause", "", "linked statically, in the extension"),
    Part("robin-map", "MIT", "", "headers, in the extension, by way of nanobind"),
)

#: The part of GCC's C++ library in a wheel, by the C library that it is for.
OF_LIBSTDCXX = {
    "gnu": "the functions that are newer than GCC 8",
    "musl": "linked statically, compiled for musl, with libgcc's unwinder",
}


def parts_of(libc: str) -> tuple[Part, ...]:
    """The parts of a wheel for a C library (gnu, musl)."""
    licence = "GPL-3.0-or-later WITH GCC-exception-3.1"
    library = Part("libstdc++", licence, "libstdc++-12-dev", OF_LIBSTDCXX[libc])
    return (*PARTS, library)


def debian_version(package: str) -> str:
    """The installed version of a Debian package."""
    command = ["dpkg-query", "-W", "-f", "${Version}", package]
    return subprocess.check_output(command, text=True)


def _component(part: Part, versions: dict[str, str]) -> dict:
    if part.package:
        version = debian_version(part.package)
        address = f"pkg:deb/debian/{part.package}@{version}"
    else:
        version = versions[part.name]
        address = (
            f"pkg:pypi/{part.name}@{version}"
            if part.name == "nanobind"
            else f"pkg:github/Tessil/{part.name}@{version}"
        )
    return {
        "type": "library",
        "name": part.name,
        "version": version,
        "purl": address,
        "licenses": [{"expression": part.licence}],
        "description": part.of,
    }


def sbom(
    version: str, libc: str, versions: dict[str, str], files: dict[str, bytes]
) -> bytes:
    """The list for hotaru `version`: `versions` of parts that are not Debian's,
    and the binaries with their hashes. The same wheel gives the same bytes.
    """
    binaries = [
        {
            "type": "file",
            "name": path,
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}],
        }
        for path, data in sorted(files.items())
    ]
    parts = [_component(part, versions) for part in parts_of(libc)]
    named = json.dumps([parts, binaries])
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, named)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "name": "hotaru",
                "version": version,
                "purl": f"pkg:pypi/hotaru@{version}",
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [*parts, *binaries],
    }
    return json.dumps(document, indent=1).encode() + b"\n"


ROBIN_MAP = "ext/robin_map/include/tsl/robin_growth_policy.h"


def robin_map_version(nanobind: Path) -> str:
    """The version of the robin-map within nanobind's package."""
    text = (nanobind / ROBIN_MAP).read_text()
    numbers = re.findall(r"#define TSL_RH_VERSION_\w+ (\d+)", text)
    return ".".join(numbers[:3])


def _robin_map_licence(nanobind: Path) -> bytes:
    """The licence at the beginning of robin-map's header."""
    text = (nanobind / ROBIN_MAP).read_text()
    comment = text[text.index("/*") + 2 : text.index("*/")]
    return re.sub(r"(?m)^ ?\* ?", "", comment).strip().encode() + b"\n"


def licences(nanobind: Path) -> dict[str, bytes]:
    """The licences of all parts, by the file that they go into."""
    found = {}
    for part in parts_of("gnu"):  # the same ones for musl
        if part.package:
            text = Path("/usr/share/doc", part.package, "copyright").read_bytes()
        elif part.name == "nanobind":
            (path,) = nanobind.parent.glob("nanobind-*.dist-info/licenses/LICENSE")
            text = path.read_bytes()
        else:
            text = _robin_map_licence(nanobind)
        found[f"{part.name}.txt"] = text
    return found
