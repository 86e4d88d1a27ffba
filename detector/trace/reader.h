// From checked records to the model that the rules walk over.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "detector/trace/process_trace.h"
#include "detector/trace/raw_file.h"

namespace capgate::trace {

// Reads a process's records in the form of packed_records(). `name` is what an error calls their source.
Result<ProcessTrace> parse_packed(std::span<const std::byte> records, const std::string& name);

// The file of one process, whose records parse_raw() has checked.
ProcessTrace read_process(const RawFile& file);

}  // namespace capgate::trace
