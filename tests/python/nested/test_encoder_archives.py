"""Archives of nn.TransformerEncoder that PyTorch 1.13 and 2.13 wrote."""

import copy
import functools
import io
import tarfile
from pathlib import Path

import pytest

import hotaru

WHERE = Path(__file__).parent.parent / "golden" / "encoder_archives.tar.xz"


@functools.cache
def contents() -> dict:
    with tarfile.open(WHERE) as archive:
        return {
            member.name: archive.extractfile(member).read()
            for member in archive.getmembers()
        }


def names() -> list:
    with tarfile.open(WHERE) as archive:
        found = archive.getnames()
    return sorted(n.removesuffix(".pt") for n in found if n.endswith(".pt"))


def again(module):
    file = io.BytesIO()
    module.save(file)
    file.seek(0)
    return hotaru.jit.load(file)


@pytest.mark.parametrize("name", names())
def test_numbers_are_those_of_pytorch(name):
    module = hotaru.jit.load(io.BytesIO(contents()[f"{name}.pt"]))
    inputs, expected = hotaru.load(io.BytesIO(contents()[f"{name}.io"]))
    others = (copy.copy(module), copy.deepcopy(module), again(module))
    others = (*others, hotaru.jit.freeze(module))
    for each in (module, *(others if "padded_all" in name else ())):
        with hotaru.no_grad():
            found = each(*inputs)
        assert found.shape == expected.shape
        hotaru.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_padded_positions_are_zeros_and_weights_are_the_modules():
    module = hotaru.jit.load(io.BytesIO(contents()["213/padded.pt"]))
    inputs, _ = hotaru.load(io.BytesIO(contents()["213/padded.io"]))
    twin = copy.deepcopy(module)
    with hotaru.no_grad():
        before = module(*inputs)
        for weight in module.parameters():
            weight.mul_(0.5)
        after = module(*inputs)
        assert hotaru.equal(twin(*inputs), before)
    assert not hotaru.equal(after, before)
    # PyTorch 2.13 has the last norm see the zeros.
    assert hotaru.equal(before[0, 2], twin.norm(hotaru.zeros(8)))
