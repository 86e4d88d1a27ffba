#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/files/read_text.h"
#include "static_checks/cache/cache.h"
#include "static_checks/commands/files.h"
#include "static_checks/worker/stamp.h"

namespace capgate::lint {
namespace {

// The linker's build id of a 64-bit ELF file; empty if it has none.
std::string build_id(const std::string& bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return "";
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return "";
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const size_t at = header.e_phoff + i * sizeof segment;
    if (at + sizeof segment > bytes.size()) return "";
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    if (segment.p_type != PT_NOTE || segment.p_offset + segment.p_filesz > bytes.size()) continue;
    size_t note = segment.p_offset;
    const size_t end = note + segment.p_filesz;
    while (note + sizeof(Elf64_Nhdr) <= end) {
      Elf64_Nhdr head;
      std::memcpy(&head, bytes.data() + note, sizeof head);
      const size_t name = note + sizeof head;
      const size_t value = name + ((head.n_namesz + 3U) & ~3U);
      if (value + head.n_descsz > end) break;
      if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
          std::memcmp(bytes.data() + name, "GNU", 4) == 0)
        return bytes.substr(value, head.n_descsz);
      note = value + ((head.n_descsz + 3U) & ~3U);
    }
  }
  return "";
}

}  // namespace

std::string program_build(const std::string& path) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return "";
  const std::string id = build_id(*bytes);
  return id.empty() ? content_digest(*bytes) : id;
}

std::string program_identity(const std::string& path) {
  std::string identity = program_build(path);
  const FileStamp parser = stamp_of(canonical_path(CAPGATE_CLANG_LIBRARY));
  identity += '\0' + std::to_string(parser.size) + ' ' + std::to_string(parser.modified_ns);
  // The compiler takes search folders from these too.
  for (const char* variable : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"})
    if (const char* folders = std::getenv(variable)) identity += std::string("\n") + variable + '=' + folders;
  return identity;
}

}  // namespace capgate::lint
