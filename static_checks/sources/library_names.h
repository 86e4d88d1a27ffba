// Names of the standard library and of thrust that the analysis knows.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "static_checks/ir/program.h"

namespace capgate::lint {

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Of what an expression denotes; null: of no class.
const Record* record_of(const Node* n);

// Smart pointers, iterators, optional: what is behind them is what counts.
bool is_pointer_like(const std::string& name);
// A pointer to a function, or the standard library's objects that hold something to call.
bool holds_a_callable(const Type* type);
// The standard library's function objects that call nothing of the user's: std::less, std::hash.
bool is_harmless_callable(const std::string& name);
// What it returns says how it went, not what it was given.
bool returns_a_code(const Function& function);
bool is_device_container(const std::string& name);
bool is_device_reference(const std::string& name);

// The default allocator gives pageable memory; of another nothing is known.
bool has_default_allocator(const Type* type);
// Of a unique_ptr: what it holds comes from `new`.
bool has_default_deleter(const Type* type);

}  // namespace capgate::lint
