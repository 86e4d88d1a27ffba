#include "detector/preload/table/newer_calls.h"

#include "detector/preload/cuda/cupti_api.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/table/call_shape.h"
#include "detector/preload/writer/counters.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kNewerIds = 384;  // how far beyond the table's ids a newer CUPTI is asked for names

}  // namespace

void adopt_newer_calls(ThreadState& thread) {
  if (g_cupti.name == nullptr) return;
  for (uint32_t domain = 1; domain <= 2; ++domain) {
    const uint32_t first = call_ids(domain);
    for (uint32_t cbid = first; cbid < first + kNewerIds && cbid < kMaxIds; ++cbid) {
      const char* name = nullptr;
      if (g_cupti.name(CUpti_CallbackDomain(domain), cbid, &name) != CUPTI_SUCCESS || name == nullptr) break;
      if (strstr(name, "INVALID") != nullptr || strstr(name, "SIZE") != nullptr || *name == 0) break;
      const trace::Family family = family_of_name(domain, name);
      if (family == trace::Family::other) continue;
      if (family == trace::Family::count) {
        Text text;
        text << "unknown-cbid:" << (domain == 1 ? "driver:" : "runtime:") << uint64_t(cbid) << ":" << name;
        count(thread, text.c_str(), 0);
        continue;
      }
      adopt_call(domain, cbid, family);
      if (debugging()) debug(Text() << name << " is newer than this library: watched by its name");
    }
  }
}

}  // namespace capgate::preload
