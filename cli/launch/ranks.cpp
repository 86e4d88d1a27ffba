#include "cli/launch/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace capgate::cli {

std::string ranks_of(const reports::Violation& violation, const std::vector<reports::ProcessCoverage>& all) {
  std::map<int64_t, std::optional<int>> rank_of;
  std::set<int> ranks;
  for (const auto& process : all) {
    if (!rank_of.emplace(process.pid, process.rank).second) return "";
    if (process.rank) ranks.insert(*process.rank);
  }
  if (ranks.size() < 2) return "";
  std::set<int> with_it;
  for (const int64_t pid : violation.processes) {
    const auto known = rank_of.find(pid);
    if (known == rank_of.end() || !known->second) return "";
    with_it.insert(*known->second);
  }
  if (with_it.empty()) return "";
  if (with_it.size() == ranks.size()) return fmt::format("{} of {} ranks", ranks.size(), ranks.size());
  constexpr size_t kNamed = 8;
  if (with_it.size() > kNamed) return fmt::format("{} of {} ranks", with_it.size(), ranks.size());
  std::string list;
  for (const int rank : with_it) list += (list.empty() ? "" : ", ") + std::to_string(rank);
  return fmt::format("{} {} of {}", with_it.size() == 1 ? "rank" : "ranks", list, ranks.size());
}

}  // namespace capgate::cli
