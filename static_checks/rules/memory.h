// What the rules say of memory.
#pragma once

#include <string>

#include "static_checks/domain/state.h"
#include "static_checks/rules/rule.h"

namespace capgate::lint {

bool is_pageable(Memory memory);     // certainly so
const char* kind_of(Memory memory);  // "memory on the stack"

// Of a copy, as reports say it: "device to host", "host to device", "device to device"; empty where the
// source does not tell.
std::string direction_of(const CallEvent& copy);

}  // namespace capgate::lint
