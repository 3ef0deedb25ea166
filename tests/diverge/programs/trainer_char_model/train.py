import argparse
import tempfile

from model import CharDataset, CharModel
from transformers import Trainer, TrainingArguments

TEXT = (
    "the quick brown fox jumps over the lazy dog while five boxing wizards "
    "jump quickly and pack my box with a dozen liquor jugs "
) * 3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--seed", type=int, default=42)
    cli = parser.parse_args()

    dataset = CharDataset(TEXT)
    model = CharModel(len(dataset.chars))
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="char-model-"),
        max_steps=cli.steps,
        per_device_train_batch_size=8,
        learning_rate=5e-3,
        lr_scheduler_type="linear",
        logging_steps=2,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        seed=cli.seed,
        data_seed=cli.seed,
    )
    trainer = Trainer(model=model, args=args, train_dataset=dataset)
    result = trainer.train()
    print(f"training loss {result.training_loss:.4f}")


if __name__ == "__main__":
    main()
