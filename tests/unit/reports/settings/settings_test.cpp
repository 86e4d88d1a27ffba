#include "reports/settings/settings.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/write_text.h"

namespace capgate::reports {
namespace {

TEST(Settings, ReadsEveryKey) {
  const auto settings = parse_settings(
      "repository = \"..\"\nregions = [\"decode*\", \"d@s\"]\nstep_waits = 2\nsuppressions = \"a.supp\"\n"
      "[frames]\nnot_user = [\"*/x/*\"]\nuser = [\"y\"]\n",
      "t.toml", "/a/b");
  ASSERT_TRUE(settings.ok()) << settings.error();
  EXPECT_EQ(settings->repository_root, "/a");
  EXPECT_EQ(settings->regions, (std::vector<std::string>{"decode*", "d@s"}));
  EXPECT_EQ(settings->step_waits, 2u);
  EXPECT_EQ(settings->suppressions, "/a/b/a.supp");
  EXPECT_EQ(settings->frames.not_user, std::vector<std::string>{"*/x/*"});
  EXPECT_EQ(settings->frames.user, std::vector<std::string>{"y"});
}

TEST(Settings, AnEmptyFileIsTheDefaults) {
  const auto settings = parse_settings("", "t.toml", "/a/b");
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->repository_root, "/a/b");
  EXPECT_EQ(settings->step_waits, 1u);
  EXPECT_EQ(settings->suppressions, "");
}

TEST(Settings, SaysWhichLineIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"\nregion = []",
       "t.toml:2: unknown key \"region\"; known are repository, regions, step_waits, suppressions, "
       "frames, lint"},
      {"[frames]\nuse = []", "t.toml:2: unknown key \"use\"; known are not_user, user"},
      {"step_waits = \"1\"", "t.toml:1: step_waits is a whole number, 0 or more"},
      {"step_waits = -1", "t.toml:1: step_waits is a whole number, 0 or more"},
      {"step_waits = 99999999999", "t.toml:1: step_waits is a whole number, 0 or more"},
      {"regions = \"x\"", "t.toml:1: regions is a list of texts"},
      {"regions = [1]", "t.toml:1: regions is a text in quotes"},
      {"frames = 1", "t.toml:1: frames is a table: [frames]"},
  };
  for (const auto& [text, error] : cases) {
    const auto settings = parse_settings(text, "t.toml", "/");
    ASSERT_FALSE(settings.ok()) << text;
    EXPECT_EQ(settings.error(), error);
  }
  EXPECT_EQ(parse_settings("a = = 1", "t.toml", "/").error().rfind("t.toml:1: ", 0), 0u);
}

TEST(Settings, SurvivesHostileText) {
  (void)parse_settings(std::string(100000, '['), "t", "/");
  for (int letter = 0x80; letter < 0x800; ++letter) {
    const char utf8[] = {static_cast<char>(0xC0 | letter >> 6), static_cast<char>(0x80 | (letter & 63)),
                         '\0'};
    EXPECT_FALSE(parse_settings(std::string("regions = ") + utf8, "t", "/").ok()) << letter;
    EXPECT_TRUE(
        parse_settings(std::string("regions = [\"") + (letter < 0xA0 ? "" : utf8) + "\"]", "t", "/").ok())
        << letter;
  }
  for (const char* header : {"[=", "[ =", "[[.", "[!]", "[#", "[\\", "a = 1\n[,]\n", "[\xC3\xA9]"})
    EXPECT_FALSE(parse_settings(header, "t", "/").ok()) << header;
  (void)parse_settings("a = " + std::string(100000, '['), "t", "/");
  (void)parse_settings("a = " + std::string(5000, '{'), "t", "/");
  (void)parse_settings(std::string("a = \0\xff", 6), "t", "/");
  const std::string text =
      "repository = \"..\"\nregions = [\"d*\"]\nstep_waits = 2\n[frames]\nuser = [\"y\"]\n";
  for (size_t i = 0; i < text.size(); ++i)
    for (const char byte : {'"', '[', '=', '\n', '\0', '\xff', '.'}) {
      std::string mutant = text;
      mutant[i] = byte;
      (void)parse_settings(mutant, "t", "/");
    }
}

TEST(Settings, DumpsWhatItReadsBack) {
  Settings settings;
  settings.file = "/a\nb/.capgate.toml";
  settings.repository_root = "/a b/\"c\"\\d";
  settings.regions = {"x\ny", "ü"};
  settings.step_waits = 3;
  settings.suppressions = "/s";
  settings.frames.user = {"u"};
  const auto again = parse_settings(dump_settings(settings), "dump", "/");
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(again->repository_root, settings.repository_root);
  EXPECT_EQ(again->regions, settings.regions);
  EXPECT_EQ(again->step_waits, 3u);
  EXPECT_EQ(again->frames, settings.frames);
}

TEST(Settings, AreFoundUpward) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(::testing::TempDir()) / "settings_found_upward";
  fs::create_directories(root / "a/b");
  fs::create_directories(root / ".git");
  fs::remove(root / ".capgate.toml");
  const auto none = find_settings((root / "a/b").string());
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->repository_root, fs::weakly_canonical(root).string());
  ASSERT_TRUE(write_text("step_waits = 4\n", (root / ".capgate.toml").string()).ok());
  const auto found = find_settings((root / "a/b").string());
  ASSERT_TRUE(found.ok()) << found.error();
  EXPECT_EQ(found->step_waits, 4u);
  EXPECT_EQ(found->repository_root, fs::weakly_canonical(root).string());
  fs::remove_all(root);
}

}  // namespace
}  // namespace capgate::reports
