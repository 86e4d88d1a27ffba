#include "engine/weights/generator.h"

#include <gtest/gtest.h>
#include <sodium.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/checkpoint/number_formats.h"
#include "engine/config/parse_config.h"
#include "engine/weights/generated_tensors.h"
#include "engine/weights/model_shapes.h"
#include "engine/weights/model_weights.h"
#include "engine/weights/unmade_tensors.h"

namespace dsv4 {
namespace {

std::string digest(const ModelConfig& config, std::uint64_t seed, Storage storage) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  const auto add = [&](const void* data, std::size_t size) {
    crypto_hash_sha256_update(&state, static_cast<const unsigned char*>(data), size);
  };
  for (const auto& tensor : stored_tensors(config, storage)) {
    std::vector<std::byte> bytes(tensor.bytes());
    generate_rows(config, seed, tensor, 0, tensor.shape.size() == 1 ? 1 : tensor.shape[0], bytes);
    add(tensor.name.c_str(), tensor.name.size() + 1);
    add(bytes.data(), bytes.size());
  }
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&state, hash);
  char hex[2 * sizeof hash + 1];
  return sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
}

TEST(Generator, GivesTheBitsOfThePythonTwin) {
  std::ifstream file(GENERATOR_DIGESTS);
  const auto json = nlohmann::json::parse(file);
  std::set<std::string> storages;
  for (const auto& model : json.at("models")) {
    const auto name = model.at("name").get<std::string>();
    const auto config = parse_config(model.at("config").dump(), name);
    ASSERT_TRUE(config) << config.error();
    const auto storage = model.at("storage").get<std::string>();
    storages.insert(storage);
    EXPECT_EQ(digest(*config, model.at("seed").get<std::uint64_t>(),
                     storage == "checkpoint" ? Storage::kCheckpoint : Storage::kF32),
              model.at("sha256").get<std::string>())
        << name;
  }
  EXPECT_EQ(storages.size(), 2u);
}

TEST(Generator, AnyRowsCanBeMadeAlone) {
  const ModelConfig config = *model_shape("tiny");
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint})
    for (const auto& tensor : stored_tensors(config, storage)) {
      if (tensor.shape.size() < 2) continue;
      std::vector<std::byte> whole(tensor.bytes());
      generate_rows(config, 9, tensor, 0, tensor.shape[0], whole);
      const std::size_t row_bytes = whole.size() / static_cast<std::size_t>(tensor.shape[0]);
      const std::int64_t row = tensor.shape[0] / 2;
      std::vector<std::byte> one(row_bytes);
      generate_rows(config, 9, tensor, row, 1, one);
      ASSERT_TRUE(
          std::equal(one.begin(), one.end(), whole.begin() + row * static_cast<std::ptrdiff_t>(row_bytes)))
          << tensor.name;
    }
}

// What a device makes element by element is what the host writes row by row.
TEST(Generator, ElementsAreThoseOfRows) {
  const ModelConfig config = *model_shape("tiny");
  int kinds = 0;
  std::set<DType> seen;
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint})
    for (const auto& tensor : stored_tensors(config, storage)) {
      if (tensor.of.role == TensorRole::kHashTable || tensor.shape.size() < 2 ||
          !seen.insert(tensor.dtype).second)
        continue;
      ++kinds;
      std::vector<std::byte> rows(tensor.bytes());
      generate_rows(config, 11, tensor, 0, tensor.shape[0], rows);
      const ElementRule rule = element_rule(11, tensor);
      const std::size_t size = dtype_size(tensor.dtype);
      for (std::size_t i = 0; i < rows.size() / size; ++i) {
        std::uint32_t made = 0, written = 0;
        std::memcpy(&written, rows.data() + i * size, size);
        if (tensor.dtype == DType::kF32) made = std::bit_cast<std::uint32_t>(f32_element(rule, i));
        if (tensor.dtype == DType::kBf16) made = bf16_element(rule, i);
        if (tensor.dtype == DType::kF8E4m3) made = fp8_element(rule, i);
        if (tensor.dtype == DType::kF8E8m0) made = e8m0_element(rule, i);
        if (tensor.dtype == DType::kI8) made = fp4_pair_element(rule, i);
        ASSERT_EQ(made, written) << tensor.name << " " << i;
      }
    }
  EXPECT_EQ(kinds, 5);
}

