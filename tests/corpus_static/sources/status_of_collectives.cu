// The status that a collective returns says how it went, not what it was given.
// OPTIONS: --whole-file
#include <cuda_runtime.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define MPI_CALL(call)                                          \
  do {                                                          \
    const int status = (call);                                  \
    if (status != MPI_SUCCESS) std::fprintf(stderr, "failed\n"); \
  } while (0)

void reduce(const float* device, float* norm, cudaStream_t stream) {
  float* host;
  cudaMallocHost(&host, sizeof(float));
  cudaMemcpyAsync(host, device, sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  MPI_CALL(MPI_Allreduce(host, norm, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));  // CLEAN: host-branch
  if (MPI_Send(host, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS) return;  // CLEAN: host-branch
  if (*host > 1) cudaStreamSynchronize(stream);  // EXPECT: host-branch:warning
  float one = 1;
  if (std::memcmp(host, &one, sizeof one) == 0) cudaStreamSynchronize(stream);  // EXPECT: host-branch:warning
}
