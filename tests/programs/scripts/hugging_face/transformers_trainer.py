"""An epoch of transformers' Trainer over a small BERT, with evaluation."""

import numpy as np
import torch
from probe import emit, scratch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)


class Rows(torch.utils.data.Dataset):
    """Random sentences, labelled by whether their first token is small."""

    def __init__(self, count: int, seed: int) -> None:
        draw = np.random.RandomState(seed)
        self.tokens = draw.randint(3, 50, (count, 8))

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, k: int) -> dict:
        row = torch.tensor(self.tokens[k])
        return {
            "input_ids": row,
            "attention_mask": torch.ones_like(row),
            "labels": torch.tensor(int(row[0] < 25)),
        }


def accuracy(prediction) -> dict:
    guess = np.argmax(prediction.predictions, axis=-1)
    return {"accuracy": float((guess == prediction.label_ids).mean())}


set_seed(3)
config = BertConfig(
    vocab_size=50,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
)
model = BertForSequenceClassification(config)
with scratch() as folder:
    args = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=1,
        logging_steps=2,
        per_device_train_batch_size=8,
        per_device_eval_batch_size=8,
        learning_rate=1e-3,
        report_to=[],
        seed=3,
        use_cpu=True,
        save_strategy="epoch",
        warmup_steps=2,
        weight_decay=0.01,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=Rows(64, 0),
        eval_dataset=Rows(24, 1),
        compute_metrics=accuracy,
    )
    trainer.train()
    emit(
        losses=[h["loss"] for h in trainer.state.log_history if "loss" in h],
        norms=[
            float(h["grad_norm"]) for h in trainer.state.log_history if "grad_norm" in h
        ],
    )
    found = trainer.evaluate()
    emit(eval_loss=found["eval_loss"], accuracy=found["eval_accuracy"])
    emit(saved=sorted(p.name for p in folder.glob("checkpoint-*/*")))
    model.load_state_dict(model.state_dict())
    args = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=2,
        report_to=[],
        seed=3,
        per_device_train_batch_size=8,
        use_cpu=True,
        disable_tqdm=True,
        logging_steps=2,
        save_strategy="no",
    )
    again = Trainer(model=model, args=args, train_dataset=Rows(64, 0))
    again.train(resume_from_checkpoint=True)
    emit(resumed=[h["loss"] for h in again.state.log_history if "loss" in h])
