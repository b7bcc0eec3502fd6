// first_stream BROKER CHANNELS.jsonl: three seconds of live data of the channels in a file.
#include <arrakis/arrakis.hpp>
#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream file(argv[2]);
  const arrakis::ChannelSet channels(arrakis::read_channels(file, argv[2]));
  arrakis::BlockStream stream(std::make_unique<arrakis::KafkaReader>(argv[1], channels),
                              {.duration = std::chrono::seconds(3)});
  for (const arrakis::SeriesBlock& block : stream) {
    for (const arrakis::Channel& channel : block.channels()) {
      const arrakis::Series series = block[channel.name()];
      std::cout << format_time(block.time()) << ' ' << channel.name() << ' '
                << series.value_as_double(0) << (series.has_gaps() ? " (gap)\n" : "\n");
    }
  }
}
