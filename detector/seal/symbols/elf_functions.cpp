#include "detector/seal/symbols/elf_functions.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>

namespace capgate::seal {
namespace {

void add_table(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::vector<ElfFunction>& out) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data || header.sh_entsize == 0) return;
  const size_t count = header.sh_size / header.sh_entsize;
  out.reserve(out.size() + count);
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, static_cast<int>(i), &symbol)) break;
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name && *name) out.push_back({symbol.st_value, symbol.st_size, name});
  }
}

}  // namespace

ElfFunctions::ElfFunctions(Elf* elf) {
  for (const auto wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) && header.sh_type == static_cast<GElf_Word>(wanted))
        add_table(elf, section, header, functions_);
    }
    if (!functions_.empty()) break;
  }
  // Of several names at one address, the one with a size, then the first by name: the same on every run.
  std::sort(functions_.begin(), functions_.end(), [](const ElfFunction& a, const ElfFunction& b) {
    if (a.start != b.start) return a.start < b.start;
    if ((a.size != 0) != (b.size != 0)) return a.size != 0;
    return std::string_view(a.name) < std::string_view(b.name);
  });
  functions_.erase(std::unique(functions_.begin(), functions_.end(),
                               [](const auto& a, const auto& b) { return a.start == b.start; }),
                   functions_.end());
}

const ElfFunction* ElfFunctions::find(uint64_t address) const {
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](uint64_t value, const ElfFunction& f) { return value < f.start; });
  if (after == functions_.begin()) return nullptr;
  const ElfFunction& function = *--after;
  return function.size && address >= function.start + function.size ? nullptr : &function;
}

}  // namespace capgate::seal
