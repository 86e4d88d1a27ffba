// One safetensors file: 8 bytes of header length, a JSON header, the tensors' bytes. Everything that the
// header says is checked before it is believed: lengths, types, shapes, and that the tensors tile the data
// without gap or overlap.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/tensor_view.h"

namespace dsv4 {

struct SafetensorsContent {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
};

// The views point into `file`. `origin` names the file in errors.
capgate::Result<SafetensorsContent> parse_safetensors(std::span<const std::byte> file,
                                                      const std::string& origin);

class SafetensorsFile {
 public:
  static capgate::Result<SafetensorsFile> open(const std::string& path);
  const std::map<std::string, TensorView>& tensors() const { return content_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return content_.metadata; }

 private:
  SafetensorsFile(MappedFile file, SafetensorsContent content)
      : file_(std::move(file)), content_(std::move(content)) {}
  MappedFile file_;
  SafetensorsContent content_;
};

}  // namespace dsv4
