# capgate lint as a part of a CMake build: one action for each source, and one that links them.
#
#   set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
#   include(CapgateLint)
#   capgate_lint(TARGET [TARGET...] [NAME NAME] [OPTIONS OPTION...])
#
# makes the target NAME (default: lint): it summarises each source of the targets that has changed, or whose headers have,
# and links the summaries to NAME.json in the build folder. It fails where `capgate lint` would. OPTIONS are of the last step:
# --fail-on, --suppressions, --require-region and the like. Build it with Ninja: `cmake --build build --target lint`.
find_program(CAPGATE capgate REQUIRED)

function(capgate_lint)
  cmake_parse_arguments(PARSE_ARGV 0 LINT "" "NAME" "OPTIONS")
  if(NOT LINT_NAME)
    set(LINT_NAME lint)
  endif()
  set(summaries)
  foreach(target IN LISTS LINT_UNPARSED_ARGUMENTS)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
      if(NOT source MATCHES "\\.(cu|c|cc|cpp|cxx|C)$")
        continue()
      endif()
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE name)
      string(REPLACE ".." "__" name ${name})
      set(summary ${CMAKE_BINARY_DIR}/${LINT_NAME}/${name}.summary)
      cmake_path(GET summary PARENT_PATH summary_folder)
      file(MAKE_DIRECTORY ${summary_folder})
      add_custom_command(OUTPUT ${summary}
        COMMAND ${CAPGATE} lint --summary-out ${summary} -p ${CMAKE_BINARY_DIR} ${source}
        DEPENDS ${source} ${CMAKE_BINARY_DIR}/compile_commands.json
        DEPFILE ${summary}.d
        COMMENT "Linting ${name}" VERBATIM)
      list(APPEND summaries ${summary})
    endforeach()
  endforeach()
  list(JOIN summaries "\n" lines)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${LINT_NAME}/summaries CONTENT "${lines}\n")
  add_custom_target(${LINT_NAME}
    COMMAND ${CAPGATE} lint --link @${CMAKE_BINARY_DIR}/${LINT_NAME}/summaries --root ${CMAKE_SOURCE_DIR}
            --out ${CMAKE_BINARY_DIR}/${LINT_NAME}.json ${LINT_OPTIONS}
    DEPENDS ${summaries}
    COMMENT "Linking the summaries of ${LINT_NAME}" VERBATIM)
endfunction()
