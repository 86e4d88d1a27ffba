// What `capgate gate --no-worse-than` says below the verdict.
#include <fmt/format.h>

#include "reports/terminal/parts.h"

namespace capgate::reports::terminal {
namespace {

std::string number(double value) {
  if (value >= 0 && value < 1e15 && value == static_cast<double>(static_cast<uint64_t>(value)))
    return grouped(static_cast<uint64_t>(value));
  std::string text = fmt::format("{:.3f}", value);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

std::string names(const std::vector<std::string>& metrics) {
  std::string out;
  for (const std::string& metric : metrics) out += (out.empty() ? "" : ", ") + clean(metric);
  return out;
}

}  // namespace

std::string ratchet_lines(const Ratchet& ratchet) {
  const std::string file = clean(ratchet.file);
  std::string out;
  if (!ratchet.worse.empty()) out += "worse than " + file + ":\n";
  for (const Worse& one : ratchet.worse)
    out += fmt::format("  {}: {} there, {} here\n", clean(one.metric), number(one.before), number(one.now));
  if (!ratchet.lost.empty())
    out += fmt::format("only in {}: {}\n  to do: capgate audit, with as many steps as the run behind {}\n",
                       file, names(ratchet.lost), file);
  if (!ratchet.added.empty())
    out +=
        fmt::format("not in {}, so not compared: {}\n  to do: write it again with `capgate gate --metrics`\n",
                    file, names(ratchet.added));
  if (!ratchet.other_program.empty())
    out += fmt::format("note: the numbers in {} are those of another program, {}\n", file,
                       head_of(clean(ratchet.other_program)));
  return out;
}

}  // namespace capgate::reports::terminal
