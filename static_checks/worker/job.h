// What goes to a worker process and what comes back. The reply is also what the cache keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "static_checks/analysis.h"
#include "static_checks/commands/unit_command.h"
#include "static_checks/frontend/function_extent.h"
#include "static_checks/frontend/incomplete.h"

namespace capgate::lint {

struct Job {
  UnitCommand command;
  LintOptions options;
  std::string resource_dir;  // clang's own headers
};
template <class A>
void fields(A& archive, Job& v) {
  archive(v.command, v.options, v.resource_dir);
}

// What stat says of a file or a folder. Equal stamps mean equal contents: the change time cannot be set back
// by a program. A stamp is kept only when it was old enough at the time (see inputs.h); else size is
// kUntrusted.
struct FileStamp {
  static constexpr int64_t kUntrusted = -1;
  static constexpr int64_t kAbsent = -2;
  int64_t size = kUntrusted;
  int64_t modified_ns = 0, changed_ns = 0;
  uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};
template <class A>
void fields(A& archive, FileStamp& v) {
  archive(v.size, v.modified_ns, v.changed_ns, v.inode);
}

// A file that the parser read. The digest is of the bytes that it read, not of what lies on disk a moment
// later.
struct InputFile {
  std::string path;  // canonical
  bool user = false;
  FileStamp stamp;
  std::string digest;
};
template <class A>
void fields(A& archive, InputFile& v) {
  archive(v.path, v.user, v.stamp, v.digest);
}

// Files that would be read in place of others if they came into being: `names` in a folder that is searched
// earlier.
struct EarlierFolder {
  std::string path;
  FileStamp stamp;     // while it is the same, nothing was added
  uint32_t names = 0;  // index into Inputs::names
};
template <class A>
void fields(A& archive, EarlierFolder& v) {
  archive(v.path, v.stamp, v.names);
}

// Everything on disk that decided what the parser saw.
struct Inputs {
  std::vector<InputFile> files;  // the main file first
  std::vector<EarlierFolder> earlier;
  std::vector<std::vector<std::string>> names;
  std::vector<std::string> shadowed;  // existed all along and were not read: no news
};
template <class A>
void fields(A& archive, Inputs& v) {
  archive(v.files, v.earlier, v.names, v.shadowed);
}

struct Reply {
  std::string failure;  // why there is no unit; empty: there is one
  std::string remedy;
  std::vector<Incomplete> incomplete;
  uint64_t errors_in_device_code = 0, errors_in_foreign_code = 0;
  std::vector<FunctionExtent> functions;
  Inputs inputs;
  UnitResult result;
  double parse_s = 0, analysis_s = 0, other_s = 0;  // wall clock
  double analysis_cpu_s = 0;                        // processor time
  uint64_t peak_kib = 0;
};
template <class A>
void fields(A& archive, Reply& v) {
  archive(v.failure, v.remedy, v.incomplete, v.errors_in_device_code, v.errors_in_foreign_code, v.functions,
          v.inputs, v.result, v.parse_s, v.analysis_s, v.other_s, v.analysis_cpu_s, v.peak_kib);
}

}  // namespace capgate::lint
