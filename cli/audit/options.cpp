#include "cli/audit/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "base/files/read_text.h"
#include "reports/suppressions/suppressions.h"

namespace capgate::cli {
namespace fs = std::filesystem;

namespace {

bool is_count(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; }) &&
         text.find_first_not_of('0') != std::string_view::npos;
}

bool is_seconds(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return is_count(text);
  const std::string digits = std::string(text.substr(0, dot)) + std::string(text.substr(dot + 1));
  return dot > 0 && dot + 1 < text.size() && is_count(digits);
}

}  // namespace

Result<reports::Settings> settings_in_force(const AuditOptions& options) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return Error{fmt::format("cannot determine the current folder: {}", error.message())};
  auto settings = reports::find_settings(here.string());
  if (!settings) return settings;
  auto& regions = settings->regions;
  for (const std::string& glob : options.regions)
    if (std::find(regions.begin(), regions.end(), glob) == regions.end()) regions.push_back(glob);
  if (!options.suppressions.empty()) settings->suppressions = options.suppressions;
  return settings;
}

Result<AuditPlan> plan_audit(const AuditOptions& options) {
  const auto settings = settings_in_force(options);
  if (!settings) return Error{settings.error()};

  AuditPlan plan;
  plan.settings = *settings;
  seal::Expectations& expected = plan.expected;
  expected.buckets = options.buckets;
  expected.regions = settings->regions;
  if (!settings->file.empty()) {
    auto text = read_settings_text(settings->file);
    if (!text) return Error{text.error()};
    expected.settings = {settings->file, std::move(*text)};
  }
  if (const std::string& file = settings->suppressions; !file.empty()) {
    auto text = read_settings_text(file);
    if (!text) return Error{text.error()};
    const auto entries = reports::parse_suppressions(*text, file);
    if (!entries) return Error{entries.error()};
    expected.suppressions = {file, std::move(*text)};
  }
  return plan;
}

std::string check_word(const std::string& text) {
  if (text.empty()) return "is empty";
  return text.find('\n') == std::string::npos ? "" : "holds a line break";
}

std::string check_region_function(const std::string& text) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == ':';
  };
  const size_t colon = text.find(':');
  const bool good = colon != std::string::npos && colon > 0 && colon + 1 < text.size() &&
                    text.find(':', colon + 1) == std::string::npos &&
                    std::all_of(text.begin(), text.end(), allowed);
  return good ? "" : "is MODULE:NAME or MODULE:CLASS.NAME, not '" + text + "'";
}

std::string check_until(const std::string& text) {
  for (const std::string_view what : {"captures=", "replays=", "seconds="}) {
    if (!text.starts_with(what)) continue;
    const std::string_view count = std::string_view(text).substr(what.size());
    if (what == "seconds=" ? is_seconds(count) : is_count(count)) return "";
  }
  return "is captures=N, replays=N or seconds=S, not '" + text + "'";
}

}  // namespace capgate::cli
