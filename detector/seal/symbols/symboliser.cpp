#include "detector/seal/symbols/symboliser.h"

#include <cstdlib>

#include "detector/seal/symbols/module_image.h"

namespace capgate::seal {

Symboliser::Symboliser() {
  ::unsetenv("DEBUGINFOD_URLS");
  nowhere_.push_back({});
  nowhere_.front().language = reports::FrameLanguage::native;
}

Symboliser::~Symboliser() = default;

const std::vector<reports::Frame>& Symboliser::frames_at(const std::vector<trace::Module>& modules,
                                                         uint64_t return_address) {
  // The call stands before the address it returns to.
  const uint64_t ip = return_address - 1;
  // A later mapping of the same addresses replaced the earlier one.
  const trace::Module* module = nullptr;
  for (const auto& candidate : modules)
    if (ip >= candidate.start && ip < candidate.end) module = &candidate;
  if (!module) return nowhere_;
  auto& image = images_[module->path + '\0' + module->build_id];
  if (!image) image = std::make_unique<ModuleImage>(module->path, module->build_id);
  const uint64_t address = ip - module->bias;
  const auto [at, fresh] = known_.try_emplace({image.get(), address});
  if (fresh) at->second = image->frames_at(address);
  return at->second;
}

}  // namespace capgate::seal
