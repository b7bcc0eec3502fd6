#pragma once

/// The handlers: one for each kind of vector file. Each replays all cases of its file through the
/// library and reports them; a malformed case is a failure of that case.

#include "vectors/runner.hpp"

namespace arrakis::vectors {

void replay_assemble(const VectorFile& file, FileReport& report);
void replay_budgets(const VectorFile& file, FileReport& report);
void replay_channels(const VectorFile& file, FileReport& report);
void replay_column_batches(const VectorFile& file, FileReport& report);
void replay_descriptors(const VectorFile& file, FileReport& report);
void replay_durations(const VectorFile& file, FileReport& report);
void replay_kafka_message(const VectorFile& file, FileReport& report);
void replay_mux(const VectorFile& file, FileReport& report);
void replay_policy(const VectorFile& file, FileReport& report);
void replay_queue(const VectorFile& file, FileReport& report);
void replay_replay(const VectorFile& file, FileReport& report);
void replay_result_batches(const VectorFile& file, FileReport& report);
void replay_schemas(const VectorFile& file, FileReport& report);
void replay_stream(const VectorFile& file, FileReport& report);
void replay_time(const VectorFile& file, FileReport& report);
void replay_topics(const VectorFile& file, FileReport& report);
void replay_urls(const VectorFile& file, FileReport& report);

}  // namespace arrakis::vectors
