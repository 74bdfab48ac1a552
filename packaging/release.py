"""Makes a release, all but the upload: `./dev release VERSION`.

Checks that the version follows the last one by the rule of docs/releases.md,
writes it where it stands, gives CHANGELOG.md its date, makes the wheels twice
and compares them, commits, and tags. Prints what it did and what is left to do.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Where the version stands, and the pattern whose first group is before it.
PLACES = {
    "pyproject.toml": r'(?m)^(version = ")[^"]+',
    "CMakeLists.txt": r"(project\(hotaru VERSION )[\d.]+",
}
CHANGES = ROOT / "CHANGELOG.md"
UNRELEASED = re.compile(r"(?m)^## (\d+\.\d+\.\d+), not released$")


def fail(text: str) -> None:
    """Ends the program with a sentence that says what to do."""
    raise SystemExit(f"release: {text}")


def git(*words: str) -> str:
    """Standard output of git."""
    return subprocess.check_output(["git", "-C", str(ROOT), *words], text=True).strip()


def numbers(version: str) -> tuple[int, int, int]:
    """The three numbers of a version."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        fail(f"'{version}' is no version: three numbers with points, as 0.2.0")
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch


def follows(version: str, last: str | None) -> bool:
    """Tells whether a version is one of the three that may follow the last."""
    if last is None:
        return True
    major, minor, patch = numbers(last)
    return numbers(version) in (
        (major, minor, patch + 1),
        (major, minor + 1, 0),
        (major + 1, 0, 0),
    )


def last_release() -> str | None:
    """The version of the last tag, or None before the first release."""
    tags = [tag[1:] for tag in git("tag", "--list", "v*.*.*").split()]
    return max(tags, key=numbers, default=None)


def check(version: str) -> None:
    """Ends the program where this version cannot be released now."""
    last = last_release()
    if not follows(version, last):
        fail(f"{version} does not follow {last}: see docs/releases.md for the rule")
    if git("status", "--porcelain"):
        fail("there are changes that are not committed: commit or stash them first")
    found = UNRELEASED.search(CHANGES.read_text())
    if not found:
        fail("CHANGELOG.md has no section '## VERSION, not released'")
    elif found[1] != version:
        fail(f"CHANGELOG.md's section is of {found[1]}: rename it to {version}")


def write_version(version: str, date: str) -> None:
    """Writes the version where it stands, and the date of its changes."""
    for name, pattern in PLACES.items():
        path = ROOT / name
        text, count = re.subn(pattern, rf"\g<1>{version}", path.read_text(), count=1)
        if count != 1:
            fail(f"{name} has no version where {pattern} looks for it")
        path.write_text(text)
    changes = UNRELEASED.sub(f"## {version}, {date}", CHANGES.read_text(), count=1)
    CHANGES.write_text(changes)


def make_wheels(out: Path) -> dict[str, str]:
    """Makes all wheels into a folder; their hashes by name."""
    subprocess.run([str(ROOT / "dev"), "wheel", "--out", str(out)], check=True)
    return {
        wheel.name: hashlib.sha256(wheel.read_bytes()).hexdigest()
        for wheel in sorted(out.glob("*.whl"))
    }


def main() -> None:
    """Makes the release that the command line names."""
    parser = argparse.ArgumentParser(prog="./dev release", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("version")
    parser.add_argument(
        "--check", action="store_true", help="says only whether it could be made"
    )
    arguments = parser.parse_args()
    version = arguments.version
    numbers(version)
    check(version)
    if arguments.check:
        print(f"{version} can be released")
        return
    write_version(version, time.strftime("%d %B %Y", time.gmtime()).lstrip("0"))
    git("commit", "--all", "--message", f"hotaru {version}")
    first = make_wheels(ROOT / "dist")
    second = make_wheels(ROOT / "build-again")
    if first != second:
        git("reset", "--hard", "HEAD~1")
        fail("two builds differ; nothing was tagged, and the commit is taken back")
    git("tag", "--annotate", f"v{version}", "--message", f"hotaru {version}")
    print(f"committed and tagged v{version}; wheels in dist/, the same twice:")
    for name, digest in first.items():
        print(f"  {digest}  {name}")
    print("left to do:\n  git push --follow-tags\n  twine upload dist/*.whl")


if __name__ == "__main__":
    sys.exit(main())
