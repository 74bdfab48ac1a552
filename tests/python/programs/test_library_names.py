"""Names that libraries import or ask for, and what they do."""

from __future__ import annotations

import io
import os
import re

import pytest

import hotaru
from hotaru import _C


def test_kinds_of_trees_by_their_functions():
    from collections import OrderedDict

    from hotaru.utils import _pytree

    values, context = _pytree._dict_flatten({"a": 1, "b": 2})
    assert _pytree._dict_unflatten(values, context) == {"a": 1, "b": 2}
    keyed, _ = _pytree._ordereddict_flatten_with_keys(OrderedDict(x=3))
    assert (keyed[0][0].key, keyed[0][1]) == ("x", 3)
    assert _pytree._get_node_type([1]) is list
    with pytest.raises(AttributeError, match="_set_flatten"):
        _ = _pytree._set_flatten


def test_kinds_of_trees_are_what_libraries_take_apart():
    from collections import OrderedDict, defaultdict, deque, namedtuple

    from hotaru.utils import _pytree

    pair = namedtuple("pair", "a b")
    for tree in (
        (1, 2),
        [1, 2],
        {"b": 1, "a": 2},
        OrderedDict(b=1),
        deque([1, 2], 3),
        defaultdict(int, b=1),
        pair(1, 2),
    ):
        cls = namedtuple if type(tree) is pair else type(tree)
        node = _pytree.SUPPORTED_NODES[cls]
        assert isinstance(node, _pytree.NodeDef)
        assert node.type is cls
        values, context = node.flatten_fn(tree)
        made = node.unflatten_fn(values, context)
        assert (type(made), made) == (type(tree), tree)
        keyed, same = node.flatten_with_keys_fn(tree)
        assert ([child for _, child in keyed], same) == (values, context)
    assert _pytree._is_leaf(3)
    assert not _pytree._is_leaf([3])
    assert _pytree._is_leaf([3], is_leaf=lambda tree: True)


def test_a_kind_that_is_added_is_in_the_registry():
    from hotaru.utils import _pytree

    class Box:
        def __init__(self, value):
            self.value = value

    _pytree.register_pytree_node(
        Box, lambda box: ([box.value], None), lambda items, _: Box(*items)
    )
    node = _pytree.SUPPORTED_NODES[Box]
    assert (node.type, node.flatten_with_keys_fn) == (Box, None)
    assert node.unflatten_fn([3], None).value == 3
    _pytree.SUPPORTED_NODES.pop(Box)
    assert _pytree._is_leaf(Box(1))


def test_the_fake_mode_that_is_active():
    from hotaru._guards import active_fake_mode
    from hotaru._subclasses.fake_tensor import FakeTensorMode

    outer, inner = FakeTensorMode(), FakeTensorMode()
    assert active_fake_mode() is None
    with outer:
        with inner:
            assert active_fake_mode() is inner
        assert active_fake_mode() is outer
    assert active_fake_mode() is None


def test_copies_by_their_operator():
    x = hotaru.ones(3, requires_grad=True)
    out = hotaru.ops.aten._to_copy.default(x, dtype=hotaru.float64)
    assert out.dtype is hotaru.float64
    out.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    same = hotaru.ops.aten._to_copy(x)
    assert same.data_ptr() != x.data_ptr()


def test_questions_do_not_see_the_protocol():
    class Lazy:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            raise AssertionError(f"asked for {function}")

    assert not hotaru.is_tensor(Lazy())
    assert not hotaru.is_storage(Lazy())


def test_elements_as_text_with_an_indent():
    from hotaru._tensor_str import PRINT_OPTS, _tensor_str

    x = hotaru.arange(40.0).reshape(2, 20)
    lines = _tensor_str(x, 2).split("\n")
    assert lines[0].startswith("[[ 0.,  1.")
    assert all(re.match(r"   [ \[]", line) for line in lines[1:])
    assert max(map(len, lines)) <= PRINT_OPTS.linewidth
    assert _tensor_str(hotaru.tensor(3.0), 0) == "3."
    assert _tensor_str(hotaru.zeros(0), 0) == "[]"
    before = hotaru.get_printoptions()
    assert PRINT_OPTS.threshold == before["threshold"]


