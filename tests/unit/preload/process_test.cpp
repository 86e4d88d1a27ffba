// The audited process is sacred: forks, kills, full disks, other tools, and programs that know nothing of
// CUDA.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tests/unit/preload/audited.h"

namespace capgate::test {
namespace {

using trace::RecordType;

TEST(Process, NothingIsMadeBeforeCudaIsUsed) {
  const Audited run = run_audited("nothing");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.files.empty());
}

TEST(Process, OrdinaryProgramsRunUnharmed) {
  const std::vector<std::vector<std::string>> programs = {
      {"true"},
      {"sh", "-c", "echo a | cat | grep -q a"},
      {"python3", "-c", "import subprocess, threading, json; subprocess.run(['true'], check=True)"},
      {"gcc", "-x", "c", "-fsyntax-only", "/dev/null"},
      {"bash", "-c", "for i in 1 2 3; do (exit 0) & done; wait"},
  };
  for (const auto& command : programs) {
    const Audited run = run_audited("", {.command = command, .env = {{"LD_LIBRARY_PATH", ""}}});
    EXPECT_EQ(run.exit_code, 0) << command[0] << ": " << run.err;
    EXPECT_EQ(run.err, "") << command[0];
    EXPECT_TRUE(run.files.empty()) << command[0];
  }
}

TEST(Process, WithoutAFolderNothingHappens) {
  const Audited run = run_audited("clean", {.env = {{"CAPGATE_TRACE_DIR", ""}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.files.empty());
}

TEST(Process, AnUnwritableFolderIsToldOnceAndTheProgramRunsOn) {
  const Audited run = run_audited("clean", {.env = {{"CAPGATE_TRACE_DIR", "/proc/self"}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err.rfind("capgate: no trace of this program can be written to /proc/self: ", 0), 0u)
      << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1);
}

TEST(Process, AMissingFolderIsTold) {
  const Audited run = run_audited("clean", {.env = {{"CAPGATE_TRACE_DIR", "/nowhere/at/all"}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.err.find("does not exist"), std::string::npos) << run.err;
}

TEST(Process, InjectionAloneIsEnough) {
  const Audited run = run_audited("clean", {.preload = false});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(records<trace::CaptureRecord>(run.only(), RecordType::capture).size(), 1u);
}

TEST(Process, TheTraceSurvivesAKillInTheMiddleOfACall) {
  const Audited run = run_audited("killed");
  EXPECT_EQ(run.exit_code, 128 + 9);
  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_EQ(run.only().file.header.state, uint32_t(trace::FileState::open));
  const auto waits = calls(run.only(), "cuStreamSynchronize");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].result, trace::kPending);
  EXPECT_EQ(waits[0].t_end_ns, 0u);
  EXPECT_EQ(records<trace::CaptureRecord>(run.only(), RecordType::capture).size(), 1u);
  EXPECT_TRUE(records<trace::EndRecord>(run.only(), RecordType::end).empty());
}

TEST(Process, TheTraceSurvivesQuickExit) {
  const Audited run = run_audited("_exit");
  EXPECT_EQ(run.exit_code, 0);
  // Not a process that was killed: the library stands before _exit.
  EXPECT_EQ(run.only().fact("end"), "seen");
  const auto ends = records<trace::EndRecord>(run.only(), RecordType::end);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].how, 3u);
  EXPECT_EQ(records<trace::CaptureRecord>(run.only(), RecordType::capture).size(), 1u);
  EXPECT_FALSE(records<trace::ModuleRecord>(run.only(), RecordType::module).empty());
}

TEST(Process, ForkedChildrenWriteNothingIntoTheParentsTrace) {
  const Audited run = run_audited("forked");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run.files.size(), 1u);
  const auto launches = calls(run.only(), "cudaLaunchKernel");
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(run.only().text(launches[0].label), "parent");
  EXPECT_EQ(run.only().file.header.state, uint32_t(trace::FileState::closed));
}

TEST(Process, AChildThatUsesCudaFirstHasATraceOfItsOwn) {
  const Audited run = run_audited("fork_first");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run.traces.size(), 2u);
  std::vector<std::string> labels;
  for (const auto& trace : run.traces) {
    const auto launches = calls(trace, "cudaLaunchKernel");
    ASSERT_EQ(launches.size(), 1u);
    labels.push_back(trace.text(launches[0].label));
  }
  std::sort(labels.begin(), labels.end());
  EXPECT_EQ(labels, (std::vector<std::string>{"child", "parent"}));
  EXPECT_NE(run.traces[0].file.header.pid, run.traces[1].file.header.pid);
}

