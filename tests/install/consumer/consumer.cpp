#include <arrakis/arrakis.hpp>
#include <iostream>
#include <vector>

int main() {
  const arrakis::Channel channel("H1:TEST-RAMP", arrakis::DataType::float32,
                                 arrakis::SampleRate(4));
  const arrakis::SeriesBlock block =
      arrakis::BlockBuilder(arrakis::parse_time("1126259462", {}), arrakis::ChannelSet({channel}))
          .set("H1:TEST-RAMP", std::vector<float>{0, 1, 2, 3})
          .build();
  std::cout << arrakis::version() << ' ' << arrakis::to_json(block) << '\n';
}
