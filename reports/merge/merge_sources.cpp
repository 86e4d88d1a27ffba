#include "reports/merge/merge_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <unordered_map>

#include "base/file_name.h"
#include "reports/identity/source_path.h"
#include "reports/settings/frames.h"

namespace capgate::reports {
namespace {

using Sources = std::set<std::string>;

// An older audit lists no sources: its faults' frames name some.
void add_named(const Report& report, Sources& into) {
  if (report.coverage.sources_run) {
    into.insert(report.coverage.sources_run->begin(), report.coverage.sources_run->end());
    return;
  }
  for (const Violation& violation : report.violations)
    for (const Stack& stack : violation.stacks)
      for (const Frame& frame : stack.frames)
        if (!frame.file.empty() && is_user_frame(frame)) into.insert(frame.file);
}

bool is_of_a_run(const Report& report) {
  return !report.coverage.cupti.empty() || report.coverage.sources_run;
}

bool is_of_a_lint(const Report& report) {
  return report.coverage.files_parsed.has_value();
}

// Paths by their last part, so that thousands are compared with thousands.
class ByName {
 public:
  explicit ByName(const Sources& paths) {
    for (const std::string& path : paths) paths_.emplace(file_name(path), &path);
  }
  bool has(const std::string& path) const {
    const auto [first, last] = paths_.equal_range(file_name(path));
    return std::any_of(first, last, [&](const auto& entry) { return same_source(*entry.second, path); });
  }

 private:
  std::unordered_multimap<std::string_view, const std::string*> paths_;
};

void unite(std::optional<std::vector<std::string>>& into,
           const std::optional<std::vector<std::string>>& from) {
  if (!from) return;
  Sources all(from->begin(), from->end());
  if (into) all.insert(into->begin(), into->end());
  into.emplace(all.begin(), all.end());
}

// Two programs of one house share headers; a file that is compiled by itself tells them apart.
bool is_header(const std::string& path) {
  static constexpr std::array<std::string_view, 10> kEndings{".h",   ".hh",  ".hpp", ".hxx", ".cuh",
                                                             ".inl", ".inc", ".ipp", ".tpp", ".def"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

}  // namespace

Result<void> check_sources(const std::vector<MergeInput>& inputs) {
  Sources named, read;
  const MergeInput* audit = nullptr;
  const MergeInput* lint = nullptr;
  for (const MergeInput& input : inputs) {
    if (is_of_a_run(input.report)) {
      audit = audit ? audit : &input;
      add_named(input.report, named);
    }
    if (!is_of_a_lint(input.report)) continue;
    if (!input.report.coverage.sources_read) continue;  // an older lint lists none
    lint = lint ? lint : &input;
    read.insert(input.report.coverage.sources_read->begin(), input.report.coverage.sources_read->end());
  }
  std::erase_if(named, is_python_source);
  if (!audit || !lint || audit == lint || named.empty() || read.empty()) return {};
  const ByName known(read);
  const bool only_headers = std::all_of(named.begin(), named.end(), is_header);
  std::string shared_header;
  for (const std::string& path : named) {
    if (!known.has(path)) continue;
    if (only_headers || !is_header(path)) return {};
    shared_header = path;
  }
  const auto source = std::find_if_not(named.begin(), named.end(), is_header);
  if (!shared_header.empty())
    return Error{fmt::format(
        "cannot merge {} and {}: they share headers, such as {}, and lint read none of the sources that the "
        "audit's frames name, such as {}; lint the sources of the audited program",
        audit->name, lint->name, shared_header, *source)};
  return Error{fmt::format(
      "cannot merge {} and {}: lint read {} source{}, such as {}, and none of those that the audit's frames "
      "name, "
      "such as {}; lint the sources of the audited program",
      audit->name, lint->name, read.size(), read.size() == 1 ? "" : "s", *read.begin(), *named.begin())};
}

void merge_sources(Coverage& into, const Coverage& from) {
  unite(into.sources_run, from.sources_run);
  unite(into.sources_read, from.sources_read);
  if (!into.sources_run || !into.sources_read) return;
  const Sources read(into.sources_read->begin(), into.sources_read->end());
  const ByName known(read);
  into.sources_not_read.emplace();
  for (const std::string& path : *into.sources_run)
    if (!known.has(path)) into.sources_not_read->push_back(path);
}

}  // namespace capgate::reports
