#include "reports/catalogue/situations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "reports/catalogue/catalogue.h"
#include "reports/files/report_file.h"
#include "reports/json/json.h"
#include "reports/merge/merge.h"
#include "reports/model/cuda_answer.h"
#include "reports/terminal/terminal.h"
#include "reports/verdict/finish.h"
#include "tests/unit/reports/sample.h"

namespace capgate::reports {
namespace {

// Advice for PyTorch helps nobody whose process does not load it.
TEST(Situations, AProgramWithoutTorchIsGivenNoAdviceForIt) {
  Violation wait;
  wait.rule = "host-sync";
  wait.evidence = {Evidence::runtime};
  wait.severity = Severity::warning;
  wait.phase = Phase::step;
  wait.location = {"tinygrad/runtime/ops_cuda.py", 100, std::nullopt, "synchronize"};
  wait.details = {{"torch", "not loaded"}};
  const Situation& situation = situation_of(wait);
  ASSERT_EQ(situation.id, "host-sync.over-budget");
  EXPECT_EQ(example_of(situation, wait), situation.cpp);
  wait.details.clear();
  EXPECT_EQ(example_of(situation, wait), situation.python);
}

using testing::clean_run;
using testing::violation;

// A text that the glob matches.
std::string text_of(std::string_view glob) {
  std::string text(glob);
  std::replace(text.begin(), text.end(), '?', 'x');
  std::erase(text, '*');
  return text;
}

Frame inner_frame(std::string function, std::string file, std::string module) {
  return {FrameLanguage::native, std::move(file), 0, std::move(function), std::move(module), false};
}

// What a condition wants is put where a report has it.
void fulfil(const Condition& condition, Violation& v) {
  const std::string text = text_of(condition.globs.front());
  auto& frames = v.stacks.front().frames;
  if (condition.field == "api") {
    v.api = text;
  } else if (condition.field == "where") {
    v.phase = text == "capture"      ? Phase::capture
              : text == "source"     ? Phase::source
              : text == "first pass" ? Phase::warmup
                                     : Phase::step;
    v.capture = text == "capture" ? std::optional<std::string>("1:1") : std::nullopt;
    if (text == "region") v.details["region"] = "decode";
    if (text == "source") v.evidence = {Evidence::sources};
  } else if (condition.field == "direction") {
    v.details["direction"] = text;
  } else if (condition.field == "refused") {
    v.result = text == "yes" ? "cudaErrorStreamCaptureUnsupported (900)" : "cudaSuccess";
  } else if (condition.field == "result") {
    v.result = "error (" + text + ")";
  } else if (condition.field == "severity") {
    v.severity = text == "error" ? Severity::error : text == "note" ? Severity::note : Severity::warning;
  } else if (condition.field == "break") {
    v.details["eager_break"] = "true";
  } else if (condition.field == "language") {
    v.location.file = v.stacks.front().frames.back().file = text == "python" ? "step.py" : "step.cpp";
  } else if (condition.field == "replacement") {
    v.api = "cudaMalloc";
  } else if (condition.field == "caller") {
    frames.insert(frames.begin(), inner_frame("+0x1", "", text));
  } else if (condition.field == "frame") {
    frames.insert(frames.begin(), inner_frame(text, "", "lib.so"));
  } else if (condition.field == "library") {
    const bool file = text.find('/') != std::string::npos;
    frames.insert(frames.begin(), inner_frame("f", file ? text : "", file ? "" : text));
  } else if (condition.field == "called_from") {
    frames.push_back(inner_frame("f", text, ""));
  } else {
    ASSERT_TRUE(condition.field.starts_with("details.")) << condition.field;
    v.details[std::string(condition.field.substr(8))] = text.empty() ? "x" : text;
  }
}

// What every violation has, and an entry need not ask for.
const std::vector<std::vector<Condition>>& surroundings() {
  static constexpr std::array<std::string_view, 9> kWords{"capture", "region", "replays", "source", "yes",
                                                          "no",      "error",  "warning", "note"};
  static const auto made = [] {
    const std::span<const std::string_view> words = kWords;
    std::vector<std::vector<Condition>> all;
    for (size_t where = 0; where < 4; ++where)
      for (size_t refused = 4; refused < 6; ++refused)
        for (size_t severity = 6; severity < 9; ++severity)
          all.push_back({{"where", words.subspan(where, 1)},
                         {"refused", words.subspan(refused, 1)},
                         {"severity", words.subspan(severity, 1)}});
    return all;
  }();
  return made;
}

// As its conditions want it, the rest by the surroundings.
Violation example_violation(const Situation& situation, std::span<const Condition> around = {}) {
  Violation v = violation(std::string(situation.rule), "step.cpp", 7, "step", "somethingElse");
  v.stacks = {{StackRole::call, {{FrameLanguage::native, "step.cpp", 7, "step", "program", false}}}};
  v.phase = Phase::step;
  for (const Condition& condition : around) fulfil(condition, v);
  if (std::any_of(situation.when.begin(), situation.when.end(),
                  [](const Condition& condition) { return condition.field == "where"; })) {
    v.details.erase("region");
    v.evidence = {Evidence::runtime};
  }
  for (const Condition& condition : situation.when) fulfil(condition, v);
  return v;
}

TEST(Situations, EachIsMetByWhatItsConditionsDescribe) {
  for (const Situation& situation : situations()) {
    std::set<std::string> instead;
    bool met = false;
    for (const auto& around : surroundings()) {
      const std::string_view found = situation_of(example_violation(situation, around)).id;
      met = met || found == situation.id;
      instead.emplace(found);
    }
    std::string text;
    for (const std::string& id : instead) text += " " + id;
    EXPECT_TRUE(met) << situation.id << ": its violations are taken by" << text;
  }
}

TEST(Situations, EveryRuleThatIsRaisedEndsWithAGenericOne) {
  for (const Rule& rule : rules()) {
    const auto found = situations_of_rule(rule.id);
    ASSERT_EQ(found.empty(), rule.status == "planned") << rule.id;
    if (found.empty()) continue;
    EXPECT_EQ(found.back().id, std::string(rule.id) + ".other");
    for (const Situation& situation : found) EXPECT_EQ(situation.when.empty(), &situation == &found.back());
  }
}

TEST(Situations, HaveOneIdAndSaySomething) {
  std::set<std::string_view> ids;
  for (const Situation& situation : situations()) {
    EXPECT_TRUE(ids.insert(situation.id).second) << situation.id;
    EXPECT_EQ(find_situation(situation.id), &situation);
    EXPECT_GT(situation.title.size(), 5u) << situation.id;
    EXPECT_GT(situation.why.size(), 20u) << situation.id;
    EXPECT_EQ(situation.cpp.empty(), !situation.no_cpp.empty()) << situation.id;
    EXPECT_EQ(situation.python.empty(), !situation.no_python.empty()) << situation.id;
    EXPECT_FALSE(fix_of(situation, example_violation(situation)).empty()) << situation.id;
  }
}

Violation read_of_the_count(const char* rule, const char* api, Phase phase) {
  Violation v = violation(rule, "moe.cu", 25, "select", api);
  v.api = api;
  v.phase = phase;
  v.details["direction"] = "device to host";
  if (phase == Phase::step) v.details["region"] = "decode";
  return v;
}

TEST(Situations, AReadThatTheNextLineBranchesOnIsNotMadeAsynchronous) {
  for (const Phase phase : {Phase::capture, Phase::step}) {
    const Violation v = read_of_the_count("sync-copy", "cudaMemcpy", phase);
    const std::string fix(fix_of(situation_of(v), v));
    EXPECT_EQ(fix.find("Async"), std::string::npos) << fix;
    EXPECT_NE(fix.find("kernel reads it"), std::string::npos) << fix;
  }
}

TEST(Situations, AWaitBetweenReplaysIsNotExplainedByARefusal) {
  Violation v = violation("host-sync", "decode.cpp", 43, "main", "cudaStreamSynchronize");
  v.phase = Phase::step;
  for (const Severity severity : {Severity::note, Severity::warning}) {
    v.severity = severity;
    EXPECT_EQ(situation_of(v).why.find("900"), std::string_view::npos) << situation_of(v).id;
  }
}

TEST(Situations, TheFirstRefusedCallIsToldWhatToCallInstead) {
  Violation v = violation("capture-invalidated", "send.cu", 14, "send", "cudaMemcpyPeerAsync");
  v.result = "cudaErrorStreamCaptureUnsupported (900)";
  v.api = "cudaMemcpyPeerAsync";
  EXPECT_EQ(situation_of(v).id, "capture-invalidated.peer-copy");
  v.api = "cudaProfilerStop";
  v.details["callee"] = "cudaProfilerStop";
  EXPECT_EQ(situation_of(v).id, "capture-invalidated.known-call");
  EXPECT_EQ(fix_of(situation_of(v), v), replacement("cudaProfilerStart")->instead);
}

TEST(Situations, PythonIsAnsweredInItsOwnWords) {
  Violation v = violation("host-sync", "step.py", 17, "timed", "cudaDeviceSynchronize");
  v.details["region"] = "decode";
  v.phase = Phase::step;
  v.api = "cudaDeviceSynchronize";
  EXPECT_EQ(situation_of(v).id, "host-sync.device-wide");
  EXPECT_NE(fix_of(situation_of(v), v).find("torch.cuda.synchronize()"), std::string_view::npos);
  EXPECT_NE(example_of(situation_of(v), v).find("elapsed_time"), std::string_view::npos);
  v.location.file = "step.cpp";
  EXPECT_EQ(fix_of(situation_of(v), v).find("torch"), std::string_view::npos);
  EXPECT_NE(example_of(situation_of(v), v).find("cudaEventElapsedTime"), std::string_view::npos);
}

TEST(Situations, OnlyWhatTheUsersLineCallsTellsItsLibrary) {
  Violation v = violation("pageable-copy", "ext.cpp", 9, "upload", "cudaMemcpyAsync");
  v.phase = Phase::step;
  v.details = {{"direction", "host to device"}, {"host memory", "heap memory"}, {"region", "decode"}};
  v.stacks = {{StackRole::call,
               {{FrameLanguage::native, "", 0, "cudaMemcpyAsync", "libcudart.so.13", false},
                {FrameLanguage::native, "ext.cpp", 9, "upload", "ext.so", false},
                {FrameLanguage::native, "", 0, "THPFunction_apply", "libtorch_python.so", false}}}};
  EXPECT_EQ(situation_of(v).id, "pageable-copy.upload-in-step");
  v.stacks[0].frames[0].module = "libtorch_cuda.so";
  EXPECT_EQ(situation_of(v).id, "pageable-copy.torch-upload");
}

TEST(Situations, ANameOfAVariantFindsTheCallsRow) {
  ASSERT_NE(replacement("cuMemAlloc_v2"), nullptr);
  EXPECT_EQ(replacement("cuMemAlloc_v2"), replacement("cudaMalloc"));
  EXPECT_EQ(replacement("cudaStreamSynchronize_ptsz"), replacement("cudaStreamSynchronize"));
  EXPECT_EQ(replacement("cudaEventCreate"), nullptr);
}

Report finished(Violation v) {
  Report report = clean_run();
  report.violations = {std::move(v)};
  finish(report);
  return report;
}

TEST(Finish, NamesTheSituationAndTakesItsFix) {
  const Report report = finished(read_of_the_count("sync-copy", "cudaMemcpy", Phase::capture));
  const Violation& v = report.violations.front();
  EXPECT_EQ(v.situation, "sync-copy.read-back-in-capture");
  EXPECT_EQ(v.hint, find_situation(v.situation)->fix);
  const auto again = from_json(to_json(report), "r.json");
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again->violations.front().situation, v.situation);
  EXPECT_EQ(to_json(*again), to_json(report));
}

TEST(Finish, GivesAnOlderReportTheSituationAndItsFix) {
  Violation old = read_of_the_count("sync-copy", "cudaMemcpy", Phase::capture);
  old.hint = "use the Async form on the captured stream, with pinned host memory";
  EXPECT_EQ(situation_named(old).id, "sync-copy.read-back-in-capture");
  EXPECT_EQ(fix_given(situation_named(old), old), situation_named(old).fix);
  const Report report = finished(old);
  EXPECT_EQ(report.violations.front().hint, situation_named(old).fix);
}

TEST(Finish, FollowsAViolationIntoAnotherSituation) {
  Report report = finished(read_of_the_count("sync-copy", "cudaMemcpy", Phase::capture));
  report.violations.front().details["direction"] = "host to device";
  finish(report);
  EXPECT_EQ(report.violations.front().situation, "sync-copy.upload");
  EXPECT_EQ(report.violations.front().hint, find_situation("sync-copy.upload")->fix);
}

TEST(Finish, LeavesAProducersOwnFixAlone) {
  Violation own = read_of_the_count("sync-copy", "cudaMemcpy", Phase::capture);
  own.hint = "ask Ada";
  const Report report = finished(own);
  EXPECT_EQ(report.violations.front().hint, "ask Ada");
  EXPECT_EQ(report.violations.front().situation, "sync-copy.read-back-in-capture");
}

TEST(Finish, KnowsNoSituationOfARuleThatItDoesNotKnow) {
  const Report report = finished(violation("from-the-future", "a.cpp", 1, "f"));
  EXPECT_EQ(report.violations.front().situation, "");
  EXPECT_EQ(to_json(report).find("\"situation\""), std::string::npos);
}

TEST(Explain, PrintsASituationWithItsFixAndBothExamples) {
  TerminalOptions options;
  const std::string page = render_situation(*find_situation("host-sync.torch-item"), options);
  for (const char* part :
       {"host-sync.torch-item", "fix: leave it a tensor", "C++:", "Python:", "loss.item()"})
    EXPECT_NE(page.find(part), std::string::npos) << page;
  const std::string only_python = render_situation(*find_situation("host-sync.cupy-read"), options);
  EXPECT_NE(only_python.find("C++: CuPy is a Python library"), std::string::npos) << only_python;
}

TEST(Explain, OfACallNamesRulesThatAreRaised) {
  for (const Replacement& row : replacements()) {
    ASSERT_FALSE(row.rules.empty()) << row.apis[0];
    const std::string page = render_replacement(row, {});
    for (const auto id : row.rules) {
      const Rule* rule = find_rule(id);
      ASSERT_TRUE(rule) << row.apis[0];
      EXPECT_NE(rule->status, "planned") << id;
      EXPECT_NE(page.find(id), std::string::npos) << page;
    }
  }
}

// The table says of a call what recorded reports call it.
TEST(Explain, OfACallNamesTheRulesOfTheRecordings) {
  size_t checked = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(CAPGATE_TRACES_DIR)) {
    if (file.path().extension() != ".json") continue;
    const auto report = read_report_alone(file.path().string());
    ASSERT_TRUE(report.ok()) << report.error();
    for (const Violation& violation : report->violations) {
      const Replacement* row = violation.api ? replacement(*violation.api) : nullptr;
      if (!row || violation.severity != Severity::error || violation.rule == "cross-thread-call" ||
          !was_refused(violation))
        continue;
      ++checked;
      EXPECT_NE(std::find(row->rules.begin(), row->rules.end(), violation.rule), row->rules.end())
          << file.path() << ": " << *violation.api << " is " << violation.rule;
    }
  }
  EXPECT_GT(checked, 10u);
}

TEST(Explain, OpensAPlannedRuleWithThatAndListsTheSituationsOfOthers) {
  TerminalOptions options;
  for (const Rule& rule : rules()) {
    const std::string page = render_rule(rule, options);
    EXPECT_EQ(page.find("\n\nPlanned: nothing raises this rule yet.") != std::string::npos,
              rule.status == "planned");
    for (const Situation& situation : situations_of_rule(rule.id))
      EXPECT_NE(page.find(std::string(situation.id) + ": "), std::string::npos) << situation.id;
  }
  EXPECT_NE(render_rule_list(options).find("(planned)"), std::string::npos);
}

}  // namespace
}  // namespace capgate::reports
