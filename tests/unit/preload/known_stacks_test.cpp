// What the library remembers of stacks must say what reading each of them anew says.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::CallRecord;

// Every call's stacks in words that hold for any run, by thread in the order of their making.
std::vector<std::string> stacks_in_words(const RecordedTrace& trace) {
  std::vector<std::string> out;
  for (const CallRecord& call : calls(trace)) {
    std::string text = trace.text(call.name) + (call.flags & trace::kStackTruncated ? " cut" : "");
    if (const auto stack = trace.process.stacks.find(call.stack); stack != trace.process.stacks.end())
      for (const uint64_t ip : stack->second) text += " " + trace.place(ip);
    if (const auto stack = trace.process.python_stacks.find(call.python_stack);
        stack != trace.process.python_stacks.end())
      text += "\n" + stack->second;
    out.push_back(text);
  }
  return out;
}

std::vector<std::string> stacks_of(const Options& options, const std::string& without) {
  Options changed = options;
  changed.env["CAPGATE_WITHOUT"] = without;
  const Audited run = run_audited("many_places", changed);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.traces.size(), 1u);
  EXPECT_EQ(run.fact("python.walk"), "");
  return stacks_in_words(run.only());
}

void expect_the_same(const Options& options, size_t at_least) {
  const auto known = stacks_of(options, ""), anew = stacks_of(options, "known-stacks");
  ASSERT_GE(anew.size(), at_least);
  ASSERT_EQ(known.size(), anew.size());
  for (size_t i = 0; i < anew.size(); ++i) ASSERT_EQ(known[i], anew[i]) << i;
}

TEST(KnownStacks, SayWhatUnwindingSays) {
  expect_the_same({}, 4 * 3 * 60);
}

TEST(KnownStacks, SpareTheUnwinding) {
  const auto all = stacks_of({}, "");
  std::map<std::string, int> times;
  for (const auto& stack : all) ++times[stack];
  int repeated = 0;
  for (const auto& [stack, count] : times) repeated += count > 2;
  EXPECT_GT(repeated, 50) << "the same places come again under the same stack";
}

TEST(KnownStacks, OfPythonSayWhatTheTextSays) {
  const std::string script =
      "import ctypes, sys\n"
      "sys.path.insert(0, '" MARKS_FOLDER
      "')\n"
      "import capgate_marks as capgate\n"
      "rt = ctypes.CDLL('" FAKE_PYTHON_RUNTIME
      "')\n"
      "def wait(): rt.fake_python_synchronize()\n"
      "def a():\n"
      "    wait()\n"
      "    wait()\n"
      "def b(n): return b(n - 1) if n else wait()\n"
      "def g():\n"
      "    yield wait()\n"
      "    yield wait()\n"
      "def generated(i):\n"
      "    scope = {'rt': rt}\n"
      "    exec(compile('\\n' * i + 'def f():\\n  rt.fake_python_synchronize()', '<generated>', 'exec'), "
      "scope)\n"
      "    scope['f']()\n"
      "for step in range(12):\n"
      "    with capgate.region('step'):\n"
      "        a()\n"
      "        for n in (0, 1, 30, 120): b(n)\n"
      "        list(g())\n"
      "        generated(step % 5)\n"
      "        eval('wait()')\n"
      "        sorted([2, 1], key=lambda x: wait() or x)\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    expect_the_same({.command = {python, "-c", script}}, 12 * 12);
  }
}

// A thread state without a frame is not a reason to distrust the frames of the others.
TEST(KnownStacks, OfAThreadThatRunsNoPythonAreNative) {
  const std::string script =
      "import ctypes, sys\n"
      "sys.path.insert(0, '" MARKS_FOLDER
      "')\n"
      "import capgate_marks as capgate\n"
      "rt = ctypes.CDLL('" FAKE_PYTHON_RUNTIME
      "')\n"
      "def step():\n"
      "    rt.fake_python_record_on_a_thread(12)\n"
      "    rt.fake_python_synchronize()\n"
      "for i in range(2):\n"
      "    with capgate.region('step'): step()\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-c", script}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.fact("python.walk"), "");
    const auto records = calls(run.only(), "cudaEventRecord");
    ASSERT_EQ(records.size(), 24u);
    for (const CallRecord& record : records) {
      EXPECT_NE(record.stack, 0u);
      EXPECT_EQ(record.python_stack, 0u);
    }
    if (!run.fact("python.lines").empty()) continue;
    for (const CallRecord& wait : calls(run.only(), "cudaStreamSynchronize"))
      EXPECT_NE(wait.python_stack, 0u);
  }
}

}  // namespace
}  // namespace capgate::test
