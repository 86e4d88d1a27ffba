// The fake CUDA runtime, linked statically into each test program as nvcc does.
#pragma once

#include <cuda_runtime_api.h>

#include "tests/unit/preload/fake/fake_cuda.h"

extern "C" CUresult fake_launch(CUstream, CUfunction, const char*, uint64_t, uint32_t);

namespace fake_rt {

int malloc_device(void** out, size_t bytes);
int malloc_host(void** out, size_t bytes);
int stream_create(cudaStream_t* out, unsigned int flags);
int stream_synchronize(cudaStream_t stream);
int stream_synchronize_ptsz(cudaStream_t stream);
int stream_synchronize_unknown_to_headers(cudaStream_t stream);
int stream_query(cudaStream_t stream);
int begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
int end_capture(cudaStream_t stream, cudaGraph_t* graph);
int launch(cudaStream_t stream, const char* symbol, uint64_t a = 1, uint32_t b = 2,
           bool loads_module = false);
int memcpy_async(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
int memcpy_sync(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind);
int exchange_mode(cudaStreamCaptureMode* mode);
int set_device(int device);
int event_record(cudaEvent_t event, cudaStream_t stream);
int graph_launch(cudaGraphExec_t exec, cudaStream_t stream);
int graph_instantiate(cudaGraphExec_t* exec, cudaGraph_t graph);

}  // namespace fake_rt
