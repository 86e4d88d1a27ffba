#include "detector/trace/raw_file.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "detector/trace/load.h"
#include "detector/trace/record_check.h"

namespace capgate::trace {
namespace {

// A chunk must hold at least its header and one record; one over this size is not ours.
constexpr uint32_t kMostChunkBytes = 64u << 20;

std::string at(const std::string& name, uint64_t offset, const std::string& what) {
  return name + ": byte " + std::to_string(offset) + ": " + what;
}

std::string header_fault(const std::vector<std::byte>& bytes, FileHeader& header, uint64_t& offset) {
  offset = 0;
  if (bytes.size() >= sizeof(kMagic) && std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0)
    return "not a raw trace of capgate (its first bytes are others)";
  if (bytes.size() < sizeof(FileHeader)) {
    offset = bytes.size();
    return "the file ends inside its header (" + std::to_string(sizeof(FileHeader)) + " bytes)";
  }
  header = load<FileHeader>(bytes.data());
  offset = offsetof(FileHeader, version);
  if (header.version < kOldestVersion || header.version > kVersion)
    return "a raw trace of version " + std::to_string(header.version) + "; this capgate reads versions " +
           std::to_string(kOldestVersion) + " to " + std::to_string(kVersion) +
           ": audit again with one and the same capgate";
  offset = offsetof(FileHeader, header_bytes);
  if (header.header_bytes < sizeof(FileHeader) || header.header_bytes % 8 != 0 ||
      header.header_bytes > kMostChunkBytes)
    return "a header of " + std::to_string(header.header_bytes) + " bytes";
  offset = offsetof(FileHeader, chunk_bytes);
  if (header.chunk_bytes < sizeof(ChunkHeader) + sizeof(RecordHeader) || header.chunk_bytes % 8 != 0 ||
      header.chunk_bytes > kMostChunkBytes)
    return "chunks of " + std::to_string(header.chunk_bytes) + " bytes";
  return {};
}

// Records of one chunk. Stops at the first unfinished one: only its thread wrote here, so nothing follows.
std::string read_chunk(const RawFile& file, uint64_t begin, uint64_t end, std::vector<RawRecord>& out,
                       uint64_t& offset) {
  offset = begin;
  const auto chunk = load<ChunkHeader>(file.bytes.data() + begin);
  if (chunk.magic == 0) return {};  // claimed, and the process ended before it was used
  if (chunk.magic != kChunkMagic) return "not the start of a chunk";
  for (offset = begin + sizeof(ChunkHeader); offset + sizeof(RecordHeader) <= end;) {
    const auto header = load<RecordHeader>(file.bytes.data() + offset);
    if (header.bytes == 0) return {};
    if (header.bytes < sizeof(RecordHeader) || header.bytes % 8 != 0)
      return "a record of " + std::to_string(header.bytes) + " bytes";
    if (header.bytes > end - offset)
      return "a record of " + std::to_string(header.bytes) + " bytes passes its chunk's end";
    const std::string fault = record_fault(file.bytes.data() + offset, header.bytes);
    if (!fault.empty()) return fault;
    out.push_back({header.seq, offset, header.bytes, chunk.tid});
    offset += header.bytes;
  }
  return {};
}

}  // namespace

Result<RawFile> parse_raw(std::vector<std::byte> bytes, const std::string& name) {
  RawFile file;
  file.bytes = std::move(bytes);
  uint64_t offset = 0;
  if (const auto fault = header_fault(file.bytes, file.header, offset); !fault.empty())
    return Error{at(name, offset, fault)};
  const uint64_t size = file.bytes.size();
  const uint64_t chunk_bytes = file.header.chunk_bytes;
  for (uint64_t chunk = 0; chunk < file.header.next_chunk; ++chunk) {
    const uint64_t begin = file.header.header_bytes + chunk * chunk_bytes;
    if (begin + chunk_bytes > size) {
      // Chunks that a thread asked for beyond the limit were refused; any other must be there.
      if (begin + chunk_bytes > file.header.limit_bytes) break;
      return Error{at(name, size,
                      "the file ends here, before chunk " + std::to_string(chunk) + " of " +
                          std::to_string(file.header.next_chunk) + ": it was cut off after it was written")};
    }
    if (const auto fault = read_chunk(file, begin, begin + chunk_bytes, file.records, offset); !fault.empty())
      return Error{at(name, offset, fault)};
  }
  std::stable_sort(file.records.begin(), file.records.end(),
                   [](const RawRecord& a, const RawRecord& b) { return a.seq < b.seq; });
  return file;
}

Result<RawFile> read_raw(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{path + ": cannot be opened: " + std::strerror(errno)};
  std::error_code failed;
  const uint64_t size = std::filesystem::file_size(path, failed);
  if (failed) return Error{path + ": is not a regular file"};

  // Files are laid out for their limit from the start: what no thread claimed is not read.
  uint64_t want = std::min<uint64_t>(size, sizeof(FileHeader));
  std::vector<std::byte> bytes(want);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(want));
  FileHeader header{};
  uint64_t offset = 0;
  if (in && header_fault(bytes, header, offset).empty() && header.header_bytes <= size) {
    const uint64_t room = size > header.header_bytes ? (size - header.header_bytes) / header.chunk_bytes : 0;
    const uint64_t chunks = std::min(header.next_chunk, room);
    // A cut file is read to its end, so that the error can say where that is.
    const uint64_t whole =
        header.next_chunk > room ? size : header.header_bytes + chunks * header.chunk_bytes;
    bytes.resize(std::min(whole, size));
    in.read(reinterpret_cast<char*>(bytes.data()) + want, static_cast<std::streamsize>(bytes.size() - want));
  }
  if (!in) return Error{path + ": byte " + std::to_string(in.gcount()) + ": cannot be read"};
  return parse_raw(std::move(bytes), path);
}

std::vector<std::byte> packed_records(const RawFile& file) {
  std::vector<std::byte> out;
  uint64_t total = 0;
  for (const auto& record : file.records) total += record.bytes + 8u;
  out.reserve(total);
  for (const auto& record : file.records) {
    const uint64_t tid = record.tid;
    const auto* head = reinterpret_cast<const std::byte*>(&tid);
    out.insert(out.end(), head, head + sizeof(tid));
    const auto* body = file.bytes.data() + record.offset;
    out.insert(out.end(), body, body + record.bytes);
  }
  return out;
}

}  // namespace capgate::trace
