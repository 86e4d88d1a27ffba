// The words that the JSON and the command line use for the model's enumerations.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace capgate::reports {

std::string_view name(Verdict verdict);
std::string_view name(Severity severity);
std::string_view name(Phase phase);
std::string_view name(MemoryWatched watched);

// The one name of a capture, whoever speaks of it: `capture "decode bs=8"`, or `capture 1 of s1` where the
// program gave it none.
std::string capture_name(std::string_view bucket, std::string_view number, std::string_view stream);
std::string capture_name(const Capture& capture);

std::optional<Verdict> verdict_named(std::string_view word);
std::optional<Severity> severity_named(std::string_view word);
std::optional<Phase> phase_named(std::string_view word);
std::optional<MemoryWatched> memory_watched_named(std::string_view word);

}  // namespace capgate::reports
