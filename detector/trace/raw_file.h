// The raw trace as it lies on disk: checked record by record and put in order, not interpreted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "detector/trace/format.h"

namespace capgate::trace {

struct RawRecord {
  uint64_t seq = 0;
  uint64_t offset = 0;  // in the file
  uint32_t bytes = 0;
  uint32_t tid = 0;
};

struct RawFile {
  FileHeader header{};
  std::vector<std::byte> bytes;    // the whole file
  std::vector<RawRecord> records;  // by seq
};

// Reads what a process left, closed or cut short by its end: an unfinished record, an unfilled chunk and a
// pending call are in order, anything else that does not add up is an error that names the byte offset.
// `name` is what the error calls the file.
Result<RawFile> parse_raw(std::vector<std::byte> bytes, const std::string& name);
Result<RawFile> read_raw(const std::string& path);

// All records in order, each behind 8 bytes that hold its thread: the form in which a sealed trace keeps
// them.
std::vector<std::byte> packed_records(const RawFile& file);

}  // namespace capgate::trace
