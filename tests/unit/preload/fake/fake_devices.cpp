// The fake runtime's second device.
#include "tests/unit/preload/fake/fake_runtime.h"

namespace fake_rt {

int set_device(int device) {
  cuInit(0);
  cudaSetDevice_v3020_params params{device};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020, "cudaSetDevice",
                  &params);
  static bool made = false;
  if (device == 1 && !made) {
    made = true;
    // While the new context is being made, the old one is current: its own streams and modules come now.
    static fake::Stream internal;
    CUpti_ModuleResourceData module{};
    fake::resource_of(kFakeContextOfDevice1, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, nullptr, nullptr);
    fake::resource_of(kFakeContextOfDevice1, CUPTI_CBID_RESOURCE_STREAM_CREATED, &internal, nullptr);
    fake::resource_of(kFakeContextOfDevice1, CUPTI_CBID_RESOURCE_MODULE_LOADED, nullptr, &module);
  }
  g_fake_context = device == 1 ? kFakeContextOfDevice1 : kFakeContextOfDevice0;
  return call.returns(0);
}

}  // namespace fake_rt
