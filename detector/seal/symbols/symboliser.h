// Names return addresses. Opens a module only when an address lies in it, looks at each address once, and
// asks no server for anything.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "detector/trace/process_trace.h"
#include "reports/model/report.h"

namespace capgate::seal {

class ModuleImage;

class Symboliser {
 public:
  Symboliser();
  ~Symboliser();

  // The frames at a return address, innermost first: several when calls were inlined. Files are as the debug
  // information names them. Without a line the function is `symbol+0x1c`, without a symbol `+0x1234`, with
  // the module's path; an address outside every module gives one frame that knows nothing.
  const std::vector<reports::Frame>& frames_at(const std::vector<trace::Module>& modules,
                                               uint64_t return_address);

 private:
  std::map<std::string, std::unique_ptr<ModuleImage>> images_;  // by path and build id
  std::map<std::pair<const ModuleImage*, uint64_t>, std::vector<reports::Frame>> known_;
  std::vector<reports::Frame> nowhere_;
};

}  // namespace capgate::seal
