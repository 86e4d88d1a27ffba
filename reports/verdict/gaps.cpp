#include "reports/verdict/gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "reports/identity/source_path.h"
#include "reports/verdict/compared.h"
#include "reports/verdict/evidence.h"
#include "reports/verdict/verified.h"
#include "reports/verdict/watched.h"

namespace capgate::reports {
namespace {

bool watched_no_memory(const Report& report) {
  return report.coverage.replay && report.coverage.replay->memory_watched == MemoryWatched::no;
}

struct Gap {
  std::string_view text;
  bool (*holds)(const Report& report);
};

// In the order in which they matter to somebody who is about to rely on a pass.
constexpr std::array<Gap, 16> kGaps{{
    {"a run: nothing was captured, launched or measured", [](const Report& r) { return !ran(r); }},
    {"a graph: none was captured, launched or compared",
     [](const Report& r) { return ran(r) && !has_graph(r) && r.coverage.replays == 0; }},
    {"a graph with work in it: none was captured or compared",
     [](const Report& r) { return !has_graph(r) && r.coverage.replays > 0 && !launched_unseen_graphs(r); }},
    {"the graphs that were launched: no work was seen in them", launched_unseen_graphs},
    {"the graph of a step whose capture failed",
     [](const Report& r) { return r.coverage.captures_failed > 0; }},
    {"replays: their results were compared with no eager step",
     [](const Report& r) { return has_graph(r) && !all_is_verified(r); }},
    {"arguments, launch sizes and branches that should change from replay to replay", lacks_comparison},
    {"work that the eager step does and the captured step does not", lacks_comparison},
    {"order: whether each launch comes after the writes of its inputs on other streams", has_graph},
    {"memory: whether what a graph refers to lives as long as the graph",
     [](const Report& r) { return ran(r) && (!has_graph(r) || watched_no_memory(r)); }},
    {"memory: whether an address inside a kernel's structure, whose block went, is a pointer that the kernel "
     "follows",
     [](const Report& r) {
       return std::any_of(r.violations.begin(), r.violations.end(), is_uncertain_word);
     }},
    {"memory: blocks that a pool of the program's own takes back and keeps (what CUDA frees is followed)",
     has_graph},
    {"batch sizes, shapes and branches that the run did not take", ran},
    {"streams: whether the eager step's work is all on the stream that is to be captured",
     [](const Report& r) { return !has_graph(r) && r.coverage.kind == CoverageKind::eager; }},
    {"sources: capgate lint read none", [](const Report& r) { return !linted(r); }},
    {"device code, and what only the run decides: library calls, function pointers, sizes",
     [](const Report& r) { return linted(r) && !ran(r); }},
}};

// Gaps that an older capgate listed.
constexpr std::array<std::string_view, 4> kFormerGaps{
    "the graphs that were launched: what they hold was not seen",
    "the rest of a step, after the call that killed its capture",
    "memory: blocks that a pool of the program, CuPy or RMM takes back and keeps (what CUDA frees is "
    "followed)",
    "captures that go on between replays, and memory that graphs do not give back"};

constexpr std::string_view kUnchanged = "faults on lines that are as in ";
constexpr std::string_view kNotRead = "sources of the audited program that capgate lint did not read: ";
constexpr std::string_view kUnlisted =
    "whether capgate lint read the audited program's sources: its report does not list what it read";
constexpr std::string_view kNoSource =
    "whether what capgate lint read is the audited program: the run's frames name no C or C++ source";
constexpr std::string_view kPython = "the audited program's Python, which capgate lint does not read";

// What a lint says about a run that it is merged with.
void add_gaps_between(const Coverage& coverage, std::vector<std::string>& gaps) {
  if (!coverage.sources_read) gaps.emplace_back(kUnlisted);
  if (!coverage.sources_read || !coverage.sources_run) return;
  const std::vector<std::string>& run = *coverage.sources_run;
  if (std::all_of(run.begin(), run.end(), is_python_source)) gaps.emplace_back(kNoSource);
  if (std::any_of(run.begin(), run.end(), is_python_source)) gaps.emplace_back(kPython);
  constexpr size_t kNamed = 3;
  size_t missing = 0;
  std::string named;
  if (coverage.sources_not_read)
    for (const std::string& path : *coverage.sources_not_read)
      if (!is_python_source(path) && ++missing <= kNamed) named += (named.empty() ? "" : ", ") + path;
  if (missing > kNamed) named += fmt::format(" and {} more", missing - kNamed);
  if (missing > 0) gaps.push_back(std::string(kNotRead) + named);
}

bool is_general(const std::string& entry) {
  for (const std::string_view beginning : {kUnchanged, kNotRead, kUnlisted, kNoSource, kPython})
    if (entry.starts_with(beginning)) return true;
  if (std::find(kFormerGaps.begin(), kFormerGaps.end(), entry) != kFormerGaps.end()) return true;
  return std::any_of(kGaps.begin(), kGaps.end(), [&](const Gap& gap) { return gap.text == entry; });
}

}  // namespace

std::vector<std::string> never_looked_at(const Report& report) {
  std::vector<std::string> gaps;
  for (const Gap& gap : kGaps)
    if (gap.holds(report)) gaps.emplace_back(gap.text);
  if (linted(report) && ran(report)) add_gaps_between(report.coverage, gaps);
  if (report.coverage.changed) gaps.push_back(std::string(kUnchanged) + report.coverage.changed->revision);
  return gaps;
}

std::vector<std::string> particular_gaps(const Report& report) {
  std::vector<std::string> gaps;
  std::copy_if(report.coverage.not_checked.begin(), report.coverage.not_checked.end(),
               std::back_inserter(gaps), [](const std::string& entry) { return !is_general(entry); });
  return gaps;
}

}  // namespace capgate::reports
