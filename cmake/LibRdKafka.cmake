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

# Replaces `from` by `to` in one of its sources.
function(arrakis_correct_librdkafka file from to)
  set(source "${LIBRDKAFKA_SOURCE_DIR}/src/${file}")
  set(target "${CMAKE_BINARY_DIR}/_deps/librdkafka/corrected/${file}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" original)
  string(REPLACE "${from}" "${to}" corrected "${original}")
  if(corrected STREQUAL original)
    message(FATAL_ERROR "${source} is not what cmake/LibRdKafka.cmake knows how to correct")
  endif()
  file(CONFIGURE OUTPUT "${target}" CONTENT "${corrected}" @ONLY)
  get_target_property(sources rdkafka SOURCES)
  string(REPLACE "." "\\." pattern "(^|/)${file}$")
  list(FILTER sources EXCLUDE REGEX "${pattern}")
  set_property(TARGET rdkafka PROPERTY SOURCES ${sources} "${target}")
endfunction()
target_include_directories(rdkafka PRIVATE "${LIBRDKAFKA_SOURCE_DIR}/src")

# librdkafka 2.10 to 2.13 takes an answer that names topics but no broker, as a lone broker gives for a
# moment after it was cut off from its controller, for the news that there are no brokers any more: it
# lets go of all of them, those of bootstrap.servers too, and never connects again
# (github.com/confluentinc/librdkafka/issues/5301). Such an answer is to be asked for again, as one
# that names nothing at all.
arrakis_correct_librdkafka(rdkafka_metadata.c
  "if (md->broker_cnt == 0 && md->topic_cnt == 0) {" "if (md->broker_cnt == 0) {")

# A topic that was deleted and made again counts its leaders from zero. librdkafka 2.12 holds that
# against the count of the topic before, and takes no news about its leader until the new count has
# passed the old: whoever loses the leader meanwhile waits for ever. The broker need only have been
# restarted once before.
arrakis_correct_librdkafka(rdkafka_topic.c
  "                        rkt->rkt_topic_id = mdit->topic_id;
"
  "                        rkt->rkt_topic_id = mdit->topic_id;
                        for (j = 0; j < rkt->rkt_partition_cnt; j++) {
                                rd_kafka_toppar_lock(rkt->rkt_p[j]);
                                rkt->rkt_p[j]->rktp_leader_epoch = -1;
                                rd_kafka_toppar_unlock(rkt->rkt_p[j]);
                        }
")

# A fetch answer may say of a partition that it has no leader at the moment, as a broker does that its
# controller has just cut off. librdkafka up to 2.12 counts that as a change of leader but does not
# fill in the entry that it keeps for the change, and then reads that entry: it crashes.
arrakis_correct_librdkafka(rdkafka_fetcher.c
  "                TopicTags->partitions_with_leader_change_cnt++;
"
  "                if (PartitionTags->CurrentLeader.LeaderId >= 0)
                        TopicTags->partitions_with_leader_change_cnt++;
")

# The mock cluster does what it is asked, then empties the pipe that wakes it. Who asks in between is
# not heard until its poll runs out, a second later: a hundred topics take half a minute to make.
arrakis_correct_librdkafka(rdkafka_mock.c
  "                ; /* Read all buffered signalling bytes */
"
  "                ;
        rd_kafka_q_serve(mcluster->ops, RD_POLL_NOWAIT, 0,
                         RD_KAFKA_Q_CB_CALLBACK, NULL, NULL);
")

# As installed elsewhere, its headers are <librdkafka/…>.
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/_deps/include")
file(CREATE_LINK "${LIBRDKAFKA_SOURCE_DIR}/src" "${CMAKE_BINARY_DIR}/_deps/include/librdkafka"
  SYMBOLIC)
target_include_directories(rdkafka SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/_deps/include>")
