// Which files a git repository tracks, read from its index without git.
#pragma once

#include <filesystem>
#include <string>

namespace capgate::seal {

// `git` is the folder that holds HEAD and index, `path` the file's inside the work tree, with '/'. False also
// where the index is missing, cut off, split, or of a version that is not known. `hash_bytes`: of the
// repository's object names, 20 or 32.
bool is_tracked(const std::filesystem::path& git, const std::string& path, size_t hash_bytes);

}  // namespace capgate::seal
