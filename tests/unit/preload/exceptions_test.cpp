// Exceptions while a capture is open: which are recorded, what of them, and that the program does not notice.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::ExceptionEvent;
using trace::ExceptionLanguage;
using trace::ExceptionRecord;
using trace::NoticeRecord;
using trace::RecordType;

// "leaves python ValueError: text".
std::vector<std::string> told(const RecordedTrace& trace) {
  static constexpr const char* kEvents[] = {"?", "thrown", "leaves", "handled", "uncaught"};
  std::vector<std::string> out;
  for (const auto& record : records<ExceptionRecord>(trace, RecordType::exception)) {
    std::string line = kEvents[record.event <= 4 ? record.event : 0];
    line += record.language == uint16_t(ExceptionLanguage::python) ? " python " : " C++ ";
    out.push_back(line + trace.text(record.type) + ": " + trace.text(record.text));
  }
  return out;
}

Audited throwing(const std::string& scenario, const std::map<std::string, std::string>& env = {}) {
  return run_audited("", {.command = {THROWING_PROGRAM, scenario}, .env = env});
}

using Lines = std::vector<std::string>;

TEST(CxxExceptions, WhatLeavesACaptureIsRecordedWithItsPlace) {
  const Audited run = throwing("leaves");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(told(run.only()), (Lines{"thrown C++ St12out_of_range: one that is caught inside",
                                     "thrown C++ St12out_of_range: no such expert", "leaves C++ : "}));
  const auto exceptions = records<ExceptionRecord>(run.only(), RecordType::exception);
  const auto begin = calls(run.only(), "cudaStreamBeginCapture").at(0);
  EXPECT_EQ(exceptions[1].begin_seq, begin.h.seq);
  EXPECT_EQ(exceptions[1].uncaught, 0u);
  EXPECT_EQ(exceptions[2].uncaught, 1u);
  ASSERT_NE(exceptions[1].stack, 0u);
  const auto& stack = run.only().process.stacks.at(exceptions[1].stack);
  ASSERT_GE(stack.size(), 4u);
  EXPECT_NE(run.only().place(stack[0]).find("capgate_throwing"), std::string::npos)
      << "the innermost frame is the one that throws, not the library's: " << run.only().place(stack[0]);
}

TEST(CxxExceptions, OneThatIsCaughtWhileAnotherIsOnItsWayIsToldApart) {
  const Audited run = throwing("leaves_past_another");
  ASSERT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "") << "what() of the exception was called";
  EXPECT_EQ(told(run.only()),
            (Lines{"thrown C++ N3c1012NotSupportedE: the copy's source is pageable",
                   "thrown C++ St11logic_error: while the other one is on its way", "leaves C++ : "}));
  const auto exceptions = records<ExceptionRecord>(run.only(), RecordType::exception);
  EXPECT_EQ(exceptions[0].uncaught, 0u);
  EXPECT_EQ(exceptions[1].uncaught, 1u);
  EXPECT_EQ(exceptions[2].uncaught, 1u);
}

TEST(CxxExceptions, OneThatStaysInsideLeavesNothingAtTheEnd) {
  EXPECT_EQ(told(throwing("caught_inside").only()), (Lines{"thrown C++ St12out_of_range: caught"}));
  EXPECT_EQ(told(throwing("handled_before").only()), Lines{});
  const Audited run = throwing("handled");
  ASSERT_EQ(told(run.only()),
            (Lines{"thrown C++ St12out_of_range: handled where the capture is ended", "handled C++ : "}));
  const auto exceptions = records<ExceptionRecord>(run.only(), RecordType::exception);
  EXPECT_GT(exceptions[0].object, exceptions[1].object) << "the header lies before the object";
  EXPECT_LT(exceptions[0].object - exceptions[1].object, 200u);
}

TEST(CxxExceptions, TypesAndMessagesOfEveryKind) {
  const Audited run = throwing("kinds");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto lines = told(run.only());
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "thrown C++ i: ");
  EXPECT_EQ(lines[1], "thrown C++ N12_GLOBAL__N_14LeftE: ");
  EXPECT_EQ(lines[2], "thrown C++ N12_GLOBAL__N_14BothE: both: Connection timed out");
  EXPECT_EQ(lines[3], "thrown C++ St9bad_alloc: ");
  EXPECT_EQ(lines[4], "thrown C++ St13runtime_error: " + std::string(1023, 'x'));
  EXPECT_EQ(lines[5], "thrown C++ N3c105ErrorE: ");
}

TEST(CxxExceptions, TheOneThatEndsTheProgramIsInTheTrace) {
  const Audited run = throwing("dies");
  EXPECT_EQ(run.exit_code, 128 + 6) << run.err;
  EXPECT_NE(run.err.find("nobody catches this"), std::string::npos);
  EXPECT_EQ(told(run.only()), (Lines{"thrown C++ St13runtime_error: nobody catches this"}));
}

