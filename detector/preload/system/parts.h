// What a run can leave out so that its cost can be measured: CAPGATE_WITHOUT, names separated by commas. Such
// a run proves nothing, and its report says so.
#pragma once

#include <stdint.h>

namespace capgate::preload {

enum class Part : uint32_t {
  native_stacks = 1,  // "native-stacks"
  python_stacks = 2,  // "python-stacks"
  known_stacks = 4,   // "known-stacks": every stack is unwound and every Python stack written out
  operand_kinds = 8,  // "operand-kinds": what memory a copy's operands lie in
  callbacks = 16,     // "callbacks": subscribed, but no id is on
  calls = 32,         // "calls": callbacks return at once
  audit_hook = 64,    // "audit-hook": the interpreter's own events
  pool_blocks = 128,  // "pool-blocks": what a framework's allocator hands out
};

// Once, before the first callback.
void read_parts();

bool without(Part part);

}  // namespace capgate::preload
