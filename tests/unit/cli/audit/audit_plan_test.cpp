#include <gtest/gtest.h>

#include <filesystem>

#include "base/shell_line.h"
#include "cli/audit/options.h"
#include "cli/audit/why_no_trace.h"
#include "reports/files/report_file.h"
#include "tests/support/temporary_folder.h"

namespace capgate::cli {
namespace {

using test::TemporaryFolder;

namespace fs = std::filesystem;

// Works in a folder of its own, as a user's project.
class AuditPlanTest : public testing::Test {
 protected:
  AuditPlanTest() { fs::current_path(project_.path()); }
  ~AuditPlanTest() override { fs::current_path(before_); }
  TemporaryFolder project_;

 private:
  fs::path before_ = fs::current_path();
};

TEST_F(AuditPlanTest, JoinsTheProjectsRegionsWithTheCommandLines) {
  project_.write(".capgate.toml", "regions = [\"decode*\"]\n");
  AuditOptions options;
  options.regions = {"step", "decode*"};
  options.buckets = {"bs=1"};
  const auto plan = plan_audit(options);
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_EQ(plan->expected.regions, (std::vector<std::string>{"decode*", "step"}));
  EXPECT_EQ(plan->expected.buckets, std::vector<std::string>{"bs=1"});
  EXPECT_EQ(plan->expected.settings.text, "regions = [\"decode*\"]\n");
}

TEST_F(AuditPlanTest, SealsTheSuppressionsOfTheCommandLineInPlaceOfTheProjects) {
  project_.write(".capgate.toml", "suppressions = \"project.supp\"\n");
  project_.write("project.supp", "host-sync:read  the project's\n");
  project_.write("mine.supp", "host-sync:read  mine\n");
  AuditOptions options;
  const auto projects = plan_audit(options);
  ASSERT_TRUE(projects) << projects.error();
  EXPECT_EQ(projects->expected.suppressions.text, "host-sync:read  the project's\n");
  options.suppressions = "mine.supp";
  const auto mine = plan_audit(options);
  ASSERT_TRUE(mine) << mine.error();
  EXPECT_EQ(mine->expected.suppressions.text, "host-sync:read  mine\n");
}

TEST_F(AuditPlanTest, SettingsInForceAreTheFilesAndTheCommandLines) {
  project_.write(".capgate.toml",
                 "regions = [\"decode*\"]\nstep_waits = 4\nsuppressions = \"project.supp\"\n");
  AuditOptions options;
  options.regions = {"step"};
  options.suppressions = "mine.supp";
  const auto settings = settings_in_force(options);
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_EQ(settings->regions, (std::vector<std::string>{"decode*", "step"}));
  EXPECT_EQ(settings->step_waits, 4u);
  EXPECT_EQ(settings->suppressions, "mine.supp");
}

TEST_F(AuditPlanTest, RefusesBadSettingsWithTheirLine) {
  project_.write(".capgate.toml", "regions = [\n");
  const auto plan = plan_audit({});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().find(".capgate.toml"), std::string::npos);
}

TEST_F(AuditPlanTest, TellsBeforehandWhereNoReportCanBeWritten) {
  EXPECT_TRUE(reports::check_output("-", {}));
  EXPECT_TRUE(reports::check_output("report.json", {}));
  EXPECT_FALSE(reports::check_output("no/such/report.json", {}));
  EXPECT_FALSE(reports::check_output(project_.path().string(), {}));
}

TEST(Until, IsAPositiveCountOfAKnownThing) {
  for (const char* good : {"captures=1", "replays=250", "seconds=2", "seconds=0.5"}) {
    EXPECT_EQ(check_until(good), "") << good;
  }
  for (const char* bad :
       {"", "captures", "captures=", "captures=0", "captures=-1", "captures=1x", "seconds=0.0", "seconds=.5",
        "seconds=1.", "replays=1.5", "tokens=3", "captures=1 "}) {
    EXPECT_NE(check_until(bad), "") << bad;
  }
}

TEST(WhyNoTrace, EndsInTheCommandThatWouldLeaveOne) {
  const std::string command = "capgate audit -- ./decode";
  ProgramFile program;
  program.path = "./decode";
  for (const Driver driver : {Driver::missing, Driver::no_gpu, Driver::broken}) {
    const auto reason = why_no_trace(program, {driver, "detail"}, command);
    EXPECT_NE(reason.text.find("detail"), std::string::npos);
    EXPECT_TRUE(reason.remedy.ends_with(command)) << reason.remedy;
  }
  EXPECT_EQ(why_no_trace(program, {}, command).text, "no process of this run used CUDA");
  program.is_privileged = true;
  EXPECT_NE(why_no_trace(program, {}, command).text.find("set-uid"), std::string::npos);
  program.is_static = true;
  EXPECT_NE(why_no_trace(program, {}, command).text.find("statically linked"), std::string::npos);
}

TEST(ShellLine, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_line({"capgate", "audit", "--region", "step*", "--", "sh", "-c", "it's $HOME", ""}),
            "capgate audit --region 'step*' -- sh -c 'it'\\''s $HOME' ''");
}

}  // namespace
}  // namespace capgate::cli
