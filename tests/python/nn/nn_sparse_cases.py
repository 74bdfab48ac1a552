"""Cases of sparse gradients: of tables, and what optimizers do with them."""

from __future__ import annotations

from outcomes import tensor

CASES = {}

_ROWS = [3, 1, 3, 0]
# Lookups, and the options of each.
_TABLES = (
    "F.embedding(rows, w, sparse=True)",
    "F.embedding(rows.reshape(2, 2), w, sparse=True)",
    "F.embedding(rows.int(), w, sparse=True)",
    "F.embedding(rows, w, padding_idx=3, sparse=True)",
    "F.embedding(rows, w, padding_idx=-2, sparse=True)",
    "F.embedding(rows[:0], w, sparse=True)",
    "F.embedding(rows, w, max_norm=0.5, sparse=True)",
    "F.embedding(rows, w, scale_grad_by_freq=True, sparse=True)",
    "F.embedding_bag(rows, w, at, sparse=True)",
    "F.embedding_bag(rows, w, at, mode='sum', sparse=True)",
    "F.embedding_bag(rows, w, at, mode='max', sparse=True)",
    "F.embedding_bag(rows.reshape(2, 2), w, sparse=True)",
    "F.embedding_bag(rows, w, at, padding_idx=3, sparse=True)",
    "F.embedding_bag(rows, w, at, mode='sum', padding_idx=-5, sparse=True)",
    "F.embedding_bag(rows, w, lib.tensor([0, 0, 3, 4]), "
    "include_last_offset=True, sparse=True)",
    *(
        f"F.embedding_bag(rows.reshape(2, 2), w, mode='{mode}', "
        f"include_last_offset=True, sparse={sparse})"
        for mode, sparse in (("sum", True), ("mean", False), ("max", False))
    ),
    "F.embedding_bag(rows, w, at, mode='sum', per_sample_weights=f, sparse=True)",
    "F.embedding_bag(rows, w, at, mode='sum', per_sample_weights=f, "
    "padding_idx=3, sparse=True)",
    "F.embedding_bag(rows, w, at, per_sample_weights=f, sparse=True)",
    "F.embedding_bag(rows, w, at, scale_grad_by_freq=True, sparse=True)",
)
_STEPS = (
    "SGD([w], lr=0.1)",
    "SGD([w], lr=0.1, momentum=0.9)",
    "SGD([w], lr=0.1, momentum=0.9, nesterov=True)",
    "SGD([w], lr=0.1, momentum=0.9, dampening=0.5, maximize=True)",
    "SGD([w], lr=lib.tensor(0.1))",
    "SGD([w], lr=0.1, fused=True)",
    "Adagrad([w], lr=0.1)",
    "Adagrad([w], lr=lib.tensor(0.1), lr_decay=0.1, maximize=True)",
    "Adagrad([w], lr=0.1, initial_accumulator_value=0.5, foreach=True)",
    "Adagrad([w], lr=0.1, weight_decay=0.1)",
    "Adagrad([w], lr=0.1, fused=True)",
    "SparseAdam([w], lr=0.1)",
    "SparseAdam([w], lr=lib.tensor(0.1), betas=(0.5, 0.6), eps=0.1)",
    "SparseAdam([w], maximize=True)",
    "Adam([w])",
    "AdamW([w])",
    "Adamax([w])",
    "NAdam([w])",
    "RAdam([w])",
    "RMSprop([w])",
    "Rprop([w])",
    "ASGD([w])",
    "Adadelta([w])",
    "Adafactor([w])",
    "Muon([w])",
)


def case(function):
    """Registers a case under its name."""
    CASES[function.__name__] = function
    return function


def _scope(lib) -> dict:
    return {
        "lib": lib,
        "F": lib.nn.functional,
        "w": tensor(lib, 5, 3).requires_grad_(),
        "f": tensor(lib, 4, start=7).requires_grad_(),
        "rows": lib.tensor(_ROWS),
        "at": lib.tensor([0, 2]),
    }


def _parts(grad) -> list:
    """Parts of a gradient that is sparse; else itself."""
    if grad is None or not grad.is_sparse:
        return [grad]
    return [grad._indices(), grad._values(), list(grad.shape), grad.is_coalesced()]


def _table(text: str):
    def run(lib):
        scope = _scope(lib)
        found = eval(text, scope)
        (found * tensor(lib, *found.shape, start=5)).sum().backward()
        return found, _parts(scope["w"].grad), scope["f"].grad

    return run


def _lost(lib, w, k: int):
    """A loss that looks up other rows in each step."""
    rows = lib.tensor([*_ROWS[k:], k])
    found = lib.nn.functional.embedding(rows, w, sparse=True)
    return ((found - 0.3) ** 2).sum()


