# Builds librdkafka statically from the source inside the rdkafka-sys crate, which script/bootstrap
# unpacks to ARRAKIS_DEPS/crates. Target: rdkafka. Override: -DLIBRDKAFKA_SOURCE_DIR=<a librdkafka tree>.
set(LIBRDKAFKA_SOURCE_DIR "${ARRAKIS_DEPS}/crates/rdkafka-sys/librdkafka" CACHE PATH
  "librdkafka's source tree")
if(NOT EXISTS "${LIBRDKAFKA_SOURCE_DIR}/CMakeLists.txt")
  message(FATAL_ERROR "no librdkafka >= 2.12 on this system and no source in "
    "${LIBRDKAFKA_SOURCE_DIR}: run script/bootstrap")
endif()
set(RDKAFKA_BUILD_STATIC ON CACHE BOOL "" FORCE)
set(RDKAFKA_BUILD_EXAMPLES OFF CACHE BOOL "" FORCE)
set(RDKAFKA_BUILD_TESTS OFF CACHE BOOL "" FORCE)
set(WITH_PLUGINS OFF CACHE BOOL "" FORCE)
set(WITH_CURL OFF CACHE BOOL "" FORCE)  # only for OIDC tokens; its header is wanted all the same (2.12.1)
set(WITH_SASL OFF CACHE BOOL "" FORCE)  # Cyrus (GSSAPI) only; PLAIN, SCRAM, OAUTHBEARER come with SSL
set(WITH_ZSTD ON CACHE BOOL "" FORCE)
set(ENABLE_LZ4_EXT OFF CACHE BOOL "" FORCE)
add_subdirectory("${LIBRDKAFKA_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/_deps/librdkafka"
  EXCLUDE_FROM_ALL SYSTEM)
target_compile_options(rdkafka PRIVATE -w)
if(ARRAKIS_SANITIZE MATCHES "thread")
  # gcc 12's TSan does not know thrd_create, and librdkafka leaves no choice but to find it.
  set(config "${CMAKE_BINARY_DIR}/_deps/librdkafka/generated/config.h")
  file(READ "${config}" generated)
  string(REPLACE "#define WITH_C11THREADS 1" "#define WITH_C11THREADS 0" generated "${generated}")
  file(WRITE "${config}" "${generated}")
endif()

# librdkafka 2.10 to 2.13 takes an answer that names topics but no broker, as a lone broker gives for a
# moment after it was cut off from its controller, for the news that there are no brokers any more: it
# lets go of all of them, those of bootstrap.servers too, and never connects again
# (github.com/confluentinc/librdkafka/issues/5301). Such an answer is to be asked for again, as one
# that names nothing at all.
set(metadata_source "${LIBRDKAFKA_SOURCE_DIR}/src/rdkafka_metadata.c")
set(metadata_corrected "${CMAKE_BINARY_DIR}/_deps/librdkafka/corrected/rdkafka_metadata.c")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${metadata_source}")
file(READ "${metadata_source}" original)
string(REPLACE "if (md->broker_cnt == 0 && md->topic_cnt == 0) {" "if (md->broker_cnt == 0) {"
  corrected "${original}")
if(corrected STREQUAL original)
  message(FATAL_ERROR "${metadata_source} is not what cmake/LibRdKafka.cmake knows how to correct")
endif()
file(CONFIGURE OUTPUT "${metadata_corrected}" CONTENT "${corrected}" @ONLY)
get_target_property(sources rdkafka SOURCES)
list(FILTER sources EXCLUDE REGEX "rdkafka_metadata\\.c$")
set_property(TARGET rdkafka PROPERTY SOURCES ${sources} "${metadata_corrected}")
target_include_directories(rdkafka PRIVATE "${LIBRDKAFKA_SOURCE_DIR}/src")

# As installed elsewhere, its headers are <librdkafka/…>.
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/_deps/include")
file(CREATE_LINK "${LIBRDKAFKA_SOURCE_DIR}/src" "${CMAKE_BINARY_DIR}/_deps/include/librdkafka"
  SYMBOLIC)
target_include_directories(rdkafka SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/_deps/include>")
