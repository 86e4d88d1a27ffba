#include "reports/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/catalogue/catalogue_json.h"
#include "reports/terminal/terminal.h"

namespace capgate::reports {
namespace {

TEST(Catalogue, HasEveryRuleOnce) {
  const std::set<std::string_view> contract{
      "host-sync",          "host-poll",      "sync-copy",         "pageable-copy", "device-alloc",
      "host-alloc",         "lazy-load",      "default-stream",    "escaped-work",  "unjoined-stream",
      "foreign-event",      "capture-merge",  "cross-thread-call", "nested-launch", "capture-invalidated",
      "empty-graph",        "wrong-device",   "host-pointer",      "host-node",     "freed-memory",
      "graph-alloc-leak",   "stale-argument", "topology-change",   "missing-work",  "recapture",
      "replay-mismatch",    "host-branch",    "device-sized",      "one-time-init", "local-scratch",
      "unused-suppression", "refused-call",   "capture-skipped",   "graph-refused", "unordered-access"};
  std::set<std::string_view> ids;
  for (const Rule& rule : rules()) EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
  EXPECT_EQ(ids, contract);
}

TEST(Catalogue, SaysSomethingInEveryField) {
  for (const Rule& rule : rules()) {
    for (const auto text : {rule.title, rule.fault, rule.why, rule.in_region, rule.a_step, rule.hint,
                            rule.fix, rule.bad, rule.good})
      EXPECT_GT(text.size(), 3u) << rule.id;
    EXPECT_NE(rule.bad, rule.good) << rule.id;
    EXPECT_FALSE(rule.seen_by.empty()) << rule.id;
    EXPECT_EQ(find_rule(rule.id), &rule);
  }
}

TEST(Catalogue, NamesWhatSomebodyMeant) {
  EXPECT_EQ(unknown_rule("host-snyc"), "unknown rule \"host-snyc\"; did you mean host-sync?");
  EXPECT_EQ(unknown_rule("alloc"),
            "unknown rule \"alloc\"; did you mean device-alloc, host-alloc or graph-alloc-leak?");
  EXPECT_EQ(unknown_rule("xyzzy"), "unknown rule \"xyzzy\"; `capgate rules` lists them all");
  EXPECT_EQ(unknown_rule(""), "unknown rule \"\"; `capgate rules` lists them all");
  EXPECT_LT(unknown_rule(std::string(100000, 'x')).size(), 200u);
}

TEST(Catalogue, IsJsonForOtherPrograms) {
  const auto json = nlohmann::json::parse(catalogue_json());
  ASSERT_EQ(json["rules"].size(), rules().size());
  EXPECT_EQ(json["rules"][0]["id"], "host-sync");
  EXPECT_EQ(json["rules"][0]["seen_by"], (std::vector<std::string>{"runtime", "static"}));
}

TEST(RulePage, HoldsTheFixAndFitsTheWidth) {
  for (const Rule& rule : rules()) {
    TerminalOptions options;
    options.width = 72;
    const std::string page = render_rule(rule, options);
    EXPECT_NE(page.find("How to fix it"), std::string::npos);
    EXPECT_EQ(page.find('\x1b'), std::string::npos);
    options.color = true;
    EXPECT_NE(render_rule(rule, options).find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace capgate::reports
