"""Files that are written at a path, by every function that takes one.

Each writer meets each kind of thing that a path may lead to. A regular file is
replaced whole and keeps its mode, anything else is written into, and a failure
leaves what was there.
"""

from __future__ import annotations

import os
import resource
import stat
import threading

import hotaru.weights
import pytest

import hotaru as torch

OLD = b"what was there before"


def _export(path):
    program = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    torch.export.save(program, path)


def _onnx(path):
    torch.onnx.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),), path, dynamo=False)


def _profile(path):
    with torch.profiler.profile() as profile:
        torch.ones(2) + 1
    profile.export_chrome_trace(str(path))


def _records(path):
    writer = torch._C.PyTorchFileWriter(str(path))
    writer.write_record("a", b"xyz", 3)
    writer.write_end_of_file()


def _script():
    return torch.jit.script(torch.nn.Linear(2, 2))


WRITERS = {
    "save": lambda path: torch.save({"x": torch.ones(3)}, path),
    "save_old": lambda path: torch.save(
        {"x": torch.ones(3)}, path, _use_new_zipfile_serialization=False
    ),
    "jit.save": lambda path: torch.jit.save(_script(), path),
    "module.save": lambda path: _script().save(str(path)),
    "export.save": _export,
    "onnx.export": _onnx,
    "save_file": lambda path: hotaru.weights.save_file({"x": torch.ones(3)}, path),
    "export_chrome_trace": _profile,
    "PyTorchFileWriter": _records,
}
EVERY = pytest.mark.parametrize("name", WRITERS)


@pytest.fixture
def write(name):
    # The parts of writers are ready before files and processes are counted.
    return WRITERS[name]


def leftovers(folder) -> list[str]:
    return [p.name for p in folder.iterdir() if ".tmp" in p.name]


@EVERY
def test_a_new_file_has_the_modes_of_the_process(write, tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert leftovers(tmp_path) == []


@EVERY
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_a_file_is_replaced_and_keeps_its_mode(write, tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    path.chmod(mode)
    number = path.stat().st_ino
    with open(path, "rb") as reader:
        write(path)
        assert reader.read() == OLD  # whoever has it open keeps it
    assert path.stat().st_ino != number
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert leftovers(tmp_path) == []


@EVERY
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("relative", [True, False])
def test_symbolic_links_are_followed(write, tmp_path, there, relative):
    (tmp_path / "to").mkdir()
    target = tmp_path / "to" / "real"
    if there:
        target.write_bytes(OLD)
    (tmp_path / "middle").symlink_to("to/real" if relative else target)
    (tmp_path / "link").symlink_to(tmp_path / "middle")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "middle").is_symlink()
    assert target.read_bytes() not in (OLD, b"")
    assert leftovers(tmp_path) == leftovers(tmp_path / "to") == []


@EVERY
def test_every_name_of_a_file_has_the_new_contents(write, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(OLD * 100_000)  # longer than what is written
    other.hardlink_to(one)
    write(one)
    assert one.samefile(other)
    write(tmp_path / "alone")
    assert abs(one.stat().st_size - (tmp_path / "alone").stat().st_size) < 4096
    assert leftovers(tmp_path) == []


@EVERY
def test_pipes_take_what_is_written(write, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    write(path)
    reader.join(30)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert got
    assert len(got[0]) > 20
    assert leftovers(tmp_path) == []


@EVERY
def test_names_of_open_files_are_written_into(write, tmp_path):
    with open(tmp_path / "kept", "w+b") as kept:
        write(f"/dev/fd/{kept.fileno()}")
        kept.seek(0)
        assert len(kept.read()) > 20
    assert leftovers(tmp_path) == []
    write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@EVERY
def test_no_link_can_stand_where_a_file_grows(write, tmp_path, monkeypatch):
    precious = tmp_path / "precious"
    precious.write_bytes(OLD)
    target = tmp_path / "model"
    for guess in (f"model.{os.getpid()}.tmp", "model.tmp", ".model.tmp"):
        (tmp_path / guess).symlink_to(precious)
    write(target)
    assert precious.read_bytes() == OLD
    assert not target.is_symlink()


@EVERY
def test_a_full_disk_leaves_what_was_there(name, tmp_path):
    if name == "save_old":
        pytest.skip("storages go around the limit's error")
    path, linked = tmp_path / "file", tmp_path / "linked"
    for each in (path, linked):
        each.write_bytes(OLD)
    (tmp_path / "second").hardlink_to(linked)
    code = os.fork()
    if code == 0:  # pragma: no cover
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (32, 32))
        failed = 0
        for each in (path, linked):
            try:
                WRITERS[name](each)
            except (OSError, RuntimeError):
                failed += 1
        os._exit(failed)
    assert os.waitstatus_to_exitcode(os.waitpid(code, 0)[1]) == 2
    assert path.read_bytes() == linked.read_bytes() == OLD
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_that_fails_leaves_what_was_there(tmp_path, zipped):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    with pytest.raises((AttributeError, TypeError, RuntimeError)):
        torch.save(
            [torch.ones(2), threading.Lock()],
            path,
            _use_new_zipfile_serialization=zipped,
        )
    assert path.read_bytes() == OLD
    assert leftovers(tmp_path) == []


@EVERY
def test_the_error_names_the_path(write, tmp_path):
    with pytest.raises((RuntimeError, OSError), match="nowhere"):
        write(tmp_path / "nowhere" / "file")
    (tmp_path / "folder").mkdir()
    with pytest.raises((RuntimeError, OSError), match="folder"):
        write(tmp_path / "folder")


def test_files_without_a_buffer_get_everything():
    class Slow:
        """Takes a few bytes at a time, and says so."""

        def __init__(self):
            self.taken = b""

        def write(self, data):
            self.taken += bytes(data[:7])
            return min(len(data), 7)

        def flush(self):
            pass

    import io

    for into in (
        lambda f: torch.save(torch.arange(5), f),
        lambda f: torch.jit.save(_script(), f),
    ):
        slow = Slow()
        into(slow)
        whole = io.BytesIO(slow.taken)
        if into.__code__.co_names[1] == "save":
            assert torch.load(whole).tolist() == [0, 1, 2, 3, 4]
        else:
            assert torch.jit.load(whole).weight.shape == (2, 2)


@pytest.mark.parametrize("name", ["save_old", "export.save"])
def test_names_that_no_file_can_have_are_refused(write, tmp_path):
    with pytest.raises(ValueError, match="null byte"):
        write(str(tmp_path / "short") + "\0long")
    assert list(tmp_path.iterdir()) == []


def test_a_program_is_saved_under_a_name_of_bytes(tmp_path):
    _export(os.fsencode(tmp_path / "ü.pt2"))
    module = torch.export.load(tmp_path / "ü.pt2").module()
    assert module(torch.ones(1, 2)).shape == (1, 2)
