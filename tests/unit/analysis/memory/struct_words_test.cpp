// Addresses inside the structures that kernels are given: which of them count as pointers.
#include "detector/analysis/kernel_name.h"
#include "tests/unit/analysis/freed_memory.h"

namespace capgate::test {
namespace {

using reports::Severity;

constexpr uint64_t kNextBlock = kBlock + 0x100000;

class StructWords : public FreedMemory {
 protected:
  // Two blocks, one graph with these kernels' structures, and the first block freed before the launch.
  reports::Violation lost(const std::vector<std::pair<std::string, std::vector<uint64_t>>>& kernels) {
    born();
    born(kNextBlock, kBytes, 12);
    p.at("step.cpp", 20, "record");
    p.begin_capture();
    const uint64_t maker = p.launch(kStream).h.seq;
    p.end_capture(kStream, kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i)
      p.struct_node(kGraph, 0xb000 + i, i == 0 ? maker : 0, kernels[i].first, kernels[i].second);
    p.instantiate();
    died();
    launched();
    return only(report(), "freed-memory");
  }
};

TEST_F(StructWords, AStructureOfNothingButAddressesIsPointers) {
  EXPECT_EQ(lost({{"gather", {kBlock, kNextBlock + 8}}}).severity, Severity::error);
}

TEST_F(StructWords, OneOtherWordLeavesItOpen) {
  EXPECT_EQ(lost({{"gather", {kBlock, kNextBlock, 7}}}).severity, Severity::note);
}

TEST_F(StructWords, AnotherNodesStructureMayShowThatTheyAreNot) {
  EXPECT_EQ(lost({{"gather", {kBlock, kNextBlock}}, {"gather", {kNextBlock, 0x3f800000}}}).severity,
            Severity::note);
}

TEST_F(StructWords, AnEmptySlotLeavesItOpen) {
  EXPECT_EQ(lost({{"gather", {kBlock, 0}}}).severity, Severity::note);
}

// What follows the pointer is sizes, and slots that nobody filled in.
TEST_F(StructWords, TheFirstWordOfATensorsDescriptionIsItsData) {
  const std::string kernel = "_Z6gatherN2at4cuda6detail10TensorInfoIfjEE";
  const auto fault = lost({{kernel, {kBlock, 4, 1, kNextBlock}}});
  EXPECT_EQ(fault.severity, Severity::error);
  EXPECT_EQ(fault.details.at("parameter"), "1");
}

TEST_F(StructWords, TheOthersAreNot) {
  const std::string kernel = "_Z6gatherN2at4cuda6detail10TensorInfoIfjEE";
  EXPECT_EQ(lost({{kernel, {kNextBlock, 4, 1, kBlock}}}).severity, Severity::note);
}

TEST(KernelParameters, AreThoseOfTheSymbol) {
  using Types = std::vector<std::string>;
  EXPECT_EQ(analysis::kernel_parameter_types("_Z6gatherN2at4cuda6detail10TensorInfoIfjEEi"),
            (Types{"at::cuda::detail::TensorInfo<float, unsigned int>", "int"}));
  EXPECT_EQ(analysis::kernel_parameter_types("_Z1fSt5arrayIPcLm3EE"), Types{"std::array<char*, 3ul>"});
  EXPECT_EQ(analysis::kernel_parameter_types("_Z1fPFvifE"), Types{"void (*)(int, float)"});
  EXPECT_EQ(analysis::kernel_parameter_types("scale"), Types{});
  EXPECT_EQ(analysis::kernel_parameter_types(""), Types{});
}

}  // namespace
}  // namespace capgate::test
