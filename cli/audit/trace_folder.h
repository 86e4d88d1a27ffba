// The folder that the processes of one run leave their raw traces in.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

#include "base/result.h"

namespace capgate::cli {

class TraceFolder {
 public:
  // Makes a folder of its own below $TMPDIR, removed at the end of its life.
  static Result<TraceFolder> temporary();

  // The folder that the user named, kept. It is made where it is missing; raw and sealed traces of an earlier
  // run in it are removed, everything else in it is left alone. Refused while another audit holds it.
  static Result<TraceFolder> kept(const std::string& path);

  TraceFolder(TraceFolder&& other) noexcept;
  TraceFolder& operator=(TraceFolder&&) = delete;
  ~TraceFolder();

  const std::string& path() const { return path_; }

  // Keeps a temporary folder after all.
  void keep() { remove_ = false; }

  // What the destructor does; for the way out that runs no destructors.
  void remove();

 private:
  TraceFolder(std::string path, bool remove, int lock = -1)
      : path_(std::move(path)), remove_(remove), lock_(lock) {}

  std::string path_;
  bool remove_;
  int lock_;  // a descriptor of the folder, locked; -1: nobody else knows the folder
};

// The processes (by the number that each saw itself under) that left a raw trace in `folder`.
std::set<pid_t> traced_processes(const std::string& folder);

}  // namespace capgate::cli
