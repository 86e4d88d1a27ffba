// Runs a program under the preloaded library and reads the traces that it left.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "detector/preload/dump/raw_trace.h"

namespace capgate::test {

struct Audited {
  int exit_code = -1;  // 128 + signal when killed
  std::string err;
  std::vector<trace::RawTrace> traces;  // by file name
  std::vector<std::string> files;

  const trace::RawTrace& only() const;
  std::string fact(const std::string& key) const { return only().fact(key); }
};

struct Options {
  std::vector<std::string> command = {};        // empty: the fake program with `scenario`
  std::map<std::string, std::string> env = {};  // over the usual one
  bool preload = true;
  std::string shell_prefix = {};  // "ulimit -f 100;"
};

Audited run_audited(const std::string& scenario, const Options& options = {});

// A fresh folder that lasts as long as the test process.
std::string fresh_folder();

// The calls of a name ("" all), in order.
std::vector<trace::CallRecord> calls(const trace::RawTrace& trace, const std::string& name = "");

// All records of one type.
template <class T>
std::vector<T> records(const trace::RawTrace& trace, trace::RecordType type) {
  std::vector<T> out;
  for (const trace::RawRecord& record : trace.records)
    if (record.type() == type) out.push_back(record.as<T>());
  return out;
}

// Every interpreter of this machine: the one on the path and those of pyenv.
std::vector<std::string> interpreters();

uint64_t counter(const trace::RawTrace& trace, const std::string& name);

}  // namespace capgate::test
