#include <gtest/gtest.h>

#include "reports/catalogue/situations.h"
#include "reports/identity/function_key.h"
#include "reports/verdict/evidence.h"
#include "reports/verdict/finish.h"
#include "reports/verdict/reasons.h"
#include "reports/verdict/verdict.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

using testing::clean_run;
using testing::clean_sources;
using testing::failed_run;
using testing::violation;

Report finished(std::vector<Violation> violations) {
  Report report = clean_run();
  report.violations = std::move(violations);
  finish(report);
  return report;
}

std::string id_of(const Violation& fault) {
  return finished({fault}).violations.front().id;
}

TEST(FunctionKey, IsTheSameForEveryNamerOfAFunction) {
  const std::pair<const char*, const char*> cases[] = {
      {"engine::step(int)", "engine::step"},
      {"void engine::upload<int>(std::vector<int, std::allocator<int> > const&)", "engine::upload"},
      {"std::vector<int> ns::Foo<float, (anonymous namespace)::Tag>::get<3>() const", "ns::Foo::get"},
      {"(anonymous namespace)::helper(float*)", "(anonymous namespace)::helper"},
      {"main::{lambda(int)#2}::operator()(int) const", "main::lambda"},
      {"main::{lambda()#1}::operator()() const", "main::lambda"},
      {"main::'lambda3'(int)::operator()(int) const", "main::lambda"},
      {"main::$_0::operator()() const", "main::lambda"},
      {"ns::operator<<(std::ostream&, int)", "ns::operator<<"},
      {"bool ns::operator< <int>(int, int)", "ns::operator<"},
      {"ns::Foo::operator()(int)", "ns::Foo::operator()"},
      {"ns::Foo::operator->()", "ns::Foo::operator->"},
      {"route.isra.0", "route"},
      {"route(int) [clone .cold]", "route"},
      {"name[abi:cxx11](int)", "name"},
      {"operators(int)", "operators"},
      {"my_operator(int)", "my_operator"},
      {"<module>", "<module>"},
      {"Model.run.<locals>.<lambda>", "Model.run.<locals>.<lambda>"},
      {"MoE.route", "MoE.route"},
      {"", ""},
  };
  for (const auto& [name, key] : cases) EXPECT_EQ(function_key(name), key) << name;
}

TEST(FunctionKey, TakesWhateverItIsGiven) {
  for (const char* odd :
       {"<", "(((", "operator", "{lambda", "$_", "a<b<c", ")", "'lambda", "operator ", "[", "> >"})
    (void)function_key(odd);
}

TEST(Ids, DoNotFollowLinesMachinesOrKindsOfEvidence) {
  const Violation fault =
      violation("host-sync", "model/a.cpp", 10, "ns::f<int>(int)", "cudaStreamSynchronize_ptsz");
  Violation moved = fault;
  moved.location.line = 99;
  Violation seen_statically =
      violation("host-sync", "./model/a.cpp", 10, "ns::f", "cudaStreamSynchronize", Evidence::sources);
  EXPECT_EQ(id_of(fault), id_of(moved));
  EXPECT_EQ(id_of(fault), id_of(seen_statically));
  EXPECT_EQ(id_of(violation("host-sync", "/a/lib/python3.12/site-packages/vllm/x.py", 1, "f")),
            id_of(violation("host-sync", "/b/dist-packages/vllm/x.py", 1, "f")));
}

TEST(Ids, FollowRuleFileFunctionAndCallee) {
  const Violation fault = violation("host-sync", "a.cpp", 10, "f", "cudaStreamSynchronize");
  EXPECT_NE(id_of(fault), id_of(violation("host-poll", "a.cpp", 10, "f", "cudaStreamSynchronize")));
  EXPECT_NE(id_of(fault), id_of(violation("host-sync", "b.cpp", 10, "f", "cudaStreamSynchronize")));
  EXPECT_NE(id_of(fault), id_of(violation("host-sync", "a.cpp", 10, "g", "cudaStreamSynchronize")));
  EXPECT_NE(id_of(fault), id_of(violation("host-sync", "a.cpp", 10, "f", "cudaDeviceSynchronize")));
}

