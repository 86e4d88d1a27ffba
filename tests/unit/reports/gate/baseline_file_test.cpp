#include "reports/baseline/baseline_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reports/verdict/finish.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::failed_run;
using testing::violation;

constexpr const char* kHead = "# capgate-baseline/1\n";

Report filed(std::vector<Violation> faults) {
  Report report = clean_run();
  report.violations = std::move(faults);
  finish(report);
  return report;
}

// The lines that are no comment.
std::vector<std::string> lines(const std::vector<BaselineEntry>& entries) {
  std::vector<std::string> out;
  std::string text = baseline_text(entries);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (text[at] != '#') out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

TEST(BaselineFile, HasALinePerFaultSortedByPlaceWithoutLineNumbers) {
  const Violation first = violation("host-sync", "b.cpp", 12, "f", "c"),
                  second = violation("host-poll", "a.cpp", 90, "g");
  const auto entries = update_baseline({}, filed({first, second}), {}).entries;
  const auto text = lines(entries);
  ASSERT_EQ(text.size(), 2u);
  EXPECT_EQ(text[0].rfind("a.cpp: error host-poll in g [", 0), 0u) << text[0];
  EXPECT_EQ(text[1].rfind("b.cpp: error host-sync in f [", 0), 0u) << text[1];
  Violation moved = first;
  moved.location.line = 400;
  EXPECT_EQ(lines(update_baseline({}, filed({second, moved}), {}).entries), text);
}

TEST(BaselineFile, AnEditedLineKeepsItsOwnerAndItsEnd) {
  Violation was = violation("sync-copy", "a.cpp", 10, "f", "cudaMemcpy");
  was.source = {{10, "cudaMemcpy(a, b);"}};
  Violation is = was;
  is.source = {{10, "cudaMemcpy(a, b + 1);"}};
  BaselineEntry fresh;
  fresh.owner = "moe";
  fresh.until = "2027-01-31";
  const auto before = update_baseline({}, filed({was}), fresh).entries;
  const auto update = update_baseline(before, filed({is}), {});
  EXPECT_EQ(update.kept, 1u);
  EXPECT_EQ(update.added + update.dropped, 0u);
  ASSERT_EQ(update.entries.size(), 1u);
  EXPECT_NE(update.entries[0].id, before[0].id);
  EXPECT_EQ(update.entries[0].owner, "moe");
  EXPECT_EQ(update.entries[0].until, "2027-01-31");
}

TEST(BaselineFile, IsReadBackAsWritten) {
  BaselineEntry entry{"0123456789abcdef",
                      "host-sync",
                      Severity::warning,
                      "my dir/a: b.cpp",
                      "ns::operator[] in x [fedcba9876543210]",
                      "moe",
                      "2027-01-31",
                      "since the # rewrite [fedcba9876543210]"};
  BaselineEntry bare{"fedcba9876543210", "host-poll", Severity::error, "", "", "", "", ""};
  const auto again = parse_baseline(baseline_text({entry, bare}), "known.txt");
  ASSERT_TRUE(again.ok()) << again.error();
  ASSERT_EQ(again->size(), 2u);
  EXPECT_EQ(baseline_text(*again), baseline_text({entry, bare}));
  const BaselineEntry& read = (*again)[1];
  EXPECT_EQ(read.id, entry.id);
  EXPECT_EQ(read.severity, Severity::warning);
  EXPECT_EQ(read.file, entry.file);
  EXPECT_EQ(read.function, entry.function);
  EXPECT_EQ(read.owner, "moe");
  EXPECT_EQ(read.until, "2027-01-31");
  EXPECT_EQ(read.remark, "since the # rewrite [fedcba9876543210]");
}

TEST(BaselineFile, ABadLineIsNamed) {
  const std::string id = " [0123456789abcdef]";
  const std::pair<std::string, std::string> bad[] = {
      {"", ""},
      {"a.cpp: error host-sync in f" + id + "\n", "known.txt:1: a baseline begins with"},
      {"# capgate-baseline/2\n", "known.txt:1: is of version 2"},
      {kHead + std::string("a.cpp: error host-sync in f\n"), "known.txt:2: there is no [ID]"},
      {kHead + std::string("a.cpp: error host-sync in f [0123]\n"), "known.txt:2: there is no [ID]"},
      {kHead + std::string("<<<<<<< HEAD\n"), "known.txt:2: there is no [ID]"},
      {kHead + std::string("a.cpp host-sync") + id + "\n", "known.txt:2: expected `FILE: error RULE"},
      {kHead + std::string("a.cpp: error ") + id + "\n", "known.txt:2: the rule is missing"},
      {kHead + ("a.cpp: error host-sync in f" + id + " until=2027-02-29\n"), "known.txt:2: until is a day"},
      {kHead + ("a.cpp: error host-sync in f" + id + " until=soon\n"), "known.txt:2: until is a day"},
      {kHead + ("a.cpp: error host-sync in f" + id + " owner=\n"), "known.txt:2: owner is empty"},
      {kHead + ("a.cpp: error host-sync in f" + id + " moe\n"), "known.txt:2: 'moe' is neither"},
      {kHead + ("a.cpp: error host-sync in f" + id + "\na.cpp: error host-poll in f" + id + "\n"),
       "known.txt:3: the id 0123456789abcdef has a line above"},
  };
  for (const auto& [text, part] : bad) {
    const auto read = parse_baseline(text, "known.txt");
    if (part.empty()) {
      EXPECT_TRUE(read.ok());
      continue;
    }
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().rfind(part, 0), 0u) << read.error();
  }
}

