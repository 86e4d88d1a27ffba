// A CUDA driver, runtime and CUPTI without a GPU: they keep just enough state to make the callbacks that the
// real ones make, in the order in which the real ones make them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <stdint.h>

// What the fake libcupti gives the fake libcuda when somebody subscribes.
struct FakeCupti {
  CUpti_CallbackFunc callback;
  void* user;
  const uint8_t* enabled;  // [domain][cbid], kFakeIds ids each
};
inline constexpr uint32_t kFakeIds = 2048;
// The primary contexts of the two devices.
inline const auto kFakeContextOfDevice0 = reinterpret_cast<CUcontext>(0x5000);
inline const auto kFakeContextOfDevice1 = reinterpret_cast<CUcontext>(0x5040);
// A kernel's function in the second one; the runtime's own are of no context.
inline const auto kFakeFunctionOfDevice1 = reinterpret_cast<CUfunction>(0x7040);

extern "C" {
extern FakeCupti g_fake_cupti;             // in libcuda
extern __thread CUcontext g_fake_context;  // current context
// Switches of single tests.
extern int g_fake_drop_enters;    // that many enter callbacks are not delivered
extern int g_fake_second_device;  // what the second context's device is called
void fake_driver_reset();
uint64_t fake_next_handle();
}

namespace fake {

// One API call: the enter callback in the constructor, the exit callback in the destructor.
class Call {
 public:
  Call(CUpti_CallbackDomain domain, uint32_t cbid, const char* name, const void* params,
       const char* symbol = nullptr);
  ~Call();
  int returns(int result) { return result_ = result; }

 private:
  void deliver(CUpti_ApiCallbackSite site);
  CUpti_CallbackDomain domain_;
  uint32_t cbid_;
  CUpti_CallbackData data_{};
  uint64_t correlation_ = 0;
  int result_ = 0;
};

void resource(CUpti_CallbackIdResource cbid, void* stream, void* descriptor);
// Of a context that need not be the current one.
void resource_of(CUcontext context, CUpti_CallbackIdResource cbid, void* stream, void* descriptor);

struct Stream {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  uint64_t id = 0;
  CUgraph graph = nullptr;
  bool blocking = true;
  CUcontext context = nullptr;
};

struct Node {
  CUgraphNodeType type;
  CUDA_KERNEL_NODE_PARAMS kernel;
  void* values[4];
  uint64_t storage[4];
  CUDA_MEMCPY3D copy;
  CUgraph child;
};

Node* add_node(CUgraph graph, CUgraphNodeType type);
Stream* stream_of(CUstream stream);  // null for the streams that nobody made

}  // namespace fake
