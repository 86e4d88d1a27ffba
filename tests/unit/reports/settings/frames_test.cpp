#include "reports/settings/frames.h"

#include <gtest/gtest.h>

#include "reports/settings/glob.h"

namespace capgate::reports {
namespace {

Frame native(std::string function, std::string module, std::string file = "", int line = 0) {
  return {FrameLanguage::native, std::move(file), line, std::move(function), std::move(module), false};
}
Frame python(std::string function, std::string file, int line = 1) {
  return {FrameLanguage::python, std::move(file), line, std::move(function), "", false};
}

const std::string kPackages = "/opt/venv/lib/python3.12/site-packages/";

TEST(Glob, MatchesAsPeopleExpect) {
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("step*", "step 12"));
  EXPECT_FALSE(glob_match("step", "steps"));
  EXPECT_TRUE(glob_match("*a?c*", "xxabcxx"));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_TRUE(path_glob_match("model/*.py", "/src/model/moe.py"));
  EXPECT_FALSE(path_glob_match("model/*.py", "/src/supermodel/moe.py"));
}

TEST(Glob, IsNotExponential) {
  std::string pattern;
  for (int i = 0; i < 2000; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(4000, 'a')));
}

TEST(Frames, KnowWhoseTheyAre) {
  const Frame users[] = {
      native("engine::step(int)", "decode", "/src/engine.cpp", 3),
      native("step", "/home/me/decode"),
      native("custom_op", kPackages + "my_ext/_C.so", "/src/ext.cpp", 9),
      python("forward", kPackages + "transformers/models/llama/modeling_llama.py"),
      python("execute_model", kPackages + "vllm/worker.py"),
      python("<module>", "serve.py"),
      native("cudaGraphs", "decode", "/src/cuda_graphs.cpp", 4),
  };
  for (const auto& frame : users) EXPECT_TRUE(is_user_frame(frame)) << frame.function << " " << frame.module;
  const Frame others[] = {
      native("cudaStreamSynchronize", "/usr/local/cuda/lib64/libcudart.so.13"),
      native("cuStreamSynchronize", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
      native("cudaMalloc", "/home/me/decode"),  // the static runtime
      native("__cudart1024", "/home/me/decode"),
      native("libcudart_static_8b1", "/home/me/decode"),
      native("at::native::item", kPackages + "torch/lib/libtorch_cuda.so"),
      native("c10::cuda::x", "libc10_cuda.so"),
      native("at::Tensor::item<int>", kPackages + "my_ext/_C.so",
             kPackages + "torch/include/ATen/core/Tensor.h", 5),
      native("std::vector<int>::push_back", "decode", "/usr/include/c++/12/bits/stl_vector.h", 1),
      native("cudaMemcpyAsync<float>", "decode", "/usr/local/cuda/include/cuda_runtime.h", 1),
      native("__libc_start_call_main", "/lib/x86_64-linux-gnu/libc.so.6"),
      native("_start", "/home/me/decode"),
      native("_PyEval_EvalFrameDefault", "/usr/bin/python3.12"),
      native("__device_stub__Z5scalePf(float*)", "decode", "/tmp/tmpxft_0001/x.cudafe1.stub.c", 3),
      python("_call_impl", kPackages + "torch/nn/modules/module.py"),
      python("launch", kPackages + "triton/runtime/jit.py"),
      python("mean", kPackages + "numpy/core/_methods.py"),
      python("run", "/usr/lib/python3.12/threading.py"),
      python("_find", "<frozen importlib._bootstrap>"),
      python("forward", "<eval_with_key>.12"),
      python("call", "/tmp/torchinductor_me/ab/cab.py"),
      python("<module>", "<string>"),
  };
  for (const auto& frame : others) EXPECT_FALSE(is_user_frame(frame)) << frame.function << " " << frame.file;
}

TEST(Frames, SettingsAddAndTakeOut) {
  FrameSettings settings;
  settings.not_user = {"*/third_party/*", "libmine.so*", "helper*"};
  settings.user = {"*/site-packages/torch/_mine/*"};
  EXPECT_FALSE(is_user_frame(native("f", "decode", "/src/third_party/x.cpp", 1), settings));
  EXPECT_FALSE(is_user_frame(native("f", "/lib/libmine.so.2"), settings));
  EXPECT_FALSE(is_user_frame(native("helper_of_all", "decode", "/src/a.cpp", 1), settings));
  EXPECT_TRUE(is_user_frame(python("f", kPackages + "torch/_mine/a.py"), settings));
}

size_t picked(const std::vector<Frame>& frames, std::string_view kernel = {}) {
  const auto frame = pick_location(frames, {}, kernel);
  return frame ? frame->index : size_t(-1);
}

TEST(PickLocation, PythonWinsOverTheFrameworkBeneathIt) {
  EXPECT_EQ(picked({native("cudaStreamSynchronize", "libcudart.so.13"), native("item", "libtorch_cuda.so"),
                    native("_PyEval_EvalFrameDefault", "libpython3.12.so"), native("main", "python3.12"),
                    python("_call_impl", kPackages + "torch/nn/modules/module.py"),
                    python("route", "moe.py", 212)}),
            5u);
  // By way of ctypes.
  EXPECT_EQ(picked({native("cudaStreamSynchronize", "libcudart.so.13"), native("+0x6f79", "libffi.so.8"),
                    native("+0xa1b2", "_ctypes.cpython-312-x86_64-linux-gnu.so"),
                    native("_PyEval_EvalFrameDefault", "libpython3.12.so"), python("route", "moe.py", 212)}),
            4u);
  // Python frames in their place.
  EXPECT_EQ(picked({native("cudaStreamSynchronize", "libcudart.so.13"), native("item", "libtorch_cuda.so"),
                    python("route", "moe.py", 212), native("_PyEval_EvalFrameDefault", "libpython3.12.so")}),
            2u);
  // Python frames first.
  EXPECT_EQ(picked({python("route", "moe.py", 212), native("cudaStreamSynchronize", "libcudart.so.13"),
                    native("_PyEval_EvalFrameDefault", "libpython3.12.so")}),
            0u);
}

TEST(PickLocation, PythonNeverWinsOverTheUsersOwnCpp) {
  const std::vector<Frame> extension{
      native("cudaStreamSynchronize", "libcudart.so.13"),
      native("my_op(at::Tensor)", kPackages + "my_ext/_C.so", "/src/ext.cpp", 40),
      native("_PyEval_EvalFrameDefault", "libpython3.12.so"), python("forward", "model.py", 8)};
  EXPECT_EQ(picked(extension), 1u);
}

TEST(PickLocation, CppAroundAnEmbeddedInterpreterIsNotTheCaller) {
  EXPECT_EQ(picked({native("cudaStreamSynchronize", "libcudart.so.13"), native("item", "libtorch_cuda.so"),
                    native("_PyEval_EvalFrameDefault", "libpython3.12.so"),
                    native("main", "server", "/src/main.cpp", 3), python("route", "moe.py", 212)}),
            4u);
}

TEST(PickLocation, AKernelsHostStubIsNotItsLaunch) {
  // Not inlined: the stub's own frame tells.
  EXPECT_EQ(
      picked({native("cudaLaunchKernel", "decode"), native("__device_stub__Z5scalePf(float*)", "decode"),
              native("scale(float*)", "decode", "/src/k.cu", 3),
              native("step()", "decode", "/src/k.cu", 20)}),
      3u);
  // Inlined: only the kernel's name tells.
  EXPECT_EQ(picked({native("cudaLaunchKernel", "decode"), native("scale(float*)", "decode", "/src/k.cu", 3),
                    native("step()", "decode", "/src/k.cu", 20)},
                   "scale(float*)"),
            2u);
}

TEST(PickLocation, SaysSomethingWhenNothingIsTheUsers) {
  const std::vector<Frame> libraries{native("cudaStreamSynchronize", "libcudart.so.13"),
                                     python("run", kPackages + "torch/a.py", 4),
                                     python("go", "/usr/lib/python3.12/threading.py", 9)};
  const auto frame = pick_location(libraries);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(frame->is_user);
  EXPECT_FALSE(pick_location(std::vector<Frame>{}));
  EXPECT_FALSE(pick_location(std::vector<Stack>{}));
}

TEST(PickLocation, TakesTheCallStack) {
  const std::vector<Stack> stacks{{StackRole::allocated, {native("f", "decode", "/src/a.cpp", 1)}},
                                  {StackRole::call, {native("g", "decode", "/src/b.cpp", 2)}}};
  EXPECT_EQ(pick_location(stacks)->location.file, "/src/b.cpp");
}

TEST(ReportPath, IsRelativeToTheRepositoryOrThePackages) {
  EXPECT_EQ(report_path("/src/repo/model/a.py", "/src/repo"), "model/a.py");
  EXPECT_EQ(report_path("/src/repo/model/a.py", "/src/repo/"), "model/a.py");
  EXPECT_EQ(report_path("/src/repository/a.py", "/src/repo"), "/src/repository/a.py");
  EXPECT_EQ(report_path(kPackages + "vllm/a.py", "/src/repo"), "vllm/a.py");
  EXPECT_EQ(report_path("/src/repo/.venv/lib/python3.12/site-packages/vllm/a.py", "/src/repo"), "vllm/a.py");
  EXPECT_EQ(report_path("/elsewhere/a.py", ""), "/elsewhere/a.py");
}

}  // namespace
}  // namespace capgate::reports
