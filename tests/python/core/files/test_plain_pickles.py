"""Plain pickles: those that PyTorch wrote, and what ours name."""

from __future__ import annotations

import copy
import io
import json
import pickle
import pickletools
import subprocess
import sys
from pathlib import Path

import pytest

import hotaru as torch
from hotaru import nn

GOLDEN = Path(__file__).resolve().parents[3] / "golden/plain_pickles.json"


def _tensor(values, dtype=None, stride=None, offset=0, grad=False):
    def check(x):
        assert type(x) is torch.Tensor
        assert x.tolist() == values
        assert x.dtype is (dtype or torch.float32)
        assert stride is None or x.stride() == stride
        assert x.storage_offset() == offset
        assert x.requires_grad is grad

    return check


def _meta(x):
    assert x.is_meta
    assert x.shape == (2, 3)


def _sparse(x):
    assert x.layout is torch.sparse_coo
    assert x.to_dense().tolist() == [[1, 0], [0, 1]]


def _parameter(x):
    assert type(x) is nn.Parameter
    assert x.requires_grad
    assert x.tolist() == [0, 1, 2]
    assert x.tag == "mine"


def _frozen(x):
    assert type(x) is nn.Parameter
    assert not x.requires_grad


def _module(m):
    assert type(m) is nn.Linear
    assert m(torch.ones(1, 2)).tolist() == [[4.0]]
    assert all(type(p) is nn.Parameter for p in m.parameters())


def _nested(m):
    assert [type(x) for x in m] == [nn.BatchNorm1d, nn.ReLU]
    before = m.a.num_batches_tracked.item()
    m(torch.ones(3, 2))
    assert m.a.num_batches_tracked.item() == before + 1


def _state(x):
    layer = nn.Linear(2, 1)
    layer.load_state_dict(x["model"])
    assert layer.weight.tolist() == [[1.5, 2.5]]
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    optimizer.load_state_dict(x["optimizer"])
    assert optimizer.param_groups[0]["momentum"] == 0.9
    buffers = [s["momentum_buffer"].tolist() for s in optimizer.state.values()]
    assert buffers == [[[1.0, 1.0]], [1.0]]


def _equals(value):
    def check(x):
        assert x == value

    return check


def _untyped(x):
    assert type(x) is torch.UntypedStorage
    assert x.tolist() == [1, 2]


FUNCTIONS = [
    torch.relu,
    nn.functional.gelu,
    torch.linalg.inv,
    torch.fft.fft,
    torch.special.erf,
    torch.Tensor.relu,
    torch.sparse.mm,
    torch.softmax,
    nn.functional.logsigmoid,
    nn.functional.softplus,
    torch.conv1d,
    nn.functional.relu,
    torch.einsum,
    torch.Tensor.add_,
]


def _functions(found):
    assert len(found) == len(FUNCTIONS)
    for mine, known in zip(found, FUNCTIONS):
        assert mine is known or mine == known


def _generator(generator):
    assert type(generator) is torch.Generator
    assert generator.initial_seed() == 7
    copied = torch.Generator()
    copied.set_state(generator.get_state())
    drawn = torch.rand(2, generator=copied)
    assert (drawn - torch.tensor([0.6569, 0.2328])).abs().max() < 1e-4


CHECKS = {
    "functions": _functions,
    "generator": _generator,
    "activation": lambda m: _equals(torch.tanh)(m.activation),
    "float32": _tensor([1, 2]),
    "strides": _tensor([[0, 3], [1, 4], [2, 5]], stride=(1, 3)),
    "offset": _tensor([3, 5, 7], torch.int64, (2,), 3),
    "expanded": _tensor([5, 5, 5], stride=(0,)),
    "number": _tensor(3.0),
    "empty": _tensor([]),
    "bfloat16": _tensor([1.5], torch.bfloat16),
    "complex": _tensor([1 + 2j], torch.complex64),
    "conjugate": _tensor([1 - 2j], torch.complex64),
    "bool": _tensor([True, False], torch.bool),
    "uint16": _tensor([65535], torch.uint16),
    "requires_grad": _tensor([1, 1], grad=True),
    "meta": _meta,
    "sparse": _sparse,
    "parameter": _parameter,
    "frozen": _frozen,
    "module": _module,
    "attention": _equals(nn.MultiheadAttention),
    "nested": _nested,
    "state": _state,
    "others": _equals([torch.float16, torch.device("cpu", 0), torch.Size([2, 3])]),
    "format": _equals(torch.channels_last),
    "typed": lambda x: _equals([1.0, 2.0])(x.tolist()),
    "untyped": _untyped,
}

# In a process of its own, in which the package has PyTorch's name.
_READ = """
import base64, json, pickle, sys
sys.path.insert(0, sys.argv[1])
import test_plain_pickles as tests
texts = json.loads(tests.GOLDEN.read_text())
for name, text in texts.items():
    value = pickle.loads(base64.b85decode(text))
    kind = name.split()[0]
    tests.CHECKS[kind](value)
    for protocol in (0, 2, 5):  # and once more by ours
        again = pickle.dumps(value, protocol)
        assert b"hotaru" not in again, (name, again)
        tests.CHECKS[kind](pickle.loads(again))
print(len(texts))
"""


