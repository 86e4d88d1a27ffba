// Commands that a text names, each as somebody can paste it, with the options that its answer depends on.
#pragma once

#include <string>
#include <vector>

#include "reports/terminal/gate_lines.h"

namespace capgate::reports::terminal {

// `capgate show --baseline main.json gate.json`
std::string show_command(const std::string& baseline, const std::string& report,
                         const std::vector<std::string>& options = {});
std::string view_command(const std::string& baseline, const std::string& report);

// The gate as it was asked, and `options` more.
std::string gate_command(const GateOptions& gate, const std::vector<std::string>& options);

}  // namespace capgate::reports::terminal
