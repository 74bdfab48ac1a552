"""Autocast in what is saved and captured: the class that PyTorch reads, and the
dtypes that a capture sees.
"""

import zipfile

import pytest
from hotaru._subclasses.fake_tensor import FakeTensorMode

import hotaru as torch


class Mixed(torch.nn.Module):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = torch.mm(x, x.t())
            size = low.element_size()
            with torch.autocast("cpu", enabled=False):
                high = torch.mm(x, x.t())
        return low, high, size


def sources_of(path) -> str:
    with zipfile.ZipFile(path) as archive:
        return "".join(
            archive.read(name).decode()
            for name in archive.namelist()
            if name.endswith(".py")
        )


@pytest.mark.parametrize("how", ["scripted", "frozen", "again"])
def test_archives_have_the_class_that_pytorch_knows(tmp_path, how):
    path = str(tmp_path / "mixed.pt")
    module = torch.jit.script(Mixed().eval())
    if how == "frozen":
        module = torch.jit.freeze(module)
    module.save(path)
    if how == "again":
        torch.jit.load(path).save(path)
    text = sources_of(path)
    assert "__torch__.torch.amp.autocast_mode.autocast.__new__" in text
    assert "fast_dtype : int\n  _enabled : bool\n  device : str" in text
    assert "_set_autocast" not in text  # which is hotaru's alone
    low, high, _ = torch.jit.load(path)(torch.ones(2, 3))
    assert (low.dtype, high.dtype) == (torch.bfloat16, torch.float32)


def test_a_capture_sees_the_dtypes_of_autocast():
    program = torch.export.export(Mixed(), (torch.ones(2, 3),)).module()
    low, high, size = program(torch.ones(2, 3))
    assert (low.dtype, high.dtype, size) == (torch.bfloat16, torch.float32, 2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_fake_tensors(dtype):
    with FakeTensorMode():
        x, y = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64)
        for _ in range(2):  # the second time from what is remembered
            assert (x @ x.t()).dtype == torch.float32
            with torch.autocast("cpu", dtype=dtype):
                assert (x @ x.t()).dtype == dtype
                assert (y @ y.t()).dtype == torch.float64
                assert x.to(dtype).prod().dtype == torch.float32
                with torch.autocast("cpu", enabled=False):
                    assert (x @ x.t()).dtype == torch.float32
    x = torch.ones(2, 3, device="meta")
    with torch.autocast("cpu", dtype=dtype):
        assert (x @ x.t()).dtype == torch.float32
