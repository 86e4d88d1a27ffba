// Where a call was made: its frames, the line that is the user's, and whose code called CUDA.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "detector/seal/sealed_trace.h"
#include "reports/model/report.h"
#include "reports/settings/settings.h"

namespace capgate::analysis {

struct Place {
  std::vector<reports::Frame> frames;  // innermost first, Python at its place among the natives
  reports::Location location;
  std::string site;           // equal for equal places; never empty
  std::string caller_module;  // what called CUDA, CUDA's own frames left out; empty when unknown
  bool user_called = true;    // that caller is the user's code (or unknown)
  bool known = false;         // there is a stack
};

class Places {
 public:
  Places(const seal::SealedTrace& trace, const seal::Process& process, const reports::FrameSettings& settings)
      : trace_(trace), process_(process), settings_(settings) {}

  // `label`: the kernel launched there, whose host stub is not the place.
  const Place& at(uint32_t native_stack, uint32_t python_stack, std::string_view label);

 private:
  Place make(uint32_t native_stack, uint32_t python_stack, std::string_view label) const;

  const seal::SealedTrace& trace_;
  const seal::Process& process_;
  const reports::FrameSettings& settings_;
  std::map<std::tuple<uint32_t, uint32_t, std::string>, Place> known_;
};

}  // namespace capgate::analysis
