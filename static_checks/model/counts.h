// Whether a host value is a count: what a loop or the region itself steps through, such as a layer's number.
// It takes all its values in every run, so that a test of it rules nothing out. A test of any other value is
// a setting: a run may never go that way.
//
// Inside a function, what comes in is an input: the parameters first, then the members that the caller knows
// something of. Only a call says whether an input is a count.
#pragma once

#include <cstdint>
#include <vector>

namespace capgate::lint {

// What a place or a value holds, as a set of the bits below; 0: nothing that is known to be counted.
using Counts = uint32_t;

namespace counts {

inline constexpr uint32_t kInputs = 24;
inline constexpr Counts kInputBits = (1U << kInputs) - 1;
inline constexpr Counts kCounted = 1U << 31;
inline constexpr Counts kSetHere = 1U << 30;   // a constant that a loop or the region put there, in every run
inline constexpr Counts kChosen = 1U << 29;    // put there behind a test of something else, which decides
inline constexpr Counts kBound = 1U << 28;     // how far a loop runs
inline constexpr Counts kConstant = 1U << 27;  // of operands only

inline Counts input(uint32_t number) {
  return number < kInputs ? 1U << number : 0;
}

// What may be there after either of two ways. A constant from elsewhere takes nothing from one that was put
// there (`first = true; … first = false;`); a value that is not known does.
inline Counts join(Counts a, bool a_is_constant, Counts b, bool b_is_constant) {
  const Counts both = (a | b) & ~kSetHere;
  const bool here =
      ((a & kSetHere) && ((b & kSetHere) || b_is_constant)) || ((b & kSetHere) && a_is_constant);
  return here ? both | kSetHere : both;
}

// A value as one side of an operator: kConstant, kCounted, kBound, inputs; 0: it comes from elsewhere.
inline Counts operand(Counts value, bool is_constant) {
  if (is_constant) return kConstant;
  if (value & kCounted) return kCounted;
  if (value & kChosen) return 0;
  if (value & kInputBits) return value & kInputBits;
  return value & kSetHere ? kCounted : value & kBound;
}

// Of two operands, as a value: `first_layer + i` is a count.
inline Counts calculated(Counts a, Counts b) {
  if ((a | b) & kCounted) return kCounted;
  if ((a | b) & kInputBits) return (a | b) & kInputBits;
  return a && b ? (a | b) & kBound : 0;
}

// What decides a comparison of two operands: all of it has to be counted, so that `i == n - 1` is where `n`
// is the loop's bound, and `i == cfg.dumped_layer` is not.
inline Counts decided_by(Counts a, Counts b) {
  return a && b ? a | b : 0;
}

inline bool is_count(Counts decided) {
  return (decided & kCounted) && !(decided & kInputBits);
}

// The outcome of a test, as a value.
inline Counts outcome(Counts decided) {
  if (decided & kInputBits) return decided & kInputBits;
  return decided & kCounted;
}

// What decides a test, with the operands that a call gives for its function's inputs.
inline Counts resolved(Counts decided, const std::vector<Counts>& given) {
  Counts known = decided & ~kInputBits;
  for (uint32_t i = 0; i < kInputs; ++i) {
    if (!(decided & input(i))) continue;
    if (i >= given.size() || !given[i]) return 0;
    known |= given[i];
  }
  return known;
}

// What a function leaves in a place, as its caller has it. What follows from something else than a count was
// chosen by it.
inline Counts given_back(Counts value, const std::vector<Counts>& given) {
  Counts known = value & ~kInputBits;
  for (uint32_t i = 0; i < kInputs; ++i) {
    if (!(value & input(i))) continue;
    const Counts one = i < given.size() ? given[i] & ~kConstant : 0;
    known |= one ? one : kChosen;
  }
  return known;
}

// By what the code in one arm of a test was chosen: nothing, inputs, or kChosen.
inline Counts chosen_by(Counts decided, Counts outer) {
  if (is_count(decided)) return outer;
  if (!(decided & kInputBits) || outer == kChosen) return kChosen;
  return (decided & kInputBits) | outer;
}

// An operand of a call that a function makes, in terms of that function's caller.
inline Counts passed_on(Counts operand_of_call, const std::vector<Counts>& given) {
  return operand_of_call & kConstant ? kConstant : operand(given_back(operand_of_call, given), false);
}

}  // namespace counts
}  // namespace capgate::lint