def test_what_pytorch_wrote_is_read(tmp_path):
    program = tmp_path / "read.py"
    program.write_text(_READ)
    command = [sys.executable, "-W", "ignore", "-m", "hotaru", program]
    told = subprocess.run(
        [*command, Path(__file__).parent], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    assert set(CHECKS) == {name.split()[0] for name in json.loads(GOLDEN.read_text())}
    assert int(told.stdout) == 2 * len(CHECKS) - 1


def _names(data: bytes) -> set[str]:
    """Names that a pickle of protocol 2 refers to."""
    return {
        argument.removeprefix("hotaru.").replace(" ", ".")
        for op, argument, _ in pickletools.genops(data)
        if op.name == "GLOBAL" and argument != "_codecs encode"
    }


# Names that PyTorch's own pickles of such objects refer to.
NAMES = {
    "tensor": (
        lambda: torch.ones(2, 2).t(),
        "_utils._rebuild_tensor_v2 storage._load_from_bytes collections.OrderedDict",
    ),
    "parameter": (
        lambda: nn.Parameter(torch.ones(2)),
        "_utils._rebuild_parameter _utils._rebuild_tensor_v2 "
        "storage._load_from_bytes collections.OrderedDict",
    ),
    "meta": (
        lambda: torch.ones(2, device="meta"),
        "_utils._rebuild_meta_tensor_no_storage hotaru.float32",
    ),
    "storage": (lambda: torch.ones(2).untyped_storage(), "storage._load_from_bytes"),
}


@pytest.mark.parametrize("kind", NAMES)
def test_pickles_name_what_pytorch_knows(kind):
    make, names = NAMES[kind]
    assert _names(pickle.dumps(make(), 2)) == set(names.split())


MODULES = {
    "nn.modules.activation": "MultiheadAttention ReLU Softmax",
    "nn.modules.batchnorm": "BatchNorm2d LazyBatchNorm1d SyncBatchNorm",
    "nn.modules.channelshuffle": "ChannelShuffle",
    "nn.modules.container": "Sequential ModuleList ParameterDict ParameterList",
    "nn.modules.conv": "Conv2d ConvTranspose1d LazyConv3d",
    "nn.modules.flatten": "Flatten Unflatten",
    "nn.modules.instancenorm": "InstanceNorm1d LazyInstanceNorm2d",
    "nn.modules.linear": "Linear Identity Bilinear LazyLinear",
    "nn.modules.loss": "MSELoss NLLLoss2d LinearCrossEntropyLoss",
    "nn.modules.normalization": "LayerNorm CrossMapLRN2d RMSNorm",
    "nn.modules.pixelshuffle": "PixelShuffle",
    "nn.modules.rnn": "LSTM GRUCell LSTMCell RNNCell RNNCellBase",
    "optim.lr_scheduler": "StepLR OneCycleLR CyclicLR ReduceLROnPlateau "
    "ChainedScheduler CosineAnnealingLR SequentialLR LRScheduler",
    "distributions.transforms": "AffineTransform ComposeTransform Transform",
    "distributions.normal": "Normal",
}


@pytest.mark.parametrize("module", MODULES)
def test_classes_are_where_pytorch_has_them(module):
    for place in (nn, torch.optim.lr_scheduler, torch.distributions):
        for name in MODULES[module].split():
            cls = getattr(place, name, None)
            if cls is not None:
                assert cls.__module__ == f"hotaru.{module}"
                assert pickle.loads(pickle.dumps(cls)) is cls


class Tagged(torch.Tensor):
    __slots__ = ("extra",)


def test_subclasses_keep_class_and_attributes():
    x = torch.arange(6.0).reshape(2, 3).t().as_subclass(Tagged)
    x.tag, x.extra = "a", [1]
    for again in (pickle.loads(pickle.dumps(x)), copy.copy(x)):
        assert type(again) is Tagged
        assert (again.tag, again.extra) == ("a", [1])
        assert again.stride() == (1, 3)
        assert again.tolist() == x.tolist()


def test_a_shallow_copy_shares_memory():
    x = torch.zeros(2)
    copy.copy(x)[0] = 3
    assert x.tolist() == [3, 0]
    p = nn.Parameter(torch.zeros(2))
    copy.copy(p).data[1] = 4
    assert p.tolist() == [0, 4]


def test_hooks_are_not_pickled_and_that_is_told():
    def hook(grad):
        return grad

    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook)
    with pytest.warns(UserWarning, match="backward hook .*will not be serial"):
        pickle.dumps(x)
    with pytest.warns(UserWarning, match="backward hook .*will not be serial"):
        torch.save(x, io.BytesIO())
    torch.utils.hooks.unserializable_hook(hook)
    pickle.dumps(x)


