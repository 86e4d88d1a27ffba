// Runs a program under the preloaded library and reads the traces that it left.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "detector/trace/raw_file.h"
#include "detector/trace/reader.h"

namespace capgate::test {

// A raw trace, as the analysis reads it.
struct RecordedTrace {
  trace::RawFile file;
  trace::ProcessTrace process;

  std::string text(uint32_t id) const { return std::string(process.text(id)); }
  // The last value of a key, or empty.
  std::string fact(const std::string& key) const { return std::string(process.fact(key)); }
  size_t count_of_facts(const std::string& key) const;
  // The module of an address as "libfoo.so+0x12", or its number.
  std::string place(uint64_t ip) const;
};

// A trace that cannot be read fails the test.
RecordedTrace read_recorded(const std::string& path);

struct Audited {
  int exit_code = -1;  // 128 + signal when killed
  std::string err;
  std::vector<RecordedTrace> traces;  // by file name
  std::vector<std::string> files;

  const RecordedTrace& only() const;
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
std::vector<trace::CallRecord> calls(const RecordedTrace& trace, const std::string& name = "");

// All records of one type.
template <class T>
std::vector<T> records(const RecordedTrace& trace, trace::RecordType type) {
  std::vector<T> out;
  for (const trace::RawRecord& record : trace.file.records) {
    trace::RecordHeader header;
    std::memcpy(&header, trace.file.bytes.data() + record.offset, sizeof header);
    if (trace::RecordType(header.type) != type) continue;
    T& to = out.emplace_back();
    std::memcpy(static_cast<void*>(&to), trace.file.bytes.data() + record.offset, sizeof to);
  }
  return out;
}

// Every interpreter of this machine: the one on the path and those of pyenv.
std::vector<std::string> interpreters();

uint64_t counter(const RecordedTrace& trace, const std::string& name);

}  // namespace capgate::test
