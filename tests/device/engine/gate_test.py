#!/usr/bin/env python3
"""Each way in which a report closes the gate of dsv4, and the one in which it opens. Needs no GPU.

    gate_test.py --capgate CAPGATE --dsv4 DSV4 --digest-script source_digest.py --digest-plan PLAN

Where the report is right and there is no GPU, the program gets past the gate and stops at the missing device; with a GPU the
report is about another machine, or it decodes.
"""

import argparse
import builtins
import copy
import importlib.util
import io
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

from reports import an_error, audit_report, identity, lint_report, pieces, run

ROOT = Path(__file__).resolve().parents[3]
PAST_THE_GATE = r"looking for a CUDA device|there is no CUDA device|GPU architecture|driver branch|number of GPUs"


class Gate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.model = cls.folder / "model"
        run(OPTIONS.dsv4, "random-checkpoint", "--shape", "tiny", "--seed", 1, "--out", cls.model)
        cls.identity = identity(OPTIONS.dsv4, cls.model)
        cls.path = cls.folder / "gate.json"
        cls.whole = cls.merged(audit_report(cls.identity), lint_report())

    @classmethod
    def merged(cls, *reports):
        paths = []
        for number, report in enumerate(reports):
            paths.append(cls.folder / f"part{number}.json")
            paths[-1].write_text(json.dumps(report), encoding="utf-8")
        done = run(OPTIONS.capgate, "merge", *paths, "--out", cls.folder / "merged.json")
        if done.returncode:
            raise SystemExit(done.stderr)
        return json.loads((cls.folder / "merged.json").read_text(encoding="utf-8"))

    def generate(self, *more, model=None, gate=True, mode="full"):
        return run(
            OPTIONS.dsv4, "generate", "--model", model or self.model, "--prompt-ids", "1,2", "--max-tokens", 1, "--device", "cuda",
            "--mode", mode, *(["--gate", self.path] if gate else []), *more,
        )  # fmt: skip

    def refused(self, why, **how):
        """Exit 2, no token, one sentence that says which and what to run; with --on-dirty eager it says so and goes on without graphs."""
        done = self.generate(**how)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, rf"\Adsv4 generate: the gate is closed: .*{why}")
        self.assertRegex(done.stderr, r"; run |; to do: |run capgate")
        eager = self.generate("--on-dirty", "eager", **how)
        self.assertRegex(eager.stderr, rf"the gate is closed: .*{why}.*\ndsv4 generate: decoding without graphs\n")
        if eager.returncode:  # no GPU to go on with
            self.assertRegex(eager.stderr, r"\ndsv4 generate: [^\n]*CUDA[^\n]*\n\Z")

    def put(self, change):
        report = copy.deepcopy(self.whole)
        change(report)
        self.path.write_text(json.dumps(report), encoding="utf-8")

    def put_subject(self, **fields):
        self.put(lambda report: report["subject"].update(fields))

    def test_a_report_about_this_program_opens(self):
        self.put(lambda report: None)
        self.assertEqual(run(OPTIONS.capgate, "gate", self.path).returncode, 0)
        done = self.generate()
        if done.returncode:
            self.assertRegex(done.stderr, PAST_THE_GATE)

    def test_missing(self):
        self.path.unlink(missing_ok=True)
        self.refused("there is no report at .*gate.json")

    def test_without_a_report_full_is_not_on_offer(self):
        done = self.generate(gate=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "mode full needs --gate")

    def test_truncated(self):
        text = json.dumps(self.whole)
        for size in (0, 1, len(text) // 2, len(text) - 1):
            with self.subTest(size=size):
                self.path.write_text(text[:size], encoding="utf-8")
                self.refused("gate.json")

    def test_other_schema(self):
        self.put(lambda report: report.update(schema="capgate-report/2"))
        self.refused("capgate-report/2")

    def test_inconclusive(self):
        def change(report):
            report["verdict"] = "inconclusive"
            report["reasons"] = [{"text": "12 events were dropped", "remedy": "capgate audit again"}]

        self.put(change)
        self.refused("is inconclusive, because 12 events were dropped")

    def test_failed(self):
        def change(report):
            report["verdict"] = "fail"
            report["violations"] = [an_error()]
            report["summary"].update(errors=1, by_rule={"host-sync": 1})

        self.put(change)
        self.refused("has 1 error; fix what `capgate show")

    def test_edited_by_hand_to_pass(self):
        def change(report):
            report["violations"] = [an_error()]
            report["summary"].update(errors=1, by_rule={"host-sync": 1})

        self.put(change)
        self.refused("has the verdict pass, and an error")

    def test_rebuilt_from_an_edited_header(self):
        """The digest of an edited header is another, and a report about it is refused."""
        spec = importlib.util.spec_from_file_location("source_digest", OPTIONS.digest_script)
        tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tool)
        plan = tool.read_plan(OPTIONS.digest_plan)
        self.assertEqual(tool.digest_of(plan), self.identity["source_digest"], "dsv4 is not built from the sources as they stand")
        for header in ("engine/cuda/step/step.h", "kernels/reduce.cuh", "engine/model/sampling.h", "detector/include/capgate/capgate.h"):
            with self.subTest(header=header):
                edited = self.digest_with_edit(tool, plan, ROOT / header)
                self.assertRegex(edited, r"\A[0-9a-f]{64}\Z")
                self.assertNotEqual(edited, self.identity["source_digest"])
                self.put_subject(source_digest=edited)
                self.refused(f"is about source digest {edited[:12]}…, this is {self.identity['source_digest'][:12]}…")

    @staticmethod
    def digest_with_edit(tool, plan, header):
        """What the digest tool says when the header reads as if a line had been added; no file is touched."""
        seen = []

        def reading(path, mode="r", *more, **options):
            file = builtins.open(path, mode, *more, **options)
            if Path(path).resolve() != header:
                return file
            seen.append(path)
            with file:
                return io.BytesIO(file.read() + b"// edited\n")

        tool.open = reading
        try:
            digest = tool.digest_of(plan)
        finally:
            del tool.open
        if not seen:
            raise AssertionError(f"{header} is not among what the build read")
        return digest

    def test_other_build(self):
        self.put_subject(build_id="0" * 40)
        self.refused("is about build 000000000000…")

    def test_other_code(self):
        self.put_subject(code_digest="0" * 64)
        self.refused("is about code digest 000000000000…")

    def test_other_config(self):
        self.put(lambda report: None)
        other = self.folder / "other"
        other.mkdir(exist_ok=True)
        text = (self.model / "config.json").read_text(encoding="utf-8")
        changed = re.sub(r'("swiglu_limit": *)[0-9.]+', r"\g<1>2.0", text)
        self.assertNotEqual(changed, text)
        (other / "config.json").write_text(changed, encoding="utf-8")
        if not (other / "model.safetensors").exists():
            (other / "model.safetensors").symlink_to(self.model / "model.safetensors")
        self.refused("is about config ", model=other)

    def test_other_mode(self):
        self.put_subject(mode="piecewise")
        self.refused("is about mode piecewise, this is full")
        self.put(lambda report: None)
        self.refused("is about mode full, this is piecewise; run scripts/gate --mode piecewise", mode="piecewise")

    def put_pieces(self, names):
        whole = self.merged(audit_report(self.identity, names, mode="piecewise"), lint_report())
        self.path.write_text(json.dumps(whole), encoding="utf-8")

    def test_piecewise_opens_behind_all_of_its_pieces(self):
        self.put_pieces(pieces("bs=1") + pieces("bs=2"))
        done = self.generate(mode="piecewise")
        if done.returncode:
            self.assertRegex(done.stderr, PAST_THE_GATE)

    def test_a_piece_that_was_not_captured(self):
        for missing in pieces("bs=1"):
            with self.subTest(missing=missing):
                self.put_pieces([name for name in pieces("bs=1") + pieces("bs=2") if name != missing])
                self.refused(f'has no bucket "{missing}"', mode="piecewise")
        self.put_pieces(["bs=1"])  # one graph of the whole step is no piece
        self.refused('has no bucket "bs=1 piece 0"', mode="piecewise")

    def test_a_bucket_that_was_not_captured(self):
        self.path.write_text(json.dumps(self.merged(audit_report(self.identity, ("bs=2", "bs=4")), lint_report())), encoding="utf-8")
        self.refused('has no bucket "bs=1"')

    def test_no_completed_capture_of_the_bucket(self):
        def change(report):
            report["captures"][0]["result"] = "failed"

        self.put(change)
        self.refused('no completed capture of bucket "bs=1"')

    def test_no_static_evidence(self):
        self.path.write_text(json.dumps(audit_report(self.identity)), encoding="utf-8")
        self.refused("holds no static evidence")

    def test_static_evidence_alone(self):
        self.path.write_text(json.dumps(lint_report()), encoding="utf-8")
        self.refused("does not say which source digest it is about")

    def test_the_cpu_replays_nothing(self):
        for mode in ("full", "piecewise"):
            done = run(
                OPTIONS.dsv4, "generate", "--model", self.model, "--prompt-ids", 1, "--max-tokens", 1, "--mode", mode, "--gate", self.path
            )  # fmt: skip
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, f"mode {mode} needs --device cuda")

    def test_a_trial_that_nobody_audits_proves_nothing(self):
        done = run(OPTIONS.dsv4, "trial", "--model", self.model)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "only under capgate audit")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("capgate", "dsv4", "digest-script", "digest-plan"):
        parser.add_argument(f"--{option}", required=True, type=Path)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
