#include "detector/analysis/kernel_name.h"

#include <gtest/gtest.h>

namespace capgate::analysis {
namespace {

TEST(KernelName, IsWhatPeopleWrote) {
  EXPECT_EQ(kernel_name("_Z10sum_paramsPiPKi"), "sum_params");
  EXPECT_EQ(kernel_name("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_"),
            "at::native::reduce_kernel");
  EXPECT_EQ(kernel_name("_ZN2at6native40_GLOBAL__N__0f1a8107_8_Shape_cu_49f7391c19CatArrayBatchedCopyIfEEvi"),
            "at::native::(anonymous namespace)::CatArrayBatchedCopy");
  EXPECT_EQ(kernel_name("_ZL6hiddenPi"), "hidden");
  EXPECT_EQ(kernel_name("sm80_xmma_gemm_f32f32"), "sm80_xmma_gemm_f32f32");
  EXPECT_EQ(kernel_name("triton_poi_fused_addmm_silu_0"), "triton_poi_fused_addmm_silu_0");
}

TEST(KernelName, InFullHasItsTemplateArgumentsAndNoParameters) {
  EXPECT_EQ(full_kernel_name("_Z10sum_paramsPiPKi", 200), "sum_params");
  EXPECT_EQ(full_kernel_name("_ZN2at6native6kernelILi4EfEEvT0_Pf", 200), "at::native::kernel<4, float>");
  EXPECT_EQ(full_kernel_name("_ZN2at6native6kernelILi4EfEEvT0_Pf", 10), "at::native...");
  EXPECT_EQ(full_kernel_name("bump", 200), "bump");
}

TEST(KernelName, BrokenSymbolsStayAsTheyAre) {
  for (const char* symbol : {"_Z", "_ZN", "_Z99short", "_ZNSt", "_Z0", "_Z99999999999999999999x", "_ZL"}) {
    EXPECT_FALSE(kernel_name(symbol).empty()) << symbol;
    EXPECT_FALSE(full_kernel_name(symbol, 200).empty()) << symbol;
  }
  EXPECT_EQ(kernel_name("_Z99short"), "_Z99short");
}

// Each level names the one before twice: 2^60 characters, were it written out.
TEST(KernelName, ASymbolThatDoublesItselfIsNotWrittenOut) {
  std::string symbol = "_Z1fI1AE1BIS_S_E";
  for (int level = 0; level < 60; ++level)
    symbol += "1BIS" + std::to_string(level % 10) + "_S" + std::to_string(level % 10) + "_E";
  EXPECT_EQ(full_kernel_name(symbol, 200), "f");
}

}  // namespace
}  // namespace capgate::analysis
