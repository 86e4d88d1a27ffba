#include "cli/audit/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace capgate::cli {
namespace {

bool is_file(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Result<std::string> locate(const std::string& word) {
  if (word.find('/') != std::string::npos) {
    struct stat info{};
    if (stat(word.c_str(), &info) != 0)
      return Error{fmt::format("cannot run {}: {}", word, std::strerror(errno))};
    if (S_ISDIR(info.st_mode)) return Error{fmt::format("cannot run {}: it is a directory", word)};
    if (access(word.c_str(), X_OK) != 0)
      return Error{fmt::format("cannot run {}: {}", word, std::strerror(errno))};
    return word;
  }
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/bin:/usr/bin";
  std::string forbidden;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    std::string folder = path.substr(begin, end - begin);
    if (folder.empty()) folder = ".";
    const std::string candidate = folder + "/" + word;
    if (is_file(candidate)) {
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
      if (forbidden.empty()) forbidden = candidate;
    }
    begin = end + 1;
  }
  if (!forbidden.empty()) return Error{fmt::format("cannot run {}: {} is not executable", word, forbidden)};
  return Error{fmt::format("cannot run {}: no such command on PATH", word)};
}

struct CloseElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

void read_dynamic(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ProgramFile& file) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const size_t entries = header.sh_size / header.sh_entsize;
  for (size_t i = 0; i < entries; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) return;
    if (entry.d_tag != DT_NEEDED) continue;
    const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    if (name == nullptr) continue;
    const std::string_view library(name);
    if (library.starts_with("libasan.so") || library.starts_with("libclang_rt.asan")) {
      file.sanitizer = "AddressSanitizer";
    }
  }
}

void read_elf(int fd, ProgramFile& file) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, CloseElf> elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr));
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return;
  file.is_elf = true;

  size_t segments = 0;
  if (elf_getphdrnum(elf.get(), &segments) != 0) return;
  bool has_loader = false;
  for (size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr) return;
    has_loader = has_loader || segment.p_type == PT_INTERP;
  }
  file.is_static = !has_loader;

  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type == SHT_DYNAMIC) read_dynamic(elf.get(), section, header, file);
  }
}

}  // namespace

Result<ProgramFile> find_program(const std::string& word) {
  auto path = locate(word);
  if (!path) return Error{path.error()};
  ProgramFile file;
  file.path = *path;

  struct stat info{};
  const bool known = stat(file.path.c_str(), &info) == 0;
  const bool set_user = known && (info.st_mode & S_ISUID) != 0 && info.st_uid != geteuid();
  const bool set_group = known && (info.st_mode & S_ISGID) != 0 && info.st_gid != getegid();
  const bool capable = getxattr(file.path.c_str(), "security.capability", nullptr, 0) > 0;
  file.is_privileged = set_user || set_group || capable;

  const int fd = open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {  // a program may be executable without being readable; then nothing more is known of it
    read_elf(fd, file);
    close(fd);
  }
  return file;
}

}  // namespace capgate::cli
