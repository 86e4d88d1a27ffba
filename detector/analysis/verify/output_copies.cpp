#include "detector/analysis/verify/output_copies.h"

#include <algorithm>
#include <map>

#include "detector/analysis/verify/step_launches.h"

namespace capgate::analysis {
namespace {

std::map<std::string, const OutputPlace*> places_at(const Verification& of, uint64_t seq) {
  std::map<std::string, const OutputPlace*> out;
  for (const auto& place : of.places)
    if (place.seq < seq) out[place.name] = &place;
  return out;
}

}  // namespace

bool kernels_ran(const std::vector<SeenStep>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const SeenStep& seen) { return seen.step->replay && seen.kernels; });
}

std::string not_copied(const Timeline& timeline, const Verification& of, const std::vector<SeenStep>& steps,
                       const Executable& exec, const std::set<int>& sets) {
  for (const auto& seen : steps) {
    if (!seen.step->replay || !sets.contains(seen.step->set) || !launches(timeline, seen, exec)) continue;
    bool on_device = false;
    for (const auto& [name, place] : places_at(of, seen.step->read_seq)) {
      if (place->on_host || place->bytes == 0) continue;
      on_device = true;
      const bool copied = std::any_of(seen.copies.begin(), seen.copies.end(), [&](const auto& read) {
        return !place->by_copy ||
               (read.from <= place->address && place->address - read.from + place->bytes <= read.bytes);
      });
      if (!copied && (place->by_copy || !seen.kernels)) return name;
    }
    if (!on_device) return "any output on the device";
  }
  return "";
}

}  // namespace capgate::analysis
