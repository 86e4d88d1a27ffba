// Replies of workers, kept by content. An entry is found by what is asked (the command, the options, the
// programs) and believed only while every file that the parser read is unchanged and none has appeared that
// it would have read instead. A file counts as unchanged if size, both times and inode are the same and were
// old when recorded; else it is read and its digest compared. What is not seen: the answers of __has_include,
// and changes below the folders that the compiler searches by itself.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "static_checks/worker/job.h"

namespace capgate::lint {

class Cache {
 public:
  // An empty folder switches it off. `programs`: what tells this build of the worker from any other.
  Cache(std::string folder, std::string programs);

  std::optional<Reply> find(const Job& job);
  // Failures and incomplete units are not kept: what is missing may come. A cache that cannot be written is
  // no error.
  void keep(const Job& job, const Reply& reply);
  // Drops entries that no run has used for 30 days. Cheap when called often: looks once a day.
  void prune() const;

 private:
  std::string path_for(const Job& job) const;
  bool still_true(const Inputs& inputs);
  bool unchanged(const InputFile& file);
  const FileStamp& stamp(const std::string& path);

  std::string folder_, programs_;
  std::map<std::string, FileStamp> stamps_;  // units share most of their headers
  std::map<std::string, std::string> digests_;
};

// $XDG_CACHE_HOME/capgate/lint, else ~/.cache/capgate/lint; empty when neither is known.
std::string default_cache_folder();

// The build id of the program at `path`, or a digest of it where it has none.
std::string program_build(const std::string& path);

// What parses: the worker program at `path`, the libraries it was built with, and the environment that both
// heed.
std::string program_identity(const std::string& path);

}  // namespace capgate::lint
