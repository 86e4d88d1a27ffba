// The functions of a module's symbol table, sorted once: libdwfl's own look-up walks all symbols each time,
// which takes milliseconds in a library of half a million.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Elf;

namespace capgate::seal {

struct ElfFunction {
  uint64_t start = 0;
  uint64_t size = 0;           // 0: unknown, it reaches to the next one
  const char* name = nullptr;  // lives as long as the Elf
};

class ElfFunctions {
 public:
  // .symtab where there is one, else .dynsym.
  explicit ElfFunctions(Elf* elf);

  // The function around `address` (of the file), null when none covers it.
  const ElfFunction* find(uint64_t address) const;
  bool empty() const { return functions_.empty(); }

 private:
  std::vector<ElfFunction> functions_;  // by start
};

}  // namespace capgate::seal
