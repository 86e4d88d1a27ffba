#!/usr/bin/env python3
"""dsv4 with a model that transformers saved: its files, its names of tensors, its greedy tokens.

    saved_by_transformers_test.py --dsv4 DSV4      ends with 77 without torch and transformers

Needs no GPU; with one, the CUDA engine is asked too.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "scripts/golden"), str(Path(__file__).resolve().parents[1])]

from gpu_here import NO_GPU, has_gpu

CASES = ("clamps", "flash_order", "two_streams")
TOKENS = 24


# Before the oracle hides the GPU from its own process.
ENVIRONMENT = dict(os.environ)


def run(*words):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, env=ENVIRONMENT)


class SavedByTransformers(unittest.TestCase):
    def test_each_case(self):
        import golden_file
        import oracle_transformers
        from dsv4_cases import CASES as ALL
        from make_golden import save_pretrained

        for case in (c for c in ALL if c["name"] in CASES):
            with self.subTest(case=case["name"]), tempfile.TemporaryDirectory() as folder:
                model = save_pretrained(case, folder)
                self.assertTrue((Path(folder) / "model.safetensors").exists(), sorted(p.name for p in Path(folder).iterdir()))
                info = run(OPTIONS.dsv4, "info", "--model", folder)
                self.assertEqual(info.returncode, 0, info.stderr)
                self.assertRegex(info.stdout, rf"(?m)^layers +{case['config']['num_hidden_layers']} ")
                prompt = golden_file.tokens_of(case)[0, :7].tolist()
                wanted, margins, _ = oracle_transformers.greedy(case, model, prompt, TOKENS)
                # Up to where rounding alone would decide.
                sure = next((i for i, margin in enumerate(margins) if margin < 1e-4), TOKENS)
                self.assertGreater(sure, TOKENS // 2)
                for device in ("cpu", "cuda") if has_gpu() else ("cpu",):
                    done = run(
                        OPTIONS.dsv4, "generate", "--model", folder, "--prompt-ids", ",".join(map(str, prompt)), "--max-tokens", TOKENS,
                        "--ignore-eos", "--device", device,
                    )  # fmt: skip
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual([int(word) for word in done.stdout.split()][:sure], wanted[:sure], device)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsv4", required=True)
    OPTIONS, rest = parser.parse_known_args()
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError:
        print("torch and transformers are not installed")
        sys.exit(NO_GPU)
    unittest.main(argv=[sys.argv[0], *rest])
