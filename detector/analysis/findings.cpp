// Entries become violations, when all rules have been.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "detector/analysis/findings.h"
#include "detector/analysis/mismatch_explanations.h"

namespace capgate::analysis {

std::string killed_text(const std::string& captures) {
  return "killed " + captures;
}

std::string size_text(uint64_t least, uint64_t largest) {
  if (least == largest) return std::to_string(least) + (least == 1 ? " byte" : " bytes");
  return std::to_string(least) + " to " + std::to_string(largest) + " bytes";
}

namespace {

void fill_in(std::string& text, std::string_view mark, const std::string& words) {
  if (const size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), words);
}

void name_all(std::optional<std::string>& named, const std::set<std::string>& all) {
  if (named && all.size() > 1) *named += " and " + std::to_string(all.size() - 1) + " more";
}

// What a view reads of the violation's capture, stream, thread and device is then true of all occurrences.
void name_all(const Findings::Entry& entry, reports::Violation& violation) {
  name_all(violation.stream, entry.streams);
  name_all(violation.thread, entry.threads);
  if (entry.devices.size() > 1) violation.device.reset();
  if (!violation.capture) return;
  auto& details = violation.details;
  if (entry.in_captures != violation.count) details["times captured"] = std::to_string(entry.in_captures);
  if (entry.captures.size() < 2) return;
  uint64_t launches = 0;
  for (const auto& [capture, of_it] : entry.captures) launches += of_it;
  details["captures"] = std::to_string(entry.captures.size());
  details["launches"] = std::to_string(launches);
  if (!entry.killed_name.empty() && entry.killed.size() > 1)
    details["consequence"] =
        killed_text(std::to_string(entry.killed.size()) + " captures, such as " + entry.killed_name);
}

// As many as somebody looks at: a fault of each layer is one of a thousand nodes.
std::vector<reports::NodesAtFault> named_nodes(const Findings::Entry& entry) {
  constexpr size_t kMostGraphs = 16, kMostNodes = 200;
  std::vector<reports::NodesAtFault> out;
  for (const auto& [capture, ids] : entry.nodes) {
    if (out.size() == kMostGraphs) break;
    auto& named = out.emplace_back();
    named.capture = capture;
    for (const uint64_t id : ids) {
      if (named.ids.size() == kMostNodes) break;
      named.ids.push_back(id);
    }
  }
  return out;
}

}  // namespace

Findings::Entry& Findings::at(const std::string& rule, const std::string& site) {
  const auto [at, fresh] = entries_.try_emplace({rule, site});
  if (fresh) {
    at->second.violation.rule = rule;
    at->second.violation.count = 0;
    order_.push_back(&at->second);
  }
  return at->second;
}

std::vector<reports::Violation> Findings::take() {
  std::vector<reports::Violation> out;
  std::map<const Entry*, std::string> names;
  for (const Entry* entry : order_) names[entry] = "#" + std::to_string(names.size());
  explain_mismatches(order_, names);
  for (Entry* entry : order_) {
    auto& violation = entry->violation;
    violation.id = names[entry];
    // A symptom is one each time, and of one cause.
    if (entry->causes.size() == 1 && entry->causes.begin()->second == violation.count)
      violation.symptom_of = names[entry->causes.begin()->first];
    // A fault that only the first pass shows, while later passes do without, is what a warm-up is for.
    if (entry->later == 0) violation.severity = reports::Severity::note;
    StepShare share = entry->in_regions;
    if (share.calls == 0)
      for (const auto& [process, in_replays] : entry->in_replays) share += in_replays;
    violation.per_step = share.per_step();
    StepShare of_replays;
    for (const auto& [process, of_it] : entry->in_replays) of_replays += of_it;
    fill_in(violation.message, kBudgetMark, of_replays.waits.text());
    // Sums of microseconds keep no more digits than the clock has.
    if (violation.blocked_us) violation.blocked_us = std::round(*violation.blocked_us * 1000) / 1000;
    name_all(*entry, violation);
    violation.nodes = named_nodes(*entry);
    violation.processes.assign(entry->processes.begin(), entry->processes.end());
    if (entry->sizes) {
      const std::string size = size_text(entry->sizes->first, entry->sizes->second);
      fill_in(violation.message, kSizeMark, size);
      for (auto& [key, value] : violation.details) fill_in(value, kSizeMark, size);
    }
    if (entry->unallowed == 0 && violation.count > 0)
      violation.suppressed = reports::Suppressed{entry->allow_reason, "capgate_allow"};
    out.push_back(std::move(violation));
  }
  entries_.clear();
  order_.clear();
  return out;
}

}  // namespace capgate::analysis
