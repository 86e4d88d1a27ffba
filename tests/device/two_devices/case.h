// One case of the table for two devices: something that is done while a stream of device 0 is being captured,
// or with the graph that came of it, in one capture mode.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <vector>

namespace two_devices {

// What a case may use; everything is made before the capture begins. [0] is device 0's, [1] device 1's.
struct Things {
  cudaStream_t stream[2] = {};  // not blocking; stream[0] is captured
  cudaEvent_t event[2] = {};    // never recorded
  cudaEvent_t before[2] = {};   // recorded and done
  int* in[2] = {};              // what the work reads: 5 while capturing, 7 while replaying
  int* out[2] = {};             // what it writes: 0 before both
  int* pinned = nullptr;        // holds the same as in
  int* counted = nullptr;       // on device 0, by the kernel that is captured before the case
  CUfunction function[2] = {};  // copy_int, loaded in each device's context
  CUkernel kernel = nullptr;    // the same, of no context
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  cudaGraphExec_t exec = nullptr;       // of the capture, for the cases that launch it themselves
  cudaGraphExec_t exec_of_1 = nullptr;  // a graph of device 1, captured before
  cudaGraph_t graph_of_1 = nullptr;     // of a second capture that the case made
};

// cudaError_t or CUresult, whose values agree for everything about captures.
using Run = int (*)(Things&);

struct Case {
  const char* family;
  const char* name;
  Run run;             // in the capture, with device 0 current; it may make device 1 current
  int writes = -1;     // the device whose `out` its work writes; -1: it does no work
  bool alone = false;  // nothing else is captured
  bool peers = true;   // peer access is on, where the machine has it
  bool both_threads = false;
  int begins_on = 0;  // the device that is current at the begin and at the end of the capture
  int ends_on = 0;
  Run replay = nullptr;  // in place of a launch on stream[0]; its result is then the call's
};

// The table's rows, a file a few families.
std::vector<Case> elsewhere_cases();
std::vector<Case> current_device_cases();
std::vector<Case> peer_cases();
std::vector<Case> graph_cases();

__global__ void touch(int* x);
__global__ void copy_int(int* to, const int* from);

}  // namespace two_devices
