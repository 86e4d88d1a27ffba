# Writes the tables of sources as C++ strings. In: FILES, OUT. A literal has a limit of 64 KB.
set(text "// Made from static_checks/sources by embed.cmake.\n#include \"static_checks/sources/tables.h\"\n\n"
         "namespace capgate::lint {\n\n"
         "const std::vector<std::pair<std::string, std::string>>& builtin_tables() {\n"
         "  static const std::vector<std::pair<std::string, std::string>> tables{\n")
string(CONCAT text ${text})
foreach(file ${FILES})
  file(READ ${file} content)
  get_filename_component(name ${file} NAME)
  string(APPEND text "      {\"${name}\", R\"capgate_table(${content})capgate_table\"},\n")
endforeach()
string(APPEND text "  };\n  return tables;\n}\n\n}  // namespace capgate::lint\n")
file(WRITE ${OUT} "${text}")
