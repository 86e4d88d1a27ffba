// The fake libcupti.so.13. FAKE_CUPTI picks how it behaves: held (another subscriber is there), deaf (no
// callback ever arrives), broken (subscribing fails).
#include "tests/unit/preload/fake/fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {
uint8_t g_enabled[8 * kFakeIds];
bool g_taken = false;
int g_enables = 0;
bool behaves(const char* how) {
  const char* value = getenv("FAKE_CUPTI");
  return value != nullptr && strcmp(value, how) == 0;
}
}  // namespace

extern "C" {

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* user,
                              CUpti_SubscriberParams* params) {
  if (behaves("held") || g_taken) {
    if (params != nullptr && params->oldSubscriberName != nullptr)
      snprintf(params->oldSubscriberName, params->oldSubscriberSize, "CUPTI for %s", "Rival Tool");
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  if (behaves("broken")) return CUPTI_ERROR_UNKNOWN;
  g_taken = true;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(g_enabled);
  if (!behaves("deaf")) g_fake_cupti = {callback, user, g_enabled};
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* user) {
  return cuptiSubscribe_v2(subscriber, callback, user, nullptr);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  g_fake_cupti = {};
  g_taken = false;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId cbid) {
  ++g_enables;
  g_enabled[uint32_t(domain) * kFakeIds + cbid] = uint8_t(enable);
  return CUPTI_SUCCESS;
}

// Two calls that the build's headers do not know: one of a watched kind, one of no known kind.
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  const uint32_t first = CUPTI_RUNTIME_TRACE_CBID_SIZE;
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API || cbid < first || cbid > first + 1)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *name = cbid == first ? "cudaStreamSynchronize_v99000" : "cudaTeleport_v99000";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t* version) {
  return *version = CUPTI_API_VERSION, CUPTI_SUCCESS;
}
CUptiResult cuptiFinalize() {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** str) {
  return *str = "CUPTI_ERROR_UNKNOWN", CUPTI_SUCCESS;
}

// How often callbacks were switched.
int fake_cupti_enables() {
  return g_enables;
}

// A fatal error inside CUPTI, as it tells its subscriber.
void fake_cupti_dies() {
  CUpti_StateData data{};
  data.notification.message = "the GPU fell off the bus";
  g_fake_cupti.callback(g_fake_cupti.user, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
}

}  // extern "C"