TEST(Ids, CountEqualsInTheOrderOfTheFile) {
  const Violation first = violation("host-sync", "a.cpp", 10, "f", "c");
  const Violation second = violation("host-sync", "a.cpp", 20, "f", "c");
  const auto one = finished({first, second}).violations;
  const auto other = finished({second, first}).violations;
  ASSERT_EQ(one.size(), 2u);
  EXPECT_NE(one[0].id, one[1].id);
  EXPECT_EQ(one[0].id, other[0].id);
  EXPECT_EQ(one[0].location.line, 10);
  EXPECT_EQ(other[0].location.line, 10);
}

// A fault whose line, and the lines around it, the report quotes.
Violation quoted(int line, const std::string& text, const std::string& callee = "cudaMemcpy",
                 const std::string& file = "a.cpp") {
  Violation fault = violation("sync-copy", file, line, "f", callee);
  fault.source = {{line - 1, "{"}, {line, text}, {line + 1, "  n, kind));"}, {line + 2, "}"}};
  return fault;
}

TEST(Ids, ACallBetweenTwoOthersChangesNeither) {
  const Violation first = quoted(10, "CU(cudaMemcpy(a, b, n, kind));"),
                  last = quoted(30, "CU(cudaMemcpy(c, d, n, kind));"),
                  between = quoted(20, "CU(cudaMemcpy(b, c, n, kind));");
  const auto two = finished({first, last}).violations;
  const auto three = finished({first, between, last}).violations;
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[0].id, two[0].id);
  EXPECT_EQ(three[2].id, two[1].id);
  EXPECT_NE(three[1].id, two[0].id);
  EXPECT_NE(three[1].id, two[1].id);
  // Only what is written alike is counted.
  const auto alike = finished({first, quoted(20, "CU(cudaMemcpy(a, b, n, kind));"), last}).violations;
  EXPECT_EQ(alike[0].id, two[0].id);
  EXPECT_NE(alike[1].id, two[0].id);
  EXPECT_EQ(alike[2].id, two[1].id);
}

TEST(Ids, FollowTheCallAndNotHowItIsWritten) {
  const std::string id = id_of(quoted(10, "CU(cudaMemcpy(a, b + 1, n, kind));"));
  for (const char* same :
       {"  CHECK( cudaMemcpy( a,b+1,n,kind ) );", "return cudaMemcpy(a, b + 1, n, kind); // blocks",
        "/* why */ cudaMemcpy(a, /* from */ b + 1, n, kind);", "CU(cudaMemcpy<float>(a, b + 1, n, kind));",
        "if (CU(cudaMemcpy(a, b + 1,", "my_cudaMemcpy(x), cudaMemcpy(a, b + 1, n, kind);"})
    EXPECT_EQ(id_of(quoted(10, same)), id) << same;
  for (const char* other :
       {"CU(cudaMemcpy(a, b + 2, n, kind));", "CU(cudaMemcpy(a, b, n, kind));", "copy(a, b + 1);"}) {
    const std::string edited = id_of(quoted(10, other));
    EXPECT_NE(edited, id) << other;
    EXPECT_EQ(edited.substr(0, 8), id.substr(0, 8)) << other;
  }
  EXPECT_EQ(id_of(quoted(10, "x.item()  # reads it", "c", "a.py")),
            id_of(quoted(10, "    x.item()", "c", "a.py")));
  EXPECT_NE(id_of(quoted(10, "x.item() // 2", "c", "a.py")), id_of(quoted(10, "x.item()", "c", "a.py")));
  EXPECT_EQ(id_of(quoted(10, "log(\"//\", cudaMemcpy(a, b + 1, n, kind));")), id);
}

TEST(Ids, OfALaunchFollowTheKernel) {
  const auto launch = [](const char* line) { return id_of(quoted(10, line, "cudaLaunchKernel")); };
  const std::string id = launch("  ns::scale<float, 4><<<grid, block>>>(x, n);");
  EXPECT_EQ(launch("ns::scale<half><<<grid / 2, 128, 0, s>>>(y, n + 1);"), id);
  EXPECT_EQ(launch("if (n) ns::scale <<<1, 1>>>(x,"), id);
  EXPECT_NE(launch("ns::scale_all<float, 4><<<grid, block>>>(x, n);"), id);
  for (const char* odd : {"<<<", " <<<", "><<<", "<><<<", "a>><<<(", ">>><<<"})
    EXPECT_EQ(launch(odd).size(), 16u) << odd;
}

