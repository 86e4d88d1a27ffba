// Memory that the program owns, block by block: when each block came, when it went, and in which one an
// address was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "detector/trace/format.h"

namespace capgate::analysis {

// Who hands a block out, and so which calls end it.
enum class Owner : uint8_t {
  device,      // cudaMalloc and its kin, managed memory included
  array,       // a CUDA array: known by its handle, which is no address
  pool,        // stream-ordered
  mapping,     // physical memory at a reserved address
  pinned,      // host memory that CUDA allocated
  registered,  // the program's own host memory, pinned later
  peer,        // another process's memory, opened here
  module,      // a variable of a loaded module
  graph        // a graph's own allocation: it lives from launch to launch
};

struct Block {
  uint64_t start = 0;
  uint64_t bytes = 0;  // 0: not known, and taken for one byte
  Owner owner = Owner::device;
  size_t birth = 0;             // index of the call
  std::optional<size_t> death;  // index of the call
  uint64_t born = 0;            // seq
  uint64_t died = UINT64_MAX;   // seq
  uint64_t module = 0;          // of a variable
  int32_t device = trace::kNoDevice;

  uint64_t end() const { return start + (bytes ? bytes : 1); }
  bool holds(uint64_t address) const { return address >= start && address < end(); }
};

using BlockId = size_t;

class Blocks {
 public:
  // What still lay there has been given up without a call that was seen: it dies of this one. Appends the
  // dead to `dead`.
  BlockId born(const Block& block, std::vector<BlockId>& dead);
  // The block that starts there, if there is one.
  std::optional<BlockId> died(uint64_t start, size_t call, uint64_t seq);
  // Every block that begins in the range.
  void died_in(uint64_t start, uint64_t bytes, size_t call, uint64_t seq, std::vector<BlockId>& dead);
  void died_with_module(uint64_t module, size_t call, uint64_t seq, std::vector<BlockId>& dead);
  void forget_device(int32_t device);  // it was reset: nothing there is anybody's any more

  // The block that holds the address now, or that held it at an earlier `seq`.
  std::optional<BlockId> at(uint64_t address) const;
  std::optional<BlockId> at(uint64_t address, uint64_t seq) const;

  const Block& operator[](BlockId id) const { return all_[id]; }
  size_t size() const { return all_.size(); }

 private:
  void bury(BlockId id, size_t call, uint64_t seq);

  std::vector<Block> all_;
  std::map<uint64_t, BlockId> living_;  // by start; they never overlap
  std::vector<BlockId> buried_;         // in the order of their deaths
};

}  // namespace capgate::analysis
