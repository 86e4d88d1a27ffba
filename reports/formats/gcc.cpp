#include <fmt/format.h>

#include "base/printable.h"
#include "reports/formats/formats.h"
#include "reports/formats/parts.h"
#include "reports/model/names.h"

namespace capgate::reports {
namespace {

// A compiler's message needs a file; a program without one stands in for it.
std::string where(const Location& location) {
  if (location.file.empty()) return printable(location.function.empty() ? "capgate" : location.function);
  std::string out = printable(formats::path_of(location.file));
  if (location.line > 0) out += fmt::format(":{}", location.line);
  if (location.line > 0 && location.column) out += fmt::format(":{}", *location.column);
  return out;
}

}  // namespace

std::string to_gcc(const Report& report) {
  std::string out;
  for (const auto* fault : formats::open_faults(report)) {
    const std::string at = where(fault->location);
    out += fmt::format("{}: {}: {} [{}]\n", at, name(fault->severity), printable(fault->message),
                       printable(fault->rule));
    for (const auto& step : fault->flow)
      out += fmt::format("{}:{}: note: {}\n", printable(formats::path_of(step.file)), step.line,
                         printable(step.message));
    if (!fault->hint.empty()) out += fmt::format("{}: note: fix: {}\n", at, printable(fault->hint));
  }
  return out;
}

}  // namespace capgate::reports
