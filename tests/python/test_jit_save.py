"""jit.save: files, streams, extra files, what is refused."""

import io
import zipfile
from pathlib import Path

import pytest

import hotaru as torch

GOLDEN = Path(__file__).parents[1] / "golden/script"


@pytest.fixture
def module():
    return torch.jit.load(str(GOLDEN / "networks.pt")).mlp_script


def test_path_stream_and_buffer(module, tmp_path):
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    assert module.save_to_buffer() == buffer.getvalue()
    buffer.seek(0)
    for path in (tmp_path / "one.pt", str(tmp_path / "two.pt")):
        module.save(path)
        again = torch.jit.load(str(path))
        assert torch.equal(again(module.input), module(module.input))
    again = torch.jit.load(buffer)
    assert torch.equal(again(module.input), module(module.input))
    assert zipfile.ZipFile(tmp_path / "one.pt").namelist()[0].startswith("one/")


def test_extra_files(module):
    buffer = io.BytesIO()
    torch.jit.save(
        module, buffer, _extra_files={"a.json": "{}", "b": b"\x00\xff"}
    )
    buffer.seek(0)
    extra = {"a.json": "", "b": ""}
    torch.jit.load(buffer, _extra_files=extra)
    assert extra == {"a.json": b"{}", "b": b"\x00\xff"}


def test_parameters_keep_requires_grad_and_values(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(2)
    again = torch.jit.load(io.BytesIO(module.save_to_buffer()))
    before, after = module.state_dict(), again.state_dict()
    assert list(before) == list(after)
    assert before
    for name, tensor in before.items():
        assert torch.equal(tensor, after[name])
    assert all(p.requires_grad for p in again.parameters())


def test_writing_on_a_full_disk(module):
    class Full:
        def write(self, data):
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        torch.jit.save(module, Full())


def test_refuses_what_is_no_script_module(tmp_path):
    with pytest.raises(TypeError, match="expected a ScriptModule"):
        torch.jit.save(torch.nn.Linear(2, 2), tmp_path / "x.pt")
    assert not list(tmp_path.iterdir())
