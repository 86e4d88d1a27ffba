// One capture over both devices, a capture on each, and how a graph of device 0 is launched.
#include <initializer_list>

#include "case.h"

namespace two_devices {
namespace {

int kernel(int device, cudaStream_t stream, int* to, const int* from) {
  (void)cudaSetDevice(device);
  copy_int<<<1, 1, 0, stream>>>(to, from);
  return cudaGetLastError();
}

int fork(Things& t) {
  const int result = cudaEventRecord(t.event[0], t.stream[0]);
  return result != 0 ? result : cudaStreamWaitEvent(t.stream[1], t.event[0], 0);
}

int join(Things& t) {
  (void)cudaSetDevice(1);
  const int result = cudaEventRecord(t.event[1], t.stream[1]);
  return result != 0 ? result : cudaStreamWaitEvent(t.stream[0], t.event[1], 0);
}

// The first that fails.
int all(std::initializer_list<int> results) {
  for (const int result : results)
    if (result != 0) return result;
  return 0;
}

int forked_and_joined(Things& t) {
  return all({fork(t), kernel(1, t.stream[1], t.out[1], t.in[1]), join(t)});
}

int both_captures(Things& t, bool joined) {
  (void)cudaSetDevice(1);
  const int begun = cudaStreamBeginCapture(t.stream[1], t.mode);
  const int launched = kernel(1, t.stream[1], t.out[1], t.in[1]);
  const int met = joined ? join(t) : 0;
  const int ended = cudaStreamEndCapture(t.stream[1], &t.graph_of_1);
  return all({begun, launched, met, ended});
}

int captured_kernel(Things& t) {
  return kernel(0, t.stream[0], t.out[0], t.in[0]);
}

}  // namespace

std::vector<Case> graph_cases() {
  const char* over = "one capture over both devices";
  const char* two = "a capture on each device, at once";
  const char* replay = "launches of a graph of device 0";
  std::vector<Case> cases = {
      {over, "fork to device 1, kernel there, join", forked_and_joined, 1},
      {over, "fork to device 1, kernel there, join; nothing on device 0", forked_and_joined, 1, true},
      {over, "fork to device 1, kernel there, no join",
       [](Things& t) { return all({fork(t), kernel(1, t.stream[1], t.out[1], t.in[1])}); }, 1},
      {over, "fork to device 1, kernel there with device 0 current, join",
       [](Things& t) {
         const int launched = all({fork(t), kernel(0, t.stream[1], t.out[1], t.in[1])});
         return all({launched, join(t)});
       },
       1},
      {over, "fork to device 1, cudaMemcpyAsync(0 to 1) there, join",
       [](Things& t) {
         const int forked = fork(t);
         (void)cudaSetDevice(1);
         const int copied = cudaMemcpyAsync(t.out[1], t.in[0], sizeof(int), cudaMemcpyDefault, t.stream[1]);
         return all({forked, copied, join(t)});
       },
       1},
      {over, "join of work of device 1 that was never forked",
       [](Things& t) { return all({kernel(1, t.stream[1], t.out[1], t.in[1]), join(t)}); }, 1},
      {two, "kernel in each", [](Things& t) { return both_captures(t, false); }, 1, false, true, false, 0, 0,
       [](Things& t) -> int {
         cudaGraphExec_t other = nullptr;
         (void)cudaSetDevice(1);
         const int made = cudaGraphInstantiate(&other, t.graph_of_1, 0);
         if (made != 0) return made;
         return all({cudaGraphLaunch(t.exec, t.stream[0]), cudaGraphLaunch(other, t.stream[1])});
       }},
      {two, "kernel in each, and a join of both", [](Things& t) { return both_captures(t, true); }, 1},
  };
  const auto launch = [&](const char* name, Run run) {
    cases.push_back({replay, name, captured_kernel, 0, true, true, false, 0, 0, run});
  };
  launch("its own stream", [](Things& t) -> int { return cudaGraphLaunch(t.exec, t.stream[0]); });
  launch("its own stream, device 1 current", [](Things& t) -> int {
    (void)cudaSetDevice(1);
    return cudaGraphLaunch(t.exec, t.stream[0]);
  });
  launch("a stream of device 1, device 1 current", [](Things& t) -> int {
    (void)cudaSetDevice(1);
    return cudaGraphLaunch(t.exec, t.stream[1]);
  });
  launch("a stream of device 1, device 0 current",
         [](Things& t) -> int { return cudaGraphLaunch(t.exec, t.stream[1]); });
  launch("the legacy stream of device 1", [](Things& t) -> int {
    (void)cudaSetDevice(1);
    return cudaGraphLaunch(t.exec, cudaStreamLegacy);
  });
  launch("its own stream, after an upload to a stream of device 1", [](Things& t) -> int {
    (void)cudaSetDevice(1);
    return all({cudaGraphUpload(t.exec, t.stream[1]), cudaGraphLaunch(t.exec, t.stream[0])});
  });
  return cases;
}

}  // namespace two_devices
