#include "static_checks/changes/changes.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "workspace.h"

namespace capgate::lint {
namespace {

using test::Workspace;

TEST(Changes, ReadsHunks) {
  const Changes changes = Changes::from_diff(
      "diff --git a.cu a.cu\n--- a.cu\n+++ a.cu\n@@ -3 +3,2 @@ void f()\n-old\n+++ looks like a "
      "header\n+new\n"
      "@@ -10,2 +11,0 @@\n-x\n-y\n--- b c.cu\t\n+++ b c.cu\t\n@@ -0,0 +1,3 @@\n+a\n+b\n+c\n"
      "--- gone.cu\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
      "/repo");
  EXPECT_EQ(changes.lines().size(), 2U);
  EXPECT_TRUE(changes.touches("/repo/a.cu", 3, 3));
  EXPECT_TRUE(changes.touches("/repo/a.cu", 4, 4));
  EXPECT_FALSE(changes.touches("/repo/a.cu", 5, 10));
  EXPECT_TRUE(changes.touches("/repo/a.cu", 11, 11));  // where lines were taken out
  EXPECT_TRUE(changes.touches("/repo/a.cu", 12, 12));
  EXPECT_FALSE(changes.touches("/repo/a.cu", 13, 99));
  EXPECT_TRUE(changes.touches("/repo/b c.cu", 2, 2));
  EXPECT_FALSE(changes.touches("/other/a.cu", 3, 3));
}

int git(const Workspace& w, const std::string& words) {
  return system(
      ("cd '" + w.folder() + "' && git -c user.name=t -c user.email=t@t " + words + " > /dev/null 2>&1")
          .c_str());
}

TEST(Changes, OnlyWhatBearsOnChangedLinesIsReported) {
  Workspace w;
  const std::string region = "[[clang::annotate(\"capgate::region\")]] ";
  const std::string old_step = region + "void old_step() {\n  int x = 0;\n  banned();\n}\n";
  w.write("a.cpp", "void banned();\n" + old_step);
  w.write("b.cpp", "void banned();\n" + region + "void untouched() { banned(); }\n");
  w.database({{"a.cpp", "g++"}, {"b.cpp", "g++"}, {"new.cpp", "g++"}});
  ASSERT_EQ(git(w, "init -q"), 0);
  ASSERT_EQ(git(w, "add a.cpp b.cpp"), 0);
  ASSERT_EQ(git(w, "commit -q -m one"), 0);
  w.write("new.cpp", "void banned();\n" + region + "void added() { banned(); }\n");  // not even tracked
  LintSettings settings = w.settings();
  EXPECT_EQ(test::lint(settings).report.violations.size(), 3U);
  settings.changed_since = "HEAD";
  auto report = test::lint(settings).report;
  ASSERT_EQ(report.violations.size(), 1U);
  EXPECT_EQ(report.violations[0].location.file, "new.cpp");
  EXPECT_EQ(report.coverage.files_parsed, 3U);
  // Another line of the same function.
  w.write("a.cpp", "void banned();\n" + region + "void old_step() {\n  int x = 1;\n  banned();\n}\n");
  report = test::lint(settings).report;
  EXPECT_EQ(report.violations.size(), 2U);
  settings.changed_since = "no-such-revision";
  const auto run = run_lint(settings);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().find("no-such-revision"), std::string::npos) << run.error();
  settings.changed_since = "--output=/tmp/x";
  EXPECT_FALSE(run_lint(settings).ok());
}

// git takes these for unchanged, or for none of its files.
TEST(Changes, OfSubmodulesNestedRepositoriesAndHiddenFilesAreSeen) {
  Workspace w;
  const auto in = [&](const std::string& folder, const std::string& words) {
    return system(("cd '" + w.folder() + "/" + folder +
                   "' && git -c user.name=t -c user.email=t@t -c protocol.file.allow=always " + words +
                   " > /dev/null 2>&1")
                      .c_str());
  };
  w.write("origin/sub.cu", "1\n2\n3\n");
  ASSERT_EQ(in("origin", "init -q"), 0);
  ASSERT_EQ(in("origin", "add ."), 0);
  ASSERT_EQ(in("origin", "commit -q -m sub"), 0);
  w.write("top/hidden.cu", "1\n2\n3\n");
  w.write("top/skipped.cu", "1\n2\n3\n");
  w.write("top/same.cu", "1\n2\n3\n");
  ASSERT_EQ(in("top", "init -q"), 0);
  ASSERT_EQ(in("top", "submodule add -q ../origin sub"), 0);
  ASSERT_EQ(in("top", "add ."), 0);
  ASSERT_EQ(in("top", "commit -q -m one"), 0);
  ASSERT_EQ(in("top", "update-index --assume-unchanged hidden.cu same.cu"), 0);
  ASSERT_EQ(in("top", "update-index --skip-worktree skipped.cu"), 0);
  const std::string top = w.folder() + "/top";
  const auto since = [&] { return Changes::since("HEAD", top); };
  ASSERT_TRUE(since().ok()) << since().error();
  EXPECT_TRUE(since()->lines().empty());

  w.write("top/hidden.cu", "1\nchanged\n3\n");
  w.write("top/skipped.cu", "1\n2\nchanged\n");
  w.write("top/sub/sub.cu", "changed\n2\n3\n");
  w.write("top/sub/new.cu", "1\n");
  w.write("top/nested/inner.cu", "1\n2\n");
  ASSERT_EQ(in("top/nested", "init -q"), 0);
  ASSERT_EQ(in("top/nested", "add ."), 0);
  ASSERT_EQ(in("top/nested", "commit -q -m inner"), 0);
  const auto changes = since();
  ASSERT_TRUE(changes.ok()) << changes.error();
  EXPECT_TRUE(changes->touches(top + "/hidden.cu", 2, 2));
  EXPECT_FALSE(changes->touches(top + "/hidden.cu", 1, 1));
  EXPECT_TRUE(changes->touches(top + "/skipped.cu", 3, 3));
  EXPECT_FALSE(changes->touches(top + "/skipped.cu", 1, 2));
  EXPECT_FALSE(changes->touches(top + "/same.cu", 1, 3));
  EXPECT_TRUE(changes->touches(top + "/sub/sub.cu", 1, 1));
  EXPECT_FALSE(changes->touches(top + "/sub/sub.cu", 2, 3));
  EXPECT_TRUE(changes->touches(top + "/sub/new.cu", 1, 1));
  EXPECT_TRUE(changes->touches(top + "/nested/inner.cu", 2, 2));
  // A commit in the submodule that the outer repository has not taken yet.
  ASSERT_EQ(in("top/sub", "add ."), 0);
  ASSERT_EQ(in("top/sub", "commit -q -m two"), 0);
  EXPECT_TRUE(since()->touches(top + "/sub/sub.cu", 1, 1));
}

TEST(Changes, WithoutARepositoryItIsASentence) {
  Workspace w;
  w.write("a.cpp", "");
  w.database({{"a.cpp", "g++"}});
  LintSettings settings = w.settings();
  settings.changed_since = "HEAD";
  const auto run = run_lint(settings);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace capgate::lint
