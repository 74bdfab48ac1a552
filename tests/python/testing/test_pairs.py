# ruff: noqa: PT009, N802  (unittest's names)
"""The classes of pairs, and the TestCase of them, that other suites derive from.

What they raise was read from PyTorch 2.13.
"""

import json

import numpy as np
import pytest
from hotaru.testing._comparison import (
    BooleanPair,
    ErrorMeta,
    NonePair,
    NumberPair,
    ObjectPair,
    TensorLikePair,
    UnsupportedInputs,
    default_tolerances,
    get_tolerances,
    not_close_error_metas,
    originate_pairs,
)
from hotaru.testing._internal import optests
from hotaru.testing._internal.common_utils import TestCase as Case
from hotaru.testing._internal.common_utils import freeze_rng_state, set_rng_seed

import hotaru as torch

PAIRS = (NonePair, BooleanPair, NumberPair, TensorLikePair)


def _texts(actual, expected, pairs=PAIRS, **options):
    return [
        str(e.to_error())
        for e in not_close_error_metas(actual, expected, pair_types=pairs, **options)
    ]


def test_pairs_of_every_kind_that_are_close():
    things = [None, True, 1, 2.5, 1j, np.float32(2), np.bool_(0), torch.ones(2)]
    assert _texts(things, list(things)) == []
    assert _texts({"a": things}, {"a": tuple(things)}) == []
    kinds = [
        type(p).__name__ for p in originate_pairs(things, things, pair_types=PAIRS)
    ]
    assert kinds == [
        "NonePair",
        "BooleanPair",
        "NumberPair",
        "NumberPair",
        "NumberPair",
        "NumberPair",
        "BooleanPair",
        "TensorLikePair",
    ]


def test_every_pair_that_differs_has_its_error():
    told = _texts([1, {"k": None}, True], [2, {"k": 3}, False])
    assert told[0].startswith("Scalars are not equal!\n\nExpected 2 but got 1.")
    assert told[0].endswith("The failure occurred for item [0]")
    assert told[1] == (
        "None mismatch: None is not 3\n\nThe failure occurred for item [1]['k']"
    )
    # PyTorch's pair of booleans loses its place.
    assert told[2] == "Booleans mismatch: True is not False"
    assert _texts("a", "b", (ObjectPair,)) == ["a != b"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "The values for attribute 'dtype' do not match"),
        ({"check_dtype": False}, "Tensor-likes are not close!"),
        ({"check_dtype": False, "rtol": 0, "atol": 1.0}, None),
    ],
)
def test_options_of_tensors(options, text):
    told = _texts(torch.ones(2), torch.zeros(2, dtype=torch.float64), **options)
    assert told[0].startswith(text) if text else told == []


def test_what_no_pair_takes_and_what_has_another_form():
    for actual, expected, text in (
        ("a", "b", "No comparison pair was able to handle inputs of type"),
        ([1], [1, 2], "The length of the sequences mismatch: 1 != 2"),
        ({"a": 1}, {"b": 1}, "The keys of the mappings do not match"),
    ):
        with pytest.raises((AssertionError, TypeError), match=text):
            not_close_error_metas(actual, expected, pair_types=PAIRS)
    with pytest.raises(ErrorMeta):
        originate_pairs([1], [1, 2], pair_types=PAIRS)
    with pytest.raises(UnsupportedInputs):
        NumberPair("a", 1)
    with pytest.raises(RuntimeError, match="unexpected exception above"):
        not_close_error_metas(1, 1, pair_types=(lambda *a, **k: 1 / 0, NumberPair))


def test_tolerances():
    assert default_tolerances(torch.ones(1), torch.float16) == (1e-3, 1e-5)
    assert default_tolerances(torch.int64) == (0.0, 0.0)
    assert get_tolerances(torch.float32, rtol=None, atol=None) == (1.3e-6, 1e-5)
    assert get_tolerances(torch.float32, rtol=0.5, atol=1) == (0.5, 1)
    with pytest.raises(ErrorMeta) as raised:
        get_tolerances(torch.float32, rtol=None, atol=1)
    assert raised.value.type is ValueError
    with pytest.raises(TypeError, match=r"Expected a torch\.Tensor or a torch\.dtype"):
        default_tolerances(1)


