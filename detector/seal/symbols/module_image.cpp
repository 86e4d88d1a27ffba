#include "detector/seal/symbols/module_image.h"

#include <elfutils/libdwelf.h>

#include <cstdio>

#include "base/demangle.h"
#include "base/hex.h"

namespace capgate::seal {
namespace {

char* no_extra_path = nullptr;

// Separate debug files are looked for on this machine alone: with DEBUGINFOD_URLS unset (see Symboliser) the
// standard look-up asks no server.
const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &no_extra_path,
};

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

bool same_build(Elf* elf, const std::string& build_id) {
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  if (build_id.empty() || size <= 0) return true;
  std::string found;
  append_hex(found, bytes, static_cast<size_t>(size));
  return found == build_id;
}

}  // namespace

ModuleImage::ModuleImage(std::string path, const std::string& build_id)
    : path_(std::move(path)), session_(dwfl_begin(&kCallbacks), dwfl_end) {
  if (!session_ || path_.empty() || path_[0] != '/') return;
  dwfl_report_begin(session_.get());
  Dwfl_Module* module = dwfl_report_elf(session_.get(), path_.c_str(), path_.c_str(), -1, 0, true);
  dwfl_report_end(session_.get(), nullptr, nullptr);
  if (!module) return;
  GElf_Addr bias = 0, dwarf_bias = 0;
  Elf* elf = dwfl_module_getelf(module, &bias);
  if (!elf || !same_build(elf, build_id)) return;
  functions_ = std::make_unique<ElfFunctions>(elf);
  if (Dwarf* dwarf = dwfl_module_getdwarf(module, &dwarf_bias)) {
    lines_ = std::make_unique<DwarfLines>(dwarf);
    dwarf_shift_ = bias - dwarf_bias;
    // The file itself may be stripped while its debug file has the symbols.
    if (Elf* debug = dwarf_getelf(dwarf); debug && debug != elf && functions_->empty())
      functions_ = std::make_unique<ElfFunctions>(debug);
  }
}

reports::Frame ModuleImage::stripped(uint64_t address) const {
  reports::Frame frame;
  frame.language = reports::FrameLanguage::native;
  frame.module = path_;
  if (const ElfFunction* function = functions_ ? functions_->find(address) : nullptr)
    frame.function = demangle(function->name) + "+" + hex(address - function->start);
  else
    frame.function = "+" + hex(address);
  return frame;
}

std::vector<reports::Frame> ModuleImage::frames_at(uint64_t address) const {
  std::vector<reports::Frame> frames;
  if (lines_) {
    for (auto& place : lines_->find(address + dwarf_shift_)) {
      reports::Frame frame;
      frame.language = reports::FrameLanguage::native;
      frame.module = path_;
      frame.function = std::move(place.function);
      frame.file = std::move(place.file);
      frame.line = place.line;
      frame.inlined = place.inlined;
      if (frame.function.empty()) frame.function = stripped(address).function;
      frames.push_back(std::move(frame));
    }
  }
  if (frames.empty()) frames.push_back(stripped(address));
  return frames;
}

}  // namespace capgate::seal
