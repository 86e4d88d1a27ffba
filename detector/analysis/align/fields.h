// The values of a launch that a graph keeps, one by one: its sizes and the words of its parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// bytes: of a copy or a memset.
enum class FieldKind : uint8_t { grid, block, shared, parameter, bytes };

struct Field {
  FieldKind kind = FieldKind::grid;
  uint32_t index = 0;             // of the dimension, or of the parameter
  uint32_t offset = 0, size = 0;  // within the parameter
  uint64_t value = 0;
  std::string type;  // of the parameter; empty: not known
  // A scalar: what the host passes as a value. Else a word of a structure, of which nothing tells whether
  // anybody set it.
  bool scalar = true;

  bool is_same(const Field& other) const {
    return kind == other.kind && index == other.index && offset == other.offset && size == other.size;
  }
};

// Of a kernel's launch or node. What may be a pointer is left out, in some launches of a kernel and not in
// others where its type is not known; so is the state of random generators, which a capture takes by pointer.
std::vector<Field> fields_of(const trace::ProcessTrace& trace, const trace::GraphNodeRecord& record);

// Addresses of a kernel's launch or node.
struct PointerField {
  uint32_t parameter = 0, offset = 0;
  uint64_t address = 0;
};
std::vector<PointerField> pointers_of(const trace::ProcessTrace& trace, const trace::GraphNodeRecord& record);

// "argument 4 (int)", "the grid's x".
std::string name_of(const Field& field);
// As its type writes it: "12", "0.5", "0x7f00".
std::string value_text(const Field& field);
std::string bits_text(const Field& field);  // "0x0000000c"
double number_of(const Field& field);

}  // namespace capgate::analysis
