#include "engine/weights/random_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files/read_text.h"
#include "engine/config/canonical_config.h"
#include "engine/config/parse_config.h"

namespace dsv4 {
namespace {

using capgate::Error;
using capgate::Result;

constexpr std::uint64_t kShardBytes = std::uint64_t{4} << 30;
constexpr std::size_t kChunkBytes = std::size_t{8} << 20;

struct Shard {
  std::vector<StoredTensor> tensors;
  std::uint64_t bytes = 0;
};

std::vector<Shard> split(std::vector<StoredTensor> tensors) {
  std::vector<Shard> shards(1);
  for (auto& tensor : tensors) {
    const std::uint64_t bytes = tensor.bytes();
    // A scale stays with its codes.
    if (shards.back().bytes > 0 && shards.back().bytes + bytes > kShardBytes && !tensor.is_scale)
      shards.emplace_back();
    shards.back().bytes += bytes;
    shards.back().tensors.push_back(std::move(tensor));
  }
  return shards;
}

std::string header_of(const Shard& shard) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  std::uint64_t at = 0;
  for (const auto& tensor : shard.tensors) {
    const std::uint64_t end = at + tensor.bytes();
    header[tensor.name] = {
        {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i)
    out[i] = static_cast<char>(static_cast<std::uint64_t>(text.size()) >> 8 * i & 0xFF);
  return out + text;
}

class File {
 public:
  explicit File(std::string path)
      : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb"), &std::fclose) {
    if (!file_) error_ = errno;
  }
  void write(const void* data, std::size_t size) {
    if (error_ == 0 && std::fwrite(data, 1, size, file_.get()) != size) error_ = errno;
  }
  Result<void> close() {
    if (file_ && std::fclose(file_.release()) != 0 && error_ == 0) error_ = errno;
    if (error_ != 0) return Error{fmt::format("{}: cannot be written ({})", path_, std::strerror(error_))};
    return {};
  }
  bool failed() const { return error_ != 0; }

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  int error_ = 0;
};

Result<void> write_text(const std::string& path, const std::string& text) {
  File file(path);
  file.write(text.data(), text.size());
  return file.close();
}

std::string shard_name(std::size_t s, std::size_t count) {
  return count == 1 ? "model.safetensors" : fmt::format("model-{:05}-of-{:05}.safetensors", s + 1, count);
}

// Only what this function wrote before is written over: nobody gets a model's weights back.
Result<void> check_is_ours(const std::string& dir) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto is_there = [&](const char* name) {
    return fs::exists(fs::symlink_status(fs::path(dir) / name, ignored));
  };
  if (!is_there("config.json")) {
    for (const char* name : {"model.safetensors", "model.safetensors.index.json"})
      if (is_there(name)) return Error{fmt::format("{}: holds {} already", dir, name)};
    return {};
  }
  const auto text = capgate::read_file(dir + "/config.json", std::size_t{16} << 20);
  const capgate::Result<ModelConfig> config =
      text ? parse_config(*text, "config.json") : Result<ModelConfig>(Error{text.error()});
  if (!config || canonical_config(*config) != *text)
    return Error{fmt::format("{}: holds another model already", dir)};
  return {};
}

Result<void> check_room(const std::string& dir, const std::vector<Shard>& shards, std::uint64_t total) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const auto space = fs::space(dir, failure);
  if (failure) return {};
  std::uint64_t room = space.available;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const auto written_over = fs::file_size(fs::path(dir) / shard_name(s, shards.size()), failure);
    if (!failure) room += written_over;
  }
  if (room >= total) return {};
  return Error{fmt::format("{}: {:.1f} GiB are needed, {:.1f} are free", dir,
                           static_cast<double>(total) / double(1 << 30),
                           static_cast<double>(room) / double(1 << 30))};
}

}  // namespace

Result<RandomCheckpoint> write_random_checkpoint(
    const ModelConfig& config, std::uint64_t seed, Storage storage, const std::string& dir,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  if (storage == Storage::kCheckpoint && (config.hidden_size % 32 != 0 || config.expert_size % 32 != 0))
    return Error{fmt::format("FP4 experts need sizes that are multiples of 32, not {} and {}",
                             config.hidden_size, config.expert_size)};
  std::error_code failure;
  std::filesystem::create_directories(dir, failure);
  if (failure) return Error{fmt::format("{}: cannot be made ({})", dir, failure.message())};
  if (auto ok = check_is_ours(dir); !ok) return Error{ok.error()};

  const auto shards = split(stored_tensors(config, storage));
  RandomCheckpoint done{0, static_cast<int>(shards.size())};
  std::uint64_t total = 0;
  for (const auto& shard : shards) total += shard.bytes;
  if (auto ok = check_room(dir, shards, total); !ok) return Error{ok.error()};
  // An index of before counts more than a file that it does not list.
  const std::string index_path = dir + "/model.safetensors.index.json";
  std::filesystem::remove(index_path, failure);
  if (failure) return Error{fmt::format("{}: cannot be removed ({})", index_path, failure.message())};
  if (auto ok = write_text(dir + "/config.json", canonical_config(config)); !ok) return Error{ok.error()};
  nlohmann::ordered_json index;
  index["metadata"] = {{"total_size", total}};
  std::vector<std::byte> chunk;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const std::string name = shard_name(s, shards.size());
    File file(dir + "/" + name);
    const std::string header = header_of(shards[s]);
    file.write(header.data(), header.size());
    for (const auto& tensor : shards[s].tensors) {
      index["weight_map"][tensor.name] = name;
      const std::int64_t rows = tensor.shape.size() == 1 ? 1 : tensor.shape[0];
      const std::size_t row_bytes = tensor.bytes() / static_cast<std::size_t>(rows);
      const auto step = std::max<std::int64_t>(1, static_cast<std::int64_t>(kChunkBytes / row_bytes));
      for (std::int64_t first_row = 0; first_row < rows && !file.failed(); first_row += step) {
        const std::int64_t count = std::min(step, rows - first_row);
        chunk.resize(static_cast<std::size_t>(count) * row_bytes);
        generate_rows(config, seed, tensor, first_row, count, chunk);
        file.write(chunk.data(), chunk.size());
        done.bytes += chunk.size();
        if (progress) progress(done.bytes, total);
      }
    }
    if (auto ok = file.close(); !ok) return Error{ok.error()};
  }
  if (shards.size() > 1)
    if (auto ok = write_text(index_path, index.dump(1) + "\n"); !ok) return Error{ok.error()};
  return done;
}

}  // namespace dsv4
