"""Polynomial regression with Lightning."""
import tempfile

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regressor(L.LightningModule):
    def __init__(self, hidden=16, lr=1e-2):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def make_loader():
    x = torch.linspace(-1, 1, 64).unsqueeze(1)
    y = 0.5 * x**3 - x + 0.2
    order = torch.Generator().manual_seed(3)
    return DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True, generator=order)


def main():
    model = Regressor()
    trainer = L.Trainer(
        max_epochs=2,
        accelerator="cpu",
        deterministic=True,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tempfile.mkdtemp(),
    )
    trainer.fit(model, make_loader())
    print("final loss", float(trainer.callback_metrics["train_loss"]))


if __name__ == "__main__":
    main()
