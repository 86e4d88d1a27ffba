#include "static_checks/driver/read_backs.h"

#include <map>
#include <optional>
#include <string>

namespace capgate::lint {
namespace {

// What was found about the value that one call brings to the host. Indices of findings.
struct ReadBack {
  std::optional<size_t> waits_itself;  // the call, where it makes the host wait
  std::optional<size_t> wait;          // the call that waits for it, else
  std::optional<size_t> copy;          // the call, where its memory is pageable
  std::vector<size_t> uses;            // of the value

  // The first use stands for a call that is no fault by itself.
  std::optional<size_t> cause() const {
    if (waits_itself) return waits_itself;
    if (wait) return wait;
    if (copy) return copy;
    return uses.empty() ? std::nullopt : std::optional(uses.front());
  }
};

}  // namespace

void link_read_backs(const std::vector<const Finding*>& findings,
                     std::vector<reports::Violation>& violations) {
  std::map<Place, ReadBack> read_backs;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = *findings[i];
    violations[i].id = "#" + std::to_string(i);
    if (finding.origin.line > 0)
      read_backs[finding.origin].uses.push_back(i);
    else if (finding.rule == "sync-copy" || finding.rule == "host-sync")
      read_backs[finding.place].waits_itself = i;
    else if (finding.rule == "pageable-copy")
      read_backs[finding.place].copy = i;
    for (const Place& copy : finding.waits_for)
      if (!read_backs[copy].wait) read_backs[copy].wait = i;
  }
  for (const auto& [place, read_back] : read_backs) {
    const auto cause = read_back.cause();
    if (!cause) continue;
    const auto follows = [&](size_t i) {
      if (i != *cause) violations[i].symptom_of = violations[*cause].id;
    };
    if (read_back.copy) follows(*read_back.copy);
    for (const size_t use : read_back.uses) follows(use);
  }
}

}  // namespace capgate::lint
