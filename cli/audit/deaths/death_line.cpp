#include "cli/audit/deaths/death_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <vector>

#include "detector/analysis/results.h"
#include "detector/seal/python_stack.h"
#include "detector/trace/death_notice.h"
#include "reports/identity/function_key.h"
#include "reports/settings/frames.h"

namespace capgate::cli {
namespace {

std::vector<std::string_view> fields_of(std::string_view notice) {
  std::vector<std::string_view> fields;
  for (;;) {
    const size_t end = notice.find(trace::kNoticeField);
    fields.push_back(notice.substr(0, end));
    if (end == std::string_view::npos) return fields;
    notice.remove_prefix(end + 1);
  }
}

template <class Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The frames of one "MODULE+0x12c4".
std::vector<reports::Frame> native_frames(std::string_view place, seal::Symboliser& symboliser) {
  const size_t plus = place.rfind("+0x");
  if (plus == std::string_view::npos) return {};
  const auto address = number<uint64_t>(place.substr(plus + 3), 16);
  if (!address) return {};
  trace::Module module;
  module.path = place.substr(0, plus);
  module.end = UINT64_MAX;
  auto frames = symboliser.frames_at({module}, *address);
  for (auto& frame : frames) frame.module = std::filesystem::path(frame.module).filename().string();
  return frames;
}

std::vector<reports::Frame> python_frames(std::string text) {
  std::replace(text.begin(), text.end(), trace::kNoticeLineEnd, '\n');
  return seal::parse_python_stack(text);
}

std::string place_text(const std::vector<reports::Frame>& frames, const reports::Settings& settings) {
  const auto picked = reports::pick_location(frames, settings.frames);
  if (!picked) return "";
  const reports::Location& at = picked->location;
  if (!at.file.empty() && at.line > 0)
    return fmt::format("{}:{} {}()", reports::report_path(at.file, settings.repository_root), at.line,
                       reports::function_key(at.function));
  // Without lines: the innermost frame that is not CUDA's.
  const reports::Frame& frame = frames[picked->index];
  if (frame.function.empty()) return frame.module;
  return frame.module.empty() ? frame.function : frame.module + "!" + frame.function;
}

}  // namespace

std::string death_line(std::string_view notice, seal::Symboliser& symboliser,
                       const reports::Settings& settings) {
  const auto fields = fields_of(notice);
  constexpr size_t kFirstFrame = 4;
  if (fields.size() < kFirstFrame) return "";
  const auto result = number<int32_t>(fields[1]);
  const auto thread = number<uint32_t>(fields[2]);
  if (fields[0].empty() || !result || !thread) return "";

  std::vector<reports::Frame> frames;
  for (size_t i = kFirstFrame; i < fields.size(); ++i)
    for (auto& frame : native_frames(fields[i], symboliser)) frames.push_back(std::move(frame));
  for (auto& frame : python_frames(std::string(fields[3]))) frames.push_back(std::move(frame));

  std::string line =
      fmt::format("capture died: {} returned {}", fields[0], analysis::result_text(*result, fields[0]));
  if (*thread != 0) line += fmt::format(" on another thread ({})", *thread);
  if (const std::string place = place_text(frames, settings); !place.empty()) line += " at " + place;
  return line;
}

}  // namespace capgate::cli
