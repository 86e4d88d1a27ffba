// Which words of the structures that kernels are given are pointers. The trace has bytes and no types: a slot
// that was never filled in holds what lay on the stack before, which often is an address.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detector/trace/process_trace.h"

namespace capgate::analysis {

class StructWords {
 public:
  explicit StructWords(const trace::ProcessTrace& trace) : trace_(trace) {}

  // The kernel's symbol gives the parameter a type of which it is known that this word is a pointer.
  // `kernel`: string id of its name.
  bool is_pointer(uint32_t kernel, uint32_t parameter, uint32_t word);

  // A node's structure was looked at. `words`: how many it has; `addresses`: how many of them were addresses
  // of somebody's memory then.
  void seen(uint32_t kernel, uint32_t parameter, size_t words, size_t addresses);
  // Every structure that was ever seen there held nothing but such addresses, and at least two.
  bool are_addresses(uint32_t kernel, uint32_t parameter) const;

 private:
  struct Seen {
    bool any = false, others = false;
  };

  const std::vector<std::string>& types(uint32_t kernel);

  const trace::ProcessTrace& trace_;
  std::unordered_map<uint32_t, std::vector<std::string>> types_;  // of a kernel's parameters
  std::map<std::pair<uint32_t, uint32_t>, Seen> seen_;
};

}  // namespace capgate::analysis
