"""skorch: networks as estimators of scikit-learn."""

import sys

import numpy as np
import torch
from probe import emit, scratch
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EarlyStopping, LRScheduler

torch.manual_seed(0)
draw = np.random.RandomState(0)
X = draw.randn(80, 6).astype(np.float32)
LABELS = (X[:, 0] > X[:, 1]).astype(np.int64)


class Net(torch.nn.Module):
    """A perceptron with one hidden layer."""

    def __init__(self, width=8, outputs=2) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(6, width)
        self.out = torch.nn.Linear(width, outputs)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


def classifier() -> None:
    net = NeuralNetClassifier(
        Net,
        criterion=torch.nn.CrossEntropyLoss,
        max_epochs=3,
        lr=0.1,
        verbose=0,
        iterator_train__shuffle=True,
        batch_size=16,
        callbacks=[EarlyStopping(), LRScheduler("StepLR", step_size=1)],
    )
    net.fit(X, LABELS)
    emit(
        train=net.history[:, "train_loss"],
        valid=net.history[:, "valid_loss"],
        chances=net.predict_proba(X),
        score=float(net.score(X, LABELS)),
    )
    with scratch() as folder:
        net.save_params(f_params=str(folder / "p.pt"))
        net.initialize().load_params(f_params=str(folder / "p.pt"))
        emit(again=net.predict_proba(X[:5]))


def search() -> None:
    from sklearn.model_selection import GridSearchCV

    net = NeuralNetRegressor(
        Net, module__outputs=1, max_epochs=2, verbose=0, train_split=None
    )
    found = GridSearchCV(
        net,
        {"lr": [0.01, 0.05], "module__width": [4, 8]},
        cv=2,
        scoring="neg_mean_squared_error",
    )
    found.fit(X, X[:, :1] - X[:, 1:2])
    emit(best=found.best_params_, scores=found.cv_results_["mean_test_score"])


globals()[sys.argv[1]]()
