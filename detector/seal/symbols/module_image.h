// One ELF file on disk with its symbols and, where there is any, its debug information.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "detector/seal/symbols/dwarf_lines.h"
#include "detector/seal/symbols/elf_functions.h"
#include "reports/model/report.h"

namespace capgate::seal {

class ModuleImage {
 public:
  // `build_id` in hex, empty when the process did not record one: a file with another is not used.
  ModuleImage(std::string path, const std::string& build_id);

  // `address` is the file's own (ip - bias).
  std::vector<reports::Frame> frames_at(uint64_t address) const;

 private:
  reports::Frame stripped(uint64_t address) const;

  std::string path_;
  std::unique_ptr<Dwfl, decltype(&dwfl_end)> session_;
  std::unique_ptr<ElfFunctions> functions_;
  std::unique_ptr<DwarfLines> lines_;
  uint64_t dwarf_shift_ = 0;  // added to a file address for DWARF, which may lie in a separate file
};

}  // namespace capgate::seal
