// Whether the host memory that a captured copy names is shown to be alive at every launch of its graph.
#pragma once

#include <cstddef>
#include <string>

#include "detector/analysis/judge.h"
#include "detector/analysis/launched_nodes.h"

namespace capgate::analysis {

// A static, or on the stack below a function that is still running, called from the same place, when the
// graph is launched. Heap memory is never shown alive: nobody watches free().
bool is_alive_at_launches(Judge& judge, const Capture& capture, size_t copy, trace::HostPlace place,
                          uint64_t address);

// Of memory that a node names which `adder` put into an executable's graph, or changed there: at the launches
// in which the node has it.
enum class Lifetime { alive, ended, unknown };

// ended: on the stack of a function that had returned. Heap and mapped memory is always unknown. Whether
// other nodes name the same address is for the caller to ask: a variable of a loop is another one in its next
// pass.
Lifetime lifetime_at_launches(Judge& judge, const LaunchedNode& node, size_t adder, trace::HostPlace place);

// The function that ended before a launch, of those that the compiler built into the frame of a function
// that still runs there. Its variables lie in that frame and ended with it: a frame that is still on the
// stack shows nothing about them. Empty where every such function still runs.
std::string built_in_and_ended(Judge& judge, const Capture& capture, size_t copy);

}  // namespace capgate::analysis
