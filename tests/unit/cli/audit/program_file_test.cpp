#include "cli/audit/program_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <optional>

#include "cli/audit/cupti_hints.h"
#include "tests/support/temporary_folder.h"

namespace capgate::cli {
namespace {

using test::TemporaryFolder;

namespace fs = std::filesystem;

class SavedVariable {
 public:
  explicit SavedVariable(const char* name) : name_(name) {
    if (const char* value = getenv(name)) value_ = value;
  }
  ~SavedVariable() {
    if (value_)
      setenv(name_, value_->c_str(), 1);
    else
      unsetenv(name_);
  }
  SavedVariable(const SavedVariable&) = delete;
  SavedVariable& operator=(const SavedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> value_;
};

TEST(ProgramFile, IsLookedUpAlongPath) {
  const auto file = find_program("sh");
  ASSERT_TRUE(file) << file.error();
  EXPECT_TRUE(file->path.ends_with("/sh"));
  EXPECT_TRUE(file->is_elf);
  EXPECT_FALSE(file->is_static);
  EXPECT_FALSE(file->is_privileged);
  EXPECT_EQ(file->sanitizer, "");
}

TEST(ProgramFile, ThatIsMissingOrCannotRunIsOneSentence) {
  TemporaryFolder root;
  const auto plain = root.write("plain", "text");
  chmod(plain.c_str(), 0644);
  const SavedVariable saved("PATH");
  setenv("PATH", root.path().c_str(), 1);
  EXPECT_EQ(find_program("no-such-program").error(), "cannot run no-such-program: no such command on PATH");
  EXPECT_EQ(find_program("/no/such").error(), "cannot run /no/such: No such file or directory");
  EXPECT_EQ(find_program(root.path().string()).error(),
            "cannot run " + root.path().string() + ": it is a directory");
  EXPECT_EQ(find_program(plain.string()).error(), "cannot run " + plain.string() + ": Permission denied");
  EXPECT_EQ(find_program("plain").error(), "cannot run plain: " + plain.string() + " is not executable");
}

TEST(ProgramFile, KnowsAScript) {
  TemporaryFolder root;
  const auto script = root.write("script", "#!/bin/sh\n");
  chmod(script.c_str(), 0755);
  const auto file = find_program(script.string());
  ASSERT_TRUE(file) << file.error();
  EXPECT_FALSE(file->is_elf);
  EXPECT_FALSE(file->is_static);
}

TEST(CuptiHints, FindTheWheelOfTheProgramsPythonBeforeTheToolkit) {
  TemporaryFolder root;
  root.write("venv/bin/python3", "");
  root.write("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13", "a");
  root.write("toolkit/extras/CUPTI/lib64/libcupti.so.2025", "b");
  fs::create_symlink("libcupti.so.2025", root.path() / "toolkit/extras/CUPTI/lib64/libcupti.so.13");
  const SavedVariable home("CUDA_HOME");
  const SavedVariable environment("VIRTUAL_ENV");
  setenv("CUDA_HOME", (root.path() / "toolkit").c_str(), 1);
  setenv("VIRTUAL_ENV", "", 1);
  const auto hints = cupti_hints((root.path() / "venv/bin/python3").string());
  ASSERT_GE(hints.size(), 2U);
  EXPECT_EQ(hints[0],
            (root.path() / "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13").string());
  EXPECT_TRUE(hints[1].starts_with((root.path() / "toolkit").string()));
  for (size_t i = 2; i < hints.size(); ++i) {
    EXPECT_FALSE(hints[i].starts_with(root.path().string())) << "the same library twice: " << hints[i];
  }
}

}  // namespace
}  // namespace capgate::cli
