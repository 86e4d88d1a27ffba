#include "detector/analysis/copy_operands.h"

namespace capgate::analysis {
namespace {

using trace::HostPlace;
using trace::Memory;

// cudaMemcpyKind; driver calls are given the one that they amount to.
constexpr uint64_t kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3;

bool on_device(Memory memory) {
  return memory == Memory::device || memory == Memory::array;
}

bool on_host(Memory memory) {
  return memory == Memory::pageable || memory == Memory::pinned || memory == Memory::registered;
}

}  // namespace

Memory operand_memory(const Timeline& timeline, uint64_t address, uint8_t memory) {
  const auto next = timeline.pool_memory.upper_bound(address);
  if (address != 0 && next != timeline.pool_memory.begin() && address < std::prev(next)->second)
    return Memory::device;
  return static_cast<Memory>(memory);
}

bool is_pageable_operand(const Timeline& timeline, uint64_t address, uint8_t memory, uint8_t place) {
  const Memory known = operand_memory(timeline, address, memory);
  if (known == Memory::pageable) return true;
  const auto where = static_cast<HostPlace>(place);
  return known == Memory::unknown && (where == HostPlace::stack || where == HostPlace::heap);
}

bool reads_pageable(const Timeline& timeline, const trace::CallRecord& copy) {
  if (copy.arg == kDeviceToHost || copy.arg == kDeviceToDevice) return false;
  return is_pageable_operand(timeline, copy.src, copy.src_memory, copy.src_place);
}

bool writes_pageable(const Timeline& timeline, const trace::CallRecord& copy) {
  if (copy.arg == kHostToDevice || copy.arg == kDeviceToDevice) return false;
  return is_pageable_operand(timeline, copy.dst, copy.dst_memory, copy.dst_place);
}

bool is_device_to_device(const Timeline& timeline, const trace::CallRecord& copy) {
  return copy.arg == kDeviceToDevice || (on_device(operand_memory(timeline, copy.src, copy.src_memory)) &&
                                         on_device(operand_memory(timeline, copy.dst, copy.dst_memory)));
}

bool goes_to_host(const Timeline& timeline, const trace::CallRecord& copy) {
  if (copy.arg == kDeviceToHost) return true;
  if (copy.arg == kHostToDevice || copy.arg == kDeviceToDevice) return false;
  const Memory to = operand_memory(timeline, copy.dst, copy.dst_memory);
  return on_host(to);
}

bool goes_to_device(const Timeline& timeline, const trace::CallRecord& copy) {
  if (copy.arg == kHostToDevice) return true;
  if (copy.arg == kDeviceToHost || copy.arg == kDeviceToDevice) return false;
  return on_host(operand_memory(timeline, copy.src, copy.src_memory)) &&
         !on_host(operand_memory(timeline, copy.dst, copy.dst_memory));
}

std::string direction_text(const Timeline& timeline, const trace::CallRecord& copy) {
  if (is_device_to_device(timeline, copy)) return "device to device";
  if (goes_to_device(timeline, copy)) return "host to device";
  if (!goes_to_host(timeline, copy)) return "";
  const bool from_host = on_host(operand_memory(timeline, copy.src, copy.src_memory));
  return from_host && copy.arg != kDeviceToHost ? "host to host" : "device to host";
}

}  // namespace capgate::analysis
