// Paths, without exceptions.
#pragma once

#include <string>
#include <string_view>

namespace capgate::lint {

bool file_exists(const std::string& path);
bool directory_exists(const std::string& path);

// `path`, taken from `directory` if it is relative, with "." and ".." resolved by name only.
std::string absolute_path(const std::string& path, const std::string& directory);

// Links followed as far as the path exists. Never fails: what does not exist stays as absolute_path gives it.
std::string canonical_path(const std::string& path);

std::string current_directory();
std::string parent_directory(const std::string& path);  // "/a/b" -> "/a"; "/a" -> "/"
std::string file_name(const std::string& path);         // "/a/b.cu" -> "b.cu"
std::string extension(const std::string& path);         // "/a/b.cu" -> ".cu"; lower case stays lower case

// True for `path` strictly below `directory`; by name.
bool is_below(std::string_view path, std::string_view directory);

// The nearest folder at or above `directory` that holds `name` ("compile_commands.json", ".git"); empty if
// none does.
std::string find_upwards(const std::string& directory, const std::string& name);

}  // namespace capgate::lint
