"""lightning: a fit with validation, callbacks, and Fabric."""

import logging
import sys

import lightning as L
import torch
from probe import emit, scratch

logging.getLogger("lightning").setLevel(logging.ERROR)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Net(L.LightningModule):
    """Two layers that learn a sum."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(4, width), torch.nn.Tanh(), torch.nn.Linear(width, 1)
        )
        self.losses = []

    def training_step(self, batch, index):
        x, y = batch
        loss = (self.net(x) - y).square().mean()
        self.log("train_loss", loss, on_epoch=True)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val_loss", (self.net(x) - y).square().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        return [optimizer], [schedule]


def loaders():
    x = torch.randn(48, 4)
    data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
    one = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
    return one, torch.utils.data.DataLoader(data, batch_size=16)


QUIET = {
    "accelerator": "cpu",
    "devices": 1,
    "logger": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
}


def fit() -> None:
    L.seed_everything(1)
    with scratch() as folder:
        trainer = L.Trainer(
            max_epochs=3,
            default_root_dir=str(folder),
            gradient_clip_val=0.5,
            enable_checkpointing=False,
            **QUIET,
        )
        net = Net()
        trainer.fit(net, *loaders())
        emit(losses=net.losses, metrics=dict(trainer.callback_metrics))
        emit(checked=trainer.validate(net, loaders()[1], verbose=False))


def callbacks() -> None:
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

    L.seed_everything(1)
    with scratch() as folder:
        keep = ModelCheckpoint(str(folder), monitor="val_loss")
        stop = EarlyStopping("val_loss", patience=1)
        trainer = L.Trainer(
            max_epochs=4,
            default_root_dir=str(folder),
            callbacks=[keep, stop],
            accumulate_grad_batches=2,
            **QUIET,
        )
        trainer.fit(Net(), *loaders())
        emit(score=keep.best_model_score)
        back = Net.load_from_checkpoint(keep.best_model_path)
        emit(weight=back.net[0].weight, epoch=trainer.current_epoch)


def fabric() -> None:
    L.seed_everything(1)
    fabric = L.Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    net = Net().net
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = fabric.setup(net, optimizer)
    loader = fabric.setup_dataloaders(loaders()[0])
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = (net(x) - y).square().mean()
        fabric.backward(loss)
        fabric.clip_gradients(net, optimizer, max_norm=1.0)
        optimizer.step()
        losses.append(loss.item())
    emit(losses=losses)


globals()[sys.argv[1]]()
