#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "base/hex.h"
#include "reports/digest/sha256.h"
#include "reports/gate/digests.h"

namespace capgate::gate {
namespace {

class ElfFile {
 public:
  static Result<ElfFile> open(const std::string& path) {
    elf_version(EV_CURRENT);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return Error{path + ": " + std::strerror(errno)};
    ElfFile file(fd, elf_begin(fd, ELF_C_READ_MMAP, nullptr));
    if (!file.elf_ || elf_kind(file.elf_.get()) != ELF_K_ELF) return Error{path + ": is not an ELF file"};
    return file;
  }

  Elf* get() const { return elf_.get(); }

  // In the order of the file.
  bool each_section(const std::function<void(std::string_view name, Elf_Scn*)>& visit) const {
    size_t names;
    if (elf_getshdrstrndx(elf_.get(), &names) != 0) return false;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section));) {
      GElf_Shdr header;
      if (!gelf_getshdr(section, &header)) return false;
      const char* section_name = elf_strptr(elf_.get(), names, header.sh_name);
      if (section_name && header.sh_type != SHT_NOBITS) visit(section_name, section);
    }
    return true;
  }

 private:
  struct CloseFd {
    int fd;
    explicit CloseFd(int value) : fd(value) {}
    CloseFd(CloseFd&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
    CloseFd& operator=(CloseFd&&) = delete;
    ~CloseFd() {
      if (fd >= 0) ::close(fd);
    }
  };
  ElfFile(int fd, Elf* elf) : fd_(fd), elf_(elf, &elf_end) {}
  CloseFd fd_;
  std::unique_ptr<Elf, int (*)(Elf*)> elf_;
};

// Not .capgate.source, which follows the sources and not the code; not the tables of addresses, which follow
// the linker.
bool is_code(std::string_view name) {
  return name == ".text" || name.substr(0, 6) == ".text." || name == ".rodata" ||
         name.substr(0, 8) == ".rodata." || name == ".nv_fatbin" || name == "__nv_relfatbin";
}

}  // namespace

Result<std::string> build_id(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file) return Error{file.error()};
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(file->get(), &bytes);
  if (size <= 0) return Error{path + ": has no build id; link it with -Wl,--build-id"};
  std::string text;
  append_hex(text, bytes, static_cast<size_t>(size));
  return text;
}

Result<std::string> source_digest(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file) return Error{file.error()};
  std::string digest;
  file->each_section([&](std::string_view name, Elf_Scn* section) {
    if (name != ".capgate.source") return;
    if (const Elf_Data* data = elf_rawdata(section, nullptr); data && data->d_buf)
      digest.assign(static_cast<const char*>(data->d_buf),
                    ::strnlen(static_cast<const char*>(data->d_buf), std::min<size_t>(data->d_size, 64)));
  });
  if (digest.empty()) return Error{path + ": no source digest was linked into it (capgate_source_digest)"};
  return digest;
}

Result<std::string> code_digest(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file) return Error{file.error()};
  Sha256 digest;
  bool any = false, whole = true;
  const bool readable = file->each_section([&](std::string_view name, Elf_Scn* section) {
    if (!is_code(name)) return;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (!data || !data->d_buf) {
      whole = whole && data && data->d_size == 0;
      return;
    }
    any = true;
    digest.update(std::string(name) + '\0' + std::to_string(data->d_size) + '\0');
    digest.update(data->d_buf, data->d_size);
  });
  if (!readable || !whole) return Error{path + ": is a damaged ELF file"};
  if (!any) return Error{path + ": has no code"};
  return digest.hex();
}

}  // namespace capgate::gate