TEST(Ids, TakeWhateverALineIs) {
  for (const char* odd :
       {"", "cudaMemcpy", "cudaMemcpy(", "cudaMemcpy<", "cudaMemcpy<(", "cudaMemcpy)", "\"", "'", "\\",
        "\"\\", "/*", "*/", "//", "cudaMemcpy(((((", "cudaMemcpy >>> (", "\xff\xfe("})
    EXPECT_EQ(id_of(quoted(10, odd)).size(), 16u) << odd;
}

TEST(Finish, SortsWhatCountsFirst) {
  Violation note = violation("lazy-load", "a.cpp", 1, "f");
  note.severity = Severity::note;
  Violation warning = violation("host-node", "a.cpp", 1, "f");
  warning.severity = Severity::warning;
  Violation suppressed = violation("host-sync", "a.cpp", 1, "f");
  suppressed.suppressed = Suppressed{"known", "x:1"};
  const Violation error = violation("device-alloc", "a.cpp", 1, "f");
  Violation killer = violation("unjoined-stream", "z.cpp", 9, "f");
  killer.result = "cudaErrorStreamCaptureUnjoined";
  const Report report = finished({suppressed, note, warning, error, killer});
  std::string order;
  for (const auto& fault : report.violations) order += fault.rule + " ";
  EXPECT_EQ(order, "unjoined-stream device-alloc host-node lazy-load host-sync ");
  EXPECT_EQ(report.summary.errors, 2u);
  EXPECT_EQ(report.summary.warnings, 1u);
  EXPECT_EQ(report.summary.notes, 1u);
  EXPECT_EQ(report.summary.suppressed, 1u);
  EXPECT_EQ(report.summary.by_rule.count("host-sync"), 0u);
}

TEST(Finish, TakesTheSituationsFixOnlyWhereThereIsNone) {
  Violation own = violation("host-sync", "a.cpp", 1, "f");
  own.hint = "mine";
  const Report report = finished({own, violation("host-sync", "b.cpp", 1, "f")});
  EXPECT_EQ(report.violations[0].hint, "mine");
  EXPECT_EQ(report.violations[1].hint, find_situation(report.violations[1].situation)->fix);
}

TEST(Finish, IsIdempotent) {
  Report report = testing::failed_run();
  Report again = report;
  finish(again);
  EXPECT_EQ(again.violations.size(), report.violations.size());
  EXPECT_EQ(again.reasons.size(), report.reasons.size());
  for (size_t i = 0; i < report.violations.size(); ++i)
    EXPECT_EQ(again.violations[i].id, report.violations[i].id);
}

TEST(Verdict, AProvenErrorBeatsEveryReason) {
  Report report = clean_run();
  report.reasons = {{"events were dropped", "capgate audit --trace DIR"}};
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  report.violations = {violation("host-sync", "a.cpp", 1, "f")};
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::fail);
  report.violations[0].suppressed = Suppressed{"why", "x:1"};
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  report.reasons.clear();
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST(Verdict, WarningsAndNotesNeverChangeIt) {
  Violation warning = violation("host-node", "a.cpp", 1, "f");
  warning.severity = Severity::warning;
  Report report = finished({warning});
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(exit_code(report), kExitPass);
  EXPECT_EQ(exit_code(report, Severity::warning), kExitFail);
  report.violations[0].severity = Severity::note;
  EXPECT_EQ(exit_code(report, Severity::warning), kExitPass);
}

