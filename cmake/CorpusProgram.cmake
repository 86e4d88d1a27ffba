# A small CUDA program whose source says how it is built, in its line `// CORPUS-BUILD: …`: static (the CUDA runtime
# linked in), driver, cublas, per-thread (default stream), tail-calls (let the compiler end a function with a jump, which
# takes the function off the stack).
include(GpuProgram)

function(corpus_program source name folder)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} build REGEX "^// CORPUS-BUILD:")
  string(REGEX REPLACE "^// CORPUS-BUILD: *" "" build "${build}")
  separate_arguments(build)
  foreach(option ${build})
    if(NOT option MATCHES "^(static|driver|cublas|per-thread|tail-calls)$")
      message(FATAL_ERROR "${source}: CORPUS-BUILD does not know \"${option}\"")
    endif()
  endforeach()

  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE capgate_options Threads::Threads)
  # Code for the one architecture, and lines for the host's code.
  set_target_properties(${name} PROPERTIES
    CUDA_ARCHITECTURES "${CAPGATE_CUDA_ARCHITECTURES}-real"
    CUDA_RUNTIME_LIBRARY Shared
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/${folder})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/detector/include)
  target_compile_options(${name} PRIVATE -g -lineinfo)
  if(NOT "tail-calls" IN_LIST build)
    target_compile_options(${name} PRIVATE -Xcompiler=-fno-optimize-sibling-calls)
  endif()
  if("static" IN_LIST build)
    set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  endif()
  if("per-thread" IN_LIST build)
    target_compile_options(${name} PRIVATE --default-stream=per-thread)
  endif()
  if("driver" IN_LIST build)
    target_link_libraries(${name} PRIVATE CUDA::cuda_driver)
  endif()
  if("cublas" IN_LIST build)
    target_link_libraries(${name} PRIVATE CUDA::cublas)
  endif()
  gpu_program(${name})
endfunction()
