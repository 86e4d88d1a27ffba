// The gate: may this program decode through captured graphs? Only behind a report that says `pass` about this
// very program. For any C++ engine: link capgate_gate, fill Subject with what you are, ask check().
//
//   capgate::gate::Subject self;
//   self.build_id = capgate::gate::self_build_id();          // reports/gate/digests.h
//   self.source_digest = capgate::gate::self_source_digest();
//   self.mode = "full";
//   self.buckets = {"bs=1", "bs=2"};
//   self.sm = "90";
//   self.devices = 1;
//   self.driver_branch = "580";
//   const auto answer = capgate::gate::check("gate.json", self);
//   if (!answer.open()) {
//     std::fprintf(stderr, "%s\n", answer.sentence.c_str());
//     return 2;
//   }
#pragma once

#include <string>
#include <vector>

namespace capgate::gate {

// What the engine is. A field that is left empty is not compared, but a build id or a source digest there
// must be.
struct Subject {
  std::string build_id;       // of the executable, hex
  std::string source_digest;  // over what the build read
  std::string code_digest;    // text, read-only data and device code
  std::string config_digest;  // the resolved model settings
  std::string mode;
  std::vector<std::string> buckets;  // those that are about to be captured; the report may hold more
  std::string sm;                    // "90"; "sm_90" and "9.0" are the same
  int devices = 0;                   // 0: not compared
  std::string driver_branch;         // "580"; a whole driver version will do
};

struct Demands {
  bool completed_capture = true;  // of every bucket; without buckets: of anything
  bool static_evidence = true;    // a lint that parsed every file
  // Without completed_capture: a marked step that ran eagerly will do, although no graph was ever captured.
  bool allow_eager = false;
  // Every graph that was launched, or every one of the named buckets, was verified: verify_replay ran in the
  // audited program and found the eager results. Nothing weaker shows that a replay computes what the step
  // does.
  bool verified_replays = false;
  // What makes the report anew; it ends every refusal that a new report would remove.
  std::string make_report = "capgate audit, capgate lint and capgate merge on this build";
};

enum class Refusal {
  none,
  missing,             // no such file
  unreadable,          // no permission, truncated, not JSON, a key missing
  other_schema,        // written by another version
  failed,              // the report has an error
  inconclusive,        // the report proves nothing
  contradictory,       // the report says pass and holds an error: somebody edited it
  no_identity,         // the engine gave neither build id nor source digest
  other_source,        // stale: a source, header, flag or compiler changed since
  other_build,         // another executable
  other_code,          // other code or device code
  other_config,        // other model settings
  other_mode,          // another mode
  bucket_missing,      // a bucket that the report does not know
  other_architecture,  // another GPU architecture
  other_devices,       // another number of GPUs
  other_driver,        // another driver branch
  no_capture,          // no completed capture of a bucket
  no_static_evidence,  // no lint in it
  only_eager,          // a marked step was seen run eagerly, and no capture
  not_verified         // a graph whose replays were compared with no eager step
};

struct Answer {
  Refusal refusal = Refusal::none;
  std::string sentence;  // empty when open; else one sentence: which, and what to run
  bool open() const { return refusal == Refusal::none; }
};

// Reads the report each time; keeps nothing. Never throws.
Answer check(const std::string& report_path, const Subject& self, const Demands& demands = {});

// "other-build": for logs and tests.
const char* name(Refusal refusal);

}  // namespace capgate::gate
