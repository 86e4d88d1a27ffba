#include "detector/analysis/memory/memory_calls.h"

#include <string_view>

namespace capgate::analysis {
namespace {

using trace::CallRecord;
using trace::Family;

bool is_array_call(std::string_view name) {
  return name.find("Array") != std::string_view::npos;
}

// A call that the stream took into its capture: the graph will do it, and nothing has happened yet.
bool is_captured(const Timeline& timeline, size_t call) {
  return timeline.contexts[call].stream_capture != kNone;
}

std::optional<Owner> owner_of(const Timeline& timeline, size_t call) {
  const CallRecord& r = timeline.call(call).r;
  const std::string_view name = timeline.name(timeline.call(call));
  switch (static_cast<Family>(r.family)) {
    case Family::alloc_device:
      // cuMemCreate makes physical memory without an address.
      if (name.starts_with("cuMemCreate")) return std::nullopt;
      return is_array_call(name) ? Owner::array : Owner::device;
    case Family::alloc_async:
      return is_captured(timeline, call) ? Owner::graph : Owner::pool;
    case Family::alloc_host:
      return Owner::pinned;
    case Family::host_register:
      return Owner::registered;
    case Family::vmm:
      return name.starts_with("cuMemMap") && !is_array_call(name) ? std::optional(Owner::mapping)
                                                                  : std::nullopt;
    case Family::peer:
      return name.find("IpcOpenMemHandle") != std::string_view::npos ? std::optional(Owner::peer)
                                                                     : std::nullopt;
    case Family::module_load:
      return name.find("Load") != std::string_view::npos && name.find("Link") == std::string_view::npos
                 ? std::optional(Owner::code)
                 : std::nullopt;
    case Family::module_global:
      return Owner::module;
    default:
      return std::nullopt;
  }
}

}  // namespace

uint64_t array_address(uint64_t handle) {
  return handle | (uint64_t{1} << 63);
}

uint64_t code_address(uint64_t module) {
  return module | (uint64_t{1} << 62);
}

std::optional<Block> block_born(const Timeline& timeline, size_t call) {
  const CallRecord& r = timeline.call(call).r;
  if (r.result != 0) return std::nullopt;
  const auto owner = owner_of(timeline, call);
  if (!owner) return std::nullopt;
  Block block;
  block.owner = *owner;
  block.start = *owner == Owner::registered || *owner == Owner::mapping ? r.dst : r.out;
  if (block.start == 0) return std::nullopt;
  block.bytes = r.bytes;
  if (*owner == Owner::array) {
    block.start = array_address(block.start);
    block.bytes = 0;
  }
  if (*owner == Owner::code) {
    block.module = block.start;
    block.start = code_address(block.start);
    block.bytes = 0;
  }
  if (*owner == Owner::module) block.module = r.object;
  if (block.bytes > UINT64_MAX - block.start) return std::nullopt;
  block.birth = {r.seq_end ? r.seq_end : r.h.seq, call, r.stack, r.python_stack};
  block.device = r.device;
  return block;
}

Moment moment_of_end(const Timeline& timeline, size_t call) {
  const CallRecord& r = timeline.call(call).r;
  return {r.h.seq, call, r.stack, r.python_stack};
}

End memory_ended(const Timeline& timeline, size_t call) {
  const CallRecord& r = timeline.call(call).r;
  if (r.result != 0) return {};
  const std::string_view name = timeline.name(timeline.call(call));
  End end;
  end.start = r.dst;
  switch (static_cast<Family>(r.family)) {
    case Family::free_device:
      // Releasing physical memory leaves what is mapped of it where it is.
      if (name.starts_with("cuMemRelease")) return {};
      if (is_array_call(name)) end.start = array_address(r.dst);
      break;
    case Family::free_async:
      if (is_captured(timeline, call)) return {};
      break;
    case Family::free_host:
    case Family::host_unregister:
      break;
    case Family::vmm:
      if (!name.starts_with("cuMemUnmap") && !name.starts_with("cuMemAddressFree")) return {};
      end.what = Ends::range;
      end.bytes = r.bytes;
      return end;
    case Family::peer:
      if (name.find("IpcCloseMemHandle") == std::string_view::npos) return {};
      break;
    case Family::module_unload:
      if (r.object == 0) return {};
      end.what = Ends::module;
      end.module = r.object;
      return end;
    case Family::device_control:
      if (name.find("DeviceReset") == std::string_view::npos &&
          name.find("PrimaryCtxReset") == std::string_view::npos)
        return {};
      end.what = Ends::device;
      end.device = r.device;
      return end;
    default:
      return {};
  }
  if (r.dst != 0) end.what = Ends::block;
  return end;
}

}  // namespace capgate::analysis
