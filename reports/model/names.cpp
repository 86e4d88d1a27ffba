#include "reports/model/names.h"

#include <array>

namespace capgate::reports {
namespace {

constexpr std::array<std::string_view, 3> kVerdicts{"pass", "fail", "inconclusive"};
constexpr std::array<std::string_view, 3> kSeverities{"error", "warning", "note"};
constexpr std::array<std::string_view, 5> kPhases{"warmup", "capture", "replay", "step", "source"};
constexpr std::array<std::string_view, 3> kMemoryWatched{"no", "segments", "blocks"};

template <class Enum, size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& words, std::string_view word) {
  for (size_t i = 0; i < N; ++i)
    if (words[i] == word) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(Verdict verdict) {
  return kVerdicts.at(static_cast<size_t>(verdict));
}
std::string_view name(Severity severity) {
  return kSeverities.at(static_cast<size_t>(severity));
}
std::string_view name(Phase phase) {
  return kPhases.at(static_cast<size_t>(phase));
}
std::string_view name(MemoryWatched watched) {
  return kMemoryWatched.at(static_cast<size_t>(watched));
}

std::string capture_name(std::string_view bucket, std::string_view number, std::string_view stream) {
  std::string name = "capture ";
  if (!bucket.empty()) return name.append("\"").append(bucket).append("\"");
  return name.append(number).append(" of ").append(stream.empty() ? "a stream" : stream);
}

std::string capture_name(const Capture& capture) {
  // Ids are "process:number", after a merge with more in front.
  const std::string_view id = capture.id;
  return capture_name(capture.bucket.value_or(""), id.substr(id.rfind(':') + 1), capture.stream);
}

std::optional<Verdict> verdict_named(std::string_view word) {
  return find<Verdict>(kVerdicts, word);
}
std::optional<Severity> severity_named(std::string_view word) {
  return find<Severity>(kSeverities, word);
}
std::optional<Phase> phase_named(std::string_view word) {
  return find<Phase>(kPhases, word);
}
std::optional<MemoryWatched> memory_watched_named(std::string_view word) {
  return find<MemoryWatched>(kMemoryWatched, word);
}

}  // namespace capgate::reports
