# Compiles CUDA sources for the CPU.
#
#   include(cuda/emulator/emulator.cmake)
#   add_library(mine SHARED)                # or an executable
#   emulate_cuda(mine SOURCES a.cu b.cu HEADERS common.cuh MODE address)
#
# MODE is fast (the default), address (address and undefined-behaviour sanitisers) or thread (the race detector).  HEADERS
# are the headers of the sources that hold launches or shared memory; they have to lie beside or below the sources' folder.
# COVERAGE compiles the kernels so that they note which of their code is reached (../coverage/coverage.cmake; needs C as a language).
# FROM is the folder from which reports name files; the one with this CMakeLists.txt unless it is given.  Of several a file
# is named from the first that it lies below.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
find_package(Threads REQUIRED)
include(CheckCXXCompilerFlag)

option(EMULATOR_NATIVE "Compile emulated kernels for this machine's own processor" ON)
set(EMULATOR_FOLDER ${CMAKE_CURRENT_LIST_DIR})

# What kernels are compiled with, and linked with, in each mode.
set(EMULATOR_KERNEL_FLAGS -fno-strict-aliasing -ffp-contract=fast -fno-math-errno -fno-trapping-math -Wall -Wextra -Wno-unknown-pragmas
    -Wno-unused-function -Wno-maybe-uninitialized)
set(EMULATOR_RUNTIME_FLAGS -O2 -g1 -fno-builtin-memset -Wall -Wextra)
set(EMULATOR_FLAGS_fast -O3 -g1)
set(EMULATOR_FLAGS_address -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined)
# A structure that is passed by value straight from memory is a read that gcc's race detector does not see; once the call is
# inlined it does.
set(EMULATOR_FLAGS_thread -O2 -finline-functions --param=max-inline-insns-auto=200 -fno-tree-vectorize -g -fsanitize=thread)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(REMOVE_ITEM EMULATOR_KERNEL_FLAGS -Wno-maybe-uninitialized)
  list(REMOVE_ITEM EMULATOR_FLAGS_thread --param=max-inline-insns-auto=200)
  list(APPEND EMULATOR_FLAGS_thread -fno-vectorize -fno-slp-vectorize) # its detector does not see vectors of more than 16 bytes
endif()
# In place of these the linker calls src/math_errors.cpp, which can err as a device's may.
set(EMULATOR_LINK_FUNCTIONS -Wl,--wrap=expf,--wrap=exp2f,--wrap=expm1f,--wrap=logf,--wrap=log1pf,--wrap=sinf,--wrap=cosf
    -Wl,--wrap=sincosf,--wrap=tanhf,--wrap=erff,--wrap=powf)
set(EMULATOR_LINK_fast)
set(EMULATOR_LINK_address -fsanitize=address,undefined)
set(EMULATOR_LINK_thread -fsanitize=thread)

# The runtime, once for each mode that is used.  It is never compiled with a sanitiser (src/sanitizers.h), and it fills memory
# by loops that must not become calls of memset, which sanitisers watch.
function(emulator_add_runtime mode)
  if(TARGET emulator_runtime_${mode})
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${EMULATOR_FOLDER}/src/*.cpp)
  add_library(emulator_runtime_${mode} OBJECT EXCLUDE_FROM_ALL ${sources})
  string(TOUPPER ${mode} upper)
  target_compile_definitions(emulator_runtime_${mode} PRIVATE EMULATOR_MODE=EMULATOR_MODE_${upper})
  target_include_directories(emulator_runtime_${mode} PRIVATE ${EMULATOR_FOLDER}/include)
  target_compile_features(emulator_runtime_${mode} PRIVATE cxx_std_17)
  target_compile_options(emulator_runtime_${mode} PRIVATE ${EMULATOR_RUNTIME_FLAGS})
  check_cxx_compiler_flag(-fno-tree-loop-distribute-patterns EMULATOR_HAS_LOOP_PATTERNS)
  if(EMULATOR_HAS_LOOP_PATTERNS)
    target_compile_options(emulator_runtime_${mode} PRIVATE -fno-tree-loop-distribute-patterns)
  endif()
  set_target_properties(emulator_runtime_${mode} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden CXX_EXTENSIONS ON
                        UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endfunction()

function(emulate_cuda target)
  cmake_parse_arguments(PARSE_ARGV 1 given "COVERAGE" "MODE" "FROM;SOURCES;HEADERS")
  set(folders)
  if(NOT given_FROM)
    set(given_FROM ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  foreach(folder IN LISTS given_FROM)
    get_filename_component(path ${folder} ABSOLUTE)
    list(APPEND folders ${path})
  endforeach()
  list(GET folders 0 from)
  set(mode ${given_MODE})
  if(NOT mode)
    set(mode fast)
  elseif(NOT mode MATCHES "^(fast|address|thread)$")
    message(FATAL_ERROR "emulate_cuda: MODE is fast, address or thread, not ${mode}")
  endif()
  emulator_add_runtime(${mode})

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.rewritten)
  file(GLOB rewriter CONFIGURE_DEPENDS ${EMULATOR_FOLDER}/rewrite/*.py)
  set(headers)
  foreach(file IN LISTS given_HEADERS given_SOURCES)
    get_filename_component(path ${file} ABSOLUTE)
    set(name "..")
    foreach(below IN LISTS folders)
      if(name MATCHES "^\\.\\.")
        file(RELATIVE_PATH name ${below} ${path})
      endif()
    endforeach()
    if(name MATCHES "^\\.\\.")
      message(FATAL_ERROR "emulate_cuda: ${file} lies outside ${folders}")
    endif()
    set(rewritten ${folder}/${name})
    if(file IN_LIST given_SOURCES)
      string(APPEND rewritten .cpp)
      target_sources(${target} PRIVATE ${rewritten})
    else()
      list(APPEND headers ${rewritten})
    endif()
    add_custom_command(OUTPUT ${rewritten} DEPENDS ${path} ${rewriter} COMMENT "Rewriting ${name}"
                       COMMAND ${Python3_EXECUTABLE} ${EMULATOR_FOLDER}/rewrite ${path} ${rewritten} ${name} VERBATIM)
    get_filename_component(original ${path} DIRECTORY)
    target_include_directories(${target} PRIVATE ${original})
  endforeach()
  target_sources(${target} PRIVATE ${headers} $<TARGET_OBJECTS:emulator_runtime_${mode}>)

  target_include_directories(${target} BEFORE PRIVATE ${EMULATOR_FOLDER}/include)
  target_compile_features(${target} PRIVATE cxx_std_17)
  target_compile_options(${target} PRIVATE ${EMULATOR_KERNEL_FLAGS} ${EMULATOR_FLAGS_${mode}})
  if(given_COVERAGE)
    include(${EMULATOR_FOLDER}/../coverage/coverage.cmake)
    target_compile_options(${target} PRIVATE ${COVERAGE_FLAGS})
    add_coverage(${target})
  endif()
  check_cxx_compiler_flag(-march=native EMULATOR_HAS_NATIVE)
  if(EMULATOR_NATIVE AND EMULATOR_HAS_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  endif()
  # Sanitisers and debuggers look for files from there too, not from the build's folder.
  foreach(built IN ITEMS ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
    target_compile_options(${target} PRIVATE -fdebug-prefix-map=${built}=${from})
  endforeach()
  target_compile_definitions(${target} PRIVATE ASSAYER_EMULATED=1)
  target_link_options(${target} PRIVATE ${EMULATOR_LINK_${mode}} ${EMULATOR_LINK_FUNCTIONS})
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS ON)
endfunction()
