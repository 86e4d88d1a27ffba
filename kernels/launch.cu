#include "kernels/launch.h"

#include "kernels/profile.h"

namespace dsv4::kernels {
namespace {

bool g_wanted = true;
Profile* g_profile = nullptr;

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&value, which, device) != cudaSuccess)
    return 0;
  return value;
}

bool device_can() {
  return attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
}

}  // namespace

void set_overlap(bool wanted) {
  g_wanted = wanted;
}

bool overlap() {
  static const bool can = device_can();
  return g_wanted && can;
}

bool streams_weights() {
  static const bool can = device_can();
  return can;
}

void set_profile(Profile* profile) {
  g_profile = profile;
}

void told_of_launch(cudaStream_t stream) {
  if (g_profile != nullptr) g_profile->launched(stream);
}

int multiprocessors() {
  static const int count = attribute(cudaDevAttrMultiProcessorCount);
  return count;
}

}  // namespace dsv4::kernels
