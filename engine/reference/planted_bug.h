// The mistakes that ports of this model really make, to be made on purpose: a test plants each in turn and
// `compare` has to name the component. In every other build nothing can be planted and nothing is left of it.
#pragma once

namespace dsv4::reference {

enum class Bug {
  kNone,
  kCombTransposed,
  kNoInverseRope,
  kRopeOnFirstDims,
  kHalfSplitRope,
  kPlainTableForWindowKeys,  // in CSA and HCA layers
  kOverlapHalvesSwapped,
  kBiasOfNextSlot,  // in the compressors' gates
  kEntryOneStepLate,
  kHcEpsInMixer,
  kNoClampInSharedExpert,
  kBiasInExpertWeights
};

#ifdef DSV4_PLANT_BUGS
inline Bug planted_bug = Bug::kNone;
inline bool planted(Bug bug) {
  return planted_bug == bug;
}
#else
constexpr bool planted(Bug) {
  return false;
}
#endif

}  // namespace dsv4::reference