TEST(Process, AFileSizeLimitDropsRecordsAndHarmsNobody) {
  // 1 MiB and a little, in blocks of 1024 bytes: the limit would send SIGXFSZ.
  const Audited run = run_audited("fills_disk", {.shell_prefix = "ulimit -f 1200;"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_GT(run.only().file.header.dropped + counter(run.only(), "thinned:room"), 0u);
  EXPECT_LE(std::filesystem::file_size(run.files.at(0)), 1200u * 1024);
}

TEST(Process, AFullDiskDropsRecordsAndHarmsNobody) {
  const std::string folder = fresh_folder();
  if (std::system(("mount -t tmpfs -o size=2m tmpfs " + folder + " 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no right to mount a small file system";
  const Audited run = run_audited("fills_disk", {.env = {{"CAPGATE_TRACE_DIR", folder}}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const RecordedTrace trace = read_recorded(entry.path().string());
    EXPECT_GT(trace.file.header.dropped + counter(trace, "thinned:room"), 0u);
    ++files;
  }
  EXPECT_EQ(files, 1u);
  EXPECT_EQ(std::system(("umount " + folder).c_str()), 0);
}

TEST(Process, TheLimitOnTheTraceHolds) {
  const Audited run = run_audited("fills_disk", {.env = {{"CAPGATE_TRACE_LIMIT_MB", "8"}}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LE(std::filesystem::file_size(run.files.at(0)), 8u << 20);
  EXPECT_GT(counter(run.only(), "thinned:room"), 0u);
}

TEST(Process, AProgramThatClosesEveryDescriptorLosesNothing) {
  const Audited run = run_audited("closes_all");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.only().file.header.dropped, 0u);
  EXPECT_EQ(calls(run.only(), "cudaEventRecord").size(), 20000u);
}

TEST(Process, TheHolderOfCuptiIsNamed) {
  const Audited run = run_audited("clean", {.env = {{"FAKE_CUPTI", "held"}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.fact("cupti.state"), "held-by:Rival Tool");
  EXPECT_NE(run.err.find("Rival Tool holds CUPTI already"), std::string::npos) << run.err;
}

TEST(Process, ADeafCuptiLeavesNoProof) {
  const Audited run = run_audited("clean", {.env = {{"FAKE_CUPTI", "deaf"}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.fact("cupti.state"), "attached");
  EXPECT_EQ(run.only().count_of_facts("cupti.proof"), 0u);
}

TEST(Process, AProgramThatMakesNoCallIsNotTakenForADeafCupti) {
  const Audited run = run_audited("only_starts_cuda");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.fact("cupti.proof"), "a callback arrived");
  EXPECT_TRUE(calls(run.only()).empty());
}

TEST(Process, ABrokenCuptiIsUnavailable) {
  const Audited run = run_audited("clean", {.env = {{"FAKE_CUPTI", "broken"}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.fact("cupti.state"), "unavailable");
  EXPECT_NE(run.fact("cupti.error").find("CUPTI_ERROR_UNKNOWN"), std::string::npos);
}

TEST(Process, AFatalErrorInsideCuptiIsToldAndRecorded) {
  const std::string cupti = std::string(FAKE_FOLDER) + "/libcupti.so.13";
  const Audited run =
      run_audited("cupti_dies", {.env = {{"LD_PRELOAD", std::string(PRELOAD_LIBRARY) + ":" + cupti}}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.only().file.header.state, uint32_t(trace::FileState::gave_up));
  EXPECT_NE(run.fact("gave-up").find("fell off the bus"), std::string::npos);
  EXPECT_NE(run.err.find("capgate: stopped watching: "), std::string::npos) << run.err;
  EXPECT_EQ(run.fact("cupti.path"), cupti) << "the libcupti that is mapped already is taken";
}

TEST(Process, RefusesUnderAddressSanitizer) {
  const Audited run = run_audited(
      "",
      {.command = {ASAN_PROGRAM, "outside"}, .env = {{"ASAN_OPTIONS", "detect_leaks=0"}}, .preload = false});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.only().file.header.state, uint32_t(trace::FileState::gave_up));
  EXPECT_NE(run.fact("gave-up").find("AddressSanitizer"), std::string::npos);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

TEST(Process, TheToolsThatStoodThereBeforeAreCalledOn) {
  const std::string said = fresh_folder() + "/said";
  const Audited run = run_audited("nvtx", {.env = {{"CAPGATE_NEXT_INJECTION", EARLIER_TOOL},
                                                   {"CAPGATE_NEXT_NVTX_INJECTION", EARLIER_TOOL},
                                                   {"EARLIER_TOOL_OUT", said}}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  std::string text;
  if (std::FILE* file = std::fopen(said.c_str(), "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), file) != nullptr) text += line;
    std::fclose(file);
  }
  EXPECT_NE(text.find("cuda\n"), std::string::npos) << text;
  EXPECT_NE(text.find("push decode-step\n"), std::string::npos) << text;
  EXPECT_NE(text.find("pop\n"), std::string::npos) << text;
  EXPECT_GT(records<trace::RegionRecord>(run.only(), RecordType::region).size(), 4u);
}

TEST(Process, PythonLinesAreReadOrTheirAbsenceIsExplained) {
  const std::string script =
      "import sys, ctypes\n"
      "sys.path.insert(0, '" MARKS_FOLDER
      "')\n"
      "import capgate_marks as capgate\n"
      "rt = ctypes.CDLL('" FAKE_PYTHON_RUNTIME
      "')\n"
      "def deep_helper():\n"
      "    rt.fake_python_synchronize()\n"
      "def generate():\n"
      "    yield deep_helper()\n"
      "assert capgate.audited()\n"
      "capgate.subject('mode', 'full')\n"
      "with capgate.region('decode'), capgate.allow('host-sync', 'reads a token'):\n"
      "    next(generate())\n"
      "    sorted([1], key=lambda x: rt.fake_python_synchronize() or 0)\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-c", script}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    const auto waits = calls(run.only(), "cudaStreamSynchronize");
    ASSERT_EQ(waits.size(), 2u);
    EXPECT_EQ(run.fact("subject.mode"), "full");
    EXPECT_EQ(records<trace::RegionRecord>(run.only(), RecordType::region).size(), 2u);
    EXPECT_EQ(records<trace::MarkRecord>(run.only(), RecordType::mark).size(), 2u);
    EXPECT_NE(run.fact("python"), "");
    EXPECT_EQ(run.fact("python.walk"), "");
    if (!run.fact("python.lines").empty()) {
      EXPECT_EQ(waits[0].python_stack, 0u);
      continue;
    }
    ASSERT_NE(waits[0].python_stack, 0u);
    EXPECT_EQ(run.only().process.python_stacks.at(waits[0].python_stack),
              "  File \"<string>\", line 6 in deep_helper\n"
              "  File \"<string>\", line 8 in generate\n"
              "  File \"<string>\", line 12 in <module>\n");
    EXPECT_EQ(run.only().process.python_stacks.at(waits[1].python_stack),
              "  File \"<string>\", line 13 in <lambda>\n"
              "  File \"<string>\", line 13 in <module>\n");
  }
}

// Between two runs of the interpreter's loop lies a frame that runs no line: torch.compile calls from a
// hundred frames deep through many of them, and only those with lines count.
TEST(Process, DeepPythonStacksThroughCAreReadAsTheDumperReadsThem) {
  const std::string script =
      "import sys, ctypes\n"
      "sys.path.insert(0, '" MARKS_FOLDER
      "')\n"
      "import capgate_marks as capgate\n"
      "rt = ctypes.CDLL('" FAKE_PYTHON_RUNTIME
      "')\n"
      "def go(n):\n"
      "    if n == 0: return rt.fake_python_synchronize()\n"
      "    return sorted([n], key=lambda x: go(n - 1) or 0)\n"
      "with capgate.region('decode'):\n"
      "    for depth in (10, 33, 49, 50, 51, 60, 70): go(depth)\n";
  for (const std::string& python : interpreters()) {
    SCOPED_TRACE(python);
    const Audited run = run_audited("", {.command = {python, "-c", script}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.fact("python.walk"), "");
    if (run.fact("python.lines").empty()) {
      EXPECT_EQ(calls(run.only(), "cudaStreamSynchronize").size(), 7u);
    }
  }
}

// What the library may ask of a machine: libc alone, of 2021.
TEST(Process, MemoryThatALostTraceGaveBackIsTheProgramsOwn) {
  const Audited run = run_audited("forks_with_memory", {.env = {{"CAPGATE_TRACE_DIR", "/proc/self"}}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(Process, AForkedChildLeavesCuptiAlone) {
  const std::string cupti = std::string(FAKE_FOLDER) + "/libcupti.so.13";
  const std::string both = std::string(PRELOAD_LIBRARY) + ":" + cupti;
  EXPECT_EQ(run_audited("marks_in_a_child", {.env = {{"LD_PRELOAD", both}}}).exit_code, 0);
}

TEST(Process, AFileUnderTheNumberOfStderrIsNotWrittenTo) {
  EXPECT_EQ(run_audited("reuses_stderr").exit_code, 0);
}

TEST(Process, ABrokenStderrKillsNobody) {
  const std::string line = "{ sleep 0.2; exec " FAKE_PROGRAM " broken; } 2> >(exec true)";
  EXPECT_EQ(run_audited("", {.command = {"bash", "-c", line}}).exit_code, 0);
}

TEST(Process, AClearedEnvironmentTakesNothingAway) {
  const Audited run = run_audited("clears_env");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(records<trace::RegionRecord>(run.only(), RecordType::region).size(), 2u);
}

TEST(Process, ACancelledThreadTakesNoLockAlong) {
  EXPECT_EQ(run_audited("cancels").exit_code, 0);
}

TEST(Process, RegisteredNamesTakeBoundedMemory) {
  EXPECT_EQ(run_audited("registers").exit_code, 0);
}

TEST(Process, RegionsAreMatchedAsTheAnalysisMatchesThem) {
  const auto regions = [](const std::string& globs) {
    const Audited run = run_audited("odd_names", {.env = {{"CAPGATE_REGIONS", globs}}});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return records<trace::RegionRecord>(run.only(), RecordType::region).size();
  };
  EXPECT_EQ(regions("step[0]"), 2u);
  EXPECT_EQ(regions("*step"), 2u);
  EXPECT_EQ(regions("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"), 0u);
  EXPECT_EQ(regions("*"), 6u);
}

TEST(Process, ItselfInThePlaceOfAnEarlierToolIsNotCalledOn) {
  for (const char* name : {"CAPGATE_NEXT_INJECTION", "CAPGATE_NEXT_NVTX_INJECTION"}) {
    const Audited run = run_audited("nvtx", {.env = {{name, PRELOAD_LIBRARY}}});
    EXPECT_EQ(run.exit_code, 0) << name << run.err;
    EXPECT_EQ(run.traces.size(), 1u) << name;
  }
}

TEST(Library, NeedsLibcAloneAtOldVersions) {
  std::FILE* pipe = popen("readelf -dW " PRELOAD_LIBRARY " | grep NEEDED; objdump -T " PRELOAD_LIBRARY, "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  char line[512];
  while (std::fgets(line, sizeof(line), pipe) != nullptr) text += line;
  ASSERT_EQ(pclose(pipe), 0);
  size_t needed = 0;
  for (size_t at = 0; (at = text.find("(NEEDED)", at)) != std::string::npos; ++at) ++needed;
  EXPECT_EQ(needed, 1u) << text;
  EXPECT_NE(text.find("[libc.so.6]"), std::string::npos);
  size_t versions = 0;
  for (size_t at = 0; (at = text.find("GLIBC_2.", at)) != std::string::npos; at += 8) {
    EXPECT_LE(std::atoi(text.c_str() + at + 8), 34) << text.substr(at, 12);
    ++versions;
  }
  EXPECT_GT(versions, 10u);
  EXPECT_EQ(text.find("GLIBCXX"), std::string::npos);
  EXPECT_EQ(text.find("CXXABI"), std::string::npos);
  for (const char* name : {"malloc", "calloc", "free", "__tls_get_addr"})
    EXPECT_EQ(text.find(std::string(" ") + name + "\n"), std::string::npos) << name;
}

TEST(Library, KeepsOnePointerOfThreadLocalStorage) {
  std::FILE* pipe = popen("readelf -lW " PRELOAD_LIBRARY " | awk '$1==\"TLS\"{print $6}'", "r");
  ASSERT_NE(pipe, nullptr);
  unsigned bytes = 0;
  EXPECT_EQ(std::fscanf(pipe, "%x", &bytes), 1);
  pclose(pipe);
  EXPECT_EQ(bytes, 8u);
}

}  // namespace
}  // namespace capgate::test
