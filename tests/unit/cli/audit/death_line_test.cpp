#include "cli/audit/deaths/death_line.h"

#include <gtest/gtest.h>

#include <string>

namespace capgate::cli {
namespace {

std::string line(const std::string& notice, const reports::Settings& settings = {}) {
  seal::Symboliser symboliser;
  return death_line(notice, symboliser, settings);
}

TEST(DeathLine, SaysWhichCallAndWhatItReturned) {
  EXPECT_EQ(line("cudaMalloc\t900\t0\t"),
            "capture died: cudaMalloc returned cudaErrorStreamCaptureUnsupported (900)");
  EXPECT_EQ(
      line("cudaMalloc\t900\t77\t"),
      "capture died: cudaMalloc returned cudaErrorStreamCaptureUnsupported (900) on another thread (77)");
}

TEST(DeathLine, NamesThePythonLineThatIsTheUsers) {
  reports::Settings settings;
  settings.repository_root = "/home/me/model";
  EXPECT_EQ(line("cudaStreamSynchronize\t900\t0\t"
                 "  File \"/usr/lib/python3/dist-packages/torch/_tensor.py\", line 9 in item\x1f"
                 "  File \"/home/me/model/moe.py\", line 212 in route\x1f",
                 settings),
            "capture died: cudaStreamSynchronize returned cudaErrorStreamCaptureUnsupported (900) at "
            "moe.py:212 route()");
}

TEST(DeathLine, NamesTheModuleWhereThereIsNoMore) {
  EXPECT_EQ(
      line("cudaMalloc\t900\t0\t\t/nowhere/libengine.so+0x12c4"),
      "capture died: cudaMalloc returned cudaErrorStreamCaptureUnsupported (900) at libengine.so!+0x12c3");
}

TEST(DeathLine, IsEmptyForWhatIsNoNotice) {
  for (const char* text : {"", "\t\t\t", "cudaMalloc", "cudaMalloc\t900", "cudaMalloc\tx\t0\t",
                           "a\t900\t-1\t", "a\t99999999999\t0\t"})
    EXPECT_EQ(line(text), "") << text;
  // Places that are none are passed over.
  for (const char* place : {"+", "+0x", "x+0xzz", "x", "x+0x11112222333344445", "\x1f\x1f"})
    EXPECT_EQ(line(std::string("a\t900\t0\t\t") + place),
              "capture died: a returned cudaErrorStreamCaptureUnsupported (900)");
}

}  // namespace
}  // namespace capgate::cli
