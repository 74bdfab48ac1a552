"""no_grad and its kin as decorators of everything that can be called.

A generator function runs its body later, a step at a time: the mode holds in
every step and never between them.
"""

import pytest

import hotaru as torch

MODES = {
    "no_grad": (torch.no_grad, lambda: not torch.is_grad_enabled()),
    "no_grad()": (torch.no_grad(), lambda: not torch.is_grad_enabled()),
    "set_grad_enabled": (
        lambda f: torch.set_grad_enabled(False)(f),
        lambda: not torch.is_grad_enabled(),
    ),
    "inference_mode": (torch.inference_mode, torch.is_inference_mode_enabled),
    "inference_mode()": (torch.inference_mode(), torch.is_inference_mode_enabled),
}
modes = pytest.mark.parametrize("mode", MODES)


@modes
def test_every_step_of_a_generator_is_inside(mode):
    decorate, inside = MODES[mode]
    seen = []

    @decorate
    def steps(count):
        for _ in range(count):
            yield inside()
        seen.append(inside())

    assert steps.__name__ == "steps"
    for value in steps(2):
        assert value
        assert not inside()
    assert seen == [True]
    assert not inside()


def test_enable_grad_on_a_generator():
    @torch.enable_grad()
    def steps():
        yield torch.is_grad_enabled()
        torch.set_grad_enabled(False)  # until the step ends
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    with torch.no_grad():
        assert list(steps()) == [True, False, True]
        assert not torch.is_grad_enabled()


@modes
def test_values_errors_and_the_end_reach_the_generator(mode):
    decorate, inside = MODES[mode]
    log = []

    @decorate
    def steps():
        try:
            log.append(((yield 1), inside()))
            try:
                yield 2
            except ValueError as error:
                log.append((str(error), inside()))
                yield 3
            return 4
        finally:
            log.append(("closed", inside()))

    running = steps()
    assert next(running) == 1
    assert running.send("sent") == 2
    assert running.throw(ValueError("thrown")) == 3
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == 4
    assert log == [("sent", True), ("thrown", True), ("closed", True)]

    log.clear()
    running = steps()
    next(running)
    running.close()
    assert log == [("closed", True)]

    def outer():
        result = yield from steps()
        log.append(result)

    assert list(outer()) == [1, 2]
    assert log[-1] == 4
    assert not inside()


def test_an_error_within_leaves_the_mode_of_the_caller():
    @torch.no_grad()
    def steps():
        yield 1
        raise KeyError("inside")

    running = steps()
    next(running)
    with pytest.raises(KeyError, match="inside"):
        next(running)
    assert torch.is_grad_enabled()


def test_a_decorated_class_warns_and_constructs_inside():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Made:
            def __init__(self, value):
                self.value = value
                self.inside = not torch.is_grad_enabled()

            def now(self):
                return not torch.is_grad_enabled()

    made = Made(3)
    assert (made.value, made.inside, made.now()) == (3, True, False)
    for plain in (torch.enable_grad, torch.inference_mode):
        with pytest.warns(FutureWarning, match="Decorating classes"):
            plain(type("Other", (), {}))


def test_what_is_no_mode_and_no_function_is_refused():
    with pytest.raises(TypeError, match="no_grad takes a function"):
        torch.no_grad(False)
    with pytest.raises(TypeError, match="inference_mode takes a function"):
        torch.inference_mode(1)
    with pytest.raises(TypeError, match="must be bool, not int"):
        torch.set_grad_enabled(1)
    assert torch.is_grad_enabled()


def test_variable_makes_leaves_over_the_same_memory():
    Variable = torch.autograd.Variable
    data = torch.ones(2)
    leaf = Variable(data, requires_grad=True)
    assert leaf.requires_grad
    assert not data.requires_grad
    assert leaf.data_ptr() == data.data_ptr()
    (leaf * 2).sum().backward()
    assert leaf.grad.tolist() == [2, 2]
    assert not Variable(data).requires_grad
    assert not Variable(leaf * 2).requires_grad
    assert Variable(data, True).requires_grad
    assert type(Variable(torch.nn.Parameter(data))) is torch.Tensor
    assert Variable().shape == (0,)
    assert isinstance(data, Variable)
    assert not isinstance(3, Variable)


def test_what_variable_refuses():
    Variable = torch.autograd.Variable
    data = torch.ones(2)
    with pytest.raises(TypeError, match="has to be a tensor, but got list"):
        Variable([1.0])
    with pytest.raises(TypeError, match="'grad_fn' is an invalid keyword"):
        Variable(data, grad_fn=None)
    with pytest.raises(RuntimeError, match="floating point and complex"):
        Variable(torch.ones(2, dtype=torch.int64), requires_grad=True)
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert not Variable(data, volatile=True).requires_grad
    with (
        pytest.warns(UserWarning, match="volatile was removed"),
        pytest.raises(ValueError, match="volatile and require_grad"),
    ):
        Variable(data, requires_grad=True, volatile=True)


def test_modes_decorate_by_name():
    def recorded():
        return torch.is_grad_enabled()

    with torch.no_grad():
        assert torch.enable_grad(orig_func=recorded)()
    assert not torch.no_grad(orig_func=recorded)()
