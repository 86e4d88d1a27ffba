# Writes the page's template as a C++ string. In: PAGE, OUT.
file(READ "${PAGE}" page)
if(page MATCHES "\\)capgate_page\"")
  message(FATAL_ERROR "${PAGE}: holds the end of the C++ string that it is to become")
endif()
string(FIND "${page}" "@CAPGATE_PAGE_DATA@" data_place)
if(data_place EQUAL -1)
  message(FATAL_ERROR "${PAGE}: has no place for the data")
endif()
set(text "// Made from reports/viewer/dist by embed.cmake.\n#include \"reports/viewer/page_template.h\"\n\n"
         "namespace capgate::reports {\n\nconst std::string_view kPageTemplate =\n")
string(CONCAT text ${text})
string(APPEND text "    R\"capgate_page(${page})capgate_page\";\n\n}  // namespace capgate::reports\n")
file(WRITE "${OUT}" "${text}")
