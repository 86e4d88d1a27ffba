// The raw trace in memory, for looking at it and for the library's own tests. Analysis has its own, hardened
// reader.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "detector/trace/format.h"

namespace capgate::trace {

// A whole record: `bytes` begins with its RecordHeader.
struct RawRecord {
  const RecordHeader* header;
  uint32_t tid;
  RecordType type() const { return RecordType(header->type); }
  template <class T>
  const T& as() const {
    return *reinterpret_cast<const T*>(header);
  }
};

struct RawTrace {
  std::string bytes;
  FileHeader header{};
  std::vector<RawRecord> records;  // by seq
  std::map<uint32_t, std::string> strings;
  std::map<uint32_t, std::string> python_stacks;
  std::map<uint32_t, std::vector<uint64_t>> stacks;
  std::multimap<std::string, std::string> meta;

  std::string text(uint32_t id) const;
  // The first value of a key, or empty.
  std::string fact(const std::string& key) const;
  // The module of an address as "libfoo.so+0x12", or its number.
  std::string place(uint64_t ip) const;
};

Result<RawTrace> read_raw_trace(const std::string& path);

}  // namespace capgate::trace
