// The raw trace: what a process wrote comes back in order, and whatever does not add up is one sentence with
// its place.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "detector/trace/reader.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

using trace::parse_raw;

std::vector<std::byte> sample() {
  ProcessBuilder p;
  p.at("a.cpp", 1, "f");
  p.healthy_capture();
  p.thread(200);
  p.launch(kSide);
  p.thread(100);
  p.replay();
  p.end();
  return p.file();
}

template <class T>
void poke(std::vector<std::byte>& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

std::string error_of(std::vector<std::byte> bytes) {
  const auto raw = parse_raw(std::move(bytes), "t.cgraw");
  return raw.ok() ? "" : raw.error();
}

constexpr size_t kFirstChunk = sizeof(trace::FileHeader);
constexpr size_t kFirstRecord = kFirstChunk + sizeof(trace::ChunkHeader);

TEST(RawFile, RecordsOfAllThreadsComeBackInOrder) {
  const auto raw = parse_raw(sample(), "t");
  ASSERT_TRUE(raw.ok()) << raw.error();
  uint64_t last = 0;
  for (const auto& record : raw->records) {
    EXPECT_GT(record.seq, last);
    last = record.seq;
  }
  const auto process = trace::read_process(*raw);
  EXPECT_EQ(process.calls.size(), 6u);
  EXPECT_EQ(process.text(process.calls[0].r.name), "cudaStreamBeginCapture");
  EXPECT_EQ(process.fact("cupti.state"), "attached");
  EXPECT_EQ(process.calls[4].tid, 200u);
}

TEST(RawFile, PackedRecordsReadAsTheFileDoes) {
  const auto raw = parse_raw(sample(), "t");
  ASSERT_TRUE(raw.ok());
  const auto packed = trace::packed_records(*raw);
  const auto process = trace::parse_packed(packed, "t");
  ASSERT_TRUE(process.ok()) << process.error();
  EXPECT_EQ(process->calls.size(), 6u);
  EXPECT_EQ(process->order.size(), trace::read_process(*raw).order.size());
}

TEST(RawFile, ARecordThatWasNotFinishedEndsItsThread) {
  auto bytes = sample();
  poke<uint32_t>(bytes, kFirstRecord, 0);
  const auto raw = parse_raw(std::move(bytes), "t");
  ASSERT_TRUE(raw.ok()) << raw.error();
  EXPECT_EQ(raw->records.front().tid, 200u);
}

TEST(RawFile, AChunkThatWasClaimedAndNotUsed) {
  auto bytes = sample();
  poke<uint32_t>(bytes, kFirstChunk, 0);
  EXPECT_EQ(error_of(std::move(bytes)), "");
}

TEST(RawFile, ChunksAskedForBeyondTheLimitAreNotMissed) {
  auto bytes = sample();
  poke<uint64_t>(bytes, offsetof(trace::FileHeader, next_chunk), 1000);
  poke<uint64_t>(bytes, offsetof(trace::FileHeader, limit_bytes), bytes.size());
  EXPECT_EQ(error_of(std::move(bytes)), "");
}

TEST(RawFile, EveryDamageIsOneSentenceWithItsByte) {
  struct Case {
    const char* says;
    void (*damage)(std::vector<std::byte>&);
  };
  const Case cases[] = {
      {"t.cgraw: byte 0: not a raw trace", [](auto& b) { poke<uint32_t>(b, 0, 7); }},
      {"t.cgraw: byte 8: a raw trace of version 9", [](auto& b) { poke<uint32_t>(b, 8, 9); }},
      {"t.cgraw: byte 12: a header of 3 bytes", [](auto& b) { poke<uint32_t>(b, 12, 3); }},
      {"t.cgraw: byte 16: chunks of 5 bytes", [](auto& b) { poke<uint32_t>(b, 16, 5); }},
      {"t.cgraw: byte 20: the file ends inside its header", [](auto& b) { b.resize(20); }},
      {"the file ends here, before chunk 1 of 2", [](auto& b) { b.resize(b.size() - 8); }},
      {"not the start of a chunk", [](auto& b) { poke<uint32_t>(b, kFirstChunk, 1); }},
      {"a record of 13 bytes", [](auto& b) { poke<uint32_t>(b, kFirstRecord, 13); }},
      {"passes its chunk's end", [](auto& b) { poke<uint32_t>(b, kFirstRecord, 1u << 20); }},
      {"a record without a type", [](auto& b) { poke<uint16_t>(b, kFirstRecord + 4, 0); }},
      {"that is too short", [](auto& b) { poke<uint16_t>(b, kFirstRecord + 4, 6); }},
      {"pass its end",
       [](auto& b) { poke<uint32_t>(b, kFirstRecord + sizeof(trace::RecordHeader), 1u << 30); }},
  };
  for (const auto& test_case : cases) {
    auto bytes = sample();
    test_case.damage(bytes);
    const std::string error = error_of(std::move(bytes));
    EXPECT_NE(error.find(test_case.says), std::string::npos) << test_case.says << " / " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(RawFile, UnknownRecordTypesArePassedOver) {
  auto bytes = sample();
  poke<uint16_t>(bytes, kFirstRecord + 4, 999);
  const auto raw = parse_raw(std::move(bytes), "t");
  ASSERT_TRUE(raw.ok()) << raw.error();
  EXPECT_EQ(trace::read_process(*raw).unknown_records, 1u);
}

TEST(RawFile, OnlyWhatWasClaimedIsReadFromDisk) {
  const auto path = std::filesystem::path(testing::TempDir()) / "sparse.cgraw";
  const auto bytes = sample();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::filesystem::resize_file(path, uint64_t{64} << 30);
  const auto raw = trace::read_raw(path.string());
  std::filesystem::remove(path);
  ASSERT_TRUE(raw.ok()) << raw.error();
  EXPECT_EQ(raw->bytes.size(), bytes.size());
}

TEST(RawFile, AFileThatIsNotThere) {
  const auto raw = trace::read_raw("/nowhere/at/all.cgraw");
  ASSERT_FALSE(raw.ok());
  EXPECT_EQ(raw.error(), "/nowhere/at/all.cgraw: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace capgate::test
