// Inputs that nobody wrote on purpose: mutations of good ones. Whatever the bytes, the answer is a value or
// one sentence; the sanitizer build of this test watches the memory.
#include <gtest/gtest.h>

#include <random>

#include "engine/checkpoint/safetensors.h"
#include "engine/config/canonical_config.h"
#include "engine/config/parse_config.h"
#include "engine/weights/model_shapes.h"
#include "engine/weights/model_weights.h"
#include "tests/unit/engine/safetensors_bytes.h"

namespace dsv4 {
namespace {

constexpr int kRounds = 3000;

template <class Bytes>
void mutate(Bytes& bytes, std::mt19937& random) {
  using Byte = typename Bytes::value_type;
  const auto place = [&] { return bytes.empty() ? std::size_t{0} : random() % bytes.size(); };
  for (auto left = 1 + random() % 4; left > 0; --left) {
    switch (random() % 6) {
      case 0:
        if (!bytes.empty()) bytes[place()] = static_cast<Byte>(random());
        break;
      case 1:
        bytes.resize(place());
        break;
      case 2:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place()),
                     static_cast<Byte>("{}[]\",:019-e"[random() % 12]));
        break;
      case 3:
        if (!bytes.empty()) bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(place()));
        break;
      case 4: {  // a piece of it again, elsewhere
        const std::size_t from = place(), length = std::min<std::size_t>(random() % 40, bytes.size() - from);
        const Bytes piece(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                          bytes.begin() + static_cast<std::ptrdiff_t>(from + length));
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place()), piece.begin(), piece.end());
        break;
      }
      default:  // a digit becomes another
        for (std::size_t i = place(), end = std::min(bytes.size(), i + 200); i < end; ++i)
          if (static_cast<char>(bytes[i]) >= '0' && static_cast<char>(bytes[i]) <= '9') {
            bytes[i] = static_cast<Byte>('0' + random() % 10);
            break;
          }
    }
  }
}

void expect_one_sentence(const std::string& error) {
  EXPECT_FALSE(error.empty());
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST(Mutation, ConfigurationsAreReadOrRefused) {
  std::mt19937 random(7);
  const std::string good = canonical_config(*model_shape("tiny"));
  int accepted = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string text = good;
    mutate(text, random);
    const auto config = parse_config(text, "config.json");
    if (!config) expect_one_sentence(config.error());
    ++(config ? accepted : refused);
  }
  EXPECT_GT(accepted, kRounds / 20);
  EXPECT_GT(refused, kRounds / 4);
}

TEST(Mutation, SafetensorsFilesAreReadWithinTheirBoundsOrRefused) {
  std::mt19937 random(8);
  const auto good = test::safetensors_bytes(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("b":{"dtype":"I8","shape":[8],"data_offsets":[24,32]},"c":{"dtype":"BF16","shape":[0],"data_offsets":[32,32]}})",
      32);
  int accepted = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto file = good;
    mutate(file, random);
    const auto content = parse_safetensors(file, "f");
    ++(content ? accepted : refused);
    if (!content) {
      expect_one_sentence(content.error());
      continue;
    }
    for (const auto& [name, view] : content->tensors) {
      EXPECT_GE(view.data, file.data());
      EXPECT_LE(view.data + view.bytes, file.data() + file.size());
      std::size_t bytes = dtype_size(view.dtype);
      for (const auto dim : view.shape) bytes *= static_cast<std::size_t>(dim);
      EXPECT_EQ(bytes, view.bytes);
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, kRounds / 4);
}

}  // namespace
}  // namespace dsv4
