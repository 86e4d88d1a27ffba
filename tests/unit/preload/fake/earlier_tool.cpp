// A tool that stood in CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH before capgate came.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

namespace {
void tell(const char* what, const char* name) {
  const char* out = getenv("EARLIER_TOOL_OUT");
  if (FILE* file = out != nullptr ? fopen(out, "a") : nullptr) {
    fprintf(file, "%s%s%s\n", what, *name != 0 ? " " : "", name);
    fclose(file);
  }
}
int push(const char* message) {
  return tell("push", message), 3;
}
int pop() {
  return tell("pop", ""), 3;
}
}  // namespace

extern "C" int InitializeInjection() {
  return tell("cuda", ""), 1;
}

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* exported = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  exported->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size);
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