TEST(Generator, UnmadeTensorsBindWithoutTheirMemory) {
  const ModelConfig config = truncated(*model_shape("flash"), 4);
  const UnmadeTensors unmade(config, 3, Storage::kCheckpoint);
  const auto weights = bind_weights(config, unmade);
  ASSERT_TRUE(weights.ok()) << weights.error();
  const LayerWeights& layer = weights->layers[2];
  const auto named = [&](const std::byte* data) {
    const StoredTensor* tensor = unmade.unmade(data);
    return tensor == nullptr ? "" : tensor->name;
  };
  EXPECT_EQ(named(weights->head.data), "head.weight");
  EXPECT_EQ(named(layer.wq_b.data), "layers.2.attn.wq_b.weight");
  EXPECT_EQ(named(layer.wq_b.scale), "layers.2.attn.wq_b.scale");
  EXPECT_EQ(named(layer.experts[255].w2.scale), "layers.2.ffn.experts.255.w2.scale");
  EXPECT_EQ(named(layer.attn_hc.fn.data), "layers.2.hc_attn_fn");
  // What the host reads is there, and what random-checkpoint would write.
  std::map<std::string, StoredTensor> stored;
  for (auto& tensor : stored_tensors(config, Storage::kCheckpoint)) stored.emplace(tensor.name, tensor);
  const auto made = [&](const char* name, const std::byte* data) {
    ASSERT_EQ(named(data), "") << name;
    const StoredTensor& tensor = stored.at(name);
    std::vector<std::byte> bytes(tensor.bytes());
    generate_rows(config, 3, tensor, 0, tensor.shape.size() == 1 ? 1 : tensor.shape[0], bytes);
    EXPECT_EQ(std::memcmp(bytes.data(), data, bytes.size()), 0) << name;
  };
  made("layers.2.attn_norm.weight", layer.attn_norm.data);
  made("layers.2.attn.attn_sink", layer.attn_sink.data);
  made("layers.2.attn.compressor.ape", layer.compressor.ape.data);
  made("layers.3.ffn.gate.bias", weights->layers[3].gate_bias.data);
  made("layers.2.ffn.gate.tid2eid", layer.tid2eid.data);
}

TEST(Generator, SeedsAndTensorsDiffer) {
  EXPECT_NE(tensor_key(1, "a"), tensor_key(2, "a"));
  EXPECT_NE(tensor_key(1, "a"), tensor_key(1, "b"));
}

// Mean and deviation of what a role's values are meant to have, in every storage.
TEST(Generator, NothingIsLeftTrivial) {
  const ModelConfig config = *model_shape("tiny");
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint}) {
    const GeneratedTensors tensors(config, 5, storage);
    const auto weights = bind_weights(config, tensors);
    ASSERT_TRUE(weights) << weights.error();
    const auto check = [&](const WeightMatrix& m, TensorRole role, double slack) {
      const auto values = m.decode_all<double>();
      double sum = 0, squares = 0;
      for (const double v : values) sum += v;
      const double mean = sum / static_cast<double>(values.size());
      for (const double v : values) squares += (v - mean) * (v - mean);
      const double std = std::sqrt(squares / static_cast<double>(values.size()));
      const Moments wanted = moments(role, m.cols);
      EXPECT_NEAR(mean, wanted.mean, 0.3 * wanted.std);
      EXPECT_GT(std, wanted.std / slack);
      EXPECT_LT(std, wanted.std * slack);
    };
    const LayerWeights& csa = weights->layers[2];
    check(weights->embed, TensorRole::kEmbedding, 1.05);
    check(csa.attn_norm, TensorRole::kNorm, 1.4);
    check(csa.attn_hc.fn, TensorRole::kHcMixer, 1.05);
    check(csa.attn_hc.base, TensorRole::kHcBase, 1.6);
    check(csa.compressor.ape, TensorRole::kPositionBias, 1.2);
    check(csa.gate_bias, TensorRole::kRouterBias, 2);
    check(csa.attn_sink, TensorRole::kSink, 2);
    // Power-of-two scales meet a deviation within a factor of two.
    check(csa.wq_b, TensorRole::kProjection, storage == Storage::kF32 ? 1.05 : 2);
    check(csa.experts[3].w2, TensorRole::kExpert, storage == Storage::kF32 ? 1.05 : 2);
  }
}

