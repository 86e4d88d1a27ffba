// What some implementation computed in a step, component by component: a safetensors file that any program
// can write. Its tensors are
//
//   tokens              I32 [n], fed one a step from position 0 on, to one row
//   COMPONENT/POSITION  F32, any shape: a component (engine/model/components.h, "layers.3.attn.q") at a
//   position
//
// in row-major order; components may be left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace dsv4 {

struct Component {
  std::string name;
  int position = 0;
  std::vector<float> values;
};

struct ComponentDump {
  std::vector<std::int32_t> tokens;
  std::vector<Component> components;

  // Those that occur, ascending.
  std::vector<int> positions() const;
};

capgate::Result<ComponentDump> read_dump(const std::string& path);
capgate::Result<void> write_dump(const ComponentDump& dump, const std::string& path);

}  // namespace dsv4