TEST(BaselineFile, Dates) {
  for (const char* good : {"2027-01-31", "2028-02-29", "2000-02-29", "9999-12-31"})
    EXPECT_EQ(wrong_date(good), "") << good;
  for (const char* bad :
       {"2027-1-31", "2027-13-01", "2027-00-01", "2027-01-00", "2100-02-29", "31.1.2027", ""})
    EXPECT_NE(wrong_date(bad), "") << bad;
  EXPECT_EQ(wrong_date(today()), "");
  EXPECT_EQ(wrong_end("2026-06-01", "2026-06-01"), "");
  EXPECT_EQ(wrong_end("2026-05-31", "2026-06-01"),
            "2026-05-31 is over; the last day of an entry is 2026-06-01 or later");
  EXPECT_NE(wrong_end("soon", "2026-06-01"), "");
}

TEST(BaselineUpdate, KeepsWhatPeopleWroteAndDropsWhatIsGone) {
  const Report before =
      filed({violation("host-sync", "a.cpp", 12, "f", "c"), violation("host-poll", "b.cpp", 1, "g")});
  auto entries = update_baseline({}, before, {}).entries;
  for (auto& entry : entries) {
    entry.owner = "moe";
    entry.until = "2027-01-31";
    entry.remark = "why";
  }
  const Report now =
      filed({violation("host-sync", "a.cpp", 50, "f", "c"), violation("host-sync", "c.cpp", 1, "h")});
  BaselineEntry fresh;
  fresh.owner = "new-owner";
  const auto update = update_baseline(entries, now, fresh);
  EXPECT_EQ(update.kept, 1u);
  EXPECT_EQ(update.added, 1u);
  EXPECT_EQ(update.dropped, 1u);
  const auto text = lines(update.entries);
  ASSERT_EQ(text.size(), 2u);
  EXPECT_NE(text[0].find("] owner=moe until=2027-01-31 # why"), std::string::npos) << text[0];
  EXPECT_TRUE(text[1].ends_with("] owner=new-owner")) << text[1];
}

