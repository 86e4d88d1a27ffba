#include "reports/settings/operators.h"

#include <gtest/gtest.h>

namespace capgate::reports {
namespace {

Frame native_frame(std::string function) {
  return {FrameLanguage::native, "", 0, std::move(function), "libtorch_cpu.so", false};
}
Frame python_frame(std::string function, std::string file) {
  return {FrameLanguage::python, std::move(file), 7, std::move(function), "", false};
}

std::vector<std::string> deciding(const std::vector<Frame>& frames) {
  std::vector<std::string> out;
  for (const size_t i : framework_operator(frames).deciding) out.push_back(frames[i].function);
  return out;
}

TEST(FrameworkOperator, IsTheFallbackTheOutermostOperatorAndThePythonFunction) {
  const std::vector<Frame> frames = {
      native_frame("cudaStreamSynchronize+0x164"),
      native_frame("at::_ops::copy_::call(at::Tensor&, bool)+0x189"),
      native_frame("at::native::_grouped_mm_fallback(at::Tensor const&)+0x10"),
      native_frame("at::_ops::_grouped_mm::redispatch(c10::DispatchKeySet)+0x1"),
      native_frame("at::_ops::_grouped_mm::call(at::Tensor const&)+0x2"),
      native_frame("torch::autograd::THPVariable__grouped_mm(_object*, _object*, _object*)+0x314"),
      python_frame("grouped_mm", "/opt/venv/lib/python3.12/site-packages/torch/nn/functional.py")};
  EXPECT_EQ(deciding(frames),
            (std::vector<std::string>{frames[2].function, frames[4].function, "grouped_mm"}));
  const auto asked = framework_operator(frames);
  EXPECT_EQ(asked.python, "torch.nn.functional.grouped_mm");
  EXPECT_EQ(asked.fallbacks, std::vector<size_t>{2});
}

TEST(FrameworkOperator, IsNamedAsPythonNamesIt) {
  const std::pair<const char*, const char*> cases[] = {
      {"THPVariable_item", "Tensor.item"},           {"THPVariable_is_nonzero", "Tensor.__bool__"},
      {"THPVariable_getitem", "Tensor.__getitem__"}, {"THPVariable_nonzero", "torch.nonzero"},
      {"THPVariable_add_", "Tensor.add_"},           {"THPVariable_tensor", "torch.tensor"}};
  for (const auto& [binding, name] : cases)
    EXPECT_EQ(framework_operator(std::vector{native_frame("torch::autograd::" + std::string(binding) +
                                                          "(_object*, _object*)+0x1")})
                  .python,
              name);
  EXPECT_EQ(framework_operator(std::vector{native_frame("THCPStream_synchronize(_object*)"),
                                           python_frame("synchronize", "torch/cuda/streams.py")})
                .python,
            "torch.cuda.Stream.synchronize");
  EXPECT_EQ(framework_operator(std::vector{python_frame("synchronize", "torch/cuda/__init__.py")}).python,
            "torch.cuda.synchronize");
}

// A frame has the name of a method and not that of its class.
TEST(FrameworkOperator, HasNoNameThatPythonDoesNotHave) {
  const auto name = [](std::vector<Frame> frames) { return framework_operator(frames).python; };
  const std::string streams = "torch/cuda/streams.py", graphs = "torch/cuda/graphs.py";
  EXPECT_EQ(name({native_frame("cudaEventQuery+0x16d"),
                  native_frame("THCPEvent_query(_object*, _object*)+0x48"), python_frame("query", streams)}),
            "torch.cuda.Event.query");
  EXPECT_EQ(name({native_frame("cudaStreamQuery"), python_frame("query", streams)}),
            "torch.cuda.Stream.query");
  EXPECT_EQ(name({native_frame("??"), python_frame("query", streams)}), "");
  EXPECT_EQ(name({native_frame("cudaStreamWaitEvent"), python_frame("wait", streams),
                  python_frame("wait_event", streams), python_frame("wait_stream", streams)}),
            "torch.cuda.Stream.wait_stream");
  EXPECT_EQ(name({python_frame("capture_begin", graphs)}), "torch.cuda.CUDAGraph.capture_begin");
  EXPECT_EQ(name({python_frame("capture_end", graphs), python_frame("__exit__", graphs)}),
            "torch.cuda.graph");
  EXPECT_EQ(
      name({python_frame("_str", "torch/_tensor_str.py"), python_frame("__repr__", "torch/_tensor.py")}),
      "Tensor.__repr__");
  EXPECT_EQ(name({python_frame("capture_begin", graphs), python_frame("_fn", "torch/_dynamo/eval_frame.py")}),
            "a compiled function (torch.compile)");
  // Methods of modules: the operator that they came to is named instead.
  EXPECT_EQ(name({native_frame("torch::autograd::THPVariable_linear(_object*, _object*)+0x1"),
                  python_frame("forward", "torch/nn/modules/linear.py"),
                  python_frame("_call_impl", "torch/nn/modules/module.py")}),
            "torch.nn.functional.linear");
  EXPECT_EQ(name({python_frame("_call_impl", "torch/nn/modules/module.py")}), "");
}

TEST(FrameworkOperator, IsNoneWhereTheLineMakesTheCallItself) {
  const auto asked = framework_operator(
      std::vector{native_frame("cudaMemcpyAsync"), native_frame("(anonymous namespace)::copy")});
  EXPECT_TRUE(asked.python.empty());
  EXPECT_TRUE(asked.deciding.empty());
  EXPECT_TRUE(framework_operator({}).deciding.empty());
}

// Of a program of libtorch's.
TEST(FrameworkOperator, OfCppIsTheOutermostOne) {
  const std::vector<Frame> frames = {native_frame("cudaStreamSynchronize"),
                                     native_frame("at::native::item(at::Tensor const&)"),
                                     native_frame("at::_ops::item::call(at::Tensor const&)"),
                                     native_frame("long at::Tensor::item<long>() const")};
  EXPECT_EQ(deciding(frames), std::vector<std::string>{frames[3].function});
}

}  // namespace
}  // namespace capgate::reports
