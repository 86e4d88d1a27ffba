#include "static_checks/cache/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files/read_text.h"
#include "base/files/write_text.h"
#include "base/hex.h"
#include "static_checks/commands/files.h"
#include "static_checks/worker/stamp.h"

namespace capgate::lint {
namespace fs = std::filesystem;

namespace {

constexpr const char* kMagic = "capgate-lint-1\n";
constexpr int64_t kDay = 86'400'000'000'000;

std::string hex(const std::string& bytes) {
  std::string text;
  append_hex(text, bytes.data(), bytes.size());
  return text;
}

std::string compressed(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1);
  out.resize(ZSTD_isError(size) ? 0 : size);
  return out;
}

std::optional<std::string> expanded(std::string_view bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > (1ULL << 31))
    return std::nullopt;
  std::string out(size, '\0');
  const size_t got = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) || got != size) return std::nullopt;
  return out;
}

}  // namespace

Cache::Cache(std::string folder, std::string programs)
    : folder_(std::move(folder)), programs_(std::move(programs)) {}

std::string Cache::path_for(const Job& job) const {
  Job key = job;
  key.command.dropped.clear();
  const std::string name = hex(content_digest(programs_ + '\0' + to_bytes(key)));
  return folder_ + "/" + name.substr(0, 2) + "/" + name.substr(2);
}

const FileStamp& Cache::stamp(const std::string& path) {
  const auto [it, fresh] = stamps_.try_emplace(path);
  if (fresh) it->second = stamp_of(path);
  return it->second;
}

bool Cache::unchanged(const InputFile& file) {
  const FileStamp& now = stamp(file.path);
  if (now.size == FileStamp::kAbsent) return false;
  if (now == file.stamp) return true;
  const auto [it, fresh] = digests_.try_emplace(file.path);
  if (fresh)
    if (const Result<std::string> text = read_file(file.path)) it->second = content_digest(*text);
  return it->second == file.digest;
}

bool Cache::still_true(const Inputs& inputs) {
  if (inputs.files.empty()) return false;
  for (const InputFile& file : inputs.files)
    if (!unchanged(file)) return false;
  for (const EarlierFolder& folder : inputs.earlier) {
    if (stamp(folder.path) == folder.stamp || stamp(folder.path).size == FileStamp::kAbsent) continue;
    if (folder.names >= inputs.names.size()) return false;
    for (const std::string& name : inputs.names[folder.names]) {
      const std::string path = folder.path + "/" + name;
      if (stamp(path).size == FileStamp::kAbsent) continue;
      const std::string real = canonical_path(path);
      const auto is_read = [&](const InputFile& file) { return file.path == real; };
      if (std::none_of(inputs.files.begin(), inputs.files.end(), is_read) &&
          std::find(inputs.shadowed.begin(), inputs.shadowed.end(), path) == inputs.shadowed.end())
        return false;
    }
  }
  return true;
}

std::optional<Reply> Cache::find(const Job& job) {
  if (folder_.empty()) return std::nullopt;
  const std::string path = path_for(job);
  const Result<std::string> file = read_file(path);
  if (!file || !file->starts_with(kMagic)) return std::nullopt;
  const std::optional<std::string> bytes =
      expanded(std::string_view(*file).substr(std::string_view(kMagic).size()));
  if (!bytes) return std::nullopt;
  std::optional<Reply> reply = from_bytes<Reply>(*bytes);
  if (!reply || !still_true(reply->inputs)) return std::nullopt;
  if (file_clock_ns() - stamp_of(path).modified_ns > kDay) utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return reply;
}

void Cache::keep(const Job& job, const Reply& reply) {
  if (folder_.empty() || !reply.failure.empty() || !reply.incomplete.empty()) return;
  const std::string path = path_for(job);
  std::error_code error;
  fs::create_directories(parent_directory(path), error);
  const std::string text = kMagic + compressed(to_bytes(reply));
  (void)write_text(text, path).ok();  // a cache that cannot be written is none
}

void Cache::prune() const {
  if (folder_.empty()) return;
  const std::string mark = folder_ + "/pruned";
  const int64_t now = file_clock_ns();
  const FileStamp last = stamp_of(mark);
  if (last.size != FileStamp::kAbsent && now - last.modified_ns < kDay) return;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    // Entries only: two hex digits, a folder, thirty more.
    if (it->is_regular_file(error) && it.depth() == 1 && it->path().filename().string().size() >= 30 &&
        now - stamp_of(it->path().string()).modified_ns > 30 * kDay)
      unlink(it->path().c_str());
  const int fd = open(mark.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd >= 0) close(fd);
}

std::string default_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') return std::string(cache) + "/capgate/lint";
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/capgate/lint" : "";
}

}  // namespace capgate::lint
