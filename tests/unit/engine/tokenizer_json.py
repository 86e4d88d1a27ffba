#!/usr/bin/env python3
"""Prints a small tokenizer.json of the structure that DeepSeek's tokenizers have.

    tokenizer_json.py [--merges FILE]      FILE: pairs of tokens in the byte alphabet, one a line, "left right"

The first 256 tokens are the bytes, in the order of their values; then what the merges make; then three added tokens.
"""

import argparse
import json
import sys

PATTERNS = [
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"""
    r"""|\s*[\r\n]+|\s+(?!\S)|\s+""",
]  # fmt: skip
ADDED = [("<｜begin▁of▁sentence｜>", True), ("<｜end▁of▁sentence｜>", True), ("<think>", False)]


def alphabet():
    """The character of each byte: printable ones of Latin-1 stand for themselves, the others follow from U+0100 on."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in own else chr(next(others)) for byte in range(256)]


def tokenizer(merges=(), added=True):
    vocabulary = {character: byte for byte, character in enumerate(alphabet())}
    for left, right in merges:
        vocabulary.setdefault(left + right, len(vocabulary))
    tokens = [
        {"id": len(vocabulary) + i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": not special,
         "special": special}
        for i, (text, special) in enumerate(ADDED if added else ())
    ]  # fmt: skip
    split = [{"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False} for regex in PATTERNS]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens,
        "normalizer": {"type": "Sequence", "normalizers": []},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*split, byte_level]},
        "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary, "merges": [f"{left} {right}" for left, right in merges],
        },
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--merges", type=argparse.FileType("r", encoding="utf-8"))
    options = parser.parse_args()
    merges = [tuple(line.rstrip("\n").split(" ")) for line in options.merges] if options.merges else []
    sys.stdout.reconfigure(encoding="utf-8")
    print(json.dumps(tokenizer(merges), ensure_ascii=False))


if __name__ == "__main__":
    main()
