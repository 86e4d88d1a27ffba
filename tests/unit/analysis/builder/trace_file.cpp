// The file of a process, and the sealed trace of a run.
#include "tests/unit/analysis/trace_builder.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "detector/analysis/analyze.h"
#include "detector/trace/reader.h"

namespace capgate::test {
namespace {

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), at, at + sizeof(value));
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "the test's own trace is wrong: %s\n", why.c_str());
  std::abort();
}

}  // namespace

ProcessBuilder::ProcessBuilder(uint32_t pid) : pid_(pid), tid_(pid) {
  meta("cupti.state", "attached");
  meta("cupti.proof", "1");
  meta("argv0", "decode");
  meta("driver.release", "580.95.05");
  meta("gpu.0", "NVIDIA H200|90|GPU-1");
}

trace::RecordHeader ProcessBuilder::next(size_t body, size_t tail, RecordType type) {
  const size_t size = (body + tail + 7) / 8 * 8;
  return {static_cast<uint32_t>(size), static_cast<uint16_t>(type), 0, ++seq_};
}

void ProcessBuilder::add_bytes(const void* body, size_t size, const std::string& tail) {
  std::vector<std::byte> bytes;
  const auto append = [&](const void* from, size_t count) {
    const auto* at = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), at, at + count);
  };
  append(body, size);
  append(tail.data(), tail.size());
  bytes.resize((bytes.size() + 7) / 8 * 8);
  records_.push_back({tid_, std::move(bytes), 0});
}

void ProcessBuilder::end() {
  trace::EndRecord record{};
  record.how = 1;
  add(record, RecordType::end);
}

std::vector<std::byte> ProcessBuilder::file() const {
  constexpr uint32_t kChunk = 64 << 10;
  std::map<uint32_t, std::vector<std::vector<std::byte>>> chunks;  // by thread
  for (const auto& stored : records_) {
    std::vector<std::byte> bytes = stored.bytes;
    if (bytes.empty()) append(bytes, calls_[stored.call]);
    auto& list = chunks[stored.tid];
    if (list.empty() || list.back().size() + bytes.size() > kChunk) {
      list.emplace_back();
      append(list.back(), trace::ChunkHeader{trace::kChunkMagic, stored.tid, 0, 0});
    }
    list.back().insert(list.back().end(), bytes.begin(), bytes.end());
  }
  trace::FileHeader header{};
  std::memcpy(header.magic, trace::kMagic, sizeof(header.magic));
  header.version = trace::kVersion;
  header.header_bytes = sizeof(header);
  header.chunk_bytes = kChunk;
  header.pid = pid_;
  header.ppid = 1;
  header.state = static_cast<uint32_t>(state);
  header.start_realtime_ns = 1'000'000'000 + pid_;
  header.events = records_.size();
  header.dropped = dropped;
  header.seq = seq_;
  header.limit_bytes = 1u << 30;
  std::vector<std::byte> body;
  for (const auto& [tid, list] : chunks)
    for (const auto& chunk : list) {
      ++header.next_chunk;
      body.insert(body.end(), chunk.begin(), chunk.end());
      body.resize((body.size() + kChunk - 1) / kChunk * kChunk);
    }
  std::vector<std::byte> out;
  append(out, header);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

TraceBuilder::TraceBuilder() {
  run.argv = {"./decode"};
  run.exit_code = 0;
  run.wall_s = 1;
}

ProcessBuilder& TraceBuilder::process(uint32_t pid) {
  for (auto& process : processes_)
    if (process.pid() == pid) return process;
  return processes_.emplace_back(pid);
}

seal::SealedTrace TraceBuilder::sealed() {
  seal::SealedTrace out;
  out.tool_version = "0.1.0";
  out.run = run;
  out.expected.regions = regions;
  out.expected.buckets = buckets;
  if (!suppressions.empty()) out.expected.suppressions = {"suppressions.txt", suppressions};
  if (!settings.empty()) out.expected.settings = {".capgate.toml", settings};
  out.sources = sources;
  for (auto& builder : processes_) {
    auto raw = trace::parse_raw(builder.file(), "built");
    if (!raw) give_up(raw.error());
    seal::Process process;
    process.trace = trace::read_process(*raw);
    process.records = trace::packed_records(*raw);
    const auto base = static_cast<uint32_t>(out.frames.size());
    out.frames.insert(out.frames.end(), builder.frames().begin(), builder.frames().end());
    process.native_stacks = builder.native_stacks();
    process.python_stacks = builder.python_stacks();
    for (auto* stacks : {&process.native_stacks, &process.python_stacks})
      for (auto& [id, frames] : *stacks)
        for (auto& frame : frames) frame += base;
    out.processes.push_back(std::move(process));
  }
  return out;
}

reports::Report TraceBuilder::report() {
  return analysis::analyze(sealed());
}

}  // namespace capgate::test
