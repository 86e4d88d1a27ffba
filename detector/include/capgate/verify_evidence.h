/* verify_evidence.h - what verify.h tells an audit, so that a verification is evidence in the audit's report.
 * A part of verify.h; nothing here is for programs to call. Without an audit it does nothing.
 */
#ifndef CAPGATE_VERIFY_EVIDENCE_H
#define CAPGATE_VERIFY_EVIDENCE_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "capgate.h"

namespace capgate {
namespace verify_detail {

/* KEY=VALUE, one space between two of them. */
class facts {
 public:
  facts& add(const char* key, const char* value) {
    if (!text_.empty()) text_ += ' ';
    text_ += key;
    text_ += '=';
    text_ += value;
    return *this;
  }
  facts& add(const char* key, const std::string& value) { return add(key, value.c_str()); }
  facts& add(const char* key, double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return add(key, text);
  }
  facts& add(const char* key, std::size_t value) { return add(key, std::to_string(value)); }
  facts& add(const char* key, int value) { return add(key, std::to_string(value)); }
  const char* text() const { return text_.c_str(); }

 private:
  std::string text_;
};

/* What is claimed, in the order in which it happens. The audit holds it against the calls that it saw. */
class evidence {
 public:
  evidence(const std::string& name, int sets, int steps) : wanted_(capgate_audited() != 0) {
    send(CAPGATE_OP_VERIFY_BEGIN, name.c_str(), facts().add("inputs", sets).add("steps", steps));
  }
  /* An exception of the program's passes through. */
  ~evidence() { end("raised", facts().add("why", "an exception left the verification")); }
  evidence(const evidence&) = delete;
  evidence& operator=(const evidence&) = delete;

  void load(const char* run, int set, int step, int filling, bool refilled) {
    send(CAPGATE_OP_VERIFY_STEP, "load",
         facts()
             .add("run", run)
             .add("set", set)
             .add("step", step)
             .add("filling", filling)
             .add("refilled", refilled ? 1 : 0));
  }
  void enter(const char* phase) { send(CAPGATE_OP_VERIFY_STEP, phase, facts()); }
  void output(const std::string& name, const void* data, std::size_t size, bool state) {
    char address[24];
    std::snprintf(address, sizeof address, "0x%llx",
                  static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(data)));
    send(CAPGATE_OP_VERIFY_OUTPUT, name.c_str(),
         facts().add("address", address).add("bytes", size).add("by", "copy").add("state", state ? 1 : 0));
  }
  void compared(const std::string& name, double noise, bool varied) {
    send(CAPGATE_OP_VERIFY_OUTPUT, name.c_str(), facts().add("noise", noise).add("varied", varied ? 1 : 0));
  }
  void differs(const std::string& name, const facts& how) {
    send(CAPGATE_OP_VERIFY_DIFFERS, name.c_str(), how);
  }
  void end(const char* result, const facts& how) {
    send(CAPGATE_OP_VERIFY_END, result, how);
    wanted_ = false;
  }

 private:
  void send(int op, const char* name, const facts& more) const {
    if (wanted_) (void)capgate_call(op, name, more.text());
  }
  bool wanted_;
};

}  // namespace verify_detail
}  // namespace capgate

#endif
