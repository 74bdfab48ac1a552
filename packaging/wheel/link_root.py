"""Makes a folder against which GCC links for older systems than this one.

Objects are the same whatever system they are for: only the link chooses which
version of a function of glibc or libstdc++ is asked for. So a library for old
systems is what `./dev build --every-target` compiles, linked against a folder
that has, in place of this machine's libraries:

- empty copies of glibc's libraries with the symbols of that version, and its
  startup object, which `zig cc` makes for any version;
- an empty copy of libstdc++.so.6 with the symbols that the oldest promised
  libstdc++ has; newer ones are taken out of the static libstdc++.a;
- `libnewer_glibc.a`, the few functions of newer glibcs that the static parts call.

Linking fails where something newer is asked for and none of them has it.
"""

import os
import subprocess
import sys
from pathlib import Path

from commands import relink
from elftools.elf.elffile import ELFFile

HERE = Path(__file__).parent

#: The newest versions of symbols that RHEL 8's libstdc++ (GCC 8) has:
#: manylinux_2_28's policy.
NEWEST_CXX = {"GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11)}

#: Libraries of glibc, by what `-l` calls them.
GLIBC = {
    "m": "libm.so.6",
    "pthread": "libpthread.so.0",
    "dl": "libdl.so.2",
    "rt": "librt.so.1",
    "util": "libutil.so.1",
    "resolv": "libresolv.so.2",
}

#: The dynamic linker, as zig's cache calls it and as programs do.
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}


def run(*command, **options) -> str:
    """Standard output of a command that must succeed."""
    words = [str(word) for word in command]
    return subprocess.run(
        words, check=True, text=True, stdout=subprocess.PIPE, **options
    ).stdout


def glibc(machine: str, version: str, folder: Path) -> None:
    """Copies zig's empty libraries and startup object of this glibc."""
    cache = folder / "zig"
    cache.mkdir(parents=True, exist_ok=True)
    program = cache / "main.c"
    program.write_text("int main(void) { return 0; }\n")
    run(
        *(sys.executable, "-m", "ziglang", "cc", "-pie", program),
        *("-target", f"{machine}-linux-gnu.{version}", "-o", cache / "main"),
        env={
            **os.environ,
            "ZIG_GLOBAL_CACHE_DIR": str(cache),
            "ZIG_LOCAL_CACHE_DIR": str(cache),
        },
    )
    names = [*GLIBC.values(), "libc.so.6", "libld.so.2", "libc_nonshared.a", "Scrt1.o"]
    for name in names:
        (found,) = cache.glob(f"o/*/{name}")
        (folder / name).write_bytes(found.read_bytes())
    loader = folder / LOADERS[machine]
    (folder / "libld.so.2").rename(loader)
    for name, library in GLIBC.items():
        relink(folder / f"lib{name}.so", library)
    (folder / "libc.so").write_text(
        f"GROUP ( {folder}/libc.so.6 {folder}/libnewer_glibc.a "
        f"{folder}/libc_nonshared.a AS_NEEDED ( {loader} ) )\n"
    )


def versioned_symbols(library: Path):
    """Yields (name, version, whether default, type, size) of what it defines."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        names = {}
        for definition, auxiliaries in elf.get_section_by_name(
            ".gnu.version_d"
        ).iter_versions():
            names[definition["vd_ndx"]] = next(auxiliaries).name
        versions = elf.get_section_by_name(".gnu.version")
        for index, symbol in enumerate(
            elf.get_section_by_name(".dynsym").iter_symbols()
        ):
            if symbol["st_shndx"] == "SHN_UNDEF" or not symbol.name:
                continue
            version = versions.get_symbol(index)["ndx"]
            if not isinstance(version, int):  # of no version
                continue
            kind = symbol["st_info"]["type"].removeprefix("STT_").lower()
            yield (
                *(symbol.name, names[version & 0x7FFF], not version & 0x8000),
                *(kind, symbol["st_size"]),
            )


def is_promised(version: str) -> bool:
    """Tells whether the oldest promised libstdc++ has this version."""
    family, _, number = version.partition("_")
    if family not in NEWEST_CXX or not number.replace(".", "").isdigit():
        return False
    return tuple(map(int, number.split("."))) <= NEWEST_CXX[family]


def libstdcxx(compiler: str, folder: Path) -> None:
    """Makes the empty libstdc++.so.6, and the script that adds the static one."""
    real = Path(run(compiler, "-print-file-name=libstdc++.so.6").strip()).resolve()
    static = Path(run(compiler, "-print-file-name=libstdc++.a").strip()).resolve()
    assembly, versions = [], set()
    for number, (name, version, default, kind, size) in enumerate(
        versioned_symbols(real)
    ):
        if not is_promised(version) or name == version:
            continue
        versions.add(version)
        own = f"s{number}"
        section, kind = {
            "func": (".text", "function"),
            "ifunc": (".text", "function"),
            "tls": ('.tbss,"awT",%nobits', "tls_object"),
        }.get(kind, (".bss", "object"))
        assembly += [
            f".section {section}" if kind == "tls_object" else section,
            f".globl {own}",
            f".type {own}, %{kind}",
            f".size {own}, {size}",
            f"{own}: .zero {max(size, 1) if kind != 'function' else 1}",
            f".symver {own}, {name}{'@@' if default else '@'}{version}, remove",
        ]
    source = folder / "libstdcxx.s"
    source.write_text("\n".join(assembly) + '\n.section .note.GNU-stack,"",%progbits\n')
    script = folder / "libstdcxx.map"
    script.write_text("".join(f"{version} {{}};\n" for version in sorted(versions)))
    stub = folder / "libstdc++.so.6"
    run(
        *(compiler, "-shared", "-nostdlib", source, "-o", stub),
        *("-Wl,-soname,libstdc++.so.6", f"-Wl,--version-script={script}"),
    )
    (folder / "libstdc++.so").write_text(f"GROUP ( {stub} {static} )\n")


def newer_glibc(compiler: str, folder: Path) -> None:
    """Compiles what newer glibcs have and the parts linked statically call."""
    source, made = HERE / "newer_glibc.c", folder / "newer_glibc.o"
    run(compiler, "-x", "c", "-O2", "-fPIC", "-c", source, "-o", made)
    library = folder / "libnewer_glibc.a"
    library.unlink(missing_ok=True)
    # D: without dates and owners.
    run(run(compiler, "-print-prog-name=ar").strip(), "rcsD", library, made)


def make(machine: str, folder: Path, *, oldest: str = "2.28", compiler: str) -> None:
    """Makes the folder for a machine (x86_64, aarch64) and the oldest glibc."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    glibc(machine, oldest, folder)
    libstdcxx(compiler, folder)
    newer_glibc(compiler, folder)
