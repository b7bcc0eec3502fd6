#pragma once

/// Forward declarations of the public types.

#include <memory>

namespace arrakis::inline v1 {

class BlockBuilder;
class BlockPart;
class BlockReader;
class BlockStream;
class BlockWriter;
class Channel;
class ChannelListing;
class ChannelSet;
class Client;
class Clock;
class Error;
class FastForwardPolicy;
class GpsTime;
class KafkaPublisher;
class KafkaReader;
class Publisher;
class SampleRate;
class Series;
class SeriesBlock;
class Source;

/// One decoded message of one stream: the samples of its channels for one native stride. Immutable
/// and shared; what it holds (usually the received bytes) is freed with the last holder.
using BlockPartPtr = std::shared_ptr<const BlockPart>;

}  // namespace arrakis::inline v1
