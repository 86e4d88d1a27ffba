/* verify.h - shows that a captured graph computes what the eager step computes, in one call that fits a unit
 * test.
 *
 *   capgate::replay_check check;
 *   check.eager = [&] { step(stream); };                          // one step, eagerly
 *   check.replay = [&] { cudaGraphLaunch(exec, stream); };        // the program's own launch
 *   check.load = [&](int set, int step) { upload(set, step); };   // puts input set `set` where the step
 * reads it check.outputs = {capgate::of("logits", logits, n)};           // what the step writes, on the
 * device check.state = {capgate::of("cache", cache, m)};               // what a step leaves for the next one
 *   const capgate::replay_result result = capgate::verify_replay(check);
 *   ASSERT_TRUE(result.ok()) << result.text();
 *
 * Every input set is run for `steps` consecutive steps, eagerly and by replay, from the same state. Outputs
 * are filled before each step, in two ways, so that a value that nobody wrote is not taken for a result.
 * Eager steps are run twice to measure their noise. Then free device memory is filled, and all of it runs
 * again: a graph that lives on freed memory shows it there. A pass is this and no more: this graph gave the
 * eager results for these inputs over these steps.
 *
 * Under `capgate audit` all this is evidence: docs/verify.md.
 *
 * C++17, header-only, with CUDA's runtime library; copy the whole folder. Everything runs on the current
 * device, between waits for the whole device. Whole numbers must be equal; halves are numbers where their
 * element type is named.
 */
#ifndef CAPGATE_VERIFY_H
#define CAPGATE_VERIFY_H

#include "verify_result.h"
#include "verify_trial.h"

namespace capgate {

/* Compares eager steps with replays. An exception of the program's own functions passes through. */
inline replay_result verify_replay(const replay_check& check) {
  return verify_detail::trial(check).run();
}

}  // namespace capgate

#endif
