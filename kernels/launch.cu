#include "kernels/launch.h"

namespace dsv4::kernels {
namespace {

bool g_wanted = true;

bool device_can() {
  int device = 0, major = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major >= 9;
}

}  // namespace

void set_overlap(bool wanted) {
  g_wanted = wanted;
}

bool overlap() {
  static const bool can = device_can();
  return g_wanted && can;
}

}  // namespace dsv4::kernels
