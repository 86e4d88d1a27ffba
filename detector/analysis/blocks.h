// Memory that the program owns, block by block: when each block came, when it went, and in which one an
// address was.
#pragma once

#include <array>
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
  code,        // the functions of a loaded module: known by its handle, which is no address
  graph,       // a graph's own allocation: it lives from launch to launch
  framework,   // a part of one of the above, handed out by PyTorch's allocator
  heap         // the program's own host memory, as the watch on free() knows it: one byte of a block
};

// When and where a block came or went. A framework's allocator makes no call of CUDA's.
struct Moment {
  uint64_t seq = 0;
  std::optional<size_t> call;
  uint32_t stack = 0, python_stack = 0;
};

struct Block {
  uint64_t start = 0;
  uint64_t bytes = 0;  // 0: not known, and taken for one byte
  Owner owner = Owner::device;
  Moment birth;
  std::optional<Moment> death;
  uint64_t module = 0;  // of a variable or code
  int32_t device = trace::kNoDevice;

  uint64_t end() const { return start + (bytes ? bytes : 1); }
  bool holds(uint64_t address) const { return address >= start && address < end(); }
};

using BlockId = size_t;

// A framework's blocks lie in pieces of memory that CUDA gave it. Each layer by itself never overlaps.
enum class Layer : uint8_t { piece, block };

class Blocks {
 public:
  // What still lay there has been given up without a call that was seen: it dies of this one. Appends the
  // dead to `dead`, here and below.
  BlockId born(const Block& block, std::vector<BlockId>& dead);
  // The block that starts there, and what lies in it.
  void died(Layer layer, uint64_t start, const Moment& death, std::vector<BlockId>& dead);
  // Every piece that begins in the range, and what lies in it.
  void died_in(uint64_t start, uint64_t bytes, const Moment& death, std::vector<BlockId>& dead);
  void died_with_module(uint64_t module, const Moment& death, std::vector<BlockId>& dead);
  void forget_device(int32_t device);  // it was reset: nothing there is anybody's any more

  // The block that holds the address now, or that held it at an earlier `seq`.
  std::optional<BlockId> at(Layer layer, uint64_t address) const;
  std::optional<BlockId> at(Layer layer, uint64_t address, uint64_t seq) const;

  const Block& operator[](BlockId id) const { return all_[id]; }

 private:
  using Living = std::map<uint64_t, BlockId>;  // by start

  Living& living(Layer layer) { return living_[static_cast<size_t>(layer)]; }
  const Living& living(Layer layer) const { return living_[static_cast<size_t>(layer)]; }
  Living::iterator bury(Layer layer, Living::iterator at, const Moment& death, std::vector<BlockId>& dead);
  void bury_range(Layer layer, uint64_t start, uint64_t end, const Moment& death, std::vector<BlockId>& dead);

  std::vector<Block> all_;
  std::array<Living, 2> living_;
  std::array<std::vector<BlockId>, 2> buried_;  // in the order of their deaths
};

inline Layer layer_of(const Block& block) {
  return block.owner == Owner::framework ? Layer::block : Layer::piece;
}

}  // namespace capgate::analysis
