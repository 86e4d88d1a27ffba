# Libraries as archives, so that a program linked with them runs on a machine that lacks Debian's shared ones:
#   capgate::dw      elfutils: DWARF, ELF, and what they unpack with
#   capgate::z
#   capgate::zstd
#   capgate::sodium
# Where a system ships no archive, the shared library takes its place.
include_guard(GLOBAL)

function(capgate_archive name)
  cmake_parse_arguments(arg "" "HEADER" "LIBRARIES;SYSTEM" ${ARGN})
  find_path(CAPGATE_${name}_INCLUDE ${arg_HEADER} REQUIRED)
  mark_as_advanced(CAPGATE_${name}_INCLUDE)
  add_library(capgate_archive_${name} INTERFACE)
  add_library(capgate::${name} ALIAS capgate_archive_${name})
  target_include_directories(capgate_archive_${name} SYSTEM INTERFACE ${CAPGATE_${name}_INCLUDE})
  foreach(library ${arg_LIBRARIES})
    find_library(CAPGATE_ARCHIVE_${library} NAMES lib${library}.a ${library} REQUIRED)
    mark_as_advanced(CAPGATE_ARCHIVE_${library})
    target_link_libraries(capgate_archive_${name} INTERFACE ${CAPGATE_ARCHIVE_${library}})
  endforeach()
  target_link_libraries(capgate_archive_${name} INTERFACE ${arg_SYSTEM})
endfunction()

find_package(Threads REQUIRED)
capgate_archive(dw HEADER elfutils/libdwfl.h LIBRARIES dw elf z lzma bz2 zstd SYSTEM Threads::Threads ${CMAKE_DL_LIBS})
capgate_archive(z HEADER zlib.h LIBRARIES z)
capgate_archive(zstd HEADER zstd.h LIBRARIES zstd SYSTEM Threads::Threads)
capgate_archive(sodium HEADER sodium.h LIBRARIES sodium SYSTEM Threads::Threads)
