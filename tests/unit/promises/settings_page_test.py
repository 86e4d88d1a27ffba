"""The examples of docs/settings.md are files that capgate reads, and they do what the page says."""

import os
import re
import tomllib
import unittest

from promise import SOURCE, Promises, needs_lint, promise, text_of

PAGE = "docs/settings.md"
PLACES = """#include <cuda_runtime.h>
struct Stop { cudaStream_t s; operator bool() const { return cudaStreamSynchronize(s) == 0; } };
void waits(cudaStream_t s) { cudaStreamSynchronize(s); }
void step(cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  if (Stop{s}) waits(s);
  cudaStreamEndCapture(s, &graph);
}
"""


def example(language):
    return re.search(rf"^```{language}\n(.*?)^```$", (SOURCE / PAGE).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[1]


class SettingsPage(Promises):
    @promise(
        PAGE,
        "`capgate audit --dump-config` prints what holds, with the built-in lists.",
        'suppressions = "capgate.supp" # relative to this file',
    )
    def test_the_example_is_a_settings_file_and_holds(self):
        self.write(".capgate.toml", example("toml"))
        below = self.here / "below"
        below.mkdir()
        printed = self.output("audit", "--dump-config")
        settings, wanted = tomllib.loads(printed), tomllib.loads(example("toml"))
        root = os.path.realpath(self.here)
        self.assertEqual(settings["regions"], wanted["regions"])
        self.assertEqual(settings["step_waits"], wanted["step_waits"])
        self.assertEqual(settings["frames"], wanted["frames"])
        self.assertEqual((settings["repository"], settings["suppressions"]), (root, f"{root}/{wanted['suppressions']}"))
        for theirs in ("libcuda.so*", "libc.so*", "*/torch/*", "*triton*", "*numpy*", "*/lib/python3*"):
            self.assertRegex(printed, rf"(?m)^#   .*{re.escape(theirs.strip('*'))}", theirs)

    @promise(PAGE, "default: this file's folder")
    def test_the_repository_is_the_files_folder(self):
        self.write(".capgate.toml", "step_waits = 2\n")
        self.assertEqual(tomllib.loads(self.output("audit", "--dump-config"))["repository"], os.path.realpath(self.here))

    @promise(
        PAGE,
        "Options of the command line come on top: `--region` adds to `regions`, `--suppressions` takes the place of `suppressions`.",
    )
    def test_options_of_the_command_line(self):
        self.write(".capgate.toml", 'regions = ["a"]\nsuppressions = "a.supp"\n')
        settings = tomllib.loads(self.output("audit", "--dump-config", "--region", "b", "--suppressions", "b.supp"))
        self.assertEqual(settings["regions"], ["a", "b"])
        self.assertTrue(settings["suppressions"].endswith("/b.supp"), settings)

    @needs_lint
    @promise(PAGE, "The rule may be `*`.", "a space in a name is written `?`", "what suppresses nothing is a note")
    def test_the_example_of_a_suppression_file_is_read(self):
        source = self.write("a.cu", PLACES)
        file = re.search(r"^```\n(# rule:glob.*?)^```$", (SOURCE / PAGE).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[1]
        self.write("page.supp", file)
        self.assertIn("host-sync", self.output("lint", "--suppressions", "page.supp", source, "--", code=1))
        self.write("own.supp", "*:waits  one\nhost-sync:Stop::operator?bool  two\n")
        printed = self.output("lint", "--suppressions", "own.supp", source, "--")
        self.assertNotIn("error", printed.replace("0 errors", ""))
        self.assertNotIn("unused-suppression", printed)
        self.write("own.supp", "*:waits  one\n*:Stop::operator?bool  two\nhost-sync:nobody  three\n")
        self.assertIn("unused-suppression", self.output("lint", "--suppressions", "own.supp", source, "--"))

    @needs_lint
    @promise(PAGE, "Each carries its reason, without which it allows nothing.", "on the line of the fault or the line above")
    def test_a_comment_allows_its_line_and_the_next_with_a_reason(self):
        comment = re.search(r"// capgate-allow\(.*", example("cpp"))[0]
        wait = "cudaStreamSynchronize(s); }"
        for text, code in (
            (PLACES.replace("if (Stop{s}) ", ""), 1),
            (PLACES.replace("if (Stop{s}) ", "").replace(wait, f"{wait}  {comment}"), 0),
            (PLACES.replace("if (Stop{s}) ", "").replace("void waits", f"{comment}\nvoid waits"), 0),
            (PLACES.replace("if (Stop{s}) ", "").replace("void waits", f"{comment}\n\nvoid waits"), 1),
            (PLACES.replace("if (Stop{s}) ", "").replace(wait, f"{wait}  {comment.split(':')[0]}"), 1),
        ):
            with self.subTest(text=text):
                self.output("lint", self.write("a.cu", text), "--", code=code)

    def test_pages_name_what_the_library_knows(self):
        self.assertIn("transformers, vLLM and the project's own C++ are", text_of(PAGE))
        printed = self.output("audit", "--dump-config")
        for ours in ("transformers", "vllm"):
            self.assertNotIn(ours, printed)


if __name__ == "__main__":
    unittest.main()
