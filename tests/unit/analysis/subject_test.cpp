// What a report is about: a program of C++ by its build, one of Python by its script.
#include "detector/analysis/analyze.h"
#include "tests/unit/analysis/expect.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

TEST(PythonSubject, IsTheScriptAndNotTheInterpreter) {
  TraceBuilder trace;
  trace.run.argv = {"/usr/bin/python3", "-u", "jobs/run.py", "--port", "1"};
  ProcessBuilder& p = trace.process();
  p.meta("python", "3.12.3 (main)");
  p.meta("exe", "/usr/bin/python3.12");
  std::string words;
  for (const std::string word : {"/usr/bin/python3", "-u", "-X", "dev", "jobs/run.py", "--port", "1"})
    words += word + '\0';
  p.meta("cmdline", words);
  p.in_python("serve.py", 30, "step");
  p.begin_capture();
  p.launch(kStream);
  p.end_capture();
  p.end();
  auto sealed = trace.sealed();
  sealed.processes.at(0).build_id = "337d65cf00021797";
  sealed.program = {{"commit", "8111a02d0000"}, {"torch", "2.11.0"}};
  const auto report = analysis::analyze(sealed);
  EXPECT_EQ(report.subject.program, "run.py") << "as the frames name it";
  EXPECT_EQ(report.subject.build_id, "");
  EXPECT_EQ(report.subject.more.at("interpreter_build_id"), "337d65cf00021797");
  EXPECT_EQ(report.subject.more.at("commit"), "8111a02d0000");
  EXPECT_EQ(report.environment.torch, "2.11.0");
}

TEST(PythonSubject, OfOtherProgramsIsTheProgram) {
  TraceBuilder trace;
  trace.process().end();
  auto sealed = trace.sealed();
  sealed.processes.at(0).build_id = "aa";
  const auto report = analysis::analyze(sealed);
  EXPECT_EQ(report.subject.program, "decode");
  EXPECT_EQ(report.subject.build_id, "aa");
}

// `env NAME=1 ./decode` runs decode: the name is that of the program whose build it is.
TEST(Subject, IsTheProgramThatUsedCudaAndNotWhatStartedIt) {
  TraceBuilder trace;
  trace.run.argv = {"env", "NAME=1", "./decode"};
  trace.process().end();
  auto sealed = trace.sealed();
  sealed.processes.at(0).build_id = "aa";
  EXPECT_EQ(analysis::analyze(sealed).subject.program, "decode");
}

}  // namespace
}  // namespace capgate::test
