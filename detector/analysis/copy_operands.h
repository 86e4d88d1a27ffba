// Which operand of a copy is memory that the host may page out, as far as the trace proves it.
#pragma once

#include <cstdint>
#include <string>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// What is known of one operand: CUDA's answer, where the address lies, and what the program's own
// stream-ordered allocations gave out (graph memory exists only while the graph runs, so CUDA does not know
// it before).
trace::Memory operand_memory(const Timeline& timeline, uint64_t address, uint8_t memory);
bool is_pageable_operand(const Timeline& timeline, uint64_t address, uint8_t memory, uint8_t place);

// The copy's own kind goes before CUDA's answer: a copy from device to device has no host operand.
bool reads_pageable(const Timeline& timeline, const trace::CallRecord& copy);
bool writes_pageable(const Timeline& timeline, const trace::CallRecord& copy);

// Whether the host takes part at all.
bool is_device_to_device(const Timeline& timeline, const trace::CallRecord& copy);
bool goes_to_host(const Timeline& timeline, const trace::CallRecord& copy);
bool goes_to_device(const Timeline& timeline, const trace::CallRecord& copy);

// As details["direction"] says it: "device to host", "host to device", "device to device", "host to host";
// empty where the trace does not tell.
std::string direction_text(const Timeline& timeline, const trace::CallRecord& copy);

}  // namespace capgate::analysis
