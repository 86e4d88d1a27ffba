# Language level, warnings and sanitizers that every target of the project shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# What a stack needs of a release build's own code is functions and lines; the rest of the debug information costs a third of
# the compile time. The preset dev has all of it, and so have the programs that are audited (-g on the target).
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

# GCC collects its garbage from 128 MiB on, which takes a tenth of the compile time of a batch of sources. Tools that are made of
# clang read the same command line and do not know the option.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-expand=400;--param=ggc-min-heapsize=1000000;-Wno-unused-command-line-argument>")
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(capgate_options INTERFACE)
target_include_directories(capgate_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
target_compile_options(capgate_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Werror -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>>
  $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)
if(CAPGATE_SANITIZE)
  target_compile_options(capgate_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${CAPGATE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(capgate_options INTERFACE -fsanitize=${CAPGATE_SANITIZE})
endif()

# For code whose own speed nobody feels, as command lines and tests: half the compile time of -O2.
set(CAPGATE_QUICK_TO_COMPILE $<$<AND:$<CONFIG:RelWithDebInfo>,$<COMPILE_LANGUAGE:CXX>>:-Og>)

# For code that is felt only in reports of ten thousand findings: a quarter less to compile than -O2.
set(CAPGATE_LIGHTLY_OPTIMISED $<$<AND:$<CONFIG:RelWithDebInfo>,$<COMPILE_LANGUAGE:CXX>>:-O1>)

# Sources that include the same large headers are compiled `batch` at a time: most of a source's time goes into what it
# includes. Names in unnamed namespaces must then be the batch's own; a source that cannot take part has the property
# SKIP_UNITY_BUILD_INCLUSION. Everyone's own includes are still checked: scripts/check compiles each header alone, and
# clang-tidy each source.
function(capgate_compile_together target batch)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()