TEST(CxxExceptions, AreBoundedAndWithoutATraceCostNothing) {
  const Audited run = throwing("many");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(told(run.only()).size(), 20000u);
  EXPECT_EQ(counter(run.only(), "thinned:exceptions"), 10000u);
  EXPECT_EQ(throwing("leaves", {{"CAPGATE_TRACE_DIR", ""}}).exit_code, 0);
}

// Generous: the machine may be busy. A stack that were taken would cost ten times as much.
TEST(CxxExceptions, CostNothingWhileNoCaptureIsOpen) {
  double with = 1e9, without = 1e9;
  for (int i = 0; i < 5; ++i) {
    with = std::min(with, std::stod(throwing("speed").err));
    const Audited bare = run_audited(
        "", {.command = {THROWING_PROGRAM, "speed"}, .env = {{"CAPGATE_TRACE_DIR", ""}}, .preload = false});
    without = std::min(without, std::stod(bare.err));
  }
  EXPECT_LT(with, without * 1.3 + 100) << "nanoseconds a throw, " << without << " without the library";
}

// The Python of the scenarios: a context manager that ends its capture, like the framework's.
std::string script(const std::string& scenario) {
  return "import ctypes\n"
         "rt = ctypes.CDLL('" FAKE_PYTHON_RUNTIME
         "')\n"
         "class graph:\n"
         "    def __enter__(self): rt.fake_python_begin_capture()\n"
         "    def __exit__(self, *args): self.end()\n"
         "    def end(self): rt.fake_python_end_capture()\n"
         "class named:\n"
         "    def __enter__(self): rt.fake_python_begin_capture()\n"
         "    def __exit__(self, kind, value, traceback): rt.fake_python_end_capture()\n"
         "def bad():\n"
         "    raise ValueError('cannot copy \\u00e9\\u20ac')\n"
         "def step():\n"
         "    bad()\n" +
         scenario;
}

const char* const kStack =
    "  File \"<string>\", line 11 in bad\n"
    "  File \"<string>\", line 13 in step\n";

void for_each_python(const std::string& scenario, int exit_code, const Lines& expected,
                     const std::string& stack) {
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-c", script(scenario)}});
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    EXPECT_NE(run.fact("python"), "");
    if (!run.fact("python.exceptions").empty()) {
      EXPECT_EQ(told(run.only()), Lines{});
      continue;
    }
    EXPECT_EQ(told(run.only()), expected);
    for (const auto& record : records<ExceptionRecord>(run.only(), RecordType::exception)) {
      EXPECT_NE(record.object, 0u);
      ASSERT_NE(record.python_stack, 0u);
      EXPECT_EQ(run.only().process.python_stacks.at(record.python_stack), stack);
    }
  }
}

TEST(PythonExceptions, WhatLeavesAWithBlockIsRecordedWithItsPlace) {
  for (const std::string block : {"graph", "named"})
    for_each_python(
        "def capture():\n"
        "    with " +
            block +
            "():\n"
            "        step()\n"
            "try: capture()\n"
            "except ValueError: pass\n",
        0, {"leaves python ValueError: cannot copy \u00e9\u20ac"},
        std::string(kStack) +
            "  File \"<string>\", line 16 in capture\n"
            "  File \"<string>\", line 17 in <module>\n");
}

TEST(PythonExceptions, OneThatStaysInsideOrCameBeforeIsNotTold) {
  for_each_python(
      "with graph():\n"
      "    try: step()\n"
      "    except ValueError: pass\n"
      "try: step()\n"
      "except ValueError:\n"
      "    with graph(): pass\n"
      "    try: {}['x']\n"
      "    except KeyError:\n"
      "        with graph(): pass\n",
      0, {}, "");
}

TEST(PythonExceptions, OneThatIsHandledWhereTheCaptureEndsIsToldApart) {
  for_each_python(
      "rt.fake_python_begin_capture()\n"
      "try: step()\n"
      "except ValueError: rt.fake_python_end_capture()\n",
      0, {"handled python ValueError: cannot copy \u00e9\u20ac"},
      std::string(kStack) + "  File \"<string>\", line 15 in <module>\n");
}

TEST(PythonExceptions, TheOneThatEndsTheProgramIsInTheTrace) {
  for_each_python(
      "rt.fake_python_begin_capture()\n"
      "step()\n",
      1, {"uncaught python ValueError: cannot copy \u00e9\u20ac"},
      std::string(kStack) + "  File \"<string>\", line 15 in <module>\n");
}

