// The words that the JSON and the command line use for the model's enumerations.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace capgate::reports {

// A word for each value of an enumeration, in the order of its values.
template <class Enum>
inline constexpr std::array<std::string_view, 0> kWords{};
template <>
inline constexpr std::array<std::string_view, 3> kWords<Verdict>{"pass", "fail", "inconclusive"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<Severity>{"error", "warning", "note"};
template <>
inline constexpr std::array<std::string_view, 5> kWords<Phase>{"warmup", "capture", "replay", "step",
                                                               "source"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<BarKind>{"region", "capture", "replay", "wait"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<Component>{"detector", "static_checks", "engine",
                                                                   "merge"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<CoverageKind>{"", "source", "eager", "capture"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<RegionSource>{"capgate.h", "lint", "nvtx"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<FrameLanguage>{"native", "python"};
template <>
inline constexpr std::array<std::string_view, 14> kWords<StackRole>{
    "call",     "allocated",  "captured",     "freed",   "forked",   "origin", "mapped",
    "unmapped", "registered", "unregistered", "located", "unloaded", "node",   "ended"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Evidence>{"runtime", "static"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<BaselineState>{"new", "known"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<MemoryWatched>{"no", "segments", "blocks"};

template <>
inline constexpr std::array<std::string_view, 3> kWords<ReplayResult>{"equal", "differs", "not-counted"};

template <class T>
concept Worded = !kWords<T>.empty();

template <Worded Enum>
constexpr std::string_view name(Enum value) {
  return kWords<Enum>.at(static_cast<size_t>(value));
}

template <Worded Enum>
constexpr std::optional<Enum> named(std::string_view word) {
  for (size_t i = 0; i < kWords<Enum>.size(); ++i)
    if (kWords<Enum>[i] == word) return static_cast<Enum>(i);
  return std::nullopt;
}

// The one name of a capture, whoever speaks of it: `capture "decode bs=8"`, or `capture 1 of s1` where the
// program gave it none.
std::string capture_name(std::string_view bucket, std::string_view number, std::string_view stream);
std::string capture_name(const Capture& capture);

}  // namespace capgate::reports
