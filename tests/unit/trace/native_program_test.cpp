// Which commit a C++ program is said to be of: none where it may have been built of another one.
#include "detector/seal/native_program.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "detector/seal/git_commit.h"
#include "tests/support/temporary_folder.h"

namespace capgate::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Facts = std::map<std::string, std::string>;

class NativeProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no git";
    repository("engine");
    folder_.write("engine/main.cpp", "int main() {}");
    folder_.write("engine/moe.cpp", "");
    commit("engine", "main.cpp moe.cpp");
    built(1h);
  }

  void git(const std::string& name, const std::string& words) const {
    const std::string command =
        "cd " + (root / name).string() +
        " && HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 git -c user.name=a -c user.email=a@b " + words +
        " > /dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void repository(const std::string& name) const {
    fs::create_directories(root / name);
    git(name, "init");
  }
  void commit(const std::string& name, const std::string& files) const {
    git(name, "add " + files);
    git(name, "commit -m all");
  }
  // So long after the commit was checked out.
  void built(std::chrono::seconds later) const {
    folder_.write("engine/build/decode", "");
    fs::last_write_time(program(), fs::last_write_time(root / "engine/.git/logs/HEAD") + later);
  }
  std::string program() const { return path("engine/build/decode"); }
  std::string path(const std::string& file) const { return (root / file).string(); }
  Facts facts(const std::string& main, std::set<std::string> all) const {
    return seal::native_program_facts(program(), {main.empty() ? "" : path(main), std::move(all)});
  }
  Facts expected() const { return {{"commit", seal::git_commit(path("engine/main.cpp"))}}; }

  const TemporaryFolder folder_;
  const fs::path root = folder_.path();
};

TEST_F(NativeProgram, IsOfTheCommitThatIsCheckedOutWhereItsMainLies) {
  EXPECT_EQ(expected()["commit"].size(), 40u);
  EXPECT_EQ(facts("engine/main.cpp", {path("engine/main.cpp")}), expected());
}

TEST_F(NativeProgram, WithoutMainAllItsSourcesMustBeOfOneCheckout) {
  EXPECT_EQ(facts("", {path("engine/moe.cpp"), "/usr/include/stdio.h"}), expected());
  repository("kernels");
  folder_.write("kernels/gemm.cu", "");
  commit("kernels", "gemm.cu");
  EXPECT_EQ(facts("", {path("engine/moe.cpp"), path("kernels/gemm.cu")}), Facts());
  EXPECT_EQ(facts("engine/main.cpp", {path("engine/main.cpp"), path("kernels/gemm.cu")}), expected());
}

TEST_F(NativeProgram, OlderThanTheCheckoutItMayBeOfAnother) {
  built(-1s);
  EXPECT_EQ(facts("engine/main.cpp", {}), Facts());
  built(0s);
  EXPECT_EQ(facts("engine/main.cpp", {}), expected());
  fs::remove(root / "engine/.git/logs/HEAD");
  EXPECT_EQ(facts("engine/main.cpp", {}), Facts()) << "git does not tell since when";
}

TEST_F(NativeProgram, NothingIsSaidOfWhatIsNotTrackedOrNotThere) {
  folder_.write("engine/generated.cpp", "");
  EXPECT_EQ(facts("engine/generated.cpp", {path("engine/main.cpp")}), Facts());
  EXPECT_EQ(facts("", {}), Facts());
  EXPECT_EQ(facts("", {"/nowhere/a.cpp"}), Facts());
  fs::remove(program());
  EXPECT_EQ(facts("engine/main.cpp", {}), Facts());
}

}  // namespace
}  // namespace capgate::test
