// Why a value is a device value: a chain of steps back to the copy that brought it. Nodes live as long as the
// unit's analysis; equality of abstract states ignores them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "static_checks/domain/paths.h"
#include "static_checks/ir/program.h"

namespace capgate::lint {

struct Trace {
  const Trace* before = nullptr;
  const Node* at = nullptr;
  std::string message;
  std::string source;    // at the first step: the call or memory that the value came from
  uint32_t summary = 0;  // not 0: the value entered this activation of a function…
  PathId entry = 0;      // …in this cell
  uint16_t length = 1;
};

class Traces {
 public:
  static constexpr uint16_t kMaxLength = 24;

  explicit Traces(const Program& program) : program_(program) {}

  const Trace* source(const Node* at, std::string message, std::string from) {
    Trace& t = all_.emplace_back();
    t.at = at;
    t.message = std::move(message);
    t.source = std::move(from);
    return &t;
  }
  // One more step; none when it stays on its line or the chain is long.
  const Trace* step(const Trace* before, const Node* at, std::string message) {
    if (!before || before->length >= kMaxLength) return before;
    if (!before->summary && before->at->file == at->file &&
        program_.position(before->at).line == program_.position(at).line)
      return before;
    Trace& t = all_.emplace_back();
    t.before = before;
    t.at = at;
    t.message = std::move(message);
    t.length = static_cast<uint16_t>(before->length + 1);
    return &t;
  }
  Trace* copy(const Trace& other) { return &all_.emplace_back(other); }

  static const Trace* first(const Trace* t) {
    while (t->before) t = t->before;
    return t;
  }
  static const std::string& origin(const Trace* t) { return first(t)->source; }

 private:
  const Program& program_;
  std::deque<Trace> all_;
};

}  // namespace capgate::lint
