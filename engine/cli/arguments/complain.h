// What a command says when it cannot go on.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "base/printable.h"

namespace dsv4::cli {

// One line on stderr. Names in it come from files and from the command line: they must not steer the
// terminal.
inline void complain(std::string_view command, std::string_view sentence) {
  fmt::print(stderr, "dsv4 {}: {}\n", command, capgate::printable(sentence));
}

}  // namespace dsv4::cli
