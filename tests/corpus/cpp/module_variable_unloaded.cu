// CORPUS-BUILD: driver
// A table lies in a variable of a module that is loaded for one model. The model is swapped and its module
// unloaded; the graph of another module's kernel keeps the variable's address.
#include <cuda.h>

#include "corpus.h"

#define DRV(call) CU(static_cast<cudaError_t>(call))

static const char kModel[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 table[4] = {7, 7, 7, 7};\n";

static void drop_model(CUmodule model) {
  DRV(cuModuleUnload(model));  // EXPECT: freed-memory error drop_model
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  CUmodule model = nullptr;
  DRV(cuModuleLoadData(&model, kModel));
  CUdeviceptr table = 0;
  size_t bytes = 0;
  DRV(cuModuleGetGlobal(&table, &bytes, model, "table"));
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  copy_value<<<1, 1, 0, stream>>>(x, reinterpret_cast<const int*>(table));
  const cudaGraphExec_t exec = corpus::instantiate(corpus::end_capture(stream));
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const bool right = corpus::read_one(x) == 7;
#ifndef CLEAN
  drop_model(model);
#endif
  CU(cudaGraphLaunch(exec, stream));
  const cudaError_t end = cudaStreamSynchronize(stream);
  (void)cudaGetLastError();
#ifdef CLEAN
  CU(cudaGraphExecDestroy(exec));
  drop_model(model);
#endif
  return corpus::saw(right && (!corpus::kClean || end == cudaSuccess), "the model's table");
}
