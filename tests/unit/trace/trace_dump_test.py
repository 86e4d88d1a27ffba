"""capgate-trace-dump reads what a program left (raw) and what an audit kept of it (sealed)."""

import os
import pathlib
import subprocess
import tempfile
import unittest

DUMP = os.environ["CAPGATE_TRACE_DUMP"]
SOURCE = pathlib.Path(os.environ["CAPGATE_SOURCE"])
SEALED = SOURCE / "tests/traces/python/item_in_helper.faulty.cgtrace"


def dump(*words):
    done = subprocess.run([DUMP, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class TraceDump(unittest.TestCase):
    def test_a_sealed_trace_has_facts_counts_and_no_events(self):
        code, out, err = dump(SEALED)
        self.assertEqual((code, err), (0, ""))
        self.assertIn(f"{SEALED}: sealed by capgate ", out)
        self.assertRegex(out, r"(?m)^  cupti\.proof +a callback arrived$")
        self.assertRegex(out, r" cudaStreamSynchronize=1\b")
        self.assertNotIn("cudaStreamSynchronize = 900", out)

    def test_calls_have_results_and_stacks_have_places(self):
        code, calls, _ = dump("--calls", SEALED)
        self.assertEqual(code, 0)
        self.assertRegex(calls, r"(?m)^ +\d+ +\d+ cudaStreamSynchronize = 900 stream=0x\w+ capture=1/\d+ ")
        self.assertNotIn("item_in_helper.py:12", calls.split("\n", 4)[4])
        _, stacks, _ = dump("--stacks", SEALED)
        wait = stacks[stacks.index(" cudaStreamSynchronize = 900") :].splitlines()
        self.assertEqual(wait[1].split(), ["temperature", "tests/corpus/python/item_in_helper.py:12"])

    def test_events_are_in_order(self):
        _, out, _ = dump("--calls", SEALED)
        numbers = [int(line.split()[0]) for line in out.splitlines() if line.split()[0].isdigit()]
        self.assertGreater(len(numbers), 200)
        self.assertEqual(numbers, sorted(numbers))

    @unittest.skipUnless(os.environ.get("FAKE_PROGRAM"), "needs the fake CUDA")
    def test_a_raw_trace(self):
        library = os.environ["PRELOAD_LIBRARY"]
        with tempfile.TemporaryDirectory() as folder:
            settings = {"CAPGATE_TRACE_DIR": folder, "CAPGATE_CUPTI_HINTS": os.environ["FAKE_FOLDER"], "LD_PRELOAD": library}
            settings |= {"CUDA_INJECTION64_PATH": library, "LD_LIBRARY_PATH": os.environ["FAKE_FOLDER"]}
            subprocess.run([os.environ["FAKE_PROGRAM"], "broken"], env=settings, check=True, capture_output=True)
            files = list(pathlib.Path(folder).glob("*.cgraw"))
            self.assertEqual(len(files), 1)
            code, out, err = dump("--stacks", *files)
            self.assertEqual((code, err), (0, ""))
            self.assertRegex(out, r" cudaStreamSynchronize = 900 .*\n        \w")
            self.assertIn("        capgate_fake_program+0x", out)
            self.assertRegex(out, r"(?m)^ +\d+ +\d+ capture \d+ begun in call \d+ .* result=901$")
            files[0].write_bytes(files[0].read_bytes()[:100])
            code, out, err = dump(*files)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(f"capgate-trace-dump: {files[0]}: ", err)

    def test_what_cannot_be_read_is_one_sentence(self):
        for words in (["README.md"], ["/nowhere.cgraw"], [str(SOURCE)]):
            code, out, err = dump(*words)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), words)
        code, out, err = dump("--every-call", SEALED)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("there is no option --every-call", err)


if __name__ == "__main__":
    unittest.main()
