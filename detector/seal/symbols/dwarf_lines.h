// From an address to functions and lines by DWARF, inlined calls included.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

namespace capgate::seal {

struct SourcePlace {
  std::string function;  // empty: DWARF does not name it
  std::string file;      // empty: unknown
  int line = 0;
  bool inlined = false;  // into the next one
};

class DwarfLines {
 public:
  explicit DwarfLines(Dwarf* dwarf);

  // Innermost first; empty when no unit covers the address (of the file).
  std::vector<SourcePlace> find(uint64_t address) const;

 private:
  struct UnitRange {
    uint64_t start = 0, end = 0;
    size_t unit = 0;
  };
  Dwarf* dwarf_;
  mutable std::vector<Dwarf_Die> units_;
  std::vector<UnitRange> ranges_;  // by start
};

}  // namespace capgate::seal