def _stepped(text: str):
    def run(lib):
        w = tensor(lib, 5, 3).requires_grad_()
        optimizer = eval(f"optim.{text}", {"optim": lib.optim, "lib": lib, "w": w})
        found = []
        for k in range(3):
            optimizer.zero_grad()
            _lost(lib, w, k).backward()
            optimizer.step()
            found.append(w.detach().clone())
        kept = [sorted(name for name in state) for state in optimizer.state.values()]
        return found, kept

    return run


for _text in _TABLES:
    CASES[_text] = _table(_text)
for _text in _STEPS:
    CASES[_text] = _stepped(_text)


@case
def sums_of_gradients(lib):
    w = tensor(lib, 5, 3).requires_grad_()
    found = []
    for k in range(2):
        _lost(lib, w, k).backward()
        found.append(_parts(w.grad.coalesce()))
    (_lost(lib, w, 0) + (w * w).sum()).backward()
    return found, _parts(w.grad)


@case
def look_ups_written_after_the_gradient(lib):
    w, rows = tensor(lib, 5, 3).requires_grad_(), lib.tensor(_ROWS)
    lib.nn.functional.embedding(rows, w, sparse=True).sum().backward()
    rows[0] = 4
    return _parts(w.grad)


@case
def second_order(lib):
    w, rows = tensor(lib, 5, 3).requires_grad_(), lib.tensor(_ROWS)
    loss = (lib.nn.functional.embedding(rows, w, sparse=True) ** 3).sum()
    (grad,) = lib.autograd.grad(loss, w, create_graph=True)
    (grad.coalesce().values() ** 2).sum().backward()
    return _parts(w.grad.coalesce())


@case
def modules(lib):
    found = []
    for module in (
        lib.nn.Embedding(5, 3, padding_idx=1, sparse=True),
        lib.nn.EmbeddingBag(5, 3, mode="sum", sparse=True),
    ):
        rows = lib.tensor([_ROWS])
        module(rows).sum().backward()
        found.append([repr(module), _parts(module.weight.grad)])
    return found


@case
def zeroed(lib):
    w = tensor(lib, 5, 3).requires_grad_()
    _lost(lib, w, 0).backward()
    grad = w.grad
    lib.optim.SGD([w]).zero_grad(set_to_none=False)
    return grad is w.grad, _parts(w.grad)


@case
def sparse_adam_of_dense_gradients(lib):
    w = tensor(lib, 5, 3).requires_grad_()
    w.grad = lib.ones(5, 3)
    lib.optim.SparseAdam([w]).step()


@case
def sparse_adam_of_no_elements(lib):
    w = tensor(lib, 5, 3).requires_grad_()
    optimizer = lib.optim.SparseAdam([w])
    w.grad = lib.zeros(5, 3).to_sparse(1)
    optimizer.step()
    return w, list(optimizer.state[w].values())


@case
def sparse_adam_of_single_elements(lib):
    """Indices of both dimensions, some of them twice."""
    w = tensor(lib, 5, 3).requires_grad_()
    optimizer = lib.optim.SparseAdam([w], lr=0.1)
    for _ in range(2):
        w.grad = lib.sparse_coo_tensor(
            lib.tensor([[1, 4, 1], [2, 0, 2]]),
            tensor(lib, 3),
            (5, 3),
            check_invariants=True,
        )
        optimizer.step()
    return w, list(optimizer.state[w].values())


@case
def sparse_adam_of_sparse_parameters(lib):
    w, v = tensor(lib, 5, 3), tensor(lib, 5, 3).to_sparse()
    lib.optim.SparseAdam([{"params": [w, v]}, {"params": [v]}])


@case
def lbfgs(lib):
    w = tensor(lib, 5, 3).requires_grad_()
    optimizer = lib.optim.LBFGS([w], lr=0.1, max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = _lost(lib, w, 1)
        loss.backward()
        return loss

    return optimizer.step(closure), w


@case
def grad_scaler(lib):
    found = []
    scaler = lib.amp.GradScaler("cpu", init_scale=4.0)
    w = tensor(lib, 5, 3).requires_grad_()
    optimizer = lib.optim.SGD([w], lr=0.1)
    for factor in (1.0, float("inf")):
        optimizer.zero_grad()
        scaler.scale(_lost(lib, w, 0) * factor).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        found.append([_parts(w.grad), scaler.get_scale(), w.detach().clone()])
    return found


@case
def into_strided_tensors(lib):
    w = tensor(lib, 5, 3)
    grad = lib.sparse_coo_tensor(
        lib.tensor([[1, 4, 1]]), tensor(lib, 3, 3), (5, 3), check_invariants=True
    )
    w.add_(grad, alpha=0.5)
    w += grad
    w.add_(lib.zeros(5, 3).to_sparse())
    return w


@case
def into_strided_tensors_of_another_shape(lib):
    tensor(lib, 5, 3).add_(tensor(lib, 3).to_sparse())


@case
def strided_into_sparse_ones(lib):
    tensor(lib, 3).to_sparse().add_(tensor(lib, 3))
