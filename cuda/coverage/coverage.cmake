# Makes a library note which of its code is reached, for `hunt`.
#
#   include(cuda/coverage/coverage.cmake)
#   target_compile_options(mine PRIVATE ${COVERAGE_FLAGS})
#   add_coverage(mine)
set(COVERAGE_FOLDER ${CMAKE_CURRENT_LIST_DIR})
# A call in tail position would leave no trace of where it was made.
set(COVERAGE_FLAGS -g1 -fsanitize-coverage=trace-pc,trace-cmp -fno-optimize-sibling-calls)
# clang counts branches when it has optimised, and has made one of two by then; gcc counts them before.
if(CMAKE_C_COMPILER_ID MATCHES "Clang" OR CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND COVERAGE_FLAGS -O0)
endif()

# Link what notes it, compiled without the flags, into a library; C has to be one of the project's languages.
function(add_coverage target)
  if(NOT TARGET assayer_coverage)
    add_library(assayer_coverage OBJECT EXCLUDE_FROM_ALL ${COVERAGE_FOLDER}/coverage.c)
    set_target_properties(assayer_coverage PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 11 C_STANDARD_REQUIRED ON)
    target_compile_options(assayer_coverage PRIVATE -O2)
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:assayer_coverage>)
endfunction()
