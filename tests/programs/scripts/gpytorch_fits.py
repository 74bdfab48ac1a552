"""gpytorch: exact and variational regression."""

import sys

import gpytorch
import torch
from probe import emit

if sys.argv[1] == "variational":
    # The inducing points' covariance is nearly singular in single precision.
    torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
X = torch.linspace(0, 1, 24)
Y = torch.sin(6.28 * X) + 0.1 * torch.randn(24)


class Exact(gpytorch.models.ExactGP):
    """A constant mean and a scaled RBF kernel."""

    def __init__(self, likelihood) -> None:
        super().__init__(X, Y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(
            self.mean_module(x), self.covar_module(x)
        )


class Variational(gpytorch.models.ApproximateGP):
    """The same over eight inducing points."""

    def __init__(self) -> None:
        points = torch.linspace(0, 1, 8)
        spread = gpytorch.variational.CholeskyVariationalDistribution(8)
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, spread))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.MaternKernel()

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(
            self.mean_module(x), self.covar_module(x)
        )


def fit(model, likelihood, loss_of) -> None:
    model.train()
    likelihood.train()
    parameters = {*model.parameters(), *likelihood.parameters()}
    ordered = [p for p in model.parameters() if p in parameters]
    ordered += [p for p in likelihood.parameters() if not any(p is q for q in ordered)]
    optimizer = torch.optim.Adam(ordered, lr=0.1)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = -loss_of(model(X), Y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    likelihood.eval()
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        seen = likelihood(model(torch.linspace(0, 1, 9)))
    emit(losses=losses, mean=seen.mean, variance=seen.variance)
    low, high = seen.confidence_region()
    emit(low=low, high=high)


likelihood = gpytorch.likelihoods.GaussianLikelihood()
if sys.argv[1] == "exact":
    model = Exact(likelihood)
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
else:
    model = Variational()
    mll = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=24)
fit(model, likelihood, mll)
