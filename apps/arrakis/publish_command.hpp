#pragma once

/// arrakis publish

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/publish.hpp"
#include "block_feed.hpp"
#include "command.hpp"
#include "generators.hpp"

namespace arrakis::cli {

class PublishCommand final : public Command {
 public:
  void add_options(OptionAdder& add) override;
  void check(const ArgumentReader& read) override;
  int run(Session& session) override;

  [[nodiscard]] const std::optional<GeneratorOptions>& generator() const { return generator_; }
  [[nodiscard]] double rate() const { return rate_; }

 private:
  void check_input() const;
  [[nodiscard]] GeneratorOptions generator_options() const;
  [[nodiscard]] std::optional<BlockReader> open_input() const;
  [[nodiscard]] std::optional<ChannelSet> channels_to_register(
      const std::optional<BlockReader>& input) const;
  [[nodiscard]] std::unique_ptr<BlockFeed> make_feed(const Publisher& publisher,
                                                     std::optional<BlockReader> input) const;
  void publish_all(Session& session, Publisher& publisher, BlockFeed& feed) const;

  std::optional<std::string> input_, publisher_id_, replay_id_, channels_, start_text_,
      duration_text_, rate_text_;
  std::optional<std::string> waveform_, amplitude_, offset_, frequency_, end_frequency_, period_,
      seed_, dropout_, dropout_length_;
  std::vector<std::string> property_texts_;
  bool fill_missing_ = false;

  std::optional<GeneratorOptions> generator_;
  std::optional<GpsTime> start_;
  std::optional<Duration> duration_;
  double rate_ = 1;
  std::map<std::string, std::string> properties_;
};

}
