#!/usr/bin/env python3
"""dsv4's tokenizer against Hugging Face's `tokenizers`, where that is installed: the same ids and text for anything.

    tokenizer_test.py --dsv4 DSV4      ends with 77 without the package

The tokenizer is of the structure that DeepSeek's have, with merges trained on this project's own documents.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SKIPPED = 77

sys.path.insert(0, str(ROOT / "tests/unit/engine"))


def training_text():
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / "scripts").rglob("*.py"))] + [
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))
    ]


def trained_merges(tokenizers, texts):
    """Merges that the package's own trainer finds, for the same cutting."""
    from tokenizer_json import tokenizer

    base = tokenizers.Tokenizer.from_str(json.dumps(tokenizer()))
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=2000, show_progress=False, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )  # fmt: skip
    base.train_from_iterator(texts, trainer)
    merges = json.loads(base.to_str())["model"]["merges"]
    return [tuple(it.split(" ")) if isinstance(it, str) else tuple(it) for it in merges]


def samples(texts):
    made = random.Random(3)
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    for _ in range(60):
        yield "\n".join(made.sample(lines, 3))
    ranges = [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x400, 0x500), (0x600, 0x700), (0x2000, 0x2070), (0x3040, 0x3100),
              (0x4E00, 0x4F00), (0xAC00, 0xAD00), (0x1F600, 0x1F640)]  # fmt: skip
    for _ in range(120):
        text = []
        for _ in range(made.randrange(1, 60)):
            first, last = made.choice(ranges)
            text.append(
                made.choice(
                    ["\n", "\r\n", " ", "  ", "\t", "12", "'s", "<think>", "<｜end▁of▁sentence｜>", *[chr(made.randrange(first, last))] * 20]
                )
            )
        yield "".join(text)


def run(*words):
    return subprocess.run([*map(str, words)], capture_output=True, check=False, stdin=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsv4", required=True)
    options = parser.parse_args()
    try:
        import tokenizers
    except ImportError:
        print("the package tokenizers is not installed")
        return SKIPPED
    from tokenizer_json import tokenizer

    texts = training_text()
    made = json.dumps(tokenizer(trained_merges(tokenizers, texts)), ensure_ascii=False)
    theirs = tokenizers.Tokenizer.from_str(made)
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tokenizer.json").write_text(made, encoding="utf-8")
        for text in samples(texts):
            count += 1
            ids = theirs.encode(text, add_special_tokens=False).ids
            done = run(options.dsv4, "tokenize", "--model", folder, "--text", text)
            ours = [int(word) for word in done.stdout.split()]
            if done.returncode or ours != ids:
                wrong += 1
                print(f"{text!r}:\n  theirs {ids}\n  ours   {ours} {done.stderr.decode()}")
                continue
            back = run(options.dsv4, "tokenize", "--model", folder, "--ids", ",".join(map(str, ids)))
            if back.stdout.decode("utf-8", "replace") != theirs.decode(ids, skip_special_tokens=True) + "\n":
                wrong += 1
                print(f"{text!r} comes back as {back.stdout!r}")
    print(f"{count} texts, {wrong} wrong; tokenizers {tokenizers.__version__}")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
