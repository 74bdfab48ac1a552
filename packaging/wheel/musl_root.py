"""Makes a folder against which GCC compiles and links for musl.

Debian has musl and its headers (musl-dev), but no C++ library for it. The folder
has GCC's own, compiled from the source of this GCC:

- `c++`: libstdc++'s headers, configured for musl;
- `libstdc++.a`, `libz.a`, compiled with musl's headers;
- `musl_unwind.o`: what the unwinder in libgcc asks of glibc;
- `libc.so`: musl under the name that wheels may ask for.
"""

from pathlib import Path

from commands import jobs, relink, run

HERE = Path(__file__).parent

#: Parts of GCC's source that its C++ library is compiled from.
PARTS = (
    "libstdc++-v3 libgcc include config libiberty gcc/BASE-VER gcc/DATESTAMP config*"
    " install-sh mkinstalldirs ltmain.sh lt* missing"
)

#: Sources of zlib that are its library.
ZLIB = "adler32 compress crc32 deflate infback inffast inflate inftrees trees uncompr"
FLAGS = ("-O2", "-fPIC")


def compiler(machine: str, name: str) -> list[str]:
    """Debian's GCC, with musl's headers and libraries in place of glibc's."""
    return [name, "-specs", f"/usr/lib/{machine}-linux-musl/musl-gcc.specs"]


def link_kernel_headers(machine: str, folder: Path) -> None:
    """Puts Linux's headers into a folder: they are the same for any C library."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, place in (
        ("linux", "/usr/include/linux"),
        ("asm", f"/usr/include/{machine}-linux-gnu/asm"),
        ("asm-generic", "/usr/include/asm-generic"),
    ):
        relink(folder / name, place)


def libstdcxx(machine: str, archive: Path, folder: Path) -> None:
    """Compiles GCC's C++ library out of the archive of GCC's source."""
    source, build, prefix = folder / "gcc", folder / "gcc-build", folder / "gcc-made"
    for made in (source, build):
        made.mkdir(parents=True, exist_ok=True)
    wanted = [f"*/{part}" for part in PARTS.split()]
    run(
        *("tar", "xf", archive, "-C", source, "--strip-components=1"),
        *("--wildcards", "--no-wildcards-match-slash", *wanted),
    )
    # As GCC's own build has it: threads are POSIX's.
    (folder / "libgcc").mkdir(exist_ok=True)
    threads = (source / "libgcc/gthr-posix.h").read_bytes()
    (folder / "libgcc/gthr-default.h").write_bytes(threads)
    # Assertions hold the paths of sources, which are this machine's.
    own = f"-ffile-prefix-map={source}=gcc"
    flags = " ".join((*FLAGS, "-DGTHREAD_USE_WEAK=0", own))
    run(
        source / "libstdc++-v3/configure",
        *(f"--build={machine}-linux-gnu", f"--host={machine}-linux-musl"),
        *("--disable-multilib", "--disable-nls", "--disable-libstdcxx-pch"),
        *("--disable-shared", "--with-pic", f"--prefix={prefix}"),
        f"CC={' '.join(compiler(machine, 'gcc'))}",
        f"CXX={' '.join(compiler(machine, 'g++'))}",
        *(f"CFLAGS={flags}", f"CXXFLAGS={flags}", "AR=ar", "RANLIB=ranlib"),
        *("NM=nm", "AS=as", "LD=ld"),
        cwd=build,
    )
    run("make", f"-j{jobs()}", "install", "MAKEINFO=true", cwd=build)
    (headers,) = (prefix / "include/c++").iterdir()
    run("cp", "-r", headers, folder / "c++")
    run("cp", prefix / "lib/libstdc++.a", folder)


def zlib(machine: str, source: Path, folder: Path) -> None:
    """Compiles zlib's library, without the functions for files."""
    objects = []
    for name in (*ZLIB.split(), "zutil"):
        objects.append(folder / f"{name}.o")
        cc = compiler(machine, "gcc")
        run(*cc, *FLAGS, "-I", source, "-c", source / f"{name}.c", "-o", objects[-1])
    run("ar", "rcsD", folder / "libz.a", *objects)


def make(machine: str, folder: Path, gcc_archive: Path, zlib_source: Path) -> None:
    """Makes the folder for a machine (x86_64)."""
    folder = folder.resolve()
    link_kernel_headers(machine, folder / "include")
    libstdcxx(machine, gcc_archive, folder)
    zlib(machine, zlib_source, folder)
    name = f"libc.musl-{machine}.so.1"
    run("cp", f"/lib/{machine}-linux-musl/libc.so", folder / name)
    (folder / "libc.so").write_text(f"INPUT ( -l:{name} )\n")
    made = folder / "musl_unwind.o"
    cc = compiler(machine, "gcc")
    run(*cc, *FLAGS, "-Wall", "-Wextra", "-c", HERE / "musl_unwind.c", "-o", made)