def test_arguments_of_to():
    assert _C._nn._parse_to("cpu", hotaru.float32, True) == (
        hotaru.device("cpu"),
        hotaru.float32,
        True,
        None,
    )
    found = _C._nn._parse_to(dtype=hotaru.half)
    assert found == (None, hotaru.half, False, None)


def test_nothing_is_traced():
    assert _C._get_tracing_state() is None
    assert _C._log_api_usage_once("library.name") is None
    assert isinstance(hotaru.Tensor, _C._TensorMeta)


def test_marks_for_other_profilers_are_refused():
    from hotaru.autograd import profiler

    with profiler.emit_nvtx(enabled=False):
        pass
    with pytest.raises(RuntimeError, match="emit_itt"):
        profiler.emit_itt().__enter__()


def test_symbolic_functions_are_kept():
    from hotaru.onnx import symbolic_helper, symbolic_opset11

    from hotaru import onnx

    @symbolic_helper.parse_args("v", "f")
    def symbolic(g, x, scale):
        return (g, x, scale)

    assert symbolic(1, 2, 3) == (1, 2, 3)
    onnx.register_custom_op_symbolic("lib::op", symbolic, 11)
    file = io.BytesIO()
    given = (hotaru.nn.ReLU(inplace=True), (hotaru.ones(2),), file)
    onnx.export(*given, dynamo=False)  # has no such operator
    onnx.unregister_custom_op_symbolic("lib::op", 11)
    with pytest.raises(ValueError, match="domain"):
        onnx.register_custom_op_symbolic("op", symbolic, 11)
    with pytest.raises(ValueError, match="no kind 'x'"):
        symbolic_helper.parse_args("x")
    with pytest.raises(AttributeError, match=r"by g\.op"):
        _ = symbolic_opset11.unsqueeze


def test_older_names_of_downloads(monkeypatch):
    from hotaru.utils import model_zoo

    from hotaru import hub

    monkeypatch.setenv("TORCH_HOME", "/tmp/there")
    assert hub._get_torch_home() == "/tmp/there"
    assert hub.HASH_REGEX.search("net-0123abcd.pth").group(1) == "0123abcd"
    assert model_zoo.load_url is hub.load_state_dict_from_url
    assert list(model_zoo.tqdm([1, 2], disable=True)) == [1, 2]


def test_modules_lie_where_pytorch_has_them():
    from hotaru.nn.modules import (
        channelshuffle,
        flatten,
        fold,
        instancenorm,
        pixelshuffle,
    )

    assert flatten.Flatten is hotaru.nn.Flatten
    assert fold.Unfold is hotaru.nn.Unfold
    assert instancenorm.InstanceNorm2d is hotaru.nn.InstanceNorm2d
    assert pixelshuffle.PixelShuffle is hotaru.nn.PixelShuffle
    assert channelshuffle.ChannelShuffle is hotaru.nn.ChannelShuffle


def test_the_processor_has_a_level():
    level = hotaru.backends.cpu.get_cpu_capability()
    assert level in ("DEFAULT", "AVX2", "AVX512")


def test_elements_are_picked_by_tensors_that_are_mapped_over():
    from hotaru._dynamo import _trace_wrapped_higher_order_op as mode

    x = hotaru.arange(12).reshape(3, 4)
    places = hotaru.arange(3)
    with mode.TransformGetItemToIndex():
        found = hotaru.vmap(lambda i: x[i, 1])(places)
        assert x[:, 1].tolist() == [1, 5, 9]
        assert x[x > 9].tolist() == [10, 11]
    assert found.tolist() == [1, 5, 9]


def test_what_is_compiled_runs_on_the_processor():
    from hotaru._dynamo.utils import is_compile_supported

    assert is_compile_supported("cpu")
    assert is_compile_supported("cuda:0") == hotaru.cuda.is_available()
    assert not is_compile_supported("mps")


@pytest.mark.parametrize("began", [False, True])
def test_a_fork_after_cuda_began_is_a_bad_one(began, monkeypatch):
    cuda = hotaru.cuda
    assert cuda._is_in_bad_fork() is False
    monkeypatch.setattr(_C, "_cuda_initialized", lambda: began)
    child = os.fork()
    if child == 0:
        os._exit(cuda._is_in_bad_fork())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == began
    assert cuda._is_in_bad_fork() is False
