"""Cases of the hooks of modules, forward, backward and around their state."""

from __future__ import annotations

from nn_scope import Cases, net
from outcomes import tensor

cases = Cases()
CASES = cases.found


@cases.case
def forward_hooks(lib):
    nn = lib.nn
    log = []
    m = nn.Linear(2, 2)

    def pre(module, args):
        log.append("pre")
        return args[0] + 1

    def pre_kwargs(module, args, kwargs):
        log.append(["pre_kwargs", sorted(kwargs)])
        return args, kwargs

    def after(module, args, output):
        log.append(["after", output])
        return output * 2

    def after_kwargs(module, args, kwargs, output):
        log.append(["after_kwargs", output])

    handles = [
        m.register_forward_pre_hook(pre),
        m.register_forward_pre_hook(pre_kwargs, with_kwargs=True, prepend=True),
        m.register_forward_hook(after),
        m.register_forward_hook(after_kwargs, with_kwargs=True, prepend=True),
    ]
    log.append(m(tensor(lib, 2)))
    handles[0].remove()
    with handles[2]:
        log.append(m(input=tensor(lib, 2)))
    log.append(m(tensor(lib, 2)))
    handles[1].remove()
    handles[1].remove()
    log.append(m(tensor(lib, 2)))
    return log


@cases.case
def bad_pre_hook(lib):
    m = lib.nn.Linear(2, 2)
    m.register_forward_pre_hook(lambda *a: 3, with_kwargs=True)
    return m(tensor(lib, 2))


@cases.case
def always_called_hook(lib):
    nn = lib.nn
    log = []

    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    m = Fails()
    m.register_forward_hook(lambda *a: log.append("plain"))
    m.register_forward_hook(lambda m, a, o: log.append(o), always_call=True)
    try:
        m(1)
    except ValueError as error:
        log.append(str(error))
    return log


@cases.case
def global_hooks(lib):
    modules = lib.nn.modules.module
    log = []
    handles = [
        modules.register_module_forward_pre_hook(lambda m, a: log.append("pre")),
        modules.register_module_forward_hook(lambda m, a, o: log.append("after")),
    ]
    m = lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Tanh())
    m(tensor(lib, 2))
    for handle in handles:
        handle.remove()
    m(tensor(lib, 2))
    return log


@cases.case
def full_backward_hooks(lib):
    nn = lib.nn
    log = []
    m = nn.Linear(2, 2)
    m.register_full_backward_hook(lambda m, gi, go: log.append(["back", gi, go]))
    m.register_full_backward_pre_hook(lambda m, go: log.append(["pre", go]))
    x = tensor(lib, 3, 2, requires_grad=True)
    m(x).sum().backward()
    log.append(x.grad)
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    m.register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
    x.grad = None
    m(x).sum().backward()
    log.append(x.grad)
    return log


@cases.case
def full_backward_hook_without_input_gradient(lib):
    log = []
    m = lib.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda m, gi, go: log.append([gi, go]))
    m(tensor(lib, 3, 2)).sum().backward()
    return log, m.weight.grad


@cases.case
def full_backward_hook_wrong_count(lib):
    m = lib.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    m(tensor(lib, 2, requires_grad=True)).sum().backward()


@cases.case
def backward_hooks_do_not_mix(lib):
    m = lib.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda *a: None)
    m.register_backward_hook(lambda *a: None)


@cases.case
def state_dict_hooks(lib):
    log = []
    m = net(lib)
    m.register_state_dict_pre_hook(lambda m, prefix, keep: log.append([prefix, keep]))
    m.fc.register_state_dict_post_hook(
        lambda m, state, prefix, meta: state.pop(prefix + "bias") and None
    )
    m._register_state_dict_hook(lambda m, state, prefix, meta: dict(state, extra=1))
    log.append(list(m.state_dict()))
    return log


@cases.case
def load_state_dict_hooks(lib):
    log = []
    m = net(lib)

    def before(module, state, prefix, *rest):
        log.append([prefix, sorted(state)])
        state[prefix + "weight"] = lib.zeros(3, 2)

    def after(module, keys):
        log.append([list(keys.missing_keys), list(keys.unexpected_keys)])
        keys.missing_keys.clear()

    m.fc.register_load_state_dict_pre_hook(before)
    m.register_load_state_dict_post_hook(after)
    log.append(m.load_state_dict({"fc.bias": lib.ones(3), "shared.bias": lib.ones(3)}))
    return log, m.fc.state_dict()
