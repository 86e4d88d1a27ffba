#include "reports/settings/operators.h"

#include <gtest/gtest.h>

namespace capgate::reports {
namespace {

Frame native(std::string function) {
  return {FrameLanguage::native, "", 0, std::move(function), "libtorch_cpu.so", false};
}
Frame python(std::string function, std::string file) {
  return {FrameLanguage::python, std::move(file), 7, std::move(function), "", false};
}

std::vector<std::string> deciding(const std::vector<Frame>& frames) {
  std::vector<std::string> out;
  for (const size_t i : framework_operator(frames).deciding) out.push_back(frames[i].function);
  return out;
}

TEST(FrameworkOperator, IsTheFallbackTheOutermostOperatorAndThePythonFunction) {
  const std::vector<Frame> frames = {
      native("cudaStreamSynchronize+0x164"),
      native("at::_ops::copy_::call(at::Tensor&, bool)+0x189"),
      native("at::native::_grouped_mm_fallback(at::Tensor const&)+0x10"),
      native("at::_ops::_grouped_mm::redispatch(c10::DispatchKeySet)+0x1"),
      native("at::_ops::_grouped_mm::call(at::Tensor const&)+0x2"),
      native("torch::autograd::THPVariable__grouped_mm(_object*, _object*, _object*)+0x314"),
      python("grouped_mm", "/opt/venv/lib/python3.12/site-packages/torch/nn/functional.py")};
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
    EXPECT_EQ(framework_operator(std::vector{native("torch::autograd::" + std::string(binding) +
                                                    "(_object*, _object*)+0x1")})
                  .python,
              name);
  EXPECT_EQ(framework_operator(std::vector{native("THCPStream_synchronize(_object*)"),
                                           python("synchronize", "torch/cuda/streams.py")})
                .python,
            "torch.cuda.Stream.synchronize");
  EXPECT_EQ(framework_operator(std::vector{python("synchronize", "torch/cuda/__init__.py")}).python,
            "torch.cuda.synchronize");
}

// A frame has the name of a method and not that of its class.
TEST(FrameworkOperator, HasNoNameThatPythonDoesNotHave) {
  const auto name = [](std::vector<Frame> frames) { return framework_operator(frames).python; };
  const std::string streams = "torch/cuda/streams.py", graphs = "torch/cuda/graphs.py";
  EXPECT_EQ(name({native("cudaEventQuery+0x16d"), native("THCPEvent_query(_object*, _object*)+0x48"),
                  python("query", streams)}),
            "torch.cuda.Event.query");
  EXPECT_EQ(name({native("cudaStreamQuery"), python("query", streams)}), "torch.cuda.Stream.query");
  EXPECT_EQ(name({native("??"), python("query", streams)}), "");
  EXPECT_EQ(name({native("cudaStreamWaitEvent"), python("wait", streams), python("wait_event", streams),
                  python("wait_stream", streams)}),
            "torch.cuda.Stream.wait_stream");
  EXPECT_EQ(name({python("capture_begin", graphs)}), "torch.cuda.CUDAGraph.capture_begin");
  EXPECT_EQ(name({python("capture_end", graphs), python("__exit__", graphs)}), "torch.cuda.graph");
  EXPECT_EQ(name({python("_str", "torch/_tensor_str.py"), python("__repr__", "torch/_tensor.py")}),
            "Tensor.__repr__");
  EXPECT_EQ(name({python("capture_begin", graphs), python("_fn", "torch/_dynamo/eval_frame.py")}),
            "a compiled function (torch.compile)");
  // Methods of modules: the operator that they came to is named instead.
  EXPECT_EQ(name({native("torch::autograd::THPVariable_linear(_object*, _object*)+0x1"),
                  python("forward", "torch/nn/modules/linear.py"),
                  python("_call_impl", "torch/nn/modules/module.py")}),
            "torch.nn.functional.linear");
  EXPECT_EQ(name({python("_call_impl", "torch/nn/modules/module.py")}), "");
}

TEST(FrameworkOperator, IsNoneWhereTheLineMakesTheCallItself) {
  const auto asked =
      framework_operator(std::vector{native("cudaMemcpyAsync"), native("(anonymous namespace)::copy")});
  EXPECT_TRUE(asked.python.empty());
  EXPECT_TRUE(asked.deciding.empty());
  EXPECT_TRUE(framework_operator({}).deciding.empty());
}

// Of a program of libtorch's.
TEST(FrameworkOperator, OfCppIsTheOutermostOne) {
  const std::vector<Frame> frames = {
      native("cudaStreamSynchronize"), native("at::native::item(at::Tensor const&)"),
      native("at::_ops::item::call(at::Tensor const&)"), native("long at::Tensor::item<long>() const")};
  EXPECT_EQ(deciding(frames), std::vector<std::string>{frames[3].function});
}

}  // namespace
}  // namespace capgate::reports