@pytest.mark.filterwarnings("ignore:TypedStorage")
def test_a_meta_storage_grows_to_what_is_rebuilt():
    storage = torch.storage.TypedStorage(dtype=torch.float32, device="meta")
    made = torch._utils._rebuild_tensor_v2(storage, 1, (2, 2), (2, 1), False, {})
    assert made.is_meta
    assert made.untyped_storage().nbytes() == 20


def test_records_are_read_as_bytes(tmp_path):
    torch.save({"a": torch.ones(2)}, tmp_path / "x.pt")
    reader = torch._C.PyTorchFileReader(str(tmp_path / "x.pt"))
    got = reader.get_storage_from_record("data/0", 8, torch.UntypedStorage)
    assert got.untyped_storage().nbytes() == 8
    assert got.dtype is torch.uint8


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (2, 3000), (3000, 2)])
def test_of_archives_in_a_row_the_first_is_read(tmp_path, sizes):
    both = io.BytesIO()
    for size in sizes:
        torch.save({"x": torch.full((size,), float(size))}, both)
    path = tmp_path / "both.pt"
    path.write_bytes(both.getvalue())
    both.seek(0)
    for source in (both, path):
        assert torch.load(source)["x"].tolist() == [float(sizes[0])] * sizes[0]


def test_what_lies_before_an_archive_is_skipped(tmp_path):
    held = io.BytesIO()
    torch.save({"x": torch.ones(2)}, held)
    reader = torch._C.PyTorchFileReader(io.BytesIO(b"shell" + held.getvalue()))
    assert reader.has_record("data.pkl")


@pytest.mark.parametrize("legacy", [False, True])
def test_functions_and_generators_in_files(legacy):
    module = nn.TransformerEncoderLayer(4, 2, 8, activation=torch.tanh)
    module.others = FUNCTIONS
    module.generator = torch.Generator().manual_seed(7)
    torch.rand(3, generator=module.generator)
    file = io.BytesIO()
    torch.save(module, file, _use_new_zipfile_serialization=not legacy)
    file.seek(0)
    found = torch.load(file, weights_only=False)
    assert found.activation is torch.tanh
    _functions(found.others)
    drawn = torch.rand(2, generator=found.generator)
    assert torch.equal(drawn, torch.rand(2, generator=module.generator))


@pytest.mark.parametrize("protocol", range(6))
def test_functions_are_found_by_name(protocol):
    for function in FUNCTIONS:
        assert pickle.loads(pickle.dumps(function, protocol)) == function
        assert copy.copy(function) == function
        assert copy.deepcopy(function) == function
    text = pickle.dumps([torch.relu, nn.functional.gelu], protocol)
    assert b"_VariableFunctionsClass" in text
    assert b"_nn" in text


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_functions_go_by_their_names(protocol):
    for function in (
        torch.tensor,
        torch.from_numpy,
        torch.result_type,
        torch.get_default_dtype,
        torch.set_num_threads,
        torch.get_rng_state,
    ):
        text = pickle.dumps(function, protocol)
        assert pickle.loads(text) is function
        assert copy.copy(function) is copy.deepcopy(function) is function
    made = nn.Identity()
    made.collate = torch.tensor  # as whoever loads data has it
    assert copy.deepcopy(made).collate is torch.tensor


def test_who_has_had_jagged_tensors_loads_them():
    program = """
import hotaru as torch, io
parts = [torch.arange(3.0), torch.arange(2.0)]
file = io.BytesIO()
torch.save(torch.nested.nested_tensor(parts, layout=torch.jagged), file)
file.seek(0)
print([x.tolist() for x in torch.load(file).unbind()])
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[[0.0, 1.0, 2.0], [0.0, 1.0]]\n"


def _public(cls):
    for name in dir(cls):
        found = getattr(cls, name, None)
        if callable(found) and not (name.startswith("_") and name[1] == "_"):
            yield name, found


@pytest.mark.parametrize(
    "cls", [torch.Tensor, torch.UntypedStorage, torch.Generator, torch.Size]
)
def test_methods_go_by_their_names(cls):
    for name, method in _public(cls):
        for protocol in (2, pickle.DEFAULT_PROTOCOL):
            again = pickle.loads(pickle.dumps(method, protocol))
            assert again == method, name
        assert copy.deepcopy(method) == method, name
        assert copy.copy(method) == method, name


def test_methods_of_objects_take_them_along():
    bound = pickle.loads(pickle.dumps(torch.tensor([3.0, 4.0]).norm))
    assert bound().item() == 5


@pytest.mark.parametrize(
    "error",
    [
        torch.linalg.LinAlgError,
        torch.OutOfMemoryError,
        torch.AcceleratorError,
        torch.distributed.DistError,
        torch.distributed.DistBackendError,
        torch.distributed.DistNetworkError,
        torch.distributed.DistStoreError,
        torch.distributed.QueueEmptyError,
    ],
)
def test_errors_go_from_process_to_process(error):
    assert pickle.loads(pickle.dumps(error)) is error
    again = pickle.loads(pickle.dumps(error("why")))
    assert type(again) is error
    assert again.args == ("why",)
