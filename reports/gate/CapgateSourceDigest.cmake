# capgate_source_digest(TARGET [WITH TARGETS…]): links into the executable TARGET the SHA-256 over what its build really
# read: every source and header that the compilers' dependency files name, the flags of every object, the compilers'
# versions. It is made before the last link, after the last object, so that an edited header counts. The digest also lies
# in a text file beside the executable: TARGET.source_digest.
#
# The project's own libraries that TARGET links are covered too, as far as they are defined before the end of this folder;
# name others after WITH. Needs Ninja or Makefiles, and CMAKE_EXPORT_COMPILE_COMMANDS.
include_guard(GLOBAL)

set(CAPGATE_SOURCE_DIGEST_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/source_digest.py
  CACHE INTERNAL "Makes the source digest from dependency files")

function(capgate_source_digest target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "WITH")
  if(NOT CMAKE_EXPORT_COMPILE_COMMANDS)
    message(FATAL_ERROR "capgate_source_digest(${target}) needs CMAKE_EXPORT_COMPILE_COMMANDS: flags are part of the digest")
  endif()
  # At the end of the folder all that the target links is known. The arguments are written out now: a deferred call reads
  # its variables late.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _capgate_link_source_digest [[${target}]] [[${arg_WITH}]])")
endfunction()

# The targets that `root` links and that this project builds, `root` first.
function(_capgate_built_with out root)
  set(todo ${root} ${ARGN})
  set(seen "")
  while(todo)
    list(POP_FRONT todo item)
    if(item MATCHES "^\\$<LINK_ONLY:(.+)>$")
      set(item ${CMAKE_MATCH_1})
    endif()
    if(NOT TARGET "${item}")
      continue()
    endif()
    get_target_property(aliased ${item} ALIASED_TARGET)
    if(aliased)
      set(item ${aliased})
    endif()
    get_target_property(imported ${item} IMPORTED)
    if(imported OR item IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${item})
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(links ${item} ${property})
      if(links)
        list(APPEND todo ${links})
      endif()
    endforeach()
  endwhile()
  set(${out} ${seen} PARENT_SCOPE)
endfunction()

function(_capgate_link_source_digest target with)
  _capgate_built_with(targets ${target} ${with})
  set(objects "")
  foreach(item ${targets})
    get_target_property(type ${item} TYPE)
    if(type MATCHES "^(EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY|OBJECT_LIBRARY)$")
      string(APPEND objects "object $<JOIN:$<TARGET_OBJECTS:${item}>,\nobject >\n")
    endif()
  endforeach()
  set(compilers "")
  foreach(language C CXX CUDA)
    if(CMAKE_${language}_COMPILER)
      string(APPEND compilers
        "compiler ${language} ${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}\n")
    endif()
  endforeach()

  set(stem ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(plan ${stem}.source_digest.plan)
  file(GENERATE OUTPUT ${plan} CONTENT
    "source ${CMAKE_SOURCE_DIR}\nbinary ${CMAKE_BINARY_DIR}\n${compilers}${objects}")
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_custom_command(TARGET ${target} PRE_LINK
    COMMAND ${Python3_EXECUTABLE} ${CAPGATE_SOURCE_DIGEST_SCRIPT} --plan ${plan} --digest ${stem}.source_digest
            --object ${stem}.source_digest.o --compiler ${CMAKE_CXX_COMPILER}
    COMMENT "Digesting the sources of ${target}"
    VERBATIM)
  # As an option and not as a library: no rule makes this file, the link's own first command does.
  target_link_options(${target} PRIVATE $<HOST_LINK:${stem}.source_digest.o>)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${CAPGATE_SOURCE_DIGEST_SCRIPT} ${plan})
endfunction()
