// The parts of the terminal view.
#pragma once

#include <set>
#include <string>

#include "reports/model/report.h"
#include "reports/terminal/terminal.h"
#include "reports/terminal/text.h"

namespace capgate::reports::terminal {

// "model/moe.py:212 route()"
std::string place(const Location& location);

// What came of it: `killed capture "decode bs=8"`.
std::string consequence(const Report& report, const Violation& violation);

// One fault with its source, stack and fix. `explained`: situations whose reason was given further up.
std::string fault(const Report& report, const Violation& violation, const TerminalOptions& options,
                  std::set<std::string>& explained);

// A note or a suppressed fault in two lines.
std::string short_fault(const Report& report, const Violation& violation, const TerminalOptions& options);

// "decode (build 3f2a91c04b77, mode full, 3 buckets, 1 x sm_90)"
std::string subject(const Report& report);

// What was looked at, in a few lines: the program, its captures, marked steps, files and regions.
std::string covers(const Report& report, bool all);

// The catalogue's code, which is not wrapped.
std::string code_block(std::string_view code, size_t indent = 4);

// The stacks of a fault, library frames folded.
std::string stacks(const Violation& violation, const TerminalOptions& options);

}  // namespace capgate::reports::terminal
