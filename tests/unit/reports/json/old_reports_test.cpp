// Reports that earlier versions wrote are still read, judged and merged as they were.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/exit_code.h"
#include "base/files/read_text.h"
#include "reports/files/report_file.h"
#include "reports/json/json.h"
#include "reports/merge/merge.h"
#include "reports/terminal/gate_lines.h"
#include "reports/verdict/contradiction.h"

namespace capgate::reports {
namespace {

std::string path(const std::string& name) {
  return std::string(CAPGATE_GOLDEN_DIR) + "/old/" + name;
}

Report old(const std::string& name) {
  auto read = read_report(path(name));
  EXPECT_TRUE(read.ok()) << (read ? "" : read.error());
  return read ? std::move(read->report) : Report{};
}

struct Known {
  const char* name;
  Verdict verdict;
  int gate;
};

TEST(OldReports, AreReadAndSayWhatTheySaid) {
  for (const Known& known : {Known{"eager_region.healthy.json", Verdict::pass, kExitInconclusive},
                             Known{"pinned_ring_decode.healthy.json", Verdict::pass, kExitPass},
                             Known{"item_in_helper.faulty.json", Verdict::fail, kExitFail},
                             Known{"memset_runs_once.faulty.json", Verdict::fail, kExitFail},
                             Known{"lint.json", Verdict::pass, kExitInconclusive},
                             Known{"merged.json", Verdict::pass, kExitPass}}) {
    const Report report = old(known.name);
    EXPECT_EQ(report.verdict, known.verdict) << known.name;
    EXPECT_FALSE(contradiction(report)) << known.name;
    EXPECT_EQ(decide(report, {}, {}, {}).exit_code, known.gate) << known.name;
    const auto text = read_text(path(known.name));
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(to_json(report), *text) << known.name << ": nothing is lost and nothing added";
  }
}

TEST(OldReports, AreMergedAlthoughTheyDoNotListTheirSources) {
  const auto merged = merge({{old("pinned_ring_decode.healthy.json"), "audit.json", std::string(64, '1')},
                             {old("lint.json"), "lint.json", std::string(64, '2')}},
                            "0.1.0");
  ASSERT_TRUE(merged.ok()) << merged.error();
  EXPECT_EQ(merged->verdict, Verdict::pass);
  const auto& gaps = merged->coverage.not_checked;
  EXPECT_TRUE(std::any_of(gaps.begin(), gaps.end(), [](const std::string& gap) {
    return gap.starts_with("whether capgate lint read the audited program's sources");
  }));
}

}  // namespace
}  // namespace capgate::reports
