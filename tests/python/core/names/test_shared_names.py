"""Names that a module of PyTorch has from another one.

Programs import a class from whichever module they saw it in: botorch takes
`Distribution` from `torch.distributions.multivariate_normal`.
"""

from importlib import import_module

import pytest

# As PyTorch 2.13's modules have them.
DISTRIBUTIONS = {
    "bernoulli": "logits_to_probs probs_to_logits lazy_property broadcast_all",
    "binomial": "logits_to_probs probs_to_logits Distribution",
    "categorical": "lazy_property logits_to_probs probs_to_logits",
    "continuous_bernoulli": "probs_to_logits",
    "geometric": "logits_to_probs probs_to_logits",
    "lkj_cholesky": "broadcast_all",
    "logistic_normal": "Independent",
    "lowrank_multivariate_normal": "Distribution",
    "multivariate_normal": "Distribution",
    "negative_binomial": "logits_to_probs probs_to_logits",
    "normal": "broadcast_all",
    "relaxed_bernoulli": "lazy_property logits_to_probs probs_to_logits",
    "transforms": "Distribution broadcast_all lazy_property "
    "tril_matrix_to_vec vec_to_tril_matrix",
    "von_mises": "lazy_property",
}
OPTIMIZERS = "adadelta adagrad adam adamax asgd nadam radam rmsprop rprop sgd"


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_modules_of_distributions(name):
    package = import_module("hotaru.distributions")
    module = import_module(f"hotaru.distributions.{name}")
    for shared in DISTRIBUTIONS[name].split():
        home = package if hasattr(package, shared) else package.utils
        assert getattr(module, shared) is getattr(home, shared)


@pytest.mark.parametrize("name", OPTIMIZERS.split())
def test_modules_of_optimizers(name):
    module = import_module(f"hotaru.optim.{name}")
    assert module.Optimizer is import_module("hotaru.optim").Optimizer
