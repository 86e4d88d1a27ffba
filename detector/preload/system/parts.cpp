#include "detector/preload/system/parts.h"

#include "detector/preload/system/sys.h"

namespace capgate::preload {
namespace {

std::atomic<uint32_t> g_without{0};

struct Name {
  const char* text;
  Part part;
};
constexpr Name kNames[] = {
    {"native-stacks", Part::native_stacks}, {"python-stacks", Part::python_stacks},
    {"known-stacks", Part::known_stacks},   {"operand-kinds", Part::operand_kinds},
    {"callbacks", Part::callbacks},         {"calls", Part::calls},
    {"audit-hook", Part::audit_hook},       {"pool-blocks", Part::pool_blocks},
};

}  // namespace

void read_parts() {
  uint32_t parts = 0;
  for (const char* word = setting("CAPGATE_WITHOUT"); *word != 0;) {
    const char* end = strchr(word, ',');
    const size_t n = end != nullptr ? size_t(end - word) : strlen(word);
    for (const Name& name : kNames)
      if (strlen(name.text) == n && memcmp(name.text, word, n) == 0) parts |= uint32_t(name.part);
    word += n + (end != nullptr ? 1 : 0);
  }
  g_without.store(parts, std::memory_order_relaxed);
}

bool without(Part part) {
  return (g_without.load(std::memory_order_relaxed) & uint32_t(part)) != 0;
}

}  // namespace capgate::preload
