// The command as people and CI use it: exit codes, what goes to which stream, both folder layouts.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files/read_text.h"
#include "static_checks/commands/files.h"
#include "workspace.h"

namespace capgate::lint {
namespace {

using test::Workspace;

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

class Command : public testing::Test {
 protected:
  Outcome run(const std::string& words, const std::string& program = CAPGATE_PROGRAM) {
    const std::string line = "cd '" + w.folder() + "' && XDG_CACHE_HOME='" + w.folder() + "/.cache' '" +
                             program + "' lint " + words + " > out.txt 2> err.txt";
    const int status = system(line.c_str());
    Outcome outcome;
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.out = *read_file(w.path("out.txt"));
    outcome.err = *read_file(w.path("err.txt"));
    return outcome;
  }
  static size_t lines(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  Workspace w;
  const std::string clean_ =
      "[[clang::annotate(\"capgate::region\")]] void step(int n) { if (n > 0) ++n; }\n";
  const std::string faulty_ =
      "typedef int cudaError_t;\nextern \"C\" cudaError_t cudaDeviceSynchronize();\n"
      "[[clang::annotate(\"capgate::region\")]] void faulty() {\n  cudaDeviceSynchronize();\n}\n";
};

TEST_F(Command, WithoutADatabaseItIsOneSentence) {
  const Outcome outcome = run("");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("no compile database"), std::string::npos) << outcome.err;
  EXPECT_EQ(lines(outcome.err), 1U);
  EXPECT_TRUE(outcome.out.empty());
  const Outcome named = run("-p build");
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_NE(named.err.find("cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"), std::string::npos) << named.err;
  EXPECT_EQ(lines(named.err), 1U);
}

TEST_F(Command, CleanCodePasses) {
  w.write("a.cpp", clean_);
  w.database({{"a.cpp", "g++"}});
  const Outcome outcome = run("");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("pass: 0 errors"), std::string::npos) << outcome.out;
}

TEST_F(Command, AFaultFailsInGccForm) {
  w.write("a.cpp", faulty_);
  w.database({{"a.cpp", "g++"}});
  const Outcome outcome = run("-p .");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("a.cpp:4:3: error: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("[host-sync]"), std::string::npos) << outcome.out;
}

TEST_F(Command, TheReportOnStdoutIsAloneThere) {
  w.write("a.cpp", faulty_);
  w.database({{"a.cpp", "g++"}});
  const Outcome outcome = run("--out -");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out.find('{'), 0U);
  EXPECT_NE(outcome.out.find("\"capgate-report/1\""), std::string::npos);
  EXPECT_NE(outcome.err.find("[host-sync]"), std::string::npos) << outcome.err;
}

TEST_F(Command, NothingThatItReadsIsOverwritten) {
  w.write("a.cpp", clean_);
  w.write("empty.cpp", "");
  w.write("table.json", "{\"functions\": []}\n");
  w.write("package.json", "{\"name\": \"engine\"}\n");
  w.write("allowed.supp", "");
  std::filesystem::create_symlink("allowed.supp", w.path("link.json"));
  const std::string words = " --sources table.json --suppressions allowed.supp a.cpp empty.cpp --";
  for (const char* out : {"a.cpp", "empty.cpp", "table.json", "allowed.supp", "./allowed.supp", "link.json",
                          "package.json", "no/such/folder.json"}) {
    const Outcome outcome = run(std::string("--out ") + out + words);
    EXPECT_EQ(outcome.exit_code, 2) << out;
    EXPECT_EQ(outcome.err.rfind(std::string("capgate: --out ") + out + ": ", 0), 0U) << outcome.err;
    EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
    EXPECT_EQ(outcome.out, "") << "before anything was parsed";
  }
  EXPECT_EQ(*read_file(w.path("a.cpp")), clean_);
  EXPECT_EQ(*read_file(w.path("table.json")), "{\"functions\": []}\n");
  EXPECT_EQ(*read_file(w.path("package.json")), "{\"name\": \"engine\"}\n");
  EXPECT_EQ(*read_file(w.path("allowed.supp")), "");
  EXPECT_EQ(run("--out report.json" + words).exit_code, 0);
  EXPECT_EQ(run("--out report.json" + words).exit_code, 0) << "an older report is what gets replaced";
}

TEST_F(Command, OnlyFilesAreReadAsSettings) {
  w.write("a.cpp", clean_);
  ASSERT_EQ(mkfifo(w.path("fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(w.path("folder"));
  for (const char* option : {"--suppressions ", "--sources "})
    for (const char* file : {"fifo", "folder", "/dev/zero", "-"}) {
      const Outcome outcome = run(option + std::string(file) + " a.cpp --");
      EXPECT_EQ(outcome.exit_code, 2) << option << file;
      EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
      EXPECT_NE(outcome.err.find(std::string(file) + ": "), std::string::npos) << outcome.err;
    }
  EXPECT_EQ(run("--suppressions /dev/null a.cpp --").exit_code, 0) << "no suppressions at all";
}

TEST_F(Command, ATableOfSourcesThatIsWrongIsToldByItsName) {
  w.write("a.cpp", clean_);
  for (const char* text :
       {"", "[", "{}", "{\"functions\": 3}", R"({"functions": [{"name": "f", "is": "x"}]})"}) {
    w.write("table.json", text);
    const Outcome outcome = run("--sources table.json a.cpp --");
    EXPECT_EQ(outcome.exit_code, 2) << text << outcome.out;
    EXPECT_EQ(outcome.err.rfind("capgate: table.json: ", 0), 0U) << text << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(Command, NobodyIsWaitedForThatWritesADatabase) {
  w.write("a.cpp", clean_);
  ASSERT_EQ(mkfifo(w.path("compile_commands.json").c_str(), 0600), 0);
  const Outcome outcome = run("-p compile_commands.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("compile_commands.json: is a named pipe, not a file"), std::string::npos)
      << outcome.err;
}

TEST_F(Command, WhatWasNotParsedIsInconclusive) {
  w.write("a.cpp", "#include \"none.h\"\n" + clean_);
  w.database({{"a.cpp", "g++"}, {"b.cpp", "g++"}});
  const Outcome outcome = run("");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.out.find("none.h"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("b.cpp"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("pass"), outcome.out.find("pass:"));
}

TEST_F(Command, OptionsBehindTwoDashesReplaceADatabase) {
  w.write("inc/x.h", faulty_);
  w.write("a.cpp", "#ifdef ON\n#include <x.h>\n#endif\n" + clean_);
  EXPECT_EQ(run("a.cpp -- -Iinc -DON").exit_code, 1);
  EXPECT_EQ(run("a.cpp -- -Iinc").exit_code, 0);
  EXPECT_EQ(run("-- -Iinc").exit_code, 2);
}

TEST_F(Command, RegionsOfFilesWithOneNameAreToldApart) {
  const std::string text =
      "typedef int cudaError_t; typedef struct s* cudaStream_t; enum cudaStreamCaptureMode { k };\n"
      "extern \"C\" cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);\n"
      "extern \"C\" cudaError_t cudaStreamEndCapture(cudaStream_t, void*);\n"
      "static void step(cudaStream_t s) { cudaStreamBeginCapture(s, k); cudaStreamEndCapture(s, nullptr); }\n"
      "int main(int n, char**) { step((cudaStream_t)(unsigned long)n); }\n";
  for (const char* name : {"one/main.cpp", "two/main.cpp"}) w.write(name, text);
  const Outcome outcome = run("one/main.cpp two/main.cpp --root . --out - --");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  for (const char* name : {"capture at one/main.cpp:4", "capture at two/main.cpp:4"})
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name << outcome.out;
}

// A guard's constructor opens the regions of the objects that it makes, and is none beside them: neither in
// the unit that makes one, nor in one that only includes the header.
TEST_F(Command, AGuardsConstructorIsNoRegion) {
  w.write("guard.h",
          "#pragma once\n"
          "typedef int cudaError_t; typedef struct s* cudaStream_t; enum cudaStreamCaptureMode { k };\n"
          "extern \"C\" cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);\n"
          "extern \"C\" cudaError_t cudaStreamEndCapture(cudaStream_t, void*);\n"
          "extern \"C\" void capgate_region_begin(const char*); extern \"C\" void capgate_region_end();\n"
          "struct Captured {\n"
          "  explicit Captured(cudaStream_t s) : s(s) { begin(); }\n"
          "  ~Captured() { cudaStreamEndCapture(s, nullptr); }\n"
          "  void begin() { cudaStreamBeginCapture(s, k); }\n"
          "  cudaStream_t s;\n"
          "};\n"
          "struct Marked {\n"
          "  explicit Marked(const char* name) { capgate_region_begin(name); }\n"
          "  ~Marked() { capgate_region_end(); }\n"
          "};\n");
  w.write("uses.cpp",
          "#include \"guard.h\"\n"
          "void one(cudaStream_t s) { Captured c(s); }\n"
          "void two() { Marked m(\"step\"); }\n");
  w.write("includes.cpp", "#include \"guard.h\"\nvoid three() {}\n");
  const Outcome both = run("uses.cpp includes.cpp --root . --out - --");
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_NE(both.err.find("2 captured regions"), std::string::npos) << both.err;
  for (const char* name : {"capture at uses.cpp:2", "region at uses.cpp:3"})
    EXPECT_NE(both.out.find(name), std::string::npos) << name << both.out;
  const Outcome none = run("includes.cpp --root . --out - --");
  EXPECT_NE(none.err.find("0 captured regions"), std::string::npos) << none.err;
  // A fault in the constructor itself is in a region all the same.
  w.write(
      "faulty.cpp",
      "#include \"guard.h\"\n"
      "extern \"C\" cudaError_t cudaDeviceSynchronize();\n"
      "struct Waits {\n"
      "  explicit Waits(cudaStream_t s) : s(s) { cudaStreamBeginCapture(s, k); cudaDeviceSynchronize(); }\n"
      "  ~Waits() { cudaStreamEndCapture(s, nullptr); }\n"
      "  cudaStream_t s;\n"
      "};\n"
      "void four(cudaStream_t s) { Waits w(s); }\n");
  const Outcome faulty = run("faulty.cpp --root . --out - --");
  EXPECT_EQ(faulty.exit_code, 1) << faulty.err;
  EXPECT_NE(faulty.err.find("faulty.cpp:4:"), std::string::npos) << faulty.err;
}

// What a function of another unit opens for its callers is one region a call, and none where it is opened.
TEST_F(Command, ARegionThatIsOpenedForCallersIsCountedAtTheirCalls) {
  const std::string api =
      "typedef int cudaError_t; typedef struct s* cudaStream_t; enum cudaStreamCaptureMode { k };\n"
      "extern \"C\" cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);\n"
      "extern \"C\" cudaError_t cudaStreamEndCapture(cudaStream_t, void*);\n";
  w.write("open.cpp", api +
                          "void open(cudaStream_t s) { cudaStreamBeginCapture(s, k); }\n"
                          "void close(cudaStream_t s) { cudaStreamEndCapture(s, nullptr); }\n");
  w.write("one.cpp",
          "struct s; void open(s*); void close(s*);\n"
          "void one(s* stream) { open(stream); close(stream); }\n"
          "void two(s* stream) { open(stream); close(stream); }\n");
  const Outcome calls = run("open.cpp one.cpp --root . --out - --");
  EXPECT_NE(calls.err.find("2 captured regions"), std::string::npos) << calls.err;
  for (const char* name : {"capture at one.cpp:2", "capture at one.cpp:3"})
    EXPECT_NE(calls.out.find(name), std::string::npos) << name << calls.out;
  // Without a caller in sight, it is where it is opened.
  EXPECT_NE(run("open.cpp --").out.find("1 captured region\n"), std::string::npos);
  w.write("both.cpp", api +
                          "void open(cudaStream_t s) { cudaStreamBeginCapture(s, k); }\n"
                          "void close(cudaStream_t s) { cudaStreamEndCapture(s, nullptr); }\n"
                          "void zero(cudaStream_t s) { open(s); close(s); }\n");
  const Outcome both = run("both.cpp one.cpp --root . --out - --");
  EXPECT_NE(both.err.find("3 captured regions"), std::string::npos) << both.err;
  EXPECT_NE(both.out.find("capture at both.cpp:6"), std::string::npos) << both.out;
}

// Callers that share a wrapper in their own source are told apart, through a second wrapper, too.
TEST_F(Command, RegionsThatShareAWrapperAreNamedByTheirCalls) {
  w.write("a.cpp",
          "typedef int cudaError_t; typedef struct s* cudaStream_t; enum cudaStreamCaptureMode { k };\n"
          "extern \"C\" cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);\n"
          "extern \"C\" cudaError_t cudaStreamEndCapture(cudaStream_t, void*);\n"
          "extern \"C\" cudaError_t cudaDeviceSynchronize();\n"
          "static bool open(cudaStream_t s) { return cudaStreamBeginCapture(s, k) == 0; }\n"
          "static void begin(cudaStream_t s) { open(s); }\n"
          "static void close(cudaStream_t s) { cudaStreamEndCapture(s, nullptr); }\n"
          "static void layer() { cudaDeviceSynchronize(); }\n"
          "void one(cudaStream_t s) { begin(s); close(s); }\n"
          "void two(cudaStream_t s) {\n  begin(s);\n  layer();\n  close(s);\n}\n"
          "void three(cudaStream_t s) {\n  if (!open(s)) return;\n  close(s);\n}\n");
  const Outcome outcome = run("a.cpp --root . --out - --");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("3 captured regions"), std::string::npos) << outcome.err;
  for (const char* name : {"capture at a.cpp:9", "capture at a.cpp:11", "capture at a.cpp:16"})
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name << outcome.out;
  EXPECT_NE(outcome.err.find("a.cpp:11: note: 'capture at a.cpp:11' begins"), std::string::npos)
      << outcome.err;
}

// Linting nothing is no pass: a wrapper that was renamed must not leave a check behind that is green for
// ever.
TEST_F(Command, SourcesWithoutARegionAreInconclusive) {
  const std::string told = "nothing that was linted contains a region";
  w.write("a.cpp", "void step(int n) { if (n > 0) ++n; }\n");
  for (const char* words : {"--out report.json a.cpp --", "--whole-file a.cpp --"}) {
    const Outcome none = run(words);
    EXPECT_EQ(none.exit_code, 2) << words;
    EXPECT_NE(none.out.find("not proved, because " + told), std::string::npos) << none.out;
    EXPECT_NE(none.out.find("to do: capgate lint -p BUILD"), std::string::npos) << none.out;
  }
  const std::string line = "cd '" + w.folder() + "' && '" + CAPGATE_PROGRAM + "' gate report.json > out.txt";
  EXPECT_EQ(WEXITSTATUS(system(line.c_str())), 2);
  EXPECT_EQ(read_file(w.path("out.txt"))->find("gate: inconclusive - " + told), 0U);
  w.write("b.cpp", clean_);
  EXPECT_EQ(run("a.cpp b.cpp --").exit_code, 0);
  // What was not parsed may hold it.
  w.write("c.cpp", "#include \"none.h\"\n");
  EXPECT_EQ(run("c.cpp --").out.find(told), std::string::npos);
  // A fault is one wherever it is.
  w.write("faulty.cpp", faulty_);
  EXPECT_EQ(run("a.cpp faulty.cpp --").exit_code, 1);
}

TEST_F(Command, TheProjectDecidesHowSevereARuleIsAndWhichHeadersCount) {
  w.write(".capgate.toml", "[lint.severity]\n\"host-sync\" = \"warning\"\n");
  w.write("faulty.h", faulty_);
  w.write("a.cpp", "#include \"faulty.h\"\n");
  const Outcome warned = run("a.cpp --root . --");
  EXPECT_EQ(warned.exit_code, 0) << warned.out << warned.err;
  EXPECT_NE(warned.out.find("faulty.h:4:3: warning: "), std::string::npos) << warned.out;
  EXPECT_EQ(run("a.cpp --root . --fail-on warning --").exit_code, 1);
  w.write(".capgate.toml", "[lint]\nexclude_headers = [\"fault*.h\"]\n");
  const Outcome left_out = run("a.cpp --root . --out - --");
  EXPECT_EQ(left_out.exit_code, 0) << left_out.out << left_out.err;
  EXPECT_NE(left_out.out.find("faulty.h: 1 finding in a header that lint.exclude_headers leaves out"),
            std::string::npos)
      << left_out.out;
  w.write("b.cpp", faulty_);
  EXPECT_EQ(run("b.cpp --root . --").exit_code, 1) << "a source is no header";
  for (const char* wrong :
       {"[lint.severity]\n\"host-sync\" = \"fatal\"\n", "[lint.severity]\n\"host-sink\" = \"note\"\n"}) {
    w.write(".capgate.toml", wrong);
    const Outcome refused = run("a.cpp --root . --");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("lint.severity"), std::string::npos) << refused.err;
    EXPECT_EQ(lines(refused.err), 1U) << refused.err;
  }
}

TEST_F(Command, CallsThatRegionsReachAreCounted) {
  w.write("a.cpp",
          "int half(int n); void helper(int n);\n"
          "[[clang::annotate(\"capgate::region\")]] void step(int n, void (*given)()) {\n"
          "  helper(half(n));\n  given();\n}\n"
          "void outside() { half(1); half(2); }\n");
  w.write("b.cpp",
          "typedef int cudaError_t; extern \"C\" cudaError_t cudaDeviceSynchronize();\n"
          "int half(int n) { return n / 2; }\nvoid nowhere();\n"
          "void helper(int n) { half(n); cudaDeviceSynchronize(); nowhere(); nowhere(); }\n");
  const Outcome outcome = run("-v a.cpp b.cpp --");
  EXPECT_NE(outcome.err.find("calls in what regions reach: 7, not analysed 3, of other projects 0\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(run("a.cpp b.cpp --").err, "") << "only with -v";
}

TEST_F(Command, APythonFileIsToldWhatToDo) {
  w.write("serve.py", "step()\n");
  w.write("a.cpp", clean_);
  w.database({{"a.cpp", "g++"}});
  for (const char* words : {"serve.py", "a.cpp serve.py", "serve.py --"}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_EQ(outcome.err.find("capgate: serve.py: capgate lint reads C, C++ and CUDA"), 0U) << outcome.err;
    EXPECT_NE(outcome.err.find("capgate audit --region 'STEP*' -- python3 serve.py"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
  }
  EXPECT_EQ(run(".").exit_code, 0) << "a folder may hold both";
}

// --changed-since: a pass says whether anything that changed was there to be judged.
class ChangedSince : public Command {
 protected:
  void git(const std::string& words) {
    const std::string line = "cd '" + w.folder() +
                             "' && git -c user.name=t -c user.email=t@t -c init.defaultBranch=main " + words +
                             " > git.txt 2>&1";
    ASSERT_EQ(system(line.c_str()), 0) << words << *read_file(w.path("git.txt"));
  }
  void SetUp() override {
    w.write("layer.h", "struct Layer { int width; void run(int n); };\nint tidy(int n);\n");
    w.write("layer.cpp",
            "#include \"layer.h\"\n"
            "static int half(int n) {\n  return n / 2;\n}\n"
            "void Layer::run(int n) {\n  width = half(n);\n}\n"
            "int tidy(int n) {\n  return n + 1;\n}\n");
    w.write("decode.cpp",
            "#include \"layer.h\"\n"
            "[[clang::annotate(\"capgate::region\")]] void step(Layer& layer, int n) {\n  layer.run(n);\n}\n"
            "int load(int n) {\n  return tidy(n);\n}\n");
    w.write("other.cpp", "int alone(int n) {\n  return n;\n}\n");
    w.write("notes.txt", "one\n");
    w.write(".gitignore", "*.txt\n!notes.txt\n*.json\n.cache\n");
    w.database({{"decode.cpp", "g++"}, {"layer.cpp", "g++"}, {"other.cpp", "g++"}});
    git("init -q .");
    git("add -A");
    git("commit -q -m first");
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = *read_file(w.path(file));
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    w.write(file, text.replace(at, from.size(), to));
  }
  // The pass's own line.
  std::string passed(const std::string& words = "") {
    const Outcome outcome = run("--changed-since HEAD --out report.json " + words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    const std::string line =
        "cd '" + w.folder() + "' && '" + CAPGATE_PROGRAM + "' show report.json > shown.txt";
    EXPECT_EQ(system(line.c_str()), 0);
    const std::string text = *read_file(w.path("shown.txt"));
    return text.substr(0, text.find('\n'));
  }
  const std::string nothing_ = "nothing in them that differs from HEAD is in a region's reach";
  const std::string judged_ = "judged where they differ from HEAD";
};

TEST_F(ChangedSince, NothingInARegionsReachIsAPassThatSaysSo) {
  EXPECT_NE(passed().find(nothing_), std::string::npos) << passed();
  w.write("notes.txt", "two\n");
  EXPECT_NE(passed().find(nothing_), std::string::npos);
  replace("other.cpp", "return n;", "return n + 2;");  // in a source that holds no code of a region
  EXPECT_NE(passed().find(nothing_), std::string::npos);
  replace("decode.cpp", "return tidy(n);", "return tidy(n) + 2;");  // beside the region
  EXPECT_NE(passed().find(nothing_), std::string::npos);
  replace("layer.cpp", "return n + 1;", "return n + 2;");  // which only that calls
  EXPECT_NE(passed().find(nothing_), std::string::npos) << *read_file(w.path("report.json"));
  // Lint itself tells it, too.
  EXPECT_NE(run("--changed-since HEAD").out.find(nothing_), std::string::npos);
}

// git's settings for people must not hide a change from the pass.
TEST_F(ChangedSince, AChangeThatGitCallsBinaryIsJudged) {
  w.write(".gitattributes", "*.cpp -diff\n");
  replace("layer.cpp", "return n / 2;", "return n / 3;");
  EXPECT_NE(passed().find(judged_), std::string::npos) << passed();
}

TEST_F(ChangedSince, AnIgnoredSourceIsNew) {
  w.write(".gitignore", "*.txt\n*.json\n.cache\nmade.cpp\n");
  w.write("made.cpp", "[[clang::annotate(\"capgate::region\")]] void made_step(int) {}\n");
  w.database({{"decode.cpp", "g++"}, {"layer.cpp", "g++"}, {"made.cpp", "g++"}});
  EXPECT_NE(passed().find(judged_), std::string::npos) << passed();
}

TEST_F(ChangedSince, ARangeIsNoRevision) {
  for (const std::string word : {"HEAD..HEAD", "HEAD:layer.cpp", "nowhere"}) {
    const Outcome outcome = run("--changed-since " + word);
    EXPECT_EQ(outcome.exit_code, 2) << word;
    EXPECT_NE(outcome.err.find("is no commit of"), std::string::npos) << outcome.err;
  }
}

TEST_F(ChangedSince, AChangeInReachIsJudged) {
  replace("layer.cpp", "return n / 2;",
          "return n / 3;");  // two calls away, in another source, of no note by itself
  EXPECT_NE(passed().find(judged_), std::string::npos) << passed();
  EXPECT_NE(read_file(w.path("report.json"))->find("\"in_reach\":[\"layer.cpp\"]"), std::string::npos)
      << *read_file(w.path("report.json"));
}

TEST_F(ChangedSince, AChangeOutsideOfFunctionsMayBearOnAny) {
  replace("layer.h", "int width;", "long width;");
  EXPECT_NE(passed().find(judged_), std::string::npos);
}

TEST_F(ChangedSince, ANewFaultFails) {
  replace("layer.cpp", "static int half", "extern \"C\" int cudaDeviceSynchronize();\nstatic int half");
  replace("layer.cpp", "return n / 2;", "cudaDeviceSynchronize();\n  return n / 2;");
  EXPECT_EQ(run("--changed-since HEAD").exit_code, 1);
}

TEST_F(ChangedSince, ARegionThatIsGoneIsNoPass) {
  replace("decode.cpp", "[[clang::annotate(\"capgate::region\")]] ", "");
  const Outcome outcome = run("--changed-since HEAD");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
  EXPECT_NE(outcome.out.find("nothing that was linted contains a region"), std::string::npos) << outcome.out;
}

// A header's region is one region, however many units hold it, and the report names what was linted.
TEST_F(Command, ShowTellsWhatWasLinted) {
  w.write("step.h", "[[clang::annotate(\"capgate::region\")]] inline void step(int n) { if (n > 0) ++n; }\n");
  for (const char* name : {"a.cpp", "b.cpp", "c.cpp"}) w.write(name, "#include \"step.h\"\n");
  w.database({{"a.cpp", "g++"}, {"b.cpp", "g++"}, {"c.cpp", "g++"}});
  const auto shown = [&](const std::string& words) {
    run("--root . --out report.json " + words);
    const std::string line =
        "cd '" + w.folder() + "' && '" + CAPGATE_PROGRAM + "' show report.json > out.txt";
    EXPECT_EQ(system(line.c_str()), 0);
    return *read_file(w.path("out.txt"));
  };
  const auto begins = [&](const std::string& words, const std::string& subject) {
    const std::string text = shown(words);
    EXPECT_EQ(
        text.substr(0, text.find('\n')),
        "PASS (source only): 3 files parsed with 1 region, nothing that a capture refuses or leaves out - " +
            subject);
    return text;
  };
  const std::string all = begins("-p .", "the sources of .");
  EXPECT_NE(all.find("3 files parsed, 1 region in the source\n"), std::string::npos) << all;
  begins("-p . a.cpp b.cpp c.cpp", "a.cpp, b.cpp and 1 more");
  begins("-p compile_commands.json", "the sources of compile_commands.json");
}

TEST_F(Command, WorksFromAnInstalledTree) {
  w.write("a.cpp", faulty_);
  std::filesystem::create_directories(w.path("tree/bin"));
  std::filesystem::create_directories(w.path("tree/libexec/capgate"));
  std::filesystem::copy_file(CAPGATE_PROGRAM, w.path("tree/bin/capgate"));
  const Outcome without = run("a.cpp --", w.path("tree/bin/capgate"));
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.err.find("libexec/capgate/capgate-lint-worker"), std::string::npos) << without.err;
  std::filesystem::copy_file(CAPGATE_WORKER, w.path("tree/libexec/capgate/capgate-lint-worker"));
  const Outcome with = run("a.cpp --", w.path("tree/bin/capgate"));
  EXPECT_EQ(with.exit_code, 1) << with.out << with.err;
}

// Broken input: exit code 2, the file by name, and a good unit beside it is still judged.
struct Broken {
  const char* name;
  std::string text;      // of bad.cpp; empty: there is no such file
  std::string database;  // instead of the usual one
  std::string says;
};
class BrokenInput : public Command, public testing::WithParamInterface<Broken> {};

TEST_P(BrokenInput, IsSaidAndNeverAPass) {
  const Broken& broken = GetParam();
  w.write("good.cpp", faulty_);
  if (!broken.text.empty()) w.write("bad.cpp", broken.text);
  w.database({{"bad.cpp", "g++"}, {"good.cpp", "g++"}});
  if (!broken.database.empty()) w.write("compile_commands.json", broken.database);
  const Outcome both = run("--timeout 3");
  const std::string said = both.out + both.err;
  EXPECT_NE(said.find(broken.says), std::string::npos) << said;
  if (broken.database.empty()) {
    EXPECT_EQ(both.exit_code, 1) << said;
    EXPECT_NE(said.find("good.cpp:4:3: error: "), std::string::npos) << said;
    const Outcome alone = run("bad.cpp --timeout 3");
    EXPECT_EQ(alone.exit_code, 2) << alone.out << alone.err;
    EXPECT_NE((alone.out + alone.err).find("bad.cpp"), std::string::npos) << alone.out << alone.err;
    EXPECT_EQ(alone.out.find("pass: "), std::string::npos) << alone.out;
  } else {
    EXPECT_EQ(both.exit_code, 2) << said;
    EXPECT_EQ(lines(both.err), 1U) << both.err;
    EXPECT_TRUE(both.out.empty()) << both.out;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BrokenInput,
    testing::Values(
        Broken{"missing_source", "", "", "bad.cpp"},
        Broken{"missing_header", "#include \"none.h\"\n", "", "'none.h' file not found"},
        Broken{"nesting",
               "int f() { return " + std::string(5000, '(') + "1" + std::string(5000, ')') + "; }\n", "",
               "nesting level"},
        Broken{"crash", "#pragma clang __debug crash\n", "", "the parser crashed on it"},
        Broken{"hang",
               "template <int N, class... T> struct F { static constexpr int v = F<N - 1, T..., char>::v + "
               "F<N - 1, T..., int>::v; };\n"
               "template <class... T> struct F<0, T...> { static constexpr int v = 1; };\n"
               "int hang = F<40>::v;\n",
               "", "after 3 s"},
        Broken{"no_unit", "\xff\xfe\x00", "", "bad.cpp"},
        Broken{"malformed_json", "int x;\n", "[{\"file\": ", "compile_commands.json"},
        Broken{"wrong_json", "int x;\n", "{\"file\": 3}", "compile_commands.json"},
        Broken{"nested_json", "int x;\n", std::string(100'000, '['), "compile_commands.json"}),
    [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace capgate::lint