TEST(Verdict, SilenceIsNoPass) {
  Report nothing;
  finish(nothing);
  EXPECT_EQ(nothing.verdict, Verdict::inconclusive);
  ASSERT_EQ(nothing.reasons.size(), 1u);
  EXPECT_FALSE(nothing.reasons[0].remedy.empty());

  Report once = clean_run();
  once.coverage = {};
  once.coverage.kind = CoverageKind::eager;
  once.coverage.regions = {{"step", RegionSource::nvtx, 1}};
  finish(once);
  EXPECT_EQ(once.verdict, Verdict::inconclusive);
  once.reasons.clear();
  once.coverage.regions[0].occurrences = 2;
  finish(once);
  EXPECT_EQ(once.verdict, Verdict::pass);

  Report dropped = clean_run();
  dropped.coverage.processes[0].events_dropped = 3;
  finish(dropped);
  EXPECT_EQ(dropped.verdict, Verdict::inconclusive);
  EXPECT_EQ(dropped.reasons.front().text, "3 events of process 4711 were dropped");

  Report sources = clean_sources();
  EXPECT_EQ(sources.verdict, Verdict::pass);
  sources.coverage.files_failed = 1;
  finish(sources);
  EXPECT_EQ(sources.verdict, Verdict::inconclusive);
}

TEST(Verdict, SourcesWithoutARegionProveNothing) {
  Report report = clean_sources();
  report.coverage.regions.clear();
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_EQ(report.reasons, std::vector<Reason>{no_region()});
  // What a run marks is no region of the sources.
  report.reasons.clear();
  report.coverage.regions = {{"decode", RegionSource::nvtx, 6}};
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
}

TEST(Verdict, AnEndThatFollowsFromADeadCaptureIsNotTheProgramsOwn) {
  Report report = failed_run();
  report.reasons.clear();
  report.coverage.captures_failed = 1;
  report.run->exit_code = 1;
  finish(report);
  ASSERT_EQ(report.verdict, Verdict::fail);
  ASSERT_EQ(report.reasons.size(), 1u);
  EXPECT_EQ(report.reasons.front().text,
            "build/decode ended with exit code 1, after a capture of it had died");
  EXPECT_EQ(report.reasons.front().remedy, "repair what killed the capture, then audit the program again");
  finish(report);
  EXPECT_EQ(report.reasons.size(), 1u);

  Report allowed = report;
  for (Violation& one : allowed.violations) one.suppressed = Suppressed{"on purpose", "capgate_allow"};
  finish(allowed);
  ASSERT_EQ(allowed.reasons.size(), 1u);
  EXPECT_EQ(allowed.reasons.front().text, "build/decode ended with exit code 1");

  // An older capgate said it without the capture: once is enough.
  report.reasons = {*program_error(*report.run)};
  finish(report);
  EXPECT_EQ(report.reasons.size(), 1u);

  report.reasons.clear();
  report.run->signal = 11;
  finish(report);
  EXPECT_EQ(report.reasons.front().remedy,
            "repair the errors that the report has, then audit the program again");
}

TEST(Verdict, GraphsThatWereLaunchedAndNotSeenAreNamed) {
  Report report = clean_run();
  report.captures.clear();
  report.coverage.captures_completed = report.coverage.captures_failed = 0;
  report.coverage.replays = 20;
  report.reasons.clear();
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_EQ(report.reasons.front().text,
            "graphs were launched 20 times, and no work was seen in them: no capture of them completed, and "
            "the trace has no kernel or copy that was put into them");
  EXPECT_EQ(report.reasons.front().remedy.find("--region"), std::string::npos);

  Capture built;
  built.mode = kBuiltMode;
  built.result = "completed";
  built.replays = 20;
  report.captures = {built};
  report.reasons.clear();
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::pass);
}

TEST(Verdict, AProgramThatEndedBadlyIsNoPass) {
  Report report = clean_run();
  report.run->exit_code = 7;
  finish(report);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_EQ(report.reasons.front().text, "build/decode ended with exit code 7");
  EXPECT_EQ(exit_code(report, Severity::error, true), kExitProgramError);
  EXPECT_EQ(exit_code(report), kExitInconclusive);
  report.reasons.push_back({"and more", ""});
  EXPECT_EQ(exit_code(report, Severity::error, true), kExitInconclusive);

  Report killed = clean_run();
  killed.run->exit_code.reset();
  killed.run->signal = 11;
  finish(killed);
  EXPECT_EQ(killed.reasons.front().text, "build/decode died of signal 11 (Segmentation fault)");
  Report stopped = clean_run();
  stopped.run->signal = 2;
  stopped.run->stopped_by_user = true;
  finish(stopped);
  EXPECT_EQ(stopped.verdict, Verdict::pass);
}

}  // namespace
}  // namespace capgate::reports
