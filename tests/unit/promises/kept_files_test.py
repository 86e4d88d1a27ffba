"""What docs/compatibility.md promises of files and programs of other versions, where no other test shows it."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from promise import CAPGATE, GOLDEN, LIBRARY, SOURCE, TRACES, Promises, promise

PAGE = "docs/compatibility.md"
HEADER = SOURCE / "detector/include/capgate/capgate.h"
MARKS = SOURCE / "detector/python/capgate_marks.py"


def operations_of_the_header():
    return {name: int(value) for name, value in re.findall(r"\bCAPGATE_OP_(\w+) = (\d+)", HEADER.read_text(encoding="utf-8"))}


class KeptFiles(Promises):
    @promise(PAGE, "an older program reads a newer report, ignores keys that it does not know, and drops them when it merges.")
    def test_keys_of_a_newer_report_are_ignored_and_dropped(self):
        report = json.loads((GOLDEN / "clean_run.json").read_text(encoding="utf-8"))
        report["of_tomorrow"] = report["coverage"]["of_tomorrow"] = report["subject"]["of_tomorrow"] = {"a": [1]}
        newer = self.write("newer.json", json.dumps(report))
        for command in ("show", "gate"):
            self.assertEqual(self.output(command, newer), self.output(command, GOLDEN / "clean_run.json"))
        merged = self.output("merge", newer)
        self.assertNotIn("of_tomorrow", json.dumps({key: value for key, value in json.loads(merged).items() if key != "subject"}))

    @promise(PAGE, "A file of an unknown version is refused with one sentence that names both versions, and exit code 2.")
    def test_an_unknown_version_is_refused_with_both(self):
        text = (GOLDEN / "clean_run.json").read_text(encoding="utf-8").replace("capgate-report/1", "capgate-report/7", 1)
        sealed = bytearray((TRACES / "cpp/masked_count.faulty.cgtrace").read_bytes())
        sealed[8] = 77
        (self.here / "a.cgtrace").write_bytes(sealed)
        ours = re.search(r"kSealVersion = (\d+)", (SOURCE / "detector/seal/sealed_file.h").read_text(encoding="utf-8"))[1]
        for words, versions in (
            (["show", self.write("a.json", text)], ("capgate-report/7", "capgate-report/1")),
            (["analyze", "a.cgtrace"], ("77", ours)),
        ):
            done = self.run_capgate(*words)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
            for version in versions:
                self.assertRegex(done.stderr, rf"\b{version}\b")

    @promise("docs/architecture.md", "A reader skips sections that it does not know.")
    @unittest.skipUnless(shutil.which("zstd"), "zstd is not here to unpack a trace")
    def test_a_section_of_a_newer_trace_is_passed_over(self):
        trace = TRACES / "cpp/masked_count.faulty.cgtrace"
        head, packed = trace.read_bytes()[:12], trace.read_bytes()[12:]
        unpacked = subprocess.run(["zstd", "-dc"], input=packed, capture_output=True, check=True).stdout
        self.assertTrue(unpacked.startswith(b"\x04tool"))  # a name and a body, each behind its length
        for name, size, whole in ((b"of tomorrow", 3, True), (b"of tomorrow", 4, False)):
            section = bytes([len(name)]) + name + bytes([size]) + b"new"
            packed = subprocess.run(["zstd", "-c"], input=unpacked + section, capture_output=True, check=True).stdout
            (self.here / "a.cgtrace").write_bytes(head + packed)
            done = self.run_capgate("analyze", "a.cgtrace")
            if whole:
                self.assertEqual((done.returncode, done.stdout), (1, trace.with_suffix(".json").read_text(encoding="utf-8")))
            else:
                self.assertEqual(done.returncode, 2)
                self.assertIn("a section passes the end of the trace", done.stderr)

    @promise(PAGE, "**Rule ids** are stable: suppression files and baselines may name them.")
    def test_every_rule_of_a_kept_report_is_still_one(self):
        known = {rule["id"] for rule in json.loads(self.output("rules", "--json"))["rules"]}
        kept = [*TRACES.glob("*/*.json"), *(GOLDEN / "old").glob("*.json")]
        self.assertGreater(len(kept), 100)
        for path in kept:
            rules = {fault["rule"] for fault in json.loads(path.read_text(encoding="utf-8"))["violations"]}
            self.assertEqual(rules - known, set(), path)

    @promise(
        PAGE,
        "finds the library through one symbol, `capgate_hook_v1`.",
        "an operation that the library does not know does nothing.",
    )
    @unittest.skipIf(os.environ.get("CAPGATE_SANITIZE"), "the library does not share a process with a sanitizer")
    @unittest.skipUnless(LIBRARY.exists(), "the library is not built")
    def test_the_library_knows_the_headers_operations_and_no_others(self):
        asked = "import ctypes, sys; hook = ctypes.CDLL(sys.argv[1]).capgate_hook_v1; " \
                "print([hook(op, None, None) for op in range(-1, 60)])"  # fmt: skip
        done = subprocess.run([sys.executable, "-c", asked, LIBRARY], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        known = set(operations_of_the_header().values())
        self.assertEqual(json.loads(done.stdout), [int(op in known) for op in range(-1, 60)])

    def test_both_files_for_marks_mean_the_same_operations(self):
        names = re.search(r"^\((.*?)\) = range\((\d+)\)$", MARKS.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        in_python = [name.strip().lstrip("_") for name in names[1].split(",") if name.strip()]
        self.assertEqual(len(in_python), int(names[2]))
        self.assertEqual({name: at for at, name in enumerate(in_python)}, operations_of_the_header())
        for path in (HEADER, MARKS):
            self.assertEqual(set(re.findall(r"capgate_hook_v\d+", path.read_text(encoding="utf-8"))), {"capgate_hook_v1"})

    @promise(PAGE, "`audit` uses the library beside itself.")
    @unittest.skipUnless(LIBRARY.exists(), "the library is not built")
    def test_audit_uses_the_library_of_its_own_installation(self):
        done = self.run_capgate("audit", "--", "printenv", "CAPGATE_PRELOAD")
        self.assertEqual(os.path.realpath(done.stdout.strip()), os.path.realpath(LIBRARY))
        self.assertTrue(os.path.realpath(LIBRARY).startswith(os.path.dirname(os.path.dirname(os.path.realpath(CAPGATE)))))


if __name__ == "__main__":
    unittest.main()
