#include "detector/preload/cuda/first_callback.h"

#include <cupti.h>

#include "detector/preload/cuda/cupti_api.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

std::atomic<bool> g_noted{false};

void forget_in_child() {
  g_noted.store(false);
}

}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

// A call of our own would do, but goes unseen while the driver initialises.
void watch_first_calls() {
  for (const auto call :
       {CUPTI_DRIVER_TRACE_CBID_cuInit, CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
        CUPTI_DRIVER_TRACE_CBID_cuDeviceGet, CUPTI_DRIVER_TRACE_CBID_cuDeviceGetCount,
        CUPTI_DRIVER_TRACE_CBID_cuDeviceGetName, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain})
    g_cupti.enable(1, subscriber(), CUPTI_CB_DOMAIN_DRIVER_API, call);
}

void note_callback(ThreadState& thread) {
  if (!g_noted.load(std::memory_order_relaxed) && !g_noted.exchange(true))
    write_meta(thread, "cupti.proof", "a callback arrived");
}

}  // namespace capgate::preload
