// What a process of the trace is called, and numbers among what it wrote about itself.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "detector/trace/process_trace.h"

namespace capgate::analysis {

inline std::string process_name(const trace::ProcessTrace& process) {
  const std::string_view argv0 = process.fact("argv0");
  return "process " + std::to_string(process.pid) + (argv0.empty() ? "" : " (" + std::string(argv0) + ")");
}

inline std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace capgate::analysis
