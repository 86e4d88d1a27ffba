// What a sealed trace holds: everything that judging a run needs, and nothing that ties it to the machine of
// the run.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "detector/trace/process_trace.h"
#include "reports/model/report.h"

namespace capgate::seal {

// A text file that the run was judged with.
struct InputText {
  std::string name;  // as the user gave it; empty: there was none
  std::string text;
};

// What the user asked for on the command line and in files.
struct Expectations {
  std::vector<std::string> buckets;  // that must be captured
  std::vector<std::string> regions;  // GLOB or DOMAIN@GLOB of NVTX ranges that are steps
  InputText settings;                // .capgate.toml in force
  InputText suppressions;
};

// A process that is known to have used CUDA and left no trace.
struct UnseenProcess {
  int64_t pid = 0;
  std::string argv0;
  std::string why;
};

struct Comment {
  int line = 0;
  std::string text;  // the whole line that holds "capgate-allow("
};

struct SourceFile {
  std::string path;  // as the frames name it
  std::map<int, std::string> lines;
  std::vector<Comment> allows;
};

struct Process {
  trace::ProcessTrace trace;       // its raw stacks and modules are gone: see below
  std::vector<std::byte> records;  // the same, packed; only a trace that is being written holds them
  std::map<uint32_t, std::vector<uint32_t>>
      native_stacks;  // stack id -> SealedTrace::frames, innermost first
  std::map<uint32_t, std::vector<uint32_t>> python_stacks;
  std::string build_id;  // of the executable
};

// Under which id a process's Python stacks hold the one that a framework's notice blames: the notice's text
// names it line by line.
constexpr uint32_t blamed_stack(uint32_t text) {
  constexpr uint32_t kBlamed = uint32_t{1} << 31;
  return kBlamed | text;
}

struct SealedTrace {
  std::string tool_version;
  reports::Run run;
  Expectations expected;
  std::vector<UnseenProcess> unseen;
  std::vector<reports::Reason>
      reasons;  // that only the run itself could tell: no driver, no detector library, …
  std::vector<std::string> unreadable;  // raw traces that could not be read, one sentence each
  std::vector<reports::Frame> frames;
  std::vector<SourceFile> sources;  // by path
  std::vector<Process> processes;   // by start time, then pid
  // Modules of installed Python packages, as frames name modules. Their C++ was built elsewhere.
  std::set<std::string> package_modules;
  // What tells the program from others, where its files tell it: "commit", of Python also "torch" and
  // "transformers".
  std::map<std::string, std::string> program;
};

}  // namespace capgate::seal
