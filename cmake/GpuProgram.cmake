# Programs that only a machine with a GPU can run. A plain build leaves them out: `cmake --build BUILD --target gpu_programs`
# builds them, as scripts/bundle does. What a plain build does instead is compile their sources to PTX, in a fifth of the
# time: that parses and checks host and device code, so that a change which breaks one of them is noticed anywhere.
if(NOT TARGET gpu_programs)
  add_custom_target(gpu_programs)
endif()

# After the target has its sources; its options may follow.
function(gpu_program name)
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(gpu_programs ${name})

  get_target_property(sources ${name} SOURCES)
  add_library(${name}.compiles OBJECT ${sources})
  foreach(property COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_LIBRARIES)
    set_property(TARGET ${name}.compiles PROPERTY ${property} $<TARGET_PROPERTY:${name},${property}>)
  endforeach()
  # Not in the compile database, which has each program once.
  set_target_properties(${name}.compiles PROPERTIES
    CUDA_PTX_COMPILATION ON
    CUDA_ARCHITECTURES "${CAPGATE_CUDA_ARCHITECTURES}-virtual"
    EXPORT_COMPILE_COMMANDS OFF)
endfunction()
