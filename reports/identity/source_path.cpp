#include "reports/identity/source_path.h"

namespace capgate::reports {

bool same_source(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const std::string& longer = a.size() > b.size() ? a : b;
  const std::string& shorter = a.size() > b.size() ? b : a;
  // A bare name says too little: every project has a main.cpp.
  const bool told_apart = longer.starts_with('/') || shorter.find('/') != std::string::npos;
  return told_apart && !shorter.empty() && longer.size() > shorter.size() && longer.ends_with(shorter) &&
         longer[longer.size() - shorter.size() - 1] == '/';
}

bool is_python_source(const std::string& path) {
  return path.ends_with(".py") || path.ends_with(".pyx") || path.starts_with('<');
}

}  // namespace capgate::reports
