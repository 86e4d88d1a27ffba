// A program with a fault in a capture, inside capgate itself, so that it can be audited where nothing can be
// built.
#pragma once

#include <string>

namespace capgate::cli {

// Captures one memset through the driver. `fault`: waits for the stream meanwhile, which the capture refuses.
// `clean`: does not, and launches the graph. Gives an exit code; says on stderr which call failed.
int run_planted(const std::string& which);

}  // namespace capgate::cli