def test_a_class_derived_from_the_pair_of_tensors():
    class MeanPair(TensorLikePair):
        def _process_inputs(self, actual, expected, **options):
            actual = actual if isinstance(actual, torch.Tensor) else torch.ones(2)
            return super()._process_inputs(actual, expected, **options)

        def compare(self):
            self._compare_attributes(self.actual, self.expected)
            actual, expected = self._equalize_attributes(self.actual, self.expected)
            if abs(actual - expected).mean() > self.atol:
                self._fail(AssertionError, f"more than {self.atol}")

    kinds = (MeanPair,)
    assert _texts(torch.ones(2), torch.tensor([1.0, 2.0]), kinds, rtol=0, atol=1) == []
    told = _texts([torch.ones(2)], [torch.zeros(2)], kinds, rtol=0, atol=0.5)
    assert told == ["more than 0.5\n\nThe failure occurred for item [0]"]
    assert "rtol=0," in repr(MeanPair(torch.ones(1), torch.ones(1), rtol=0, atol=1))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (torch.ones(2), [1, 1]),
        ((1.0, 1.0), torch.ones(2)),
        (torch.ones(2, dtype=torch.float64), np.ones(2)),
        (True, torch.tensor(True)),
        (np.bool_(1), 1),
        (2, True),
        (1.5, np.array([1.5])),
        (1, 1.0),
        (1.0, 1.0000005),
        (float("nan"), float("nan")),
        ({"a": {1}}, {"a": {1}}),
        ("text", "text"),
        (int, int),
        (torch.Size([1, 2]), (1, 2)),
        (torch.nn.Sequential(), torch.nn.Sequential()),
        (torch.eye(2).to_sparse(), torch.eye(2).to_sparse()),
        (np.array(["a"]), ["a"]),
    ],
)
def test_equal_to_the_test_case(x, y):
    case = Case()
    case.assertEqual(x, y)
    with pytest.raises(AssertionError):
        case.assertNotEqual(x, y)


@pytest.mark.parametrize(
    ("x", "y", "text"),
    [
        (torch.ones(2), torch.zeros(2), "Tensor-likes are not close!"),
        (torch.ones(1), torch.ones(1).double(), "attribute 'dtype'"),
        ("a", "b", "String comparison failed: 'a' != 'b'"),
        ({1}, {2}, "Set comparison failed: Items in the first set"),
        (int, float, "Type comparison failed: <class 'int'> != <class 'float'>"),
        (object, 1, "Object comparison failed"),
        (None, 0, "None mismatch: None is not 0"),
        (True, 0, "Booleans mismatch: True is not False"),
        (1.0, 1.0001, "Scalars are not close!"),
    ],
)
def test_different_to_the_test_case(x, y, text):
    case = Case()
    with pytest.raises(AssertionError, match=text):
        case.assertEqual(x, y)
    with pytest.raises(AssertionError, match=r"(?s).*\nwhy$"):
        case.assertEqual(x, y, "why")
    case.assertNotEqual(x, y)


def test_the_bounds_of_a_test_case():
    class Loose(Case):
        precision = 0.1

        def runTest(self):
            self.seen = torch.rand(1), torch.is_grad_enabled()
            torch.set_grad_enabled(False)
            self.assertEqual(torch.ones(1), torch.tensor([1.05]))

    one = Loose()
    for _ in range(2):
        result = one.run()
        assert result.wasSuccessful()
        seen, was = one.seen
        assert was
        assert torch.is_grad_enabled()
        set_rng_seed()
        assert torch.equal(seen, torch.rand(1))
    assert not torch.sparse.check_sparse_tensor_invariants.is_enabled()
    state = torch.get_rng_state()
    with freeze_rng_state():
        torch.rand(3)
    assert torch.equal(state, torch.get_rng_state())


def test_tests_of_operators_that_are_made_of_tests(tmp_path):
    statuses = tmp_path / "statuses.json"
    statuses.write_text(json.dumps({"data": {}}))
    with torch.library._scoped_library("made_tests", "FRAGMENT") as lib:
        lib.define("right(Tensor x) -> Tensor")
        lib.define("wrong(Tensor x) -> Tensor")
        lib.impl("right", lambda x: x + 1, "CompositeExplicitAutograd")
        lib.impl("wrong", lambda x: x.add_(1).clone(), "CPU")

        class Tests:
            def test_right(self):
                assert torch.ops.made_tests.right(torch.ones(1)).item() == 2

            def test_wrong(self):
                self.inside = optests.is_inside_opcheck_mode()
                torch.ops.made_tests.wrong(torch.ones(1))

            @optests.dontGenerateOpCheckTests("a reason")
            def test_not(self):
                pass

        optests.generate_opcheck_tests(
            Tests, ["made_tests"], str(statuses), test_utils=["test_schema"]
        )
        tests = Tests()
        assert not hasattr(tests, "test_schema__test_not")
        tests.test_schema__test_right()
        with pytest.raises(optests.OpCheckError, match="failed on operators"):
            tests.test_schema__test_wrong()
        assert tests.inside
        assert not optests.is_inside_opcheck_mode()
        with pytest.raises(RuntimeError, match="Tried to autogenerate"):
            optests.generate_opcheck_tests(
                Tests, [], str(statuses), test_utils=["test_schema"]
            )

        told = {"Tests.test_schema__test_wrong": {"status": "xfail", "comment": ""}}
        statuses.write_text(json.dumps({"data": {"made_tests::wrong": told}}))
        del Tests.test_schema__test_right, Tests.test_schema__test_wrong
        optests.generate_opcheck_tests(
            Tests, ["made_tests"], str(statuses), test_utils=["test_schema"]
        )
        tests.test_schema__test_wrong()
