// What tells one Python program from another, read from the files beside it.
#include "detector/seal/python_program.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "detector/seal/git_commit.h"
#include "detector/trace/python_script.h"
#include "tests/support/temporary_folder.h"

namespace capgate::test {
namespace {

namespace fs = std::filesystem;
const std::string kFirst(40, 'a'), kSecond(40, 'b');

class PythonProgram : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const { folder_.write(path, text); }
  // Of a script in the folder.
  std::string commit(const std::string& folder) const {
    write(folder + "/run.py", "");
    return seal::git_commit((root / folder / "run.py").string());
  }
  trace::ProcessTrace python(const std::string& command_line) const {
    trace::ProcessTrace process;
    process.meta = {{"python", "3.12.3"}, {"cwd", (root / "job").string()}, {"cmdline", command_line}};
    return process;
  }

  const TemporaryFolder folder_;
  const fs::path root = folder_.path();
};

std::string words(std::initializer_list<const char*> list) {
  std::string out;
  for (const char* word : list) (out += word) += '\0';
  return out;
}

TEST_F(PythonProgram, TheScriptIsTheFirstWordThatIsNoOption) {
  const auto script = [&](std::initializer_list<const char*> list) {
    return trace::python_script(python(words(list)));
  };
  EXPECT_EQ(script({"python3", "serve.py", "-c"}), "serve.py");
  EXPECT_EQ(script({"/usr/bin/python3", "-u", "-X", "dev", "-Wignore", "-W", "error", "a/b.py", "x"}),
            "a/b.py");
  EXPECT_EQ(script({"python3", "-m", "vllm.serve", "model"}), "vllm.serve");
  EXPECT_EQ(script({"python3", "-c", "import torch"}), "");
  EXPECT_EQ(script({"python3", "-"}), "");
  EXPECT_EQ(script({"python3", "-m"}), "");
  EXPECT_EQ(script({"python3"}), "");
  trace::ProcessTrace other = python(words({"./decode", "--tokens"}));
  other.meta.erase(other.meta.begin());
  EXPECT_EQ(trace::python_script(other), "");
}

// An index of version 2 that tracks these paths, as git writes it (without the checksum, which is not read).
std::string index(std::initializer_list<std::string> paths) {
  std::string out("DIRC\0\0\0\2\0\0\0", 11);
  out += static_cast<char>(paths.size());
  for (const std::string& path : paths) {
    std::string entry = std::string(62, 'x');
    entry[60] = '\0';  // no more flags
    entry += path;
    entry.append(8 - entry.size() % 8, '\0');
    out += entry;
  }
  return out;
}

TEST_F(PythonProgram, TheCommitOfABranchInEveryPlaceThatGitKeepsIt) {
  write("repo/.git/index", index({"a.py", "run.py", "src/deep/run.py"}));
  write("repo/.git/HEAD", "ref: refs/heads/main\n");
  EXPECT_EQ(commit("repo/src/deep"), "") << "a branch without a commit";
  write("repo/.git/packed-refs", "# pack-refs with: peeled\n" + kSecond + " refs/heads/main\n");
  EXPECT_EQ(commit("repo/src/deep"), kSecond);
  write("repo/.git/refs/heads/main", kFirst + "\n");
  EXPECT_EQ(commit("repo/src/deep"), kFirst) << "a loose one is newer";
  write("repo/.git/HEAD", kSecond + "\n");
  EXPECT_EQ(commit("repo"), kSecond) << "detached";
  write("repo/.git/HEAD", "nonsense\n");
  EXPECT_EQ(commit("repo"), "");
  EXPECT_EQ(commit("elsewhere"), "");
}

TEST_F(PythonProgram, TheCommitOfAWorktree) {
  write("repo/.git/HEAD", "ref: refs/heads/main\n");
  write("repo/.git/refs/heads/main", kFirst + "\n");
  write("repo/.git/refs/heads/side", kSecond + "\n");
  write("repo/.git/worktrees/side/HEAD", "ref: refs/heads/side\n");
  write("repo/.git/worktrees/side/commondir", "../..\n");
  write("repo/.git/worktrees/side/index", index({"run.py"}));
  write("side/.git", "gitdir: " + (root / "repo/.git/worktrees/side").string() + "\n");
  EXPECT_EQ(commit("side"), kSecond);
}

TEST_F(PythonProgram, ARepositoryAroundAScriptThatItDoesNotTrackIsNotNamed) {
  write("home/.git/HEAD", kFirst + "\n");
  write("home/.git/index", index({"notes/run.py", "other.py"}));
  EXPECT_EQ(commit("home/job"), "");
  EXPECT_EQ(commit("home/notes"), kFirst);
  const std::string whole = index({"notes/run.py", "other.py"});
  for (const size_t size : {size_t{0}, size_t{4}, size_t{12}, size_t{60}, whole.size() - 1}) {
    write("home/.git/index", whole.substr(0, size));
    EXPECT_EQ(commit("home/job"), "") << size;
  }
}

// git itself writes the indexes; all versions and both kinds of hashes.
TEST_F(PythonProgram, WhatGitTracksIsReadFromTheIndexesThatItWrites) {
  if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no git";
  int repository = 0;
  for (const std::string format : {"sha1", "sha256"})
    for (const std::string version : {"2", "3", "4"}) {
      SCOPED_TRACE(format + ", version " + version);
      const std::string name = "repo" + std::to_string(++repository);
      write(name + "/src/a_long_name.py", "");
      write(name + "/src/a_long_other.py", "");
      write(name + "/b.py", "");
      const std::string git = "cd " + (root / name).string() +
                              " && export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 && git -c user.name=a "
                              "-c user.email=a@b ";
      const std::string rest = " > /dev/null 2>&1";
      ASSERT_EQ(std::system((git + "init --object-format=" + format + rest).c_str()), 0);
      ASSERT_EQ(std::system((git + "add src b.py" + rest).c_str()), 0);
      ASSERT_EQ(std::system((git + "commit -m all" + rest).c_str()), 0);
      ASSERT_EQ(std::system((git + "update-index --index-version " + version + rest).c_str()), 0);
      const auto of = [&](const std::string& path) {
        return seal::git_commit((root / name / path).string());
      };
      EXPECT_EQ(of("b.py").size(), format == "sha1" ? 40u : 64u);
      EXPECT_EQ(of("src/a_long_other.py"), of("b.py"));
      EXPECT_EQ(of("src/a_long_name.py"), of("b.py"));
      EXPECT_EQ(commit(name), "") << "run.py is not tracked";
      EXPECT_EQ(commit(name + "/src"), "");
    }
}

TEST_F(PythonProgram, AModuleIsTrackedAsItsFile) {
  write("job/.git/HEAD", kFirst + "\n");
  write("job/.git/index", index({"tools/__main__.py", "tools/serve.py"}));
  write("job/tools/serve.py", "");
  const std::map<std::string, std::string> known{{"commit", kFirst}};
  EXPECT_EQ(seal::python_program_facts(python(words({"python3", "-m", "tools.serve"}))), known);
  EXPECT_EQ(seal::python_program_facts(python(words({"python3", "-m", "tools"}))), known);
  EXPECT_TRUE(seal::python_program_facts(python(words({"python3", "-m", "tools.other"}))).empty());
  EXPECT_TRUE(seal::python_program_facts(python(words({"python3", "-c", "import tools"}))).empty());
}

TEST_F(PythonProgram, VersionsOfThePackagesThatItUsed) {
  write("job/.git/HEAD", kFirst + "\n");
  write("job/.git/index", index({"serve.py"}));
  const std::string packages = (root / "venv/lib/python3.12/site-packages").string();
  write("venv/lib/python3.12/site-packages/torch-2.11.0.dist-info/METADATA",
        "Metadata-Version: 2.1\nName: torch\nVersion: 2.11.0+cu130\n\nVersion: no\n");
  write("venv/lib/python3.12/site-packages/transformers-5.17.0.dist-info/METADATA", "Version: 5.17.0\n");
  auto process = python(words({"python3", "serve.py"}));
  EXPECT_EQ(seal::python_program_facts(process), (std::map<std::string, std::string>{{"commit", kFirst}}));
  process.modules.push_back({0, 1, 0, "", packages + "/torch/lib/libtorch_cuda.so"});
  process.python_stacks[1] = "  File \"" + packages + "/transformers/models/llama.py\", line 3 in forward\n";
  EXPECT_EQ(seal::python_program_facts(process),
            (std::map<std::string, std::string>{
                {"commit", kFirst}, {"torch", "2.11.0+cu130"}, {"transformers", "5.17.0"}}));
  process.meta.erase(process.meta.begin());
  EXPECT_TRUE(seal::python_program_facts(process).empty()) << "no Python ran";
}

}  // namespace
}  // namespace capgate::test
