#include "reports/formats/sarif_locations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "reports/formats/parts.h"
#include "reports/model/names.h"
#include "reports/settings/frames.h"

namespace capgate::reports::formats {
namespace {

using Json = nlohmann::ordered_json;

// GitHub reads a thousand locations and ten thousand steps of a flow, and shows a hundred frames.
constexpr size_t kMostFrames = 100;
constexpr size_t kMostSteps = 1000;

bool plain_in_uri(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') ||
         std::string_view("/-._~").find(character) != std::string_view::npos;
}

// A path relative to the repository stays relative; an absolute one names its scheme. What turns the
// direction of writing would do so again where a viewer decodes the escapes.
std::string uri(const std::string& file) {
  std::string out = file.starts_with('/') ? "file://" : "";
  for (const char character : path_of(printable(file))) {
    if (plain_in_uri(character))
      out += character;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(character));
  }
  return out;
}

Json location(const std::string& file, int line, std::optional<int> column, const std::string& function) {
  Json out = Json::object();
  if (!file.empty()) {
    Json physical = {{"artifactLocation", {{"uri", uri(file)}}}};
    if (line > 0) {
      physical["region"] = {{"startLine", line}};
      if (column.value_or(0) > 0) physical["region"]["startColumn"] = *column;
    }
    out["physicalLocation"] = std::move(physical);
  }
  if (!function.empty())
    out["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", printable(function)}, {"kind", "function"}}});
  return out;
}

std::string title(StackRole role) {
  if (role == StackRole::call) return "call stack";
  if (role == StackRole::origin) return "where the capture began";
  if (role == StackRole::node) return "node made or changed here";
  if (role == StackRole::ended) return "where the capture ended";
  return std::string(name(role)) + " here";
}

}  // namespace

Json sarif_location(const Location& at) {
  return location(at.file, at.line, at.column, at.function);
}

Json sarif_stacks(const Violation& violation) {
  Json stacks = Json::array();
  for (const auto& stack : violation.stacks) {
    Json frames = Json::array();
    for (size_t i = 0; i < stack.frames.size() && i < kMostFrames; ++i) {
      const Frame& frame = stack.frames[i];
      Json out = {{"location", location(frame.file, frame.line, std::nullopt, frame.function)}};
      if (!frame.module.empty()) out["module"] = printable(frame.module);
      frames.push_back(std::move(out));
    }
    stacks.push_back({{"message", {{"text", title(stack.role)}}}, {"frames", std::move(frames)}});
  }
  return stacks;
}

Json sarif_flow(const Violation& violation) {
  Json steps = Json::array();
  for (size_t i = 0; i < violation.flow.size() && i < kMostSteps; ++i) {
    const FlowStep& step = violation.flow[i];
    Json at = location(step.file, step.line, std::nullopt, "");
    at["message"] = {{"text", printable(step.message)}};
    steps.push_back({{"location", std::move(at)}});
  }
  return Json::array({{{"threadFlows", Json::array({{{"locations", std::move(steps)}}})}}});
}

Json sarif_related(const Violation& violation) {
  Json related = Json::array();
  for (const auto& stack : violation.stacks) {
    if (stack.role == StackRole::call) continue;
    const auto picked = pick_location(stack.frames);
    if (!picked || picked->location.file.empty()) continue;
    Json at = sarif_location(picked->location);
    at["id"] = related.size() + 1;
    at["message"] = {{"text", title(stack.role)}};
    related.push_back(std::move(at));
  }
  return related;
}

}  // namespace capgate::reports::formats
