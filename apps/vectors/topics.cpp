#include <string>

#include "arrakis/channel.hpp"
#include "vectors/compare.hpp"
#include "vectors/handlers.hpp"
#include "vectors/vector_json.hpp"

namespace arrakis::vectors {
namespace {

Finding replay_data_topic(const Json& item) {
  Channel channel("X1:A-a", DataType::float32, SampleRate(16));
  channel.partition_id = string_at(item, "partition_id");
  channel.replay_id = optional_string_at(item, "replay_id");
  return {.difference = difference(item.at("topic"), topic_of(channel))};
}

}  // namespace

void replay_topics(const VectorFile& file, FileReport& report) {
  replay_section(file, report, "data", replay_data_topic);
  report.no_handler("metadata");
}

}  // namespace arrakis::vectors