// A KeyError is made with the key, whatever that is.
TEST(PythonExceptions, AKeyThatIsNoTextIsToldAsPythonWritesIt) {
  const std::pair<const char*, const char*> keys[] = {
      {"0", "0"},
      {"7", "7"},
      {"-12", "-12"},
      {"1 << 30", "1073741824"},
      {"-(1 << 62) - 5", "-4611686018427387909"},
      {"(1 << 64) - 1", "18446744073709551615"},
      {"1 << 64", ""},
      {"True", "True"},
      {"(3, 'experts')", "(3, 'experts')"},
      {"('k',)", "('k',)"},
      {"()", "()"},
      {"(1, 2.5, -1, False)", "(1, ..., -1, False)"},
      {"tuple(range(20))", "(0, 1, 2, 3, 4, 5, 6, 7, ...)"},
      {"2.5", ""},
      {"frozenset()", ""},
  };
  std::string scenario = "keys = [";
  Lines expected;
  for (const auto& [key, told] : keys) {
    scenario += std::string(key) + ", ";
    expected.push_back(std::string("leaves python KeyError: ") + told);
  }
  scenario +=
      "]\n"
      "for key in keys:\n"
      "    try:\n"
      "        with graph(): {}[key]\n"
      "    except KeyError: pass\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-c", script(scenario)}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    if (!run.fact("python.exceptions").empty()) continue;
    EXPECT_EQ(told(run.only()), expected);
  }
}

TEST(PythonExceptions, AGeneratorBasedContextIsAWithBlockToo) {
  const std::string scenario =
      "import contextlib\n"
      "@contextlib.contextmanager\n"
      "def capture():\n"
      "    rt.fake_python_begin_capture()\n"
      "    try: yield\n"
      "    finally: rt.fake_python_end_capture()\n"
      "try:\n"
      "    with capture(): step()\n"
      "except ValueError: pass\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-c", script(scenario)}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    if (!run.fact("python.exceptions").empty()) continue;
    EXPECT_EQ(told(run.only()), (Lines{"leaves python ValueError: cannot copy \u00e9\u20ac"}));
  }
}

TEST(PythonExceptions, ALibraryThatTheLoaderKeepsApartThrowsAsEver) {
  const std::string scenario =
      "for _ in range(3):\n"
      "    assert rt.fake_python_throws(b'apart') == 5\n"
      "with graph():\n"
      "    assert rt.fake_python_throws(b'apart') == 5\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-c", script(scenario)}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    EXPECT_EQ(told(run.only()), (Lines{"thrown C++ St13runtime_error: apart"}));
  }
}

// As torch.compile logs it, in a file of that name and by a logger that nobody has set up.
TEST(Notices, AreReadWhereTheFrameworkLogsThem) {
  const std::string folder = fresh_folder();
  const std::string scenario =
      "import logging, os, sys\n"
      "code = compile('''\n"
      "log = logging.getLogger('torch._inductor.cudagraph_utils.__cudagraphs')\n"
      "log.propagate = False\n"
      "def log_cudagraph_skip_and_bump_counter(msg):\n"
      "    log.warning(msg)\n"
      "def maybe_warning_due_to_dynamic_shape(n):\n"
      "    log.warning(f'We have observed {n} distinct sizes')\n"
      "def other(msg):\n"
      "    log.warning(msg)\n"
      "''', '/x/torch/_inductor/cudagraph_utils.py', 'exec')\n"
      "exec(code)\n"
      "log_cudagraph_skip_and_bump_counter('too early: nothing uses CUDA')\n"
      "rt.fake_python_synchronize()\n"
      "def compile_it(): log_cudagraph_skip_and_bump_counter('skipping cudagraphs due to cpu device "
      "(arg0_1)')\n"
      "compile_it()\n"
      "maybe_warning_due_to_dynamic_shape(9)\n"
      "other('not one of them')\n"
      "log.setLevel(logging.ERROR)\n"
      "compile_it()\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-c", script(scenario)}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err,
              "too early: nothing uses CUDA\n"
              "skipping cudagraphs due to cpu device (arg0_1)\n"
              "We have observed 9 distinct sizes\n"
              "not one of them\n");
    const auto notices = records<NoticeRecord>(run.only(), RecordType::notice);
    if (!run.fact("python.exceptions").empty()) {
      EXPECT_TRUE(notices.empty());
      continue;
    }
    EXPECT_EQ(run.fact("python.notices"), "");
    ASSERT_EQ(notices.size(), 2u);
    EXPECT_EQ(run.only().text(notices[0].text), "skipping cudagraphs due to cpu device (arg0_1)");
    EXPECT_EQ(notices[0].kind, uint16_t(trace::NoticeKind::capture_skipped));
    EXPECT_EQ(run.only().text(notices[1].text), "We have observed 9 distinct sizes");
    EXPECT_EQ(notices[1].kind, uint16_t(trace::NoticeKind::many_recordings));
    ASSERT_NE(notices[0].python_stack, 0u);
    const std::string stack = run.only().process.python_stacks.at(notices[0].python_stack);
    EXPECT_NE(stack.find("cudagraph_utils.py\", line 5 in log_cudagraph_skip_and_bump_counter\n"
                         "  File \"<string>\", line 28 in compile_it\n"),
              std::string::npos)
        << stack;
  }
}

TEST(Notices, WithoutTheHookTheTraceSaysSo) {
  const Audited run = run_audited("", {.command = {"python3", "-c", script("rt.fake_python_synchronize()\n")},
                                       .env = {{"CAPGATE_WITHOUT", "audit-hook"}}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.fact("python.notices"), "");
}

}  // namespace
}  // namespace capgate::test
