#include "arrakis/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "arrakis/error.hpp"
#include "client/client_impl.hpp"

namespace arrakis::inline v1 {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A client whose server nobody may contact: what is refused is refused before.
Client client() { return Client("grpc://127.0.0.1:1"); }

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}

std::string refusal_of_query(const Query& query) {
  std::string refusal = refusal_of([&] { (void)client().find(query); });
  EXPECT_EQ(refusal_of([&] { (void)client().count(query); }), refusal);
  return refusal;
}

TEST(Client, QueryThatContradictsItselfIsRefusedWithoutAskingAServer) {
  EXPECT_THAT(
      refusal_of_query({.data_types = {DataType::float32, DataType::int16}}),
      AllOf(HasSubstr("int16"), HasSubstr("uint32, uint64, int32, int64, float32, float64")));
  EXPECT_THAT(refusal_of_query({.min_rate = -1}), HasSubstr("-1"));
  EXPECT_THAT(refusal_of_query({.min_rate = 17, .max_rate = 16}),
              AllOf(HasSubstr("17"), HasSubstr("16")));
  EXPECT_THAT(refusal_of_query({.max_rate = -1}), HasSubstr("-1"));
  EXPECT_THAT(refusal_of_query({.pattern = "H1:(A"}),
              AllOf(HasSubstr("'H1:(A'"), HasSubstr("'('")));
}

TEST(Client, ChannelNamesAreCheckedBeforeAServerIsAsked) {
  EXPECT_THAT(refusal_of([] { (void)client().describe({}); }), HasSubstr("no channel"));
  EXPECT_THAT(refusal_of([] {
                (void)client().describe({"H1:A", "nocolon"});
              }),
              HasSubstr("'nocolon'"));
  EXPECT_THAT(checked_channels({"H1:B", "H1:A", "H1:B"}), ElementsAre("H1:B", "H1:A"));
}

TEST(Client, OptionsThatCantBeUsedAreRefused) {
  EXPECT_THAT(refusal_of([] { (void)Client("http://host"); }), HasSubstr("'http://host'"));
  EXPECT_THAT(refusal_of([] {
                (void)Client(ClientOptions{.urls = {"a", "b:x"}});
              }),
              HasSubstr("'b:x'"));
  EXPECT_THAT(refusal_of([] { (void)Client(ClientOptions{.timeout = Duration(0)}); }),
              HasSubstr("timeout"));
}

TEST(Client, UrlIsTheFirstOneComplete) {
  EXPECT_EQ(Client(ClientOptions{.urls = {"a", "b"}}).url(), "grpc://a:31206");
}

}  // namespace
}  // namespace arrakis::inline v1
