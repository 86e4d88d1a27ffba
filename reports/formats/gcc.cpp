#include <fmt/format.h>

#include "base/printable.h"
#include "reports/formats/formats.h"
#include "reports/formats/parts.h"
#include "reports/model/names.h"
#include "reports/terminal/text.h"

namespace capgate::reports {
namespace {

// A compiler's message needs a file; a program without one stands in for it.
std::string where(const Location& location) {
  if (location.file.empty()) {
    const std::string function = printable(formats::cut(location.function, terminal::kNameColumns));
    return function.empty() ? "capgate" : function;
  }
  std::string out = printable(formats::path_of(location.file));
  if (location.line > 0) out += fmt::format(":{}", location.line);
  if (location.line > 0 && location.column) out += fmt::format(":{}", *location.column);
  return out;
}

}  // namespace

std::string to_gcc(const Report& report) {
  std::string out;
  for (const auto& open : formats::open_faults(report)) {
    const Violation* fault = open.fault;
    const std::string at = where(fault->location);
    out += fmt::format("{}: {}: {}{} [{}]\n", at, report.knows(*fault) ? "note" : name(fault->severity),
                       report.knows(*fault) ? "known: " : "", printable(formats::message_of(open)),
                       printable(fault->rule));
    for (const auto& step : fault->flow)
      out += fmt::format("{}:{}: note: {}\n", printable(formats::path_of(step.file)), step.line,
                         printable(formats::cut(step.message)));
    if (!fault->hint.empty())
      out += fmt::format("{}: note: fix: {}\n", at, printable(formats::cut(fault->hint)));
  }
  return out;
}

}  // namespace capgate::reports
