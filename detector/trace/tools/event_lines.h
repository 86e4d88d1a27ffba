// The events of one process as text, one line each.
#pragma once

#include <cstdint>
#include <functional>

#include "detector/trace/process_trace.h"

namespace capgate::trace {

// Prints the stacks of these two ids below a line; empty: no stacks.
using PrintStacks = std::function<void(uint32_t native, uint32_t python)>;

void print_events(const ProcessTrace& trace, const PrintStacks& stacks);

// How many records there are of each kind.
void print_record_counts(const ProcessTrace& trace);

}  // namespace capgate::trace
