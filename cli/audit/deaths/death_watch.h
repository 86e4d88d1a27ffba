// Says on stderr at once when a capture of the audited program dies: the detector in it writes where, this
// process has the debug information. A thread of its own, so that naming a line keeps no signal waiting.
#pragma once

#include <memory>
#include <string>

#include "reports/settings/settings.h"

namespace capgate::cli {

class DeathWatch {
 public:
  // Makes the file in `folder` that the detector writes to. Without one, nothing is watched and the detector
  // speaks for itself.
  DeathWatch(const std::string& folder, reports::Settings settings);
  // Says what is left and removes the file.
  ~DeathWatch();
  DeathWatch(const DeathWatch&) = delete;
  DeathWatch& operator=(const DeathWatch&) = delete;

  // For the detector; empty when nothing is watched.
  const std::string& file() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace capgate::cli
