// Why a run is inconclusive: which reasons are one, and what they say of where they were met.
#include "static_checks/driver/reasons.h"

#include <gtest/gtest.h>

namespace capgate::lint {
namespace {

std::vector<std::string> texts(const Reasons& reasons) {
  std::vector<std::string> list;
  for (const reports::Reason& one : reasons.list()) list.push_back(one.text);
  return list;
}

using Texts = std::vector<std::string>;

TEST(Reasons, OneThatStandsAloneCountsOnce) {
  Reasons reasons;
  reasons.add("no region begins in 'step', which is required", "see its name");
  reasons.add("no region begins in 'step', which is required", "see its name");
  reasons.add("no region begins in 'decode', which is required", "see its name");
  EXPECT_EQ(texts(reasons), (Texts{"no region begins in 'step', which is required",
                                   "no region begins in 'decode', which is required"}));
  EXPECT_EQ(reasons.list()[0].remedy, "see its name");
}

TEST(Reasons, AMissingHeaderIsOneReasonWithItsSources) {
  Reasons reasons;
  reasons.not_parsed("a.cu", "torch.h:3", "'cuda_cmake_macros.h' file not found", "give its folder");
  EXPECT_EQ(texts(reasons),
            (Texts{"a.cu was not parsed as a whole: torch.h:3: 'cuda_cmake_macros.h' file not found"}));
  reasons.not_parsed("a.cu", "torch.h:3", "'cuda_cmake_macros.h' file not found", "give its folder");
  EXPECT_EQ(texts(reasons).size(), 1u) << "the same source again";
  reasons.not_parsed("b.cu", "torch.h:3", "'cuda_cmake_macros.h' file not found", "give its folder");
  reasons.not_parsed("c.cu", "", "it hangs", "leave it out");
  EXPECT_EQ(texts(reasons), (Texts{"2 sources were not parsed as a whole: 'cuda_cmake_macros.h' file not "
                                   "found; first met at torch.h:3",
                                   "c.cu was not parsed as a whole: it hangs"}));
}

TEST(Reasons, AnUnlinkedFunctionIsOneReasonWithItsPlacesAndRegions) {
  Reasons reasons;
  const auto met = [&](const char* where, const char* function, const char* region) {
    reasons.not_analysed({where, function, "it calls 'norm()', whose body is in none of the sources",
                          "lint its source too", region});
  };
  met("a.cu:10", "layer", "capture at a.cu:5");
  EXPECT_EQ(texts(reasons), (Texts{"a.cu:10: layer() was not analysed: it calls 'norm()', whose body is in "
                                   "none of the sources; it is reached from capture at a.cu:5"}));
  met("b.cu:20", "head", "capture at a.cu:5");
  EXPECT_EQ(texts(reasons),
            (Texts{"a.cu:10: layer() was not analysed: it calls 'norm()', whose body is in none of the "
                   "sources; it is reached from capture at a.cu:5; the same at b.cu:20"}));
  met("c.cu:1", "c", "capture at b.cu:6");
  met("d.cu:1", "d", "capture at c.cu:7");
  met("e.cu:1", "e", "capture at c.cu:7");
  EXPECT_EQ(texts(reasons), (Texts{"a.cu:10: layer() was not analysed: it calls 'norm()', whose body is in "
                                   "none of the sources; it is reached from capture at a.cu:5 and 2 more "
                                   "regions; the same at b.cu:20, c.cu:1, d.cu:1 and 1 more"}));
  EXPECT_EQ(reasons.list()[0].remedy, "lint its source too");
}

TEST(Reasons, TheLineOfACalleeMakesNoOtherReason) {
  Reasons reasons;
  for (const char* line : {"10", "20"})
    reasons.not_analysed({std::string("a.cu:") + line, "layer",
                          std::string("the callee of 'fn' at line ") + line + " is known only when it runs",
                          "", "r"});
  reasons.not_analysed(
      {"a.cu:30", "layer", "the callee of 'other' at line 30 is known only when it runs", "", "r"});
  EXPECT_EQ(texts(reasons), (Texts{"a.cu:10: layer() was not analysed: the callee of 'fn' at line 10 is "
                                   "known only when it runs; it is reached from r; the same at a.cu:20",
                                   "a.cu:30: layer() was not analysed: the callee of 'other' at line 30 is "
                                   "known only when it runs; it is reached from r"}));
}

TEST(Reasons, WhatNamesNothingIsOfItsFunction) {
  Reasons reasons;
  reasons.not_analysed({"a.cu:1", "one", "the analysis ran out of its budget", "", "r"});
  reasons.not_analysed({"a.cu:9", "two", "the analysis ran out of its budget", "", "r"});
  EXPECT_EQ(
      texts(reasons),
      (Texts{"a.cu:1: one() was not analysed: the analysis ran out of its budget; it is reached from r",
             "a.cu:9: two() was not analysed: the analysis ran out of its budget; it is reached from r"}));
}

TEST(Reasons, ASentenceOfItsOwnStaysAsItIs) {
  Reasons reasons;
  reasons.not_analysed(
      {"a.cu:1", "", "the capture that begin() opens is ended nowhere in sight", "end it", ""});
  EXPECT_EQ(texts(reasons), (Texts{"a.cu:1: the capture that begin() opens is ended nowhere in sight"}));
}

}  // namespace
}  // namespace capgate::lint
