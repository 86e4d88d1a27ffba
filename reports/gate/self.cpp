#include <link.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/hex.h"
#include "reports/gate/digests.h"

// Linked in by capgate_source_digest(); a program without it still links.
extern "C" __attribute__((weak)) const char capgate_source_digest[65];

namespace capgate::gate {
namespace {

std::string hex(const unsigned char* bytes, size_t size) {
  std::string text;
  append_hex(text, bytes, size);
  return text;
}

// dl_iterate_phdr calls this for the main program first; the non-zero answer ends the walk there.
int read_main_program(dl_phdr_info* info, size_t, void* out) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(info->dlpi_addr + header.p_vaddr);
    const auto* end = at + header.p_memsz;
    const size_t align = header.p_align >= 8 ? 8 : 4;
    const auto padded = [&](size_t size) { return (size + align - 1) & ~(align - 1); };
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const auto* note_name = at + sizeof note;
      const auto* description = note_name + padded(note.n_namesz);
      if (description + note.n_descsz > end) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(note_name, "GNU", 4) == 0) {
        *static_cast<std::string*>(out) = hex(description, note.n_descsz);
        return 1;
      }
      at = description + padded(note.n_descsz);
    }
  }
  return 1;
}

}  // namespace

std::string self_build_id() {
  std::string id;
  dl_iterate_phdr(read_main_program, &id);
  return id;
}

std::string self_source_digest() {
  const volatile auto address = reinterpret_cast<uintptr_t>(&capgate_source_digest);
  return address ? std::string(capgate_source_digest, ::strnlen(capgate_source_digest, 64)) : std::string();
}

std::string self_code_digest() {
  auto digest = code_digest("/proc/self/exe");
  return digest ? *digest : std::string();
}

std::string driver_branch(const std::string& driver_version) {
  return driver_version.substr(0, driver_version.find('.'));
}

std::string architecture(const std::string& sm) {
  std::string number;
  for (const char c : sm)
    if (std::isdigit(static_cast<unsigned char>(c))) number += c;
  return number;
}

}  // namespace capgate::gate
