# Compiler flags, packages and the two functions every folder uses: torc_library and torc_protobuf.

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(RocksDB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(doctest REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(LIBUV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
find_library(CIVETWEB_CPP civetweb-cpp REQUIRED)
find_library(CIVETWEB civetweb REQUIRED)
find_library(RAPIDCHECK rapidcheck REQUIRED)

# Flags of our own code only; generated and third-party code is exempt.
add_library(torc_flags INTERFACE)
target_compile_options(torc_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                            -Wnon-virtual-dtor -Wno-sign-conversion -Werror)
target_include_directories(torc_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_include_directories(torc_flags SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/gen)

if(TORC_ASAN)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(TORC_TSAN)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()

# torc_library(NAME SOURCES ... LINK ...): a static library with the project's flags.
function(torc_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_SOURCES)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_LINK})
    return()
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE torc_flags PUBLIC ${ARG_LINK})
endfunction()

# torc_protobuf(NAME PROTOS ... LINK ...): a library of generated messages; include "folder/x.pb.h".
function(torc_protobuf name)
  cmake_parse_arguments(ARG "" "" "PROTOS;LINK" ${ARGN})
  set(generated)
  foreach(proto ${ARG_PROTOS})
    file(RELATIVE_PATH rel ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
    string(REPLACE ".proto" ".pb" stem ${rel})
    set(out ${PROJECT_BINARY_DIR}/gen/${stem})
    add_custom_command(
      OUTPUT ${out}.cc ${out}.h
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/gen
      COMMAND protobuf::protoc --cpp_out=${PROJECT_BINARY_DIR}/gen -I${PROJECT_SOURCE_DIR}
              ${PROJECT_SOURCE_DIR}/${rel}
      DEPENDS ${PROJECT_SOURCE_DIR}/${rel} protobuf::protoc
      COMMENT "protoc ${rel}")
    list(APPEND generated ${out}.cc ${out}.h)
  endforeach()
  add_library(${name} STATIC ${generated})
  target_include_directories(${name} SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/gen)
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf ${ARG_LINK})
endfunction()
