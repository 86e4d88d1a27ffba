#include "detector/preload/calls/launches.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>  // the parameter blocks

#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/cuda/node_params.h"

namespace capgate::preload {
namespace {

// A launch may name its kernel by either kind of handle.
void set_function(CUDA_KERNEL_NODE_PARAMS& to, CUfunction function) {
  const char* name = nullptr;
  const bool is_function =
      g_driver.func_name == nullptr || g_driver.func_name(&name, function) == CUDA_SUCCESS;
  if (is_function)
    to.func = function;
  else
    to.kern = reinterpret_cast<CUkernel>(function);
}

template <class Params>
void set_sizes(CUDA_KERNEL_NODE_PARAMS& to, const Params& from) {
  to.gridDimX = from.gridDimX, to.gridDimY = from.gridDimY, to.gridDimZ = from.gridDimZ;
  to.blockDimX = from.blockDimX, to.blockDimY = from.blockDimY, to.blockDimZ = from.blockDimZ;
  to.sharedMemBytes = from.sharedMemBytes;
}

bool read_launch(uint32_t cbid, const void* parameters, CUDA_KERNEL_NODE_PARAMS& to) {
  switch (cbid) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz: {
      const auto& given = *static_cast<const cuLaunchKernel_params*>(parameters);
      set_sizes(to, given);
      to.kernelParams = given.kernelParams;
      to.extra = given.extra;
      set_function(to, given.f);
      return true;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: {
      const auto& given = *static_cast<const cuLaunchCooperativeKernel_params*>(parameters);
      set_sizes(to, given);
      to.kernelParams = given.kernelParams;
      set_function(to, given.f);
      return true;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
      const auto& given = *static_cast<const cuLaunchKernelEx_params*>(parameters);
      if (given.config == nullptr) return false;
      set_sizes(to, *given.config);
      to.kernelParams = given.kernelParams;
      to.extra = given.extra;
      set_function(to, given.f);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

void write_launch(ThreadState& thread, uint64_t call_seq, uint32_t cbid, const void* parameters) {
  if (parameters == nullptr) return;
  CUDA_KERNEL_NODE_PARAMS launch{};
  if (read_launch(cbid, parameters, launch))
    write_kernel_node(thread, {trace::RecordType::eager_launch, call_seq}, nullptr, launch, true);
}

}  // namespace capgate::preload
