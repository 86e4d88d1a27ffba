#include "detector/preload/dump/raw_trace.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <ranges>

namespace capgate::trace {
namespace {

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "%#llx", static_cast<unsigned long long>(value));
  return text;
}

template <class T>
std::string tail(const RawRecord& record, size_t offset, size_t bytes) {
  if (sizeof(T) + offset + bytes > record.header->bytes) return {};
  return std::string(reinterpret_cast<const char*>(record.header) + sizeof(T) + offset, bytes);
}

void index(RawTrace& trace, const RawRecord& record) {
  switch (record.type()) {
    case RecordType::string:
      trace.strings[record.as<StringRecord>().id] =
          tail<StringRecord>(record, 0, record.as<StringRecord>().bytes);
      break;
    case RecordType::python_stack:
      trace.python_stacks[record.as<StringRecord>().id] =
          tail<StringRecord>(record, 0, record.as<StringRecord>().bytes);
      break;
    case RecordType::stack: {
      const auto& stack = record.as<StackRecord>();
      const std::string ips = tail<StackRecord>(record, 0, stack.count * sizeof(uint64_t));
      std::vector<uint64_t> out(ips.size() / sizeof(uint64_t));
      std::memcpy(out.data(), ips.data(), out.size() * sizeof(uint64_t));
      trace.stacks[stack.id] = std::move(out);
      break;
    }
    case RecordType::meta: {
      const auto& meta = record.as<MetaRecord>();
      trace.meta.emplace(tail<MetaRecord>(record, 0, meta.key_bytes),
                         tail<MetaRecord>(record, meta.key_bytes, meta.value_bytes));
      break;
    }
    default:
      break;
  }
}

}  // namespace

std::string RawTrace::text(uint32_t id) const {
  const auto at = strings.find(id);
  return at != strings.end() ? at->second : std::string();
}

std::string RawTrace::fact(const std::string& key) const {
  const auto at = meta.find(key);
  return at != meta.end() ? at->second : std::string();
}

std::string RawTrace::place(uint64_t ip) const {
  for (const auto& record : std::views::reverse(records)) {
    if (record.type() != RecordType::module) continue;
    const auto& module = record.as<ModuleRecord>();
    if (ip < module.start || ip >= module.end) continue;
    const std::string path = tail<ModuleRecord>(record, module.build_id_bytes, module.path_bytes);
    return path.substr(path.rfind('/') + 1) + "+" + hex(ip - module.bias);
  }
  return hex(ip);
}

Result<RawTrace> read_raw_trace(const std::string& path) {
  RawTrace trace;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{path + ": cannot be opened"};
  trace.bytes.assign(std::istreambuf_iterator<char>(file), {});
  if (trace.bytes.size() < sizeof(FileHeader)) return Error{path + ": shorter than a trace's header"};
  std::memcpy(&trace.header, trace.bytes.data(), sizeof(FileHeader));
  if (std::memcmp(trace.header.magic, kMagic, sizeof(kMagic)) != 0) return Error{path + ": not a raw trace"};
  if (trace.header.chunk_bytes < 4096) return Error{path + ": its chunks are too small"};
  for (uint64_t i = 0; i < trace.header.next_chunk; ++i) {
    const size_t start = trace.header.header_bytes + i * trace.header.chunk_bytes;
    if (start + trace.header.chunk_bytes > trace.bytes.size()) break;
    ChunkHeader chunk;
    std::memcpy(&chunk, trace.bytes.data() + start, sizeof(chunk));
    if (chunk.magic != kChunkMagic) continue;
    size_t at = start + sizeof(ChunkHeader);
    const size_t end = start + trace.header.chunk_bytes;
    while (at + sizeof(RecordHeader) <= end) {
      const auto* header = reinterpret_cast<const RecordHeader*>(trace.bytes.data() + at);
      if (header->bytes < sizeof(RecordHeader) || at + header->bytes > end) break;
      trace.records.push_back({header, chunk.tid});
      at += header->bytes;
    }
  }
  std::stable_sort(trace.records.begin(), trace.records.end(),
                   [](const RawRecord& a, const RawRecord& b) { return a.header->seq < b.header->seq; });
  for (const RawRecord& record : trace.records) index(trace, record);
  return trace;
}

}  // namespace capgate::trace