// Its fault counts as new, so that whoever accepts it says until when.
TEST(BaselineUpdate, AnEntryThatHasEndedTakesANewEnd) {
  const Report report =
      filed({violation("host-sync", "a.cpp", 12, "f", "c"), violation("host-poll", "b.cpp", 1, "g")});
  auto entries = update_baseline({}, report, {}).entries;
  ASSERT_EQ(entries.size(), 2u);
  for (auto& entry : entries) entry.owner = "moe";
  entries[0].until = "2026-05-31";
  entries[1].until = "2026-06-01";
  BaselineEntry fresh;
  fresh.owner = "other";
  EXPECT_EQ(update_baseline(entries, report, fresh, "2026-06-01").entries[0].until, "2026-05-31");
  fresh.until = "2027-01-31";
  const auto update = update_baseline(entries, report, fresh, "2026-06-01");
  EXPECT_EQ(update.kept, 2u);
  EXPECT_EQ(update.extended, 1u);
  for (const BaselineEntry& entry : update.entries) {
    EXPECT_EQ(entry.owner, "moe");
    EXPECT_EQ(entry.until, entry.file == entries[0].file ? "2027-01-31" : "2026-06-01");
  }
}

// A hint names this update: it must not accept what came since.
TEST(BaselineUpdate, ThatAddsNothingExtendsAndDropsAndNamesWhatItLeavesOut) {
  const Violation held = violation("host-sync", "a.cpp", 12, "f", "c");
  auto entries = update_baseline({}, filed({held, violation("host-poll", "b.cpp", 1, "g")}), {}).entries;
  ASSERT_EQ(entries.size(), 2u);
  for (auto& entry : entries) entry.until = "2026-05-31";
  const Report report = filed({held, violation("host-poll", "c.cpp", 1, "h")});
  BaselineEntry fresh;
  fresh.until = "2027-01-31";
  const auto update = update_baseline(entries, report, fresh, "2026-06-01", Unlisted::leave_out);
  ASSERT_EQ(update.entries.size(), 1u);
  EXPECT_EQ(update.entries[0].file, "a.cpp");
  EXPECT_EQ(update.entries[0].until, "2027-01-31");
  EXPECT_EQ(update.extended, 1u);
  EXPECT_EQ(update.added, 0u);
  EXPECT_EQ(update.dropped, 1u);
  EXPECT_EQ(update.left_out, 1u);
}

// The line of a cause covers its symptoms; lines that an older capgate wrote for them stay.
TEST(BaselineUpdate, WritesCausesAndKeepsOldLinesOfSymptoms) {
  Violation wait = violation("host-sync", "a.cpp", 12, "f", "c"),
            branch = violation("host-branch", "a.cpp", 14, "f");
  const Report apart = filed({wait, branch});
  const auto old = update_baseline({}, apart, {}).entries;
  ASSERT_EQ(old.size(), 2u);
  wait.id = "#0";
  branch.symptom_of = "#0";
  const Report report = filed({wait, branch});
  const auto fresh = update_baseline({}, report, {});
  ASSERT_EQ(fresh.entries.size(), 1u);
  EXPECT_EQ(fresh.entries[0].rule, "host-sync");
  EXPECT_EQ(fresh.added, 1u);
  EXPECT_EQ(lines(update_baseline(old, report, {}).entries), lines(old));
}

// What an incomplete run does not show may be there all the same.
TEST(BaselineUpdate, AnInconclusiveReportDropsNothing) {
  const Report before = filed({violation("host-sync", "a.cpp", 12, "f", "c")});
  const auto entries = update_baseline({}, before, {}).entries;
  Report now = filed({});
  now.reasons = {{"events were dropped", "again"}};
  finish(now);
  const auto update = update_baseline(entries, now, {});
  EXPECT_EQ(update.unseen, 1u);
  EXPECT_EQ(lines(update.entries), lines(entries));
}

TEST(BaselineUpdate, TakesNoNotesAndNothingSuppressed) {
  const Report report = failed_run();
  const auto taken =
      std::count_if(report.violations.begin(), report.violations.end(),
                    [](const Violation& v) { return !v.suppressed && v.severity != Severity::note; });
  EXPECT_EQ(update_baseline({}, report, {}).entries.size(), static_cast<size_t>(taken));
  EXPECT_LT(static_cast<size_t>(taken), report.violations.size());
}

}  // namespace
}  // namespace capgate::reports
