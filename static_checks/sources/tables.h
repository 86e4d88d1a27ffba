// What the analysis knows of functions that it does not look into: copies, allocations, waits, device
// algorithms, tensors. The built-in tables are static_checks/sources/*.json; users add their own, and an
// entry of theirs for the same name wins.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "static_checks/domain/state.h"

namespace capgate::lint {

enum class Is : uint8_t {
  copy,
  copy_node,
  set,
  allocate,
  release,
  enlist,
  unlist,
  same_memory,
  host_reallocate,
  host_free,
  wait,
  poll,
  begin_capture,
  end_capture,
  capture_status,
  exchange_mode,
  launch,
  host_function,
  create_handle,
  handle_stream,
  library_work,
  pointer_mode,
  source,
  device_algorithm,
  tensor_read,
  tensor_to_host,
  tensor_to,
  tensor_data_shape,
  tensor_index,
  tensor_shape,
  tensor_data,
  tensor_new,
  tensor_copy,
  tensor_compare,
  tensor_mask,
  tensor_write,
  tensor_part,
  begin_region,
  end_region,
  begin_range,
  end_range,
  begin_eager_break,
  end_eager_break,
  begin_allow,
  end_allow,
  host_known,
  no_return
};

enum class Direction : uint8_t { by_kind, to_host, to_device, on_device, on_host, by_address, by_field };

// Argument positions count from 0 without the object of a method; -1: there is none.
struct Api {
  std::string name;  // without version suffix
  Is is = Is::host_known;
  Direction direction = Direction::by_kind;
  Memory memory = Memory::unknown;
  int graph = -1, dst = -1, src = -1, bytes = -1, rows = -1, kind = -1, stream = -1, ptr = -1, handle = -1,
      parameters = -1, function = -1, arrays = -1, arguments = -1, rule_argument = -1, reason_argument = -1;
  std::vector<int> out, grid;
  std::vector<std::string> dst_fields, src_fields;
  std::string kind_field;
  bool async = false, batch = false, returns = false, returns_dst = false, host = false, scalar = false,
       waits = false, copies = false, iterator = false, stream_last = false,
       refused = false,   // on a stream that captures, in every mode
      pool = false,       // the capture keeps the tensors that are made in it
      allocates = false;  // memory for a tensor of its own
};

class Tables {
 public:
  // Adds one table; a later entry of a name replaces an earlier one. `where` names it in errors.
  Result<void> add(const std::string& json, const std::string& where);
  // By qualified name; null when nothing is known of it.
  const Api* find(std::string_view qualified) const;
  // By the beginning of its name alone.
  const Api* find_prefix(std::string_view name) const;

 private:
  struct Prefix {
    std::string prefix;
    std::vector<std::string> except;
    const Api* api;
  };
  std::unordered_map<std::string, const Api*> by_name_;
  std::vector<Prefix> prefixes_;
  std::vector<std::unique_ptr<Api>> all_;
};

// Whether a region is concerned with calls of it.
bool is_work_or_wait(const Api& api);

// The word of the tables for it: "copy".
std::string_view word_of(Is is);

// The tables that come with the tool.
const std::vector<std::pair<std::string, std::string>>& builtin_tables();

}  // namespace capgate::lint
