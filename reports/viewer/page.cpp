#include "reports/viewer/page.h"

#include <filesystem>
#include <fstream>

#include "reports/viewer/packed.h"
#include "reports/viewer/page_data.h"
#include "reports/viewer/page_template.h"

namespace capgate::reports {
namespace {

// reports/viewer/build/one_file.ts writes both into the template.
constexpr std::string_view kFirstLine = "<!doctype html><!-- capgate page ";
constexpr std::string_view kDataPlace = "@CAPGATE_PAGE_DATA@";

// JSON that no HTML parser takes for the end of its element, whatever its strings hold. These characters
// occur in JSON only inside strings.
std::string in_script(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (const char character : json) {
    switch (character) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += character;
    }
  }
  return out;
}

// What a browser reads faster as it is than unpacked.
constexpr size_t kLargestPlain = size_t{1} << 20;

}  // namespace

std::string page_of(PageInput input) {
  const size_t place = kPageTemplate.find(kDataPlace);
  std::string page(kPageTemplate.substr(0, place));
  const std::string data = page_data(std::move(input));
  page += data.size() <= kLargestPlain ? in_script(data) : packed(data);
  page += kPageTemplate.substr(place + kDataPlace.size());
  return page;
}

std::string page_beside(const std::string& report_path) {
  if (report_path == "-") return "capgate-report.html";
  std::filesystem::path path(report_path);
  if (path.extension() == ".json") return path.replace_extension(".html").string();
  return report_path + ".html";
}

Result<void> may_become_page(const std::string& path) {
  std::error_code ec;
  if (path == "-" || !std::filesystem::is_regular_file(path, ec)) return {};
  std::ifstream there(path, std::ios::binary);
  std::string begin(kFirstLine.size(), '\0');
  there.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (there.gcount() == 0 || begin == kFirstLine) return {};  // empty, or a page
  return Error{path + ": is not a page of capgate; refusing to overwrite it"};
}

}  // namespace capgate::reports
