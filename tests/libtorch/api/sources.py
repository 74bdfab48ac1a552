"""PyTorch's own C++ tests, from Debian's archive of its sources."""

from __future__ import annotations

import hashlib
import re
import tarfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path

# The last release that Debian has the sources of; the C++ API has hardly
# changed since.
ARCHIVE = (
    "http://deb.debian.org/debian/pool/main/p/pytorch/pytorch_2.6.0+dfsg.orig.tar.xz"
)
SHA256 = "099a9601bc40d67656e75735c44abedb0fbe92d08817852ab7472eebb7e6ddff"
# No GPU is asked of either library, and these are nothing but tests of one.
LEFT_OUT = {"tensor_cuda", "tensor_options_cuda"}
# Helpers that look at libtorch's insides, which hotaru has others of.
INSIDES = {
    "test/cpp/api/support.h": [
        (
            r"inline void assert_tensor_creation_meta\(.*?\n}\n",
            "#define assert_tensor_creation_meta(...) "
            'FAIL() << "asks for libtorch\'s meta data of views"\n',
        )
    ]
}


def fetch(cache: Path) -> Path:
    """The folder that has test/cpp/api, unpacked once."""
    root = cache / "pytorch-2.6.0"
    if root.exists():
        return root
    cache.mkdir(parents=True, exist_ok=True)
    archive = cache / "pytorch.tar.xz"
    if not archive.exists():
        with urllib.request.urlopen(ARCHIVE, timeout=120) as answer:
            data = answer.read()
        if hashlib.sha256(data).hexdigest() != SHA256:
            raise SystemExit(f"{ARCHIVE} is not the file that was tried")
        archive.write_bytes(data)
    unpacked = cache / "unpacked"
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.partition("/")[2]
            if name.startswith("test/cpp/") and member.isfile():
                member.name = name
                tar.extract(member, unpacked, filter="data")
    unpacked.rename(root)
    return root


@dataclass
class Block:
    """Lines of a file that begin at the margin: a test, a function, a macro."""

    first: int
    last: int
    test: str | None


def blocks(lines: list[str]) -> list[Block]:
    """The parts of a formatted source, each up to a brace at the margin."""
    found = []
    first = None
    for i, line in enumerate(lines):
        if first is None and line[:1].strip() and not line.startswith(("//", "}")):
            first = i
        if first is None:
            continue
        one_line = i == first and re.search(r"[;{}]\s*$|^#", line)
        macro = line.startswith("#") or lines[first].startswith("#")
        ends = not line.rstrip().endswith("\\") if macro else line.startswith("}")
        opens = re.match(r"namespace\b.*{\s*$", line)
        if ends or opens or (one_line and not line.rstrip().endswith("{")):
            found.append(Block(first, i, name_of(lines[first : i + 1])))
            first = None
    return found


def name_of(lines: list[str]) -> str | None:
    """Suite.Test of a block that is a test."""
    head = re.match(r"TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", " ".join(lines[:4]))
    return f"{head[1]}.{head[2]}" if head else None


def cut(lines: list[str], block: Block, why: str) -> list[str]:
    """The source without a block: a test fails at once and says why."""
    text = [""] * (block.last - block.first + 1)
    if block.test:
        kind = re.match(r"TEST(?:_F|_P)?", lines[block.first])[0]
        name = block.test.replace(".", ", ")
        said = why.replace("\\", "").replace('"', "'")
        text[0] = f'{kind}({name}) {{ FAIL() << "does not compile: {said}"; }}'
    return [*lines[: block.first], *text, *lines[block.last + 1 :]]
