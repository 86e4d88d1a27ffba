// Calls on the captured stream of device 0 while device 1 is current, and with what is of device 1.
#include "case.h"

namespace two_devices {
namespace {

int driver_launch(CUfunction function, CUstream stream, int* to, const int* from) {
  void* arguments[] = {&to, &from};
  return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

void nothing(void*) {}

}  // namespace

std::vector<Case> current_device_cases() {
  const char* work = "device 1 is current, the captured stream is device 0's";
  const char* things = "function and events of device 1 on the captured stream, device 0 is current";
  const char* memory = "memory of device 1 on the captured stream";
  constexpr auto across = cudaMemcpyDeviceToDevice;
  return {
      {work, "kernel on captured",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         copy_int<<<1, 1, 0, t.stream[0]>>>(t.out[0], t.in[0]);
         return cudaGetLastError();
       },
       0},
      {work, "cuLaunchKernel(captured, function of device 0)",
       [](Things& t) {
         (void)cudaSetDevice(1);
         return driver_launch(t.function[0], t.stream[0], t.out[0], t.in[0]);
       },
       0},
      {work, "cuLaunchKernel(captured, function of device 1)",
       [](Things& t) {
         (void)cudaSetDevice(1);
         return driver_launch(t.function[1], t.stream[0], t.out[0], t.in[0]);
       },
       0},
      {work, "cuLaunchKernel(captured, kernel of no context)",
       [](Things& t) {
         (void)cudaSetDevice(1);
         return driver_launch(reinterpret_cast<CUfunction>(t.kernel), t.stream[0], t.out[0], t.in[0]);
       },
       0},
      {work, "cudaMemcpyAsync(captured, device 0 to device 0)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaMemcpyAsync(t.out[0], t.in[0], sizeof(int), across, t.stream[0]);
       },
       0},
      {work, "cudaMemcpyAsync(captured, pinned to device 0)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaMemcpyAsync(t.out[0], t.pinned, sizeof(int), cudaMemcpyHostToDevice, t.stream[0]);
       },
       0},
      {work, "cudaMemsetAsync(captured, memory of device 0)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaMemsetAsync(t.out[0], 7, sizeof(int), t.stream[0]);
       },
       0},
      {work, "cudaMallocAsync(captured)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         void* block = nullptr;
         return cudaMallocAsync(&block, 256, t.stream[0]);
       }},
      {work, "cudaLaunchHostFunc(captured)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaLaunchHostFunc(t.stream[0], nothing, nullptr);
       }},
      {work, "cudaEventRecord(captured, event of device 0)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaEventRecord(t.event[0], t.stream[0]);
       }},
      {work, "cudaEventRecord(captured, event of device 1)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaEventRecord(t.event[1], t.stream[0]);
       }},
      {work, "cudaStreamWaitEvent(captured, event of device 1 from before)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaStreamWaitEvent(t.stream[0], t.before[1], 0);
       }},
      {work, "cudaStreamIsCapturing(captured)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
         return cudaStreamIsCapturing(t.stream[0], &status);
       }},
      {work, "the begin of the capture",
       [](Things& t) -> int {
         copy_int<<<1, 1, 0, t.stream[0]>>>(t.out[0], t.in[0]);
         return cudaGetLastError();
       },
       0, false, true, false, 1, 0},
      {work, "the end of the capture",
       [](Things& t) -> int {
         copy_int<<<1, 1, 0, t.stream[0]>>>(t.out[0], t.in[0]);
         return cudaGetLastError();
       },
       0, false, true, false, 0, 1},
      {things, "cuLaunchKernel(captured, function of device 1), device 0 current",
       [](Things& t) { return driver_launch(t.function[1], t.stream[0], t.out[0], t.in[0]); }, 0},
      {things, "cudaEventRecord(captured, event of device 1), device 0 current",
       [](Things& t) -> int { return cudaEventRecord(t.event[1], t.stream[0]); }},
      {things, "cudaEventRecord(captured, event of device 1, external), device 0 current",
       [](Things& t) -> int {
         return cudaEventRecordWithFlags(t.event[1], t.stream[0], cudaEventRecordExternal);
       }},
      {things, "cudaStreamWaitEvent(captured, event of device 1 never recorded), device 0 current",
       [](Things& t) -> int { return cudaStreamWaitEvent(t.stream[0], t.event[1], 0); }},
      {things, "cudaStreamWaitEvent(captured, event of device 1 from before), device 0 current",
       [](Things& t) -> int { return cudaStreamWaitEvent(t.stream[0], t.before[1], 0); }},
      {memory, "cudaMemcpyAsync(captured, device 1 to device 1)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.out[1], t.in[1], sizeof(int), across, t.stream[0]); },
       1},
      {memory, "cudaMemcpyAsync(captured, device 1 to device 1), device 1 current",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaMemcpyAsync(t.out[1], t.in[1], sizeof(int), across, t.stream[0]);
       },
       1},
      {memory, "cudaMemsetAsync(captured, memory of device 1)",
       [](Things& t) -> int { return cudaMemsetAsync(t.out[1], 7, sizeof(int), t.stream[0]); }, 1},
      {memory, "cudaMemsetAsync(captured, memory of device 1), device 1 current",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaMemsetAsync(t.out[1], 7, sizeof(int), t.stream[0]);
       },
       1},
      {memory, "kernel on captured writes there, peer access on",
       [](Things& t) -> int {
         copy_int<<<1, 1, 0, t.stream[0]>>>(t.out[1], t.in[0]);
         return cudaGetLastError();
       },
       1},
      {memory, "kernel on captured writes there, peer access off",
       [](Things& t) -> int {
         copy_int<<<1, 1, 0, t.stream[0]>>>(t.out[1], t.in[0]);
         return cudaGetLastError();
       },
       1, false, false},
  };
}

}  // namespace two_devices