TEST(Generator, HashTableHasDistinctExpertsAndSomeRepeats) {
  const ModelConfig config = *model_shape("tiny");
  const GeneratedTensors tensors(config, 5, Storage::kF32);
  const auto weights = bind_weights(config, tensors);
  ASSERT_TRUE(weights);
  std::set<std::pair<int, int>> pairs;
  for (int token = 0; token < config.vocab_size; ++token) {
    const int a = weights->layers[0].tid2eid.expert(token, 0),
              b = weights->layers[0].tid2eid.expert(token, 1);
    EXPECT_EQ(a == b, token % 16 == 15) << token;
    pairs.emplace(a, b);
  }
  EXPECT_GT(pairs.size(), 40u);
}

TEST(NumberFormats, DecodeExactly) {
  EXPECT_EQ(decode_e4m3(0x7E), 448.0f);
  EXPECT_EQ(decode_e4m3(0x01), 0x1p-9f);
  EXPECT_EQ(decode_e4m3(0x07), 7 * 0x1p-9f);
  EXPECT_EQ(decode_e4m3(0x08), 0x1p-6f);
  EXPECT_EQ(decode_e4m3(0x38), 1.0f);
  EXPECT_EQ(decode_e4m3(0xB9), -1.125f);
  EXPECT_TRUE(std::isnan(decode_e4m3(0x7F)) && std::isnan(decode_e4m3(0xFF)));
  EXPECT_EQ(decode_e8m0(127), 1.0f);
  EXPECT_EQ(decode_e8m0(0), 0x1p-127f);
  EXPECT_EQ(decode_e8m0(254), 0x1p127f);
  EXPECT_TRUE(std::isnan(decode_e8m0(255)));
  const float e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(decode_e2m1(i), i < 8 ? e2m1[i] : -e2m1[i - 8]);
  EXPECT_EQ(decode_f16(0x3C00), 1.0f);
  EXPECT_EQ(decode_f16(0x0001), 0x1p-24f);
  EXPECT_EQ(decode_f16(0xFBFF), -65504.0f);
  EXPECT_TRUE(std::isinf(decode_f16(0x7C00)));
  EXPECT_EQ(decode_bf16(0x3F80), 1.0f);
  EXPECT_EQ(encode_bf16(1.00390625f), 0x3F80);  // a tie goes to even
  EXPECT_EQ(encode_bf16(1.01171875f), 0x3F82);
}

TEST(WeightMatrix, BlockScalesApplyToTheirOwnBlocks) {
  // FP8, 129 x 130: four blocks with a scale each.
  std::vector<std::uint8_t> codes(129 * 130, 0x38), scales = {127, 128, 129, 130};
  WeightMatrix m{WeightFormat::kFp8Block, 129, 130, reinterpret_cast<const std::byte*>(codes.data()),
                 reinterpret_cast<const std::byte*>(scales.data())};
  const auto values = m.decode_all<double>();
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[127], 1);
  EXPECT_EQ(values[128], 2);
  EXPECT_EQ(values[127 * 130 + 128], 2);
  EXPECT_EQ(values[128 * 130], 4);
  EXPECT_EQ(values[128 * 130 + 129], 8);

  // FP4: the even column is in the low half, a scale for 32 columns of a row.
  std::vector<std::uint8_t> packed(2 * 32, 0x52), row_scales = {127, 128, 126, 127};
  WeightMatrix f{WeightFormat::kFp4Row, 2, 64, reinterpret_cast<const std::byte*>(packed.data()),
                 reinterpret_cast<const std::byte*>(row_scales.data())};
  const auto four = f.decode_all<float>();
  EXPECT_EQ(four[0], 1.0f);
  EXPECT_EQ(four[1], 3.0f);
  EXPECT_EQ(four[32], 2.0f);
  EXPECT_EQ(four[64 + 1], 1.5f);
  EXPECT_EQ(four[64 + 33], 3.0f);
}

}  // namespace
}  // namespace dsv4
