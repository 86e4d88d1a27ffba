// Golden data of the engine: what another implementation computed for models that the generator can rebuild
// (scripts/golden/golden_file.py describes the layout).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/config/model_config.h"
#include "engine/weights/generator.h"

namespace dsv4 {

// A tensor of the file, copied.
template <class T>
struct GoldenArray {
  std::vector<std::int64_t> shape;
  std::vector<T> values;

  // values[i, :] of a two-dimensional view whose rows are the last dimension.
  std::span<const T> line(std::size_t i) const {
    const auto width = static_cast<std::size_t>(shape.back());
    return std::span<const T>(values).subspan(i * width, width);
  }
};

struct GoldenCase {
  std::string name;
  ModelConfig config;
  std::uint64_t seed = 0;
  Storage storage = Storage::kF32;
  int rows = 0;
  int length = 0;
  std::vector<int> observed;  // positions of the last row whose components are kept
  std::vector<int> prompts;   // lengths of row 0 that a greedy run starts from
  int long_prompt = 0;        // the same of the long greedy run; 0: there is none
};

class GoldenFile {
 public:
  static capgate::Result<GoldenFile> open(const std::string& path);

  const std::string& origin() const { return origin_; }
  const std::vector<GoldenCase>& cases() const { return cases_; }

  // Tensor CASE/NAME; an error if it is missing or of another type.
  capgate::Result<GoldenArray<float>> floats(const GoldenCase& c, const std::string& name) const;
  capgate::Result<GoldenArray<std::int32_t>> integers(const GoldenCase& c, const std::string& name) const;
  bool has(const GoldenCase& c, const std::string& name) const;
  // Names of the components kept at a position.
  std::vector<std::string> components(const GoldenCase& c, int position) const;

 private:
  explicit GoldenFile(SafetensorsFile file) : file_(std::move(file)) {}
  template <class T>
  capgate::Result<GoldenArray<T>> array(const GoldenCase& c, const std::string& name, DType dtype) const;

  SafetensorsFile file_;
  std::string origin_;
  std::vector<GoldenCase> cases_;
};

}  // namespace dsv4
