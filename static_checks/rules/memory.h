// What the rules say of memory.
#pragma once

#include "static_checks/dataflow/state.h"

namespace capgate::lint {

bool is_pageable(Memory memory);     // certainly so
const char* kind_of(Memory memory);  // "memory on the stack"

}  // namespace capgate::lint
