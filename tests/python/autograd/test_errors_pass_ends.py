"""Errors on their way out of a function pass the ends of its tensors."""

import pytest

import hotaru as torch


class Kept(torch.Tensor):
    pass


@pytest.mark.parametrize("kind", [torch.nn.Parameter, Kept])
def test_an_error_outlives_the_tensors_that_it_ends(kind):
    def fail(_):
        # The type's attributes are not remembered any more, so that the
        # tensor's end looks them up.
        kind.marker = 1
        del kind.marker
        raise ValueError("mine")

    def run():
        # The second one ends when the loop is left, with the error on its way.
        for value in (None, kind(torch.ones(1))):
            fail(value)

    for _ in range(3):
        with pytest.raises(ValueError, match="mine"):
            run()
