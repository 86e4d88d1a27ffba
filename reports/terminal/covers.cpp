// What a report covers, for whoever is about to let it decide.
#include <fmt/format.h>

#include <algorithm>

#include "reports/terminal/parts.h"
#include "reports/verdict/graph_counts.h"

namespace capgate::reports::terminal {
namespace {

constexpr size_t kNamed = 4;

// "bs=1, bs=2 and 3 more"
class Names {
 public:
  explicit Names(bool all) : all_(all) {}
  void add(const std::string& name) {
    if (++count_ <= kNamed || all_) text_ += (text_.empty() ? "" : ", ") + head_of(clean(name));
  }
  std::string text() const {
    return all_ || count_ <= kNamed ? text_ : text_ + fmt::format(" and {} more", count_ - kNamed);
  }
  size_t count() const { return count_; }

 private:
  bool all_;
  size_t count_ = 0;
  std::string text_;
};

std::string of_captures(const Report& report, bool all) {
  const Coverage& coverage = report.coverage;
  const std::string launches = counted(coverage.replays, "launch", "launches");
  if (coverage.captures_completed == 0)
    return coverage.kind == CoverageKind::capture && coverage.replays > 0
               ? graphs_of(report) + ", " + launches
               : "";
  std::string out =
      graphs_of(report) + ", " + launches +
      (each_capture_is_a_graph(report) || coverage.replays == 0 ? "" : " of " + executables_of(report));
  if (coverage.captures_failed) out += ", " + counted(coverage.captures_failed, "capture") + " failed";
  if (coverage.captures_empty) out += ", " + counted(coverage.captures_empty, "capture") + " ended empty";
  Names buckets(all);
  for (const std::string& bucket : report.subject.buckets) buckets.add(bucket);
  return out + (buckets.count() ? "; buckets " + buckets.text() : "; no bucket is named");
}

std::string of_marked_steps(const Coverage& coverage, bool all) {
  Names steps(all);
  for (const RegionCoverage& region : coverage.regions)
    if (region.source != RegionSource::lint)
      steps.add(fmt::format("\"{}\" {}", region.name, counted(region.occurrences, "time")));
  return steps.count() ? "marked steps: " + steps.text() : "";
}

std::string of_sources(const Coverage& coverage, bool all) {
  if (!coverage.files_parsed) return "";
  Names regions(all);
  for (const RegionCoverage& region : coverage.regions)
    if (region.source == RegionSource::lint) regions.add(region.name);
  std::string out = counted(*coverage.files_parsed, "file") + " parsed";
  if (coverage.files_failed.value_or(0)) out += fmt::format(", {} not", grouped(*coverage.files_failed));
  out += ", " + counted(regions.count(), "region");
  if (regions.count()) out += ": " + regions.text();
  if (!coverage.changed) return out;
  out += "; of what differs from " + clean(coverage.changed->revision);
  return out + (coverage.changed->in_reach.empty()
                    ? ", nothing is in a region's reach"
                    : ", " + counted(coverage.changed->in_reach.size(), "file") + " in a region's reach");
}

}  // namespace

std::string covers(const Report& report, bool all) {
  const Coverage& coverage = report.coverage;
  std::string out = "  covers  " + subject(report) + "\n";
  bool something = false;
  for (const std::string& part :
       {of_captures(report, all), of_marked_steps(coverage, all), of_sources(coverage, all)})
    if (!part.empty()) {
      out += "          " + part + "\n";
      something = true;
    }
  if (something) return out;
  if (coverage.captures_failed)
    return out + "          " + counted(coverage.captures_failed, "capture") +
           " that failed, and none that completed\n";
  if (coverage.captures_empty)
    return out + "          " + counted(coverage.captures_empty, "capture") + " that ended empty, " +
           counted(coverage.replays, "launch", "launches") + "\n";
  return out + "          nothing that was captured, marked or parsed\n";
}

}  // namespace capgate::reports::terminal
