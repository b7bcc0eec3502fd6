#include "arrakis/error.hpp"

#include <gtest/gtest.h>

#include "core/result.hpp"

namespace arrakis::inline v1 {
namespace {

TEST(Error, CarriesCodeMessageAndRequestId) {
  const Error error(Errc::not_found, "no channel 'H1:A-B'", "1a2b3c4d");
  EXPECT_EQ(error.code(), Errc::not_found);
  EXPECT_STREQ(error.what(), "no channel 'H1:A-B'");
  EXPECT_EQ(error.request_id(), "1a2b3c4d");
}

TEST(Error, HasNoRequestIdUnlessGiven) {
  EXPECT_EQ(Error(Errc::io, "x").request_id(), std::nullopt);
}

TEST(Error, CodesHaveTheNamesOfTheEnumeration) {
  EXPECT_EQ(to_string(Errc::invalid_argument), "invalid_argument");
  EXPECT_EQ(to_string(Errc::failed_precondition), "failed_precondition");
  EXPECT_EQ(to_string(Errc::unsupported), "unsupported");
  EXPECT_EQ(to_string(static_cast<Errc>(1000)), "unknown");
}

TEST(Result, ValueIsGivenAndErrorIsThrownAtTheEdge) {
  EXPECT_EQ(value_or_throw(Result<int>(7)), 7);
  try {
    value_or_throw(Result<int>(failure(Errc::decode, "cut short")));
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::decode);
    EXPECT_STREQ(error.what(), "cut short");
  }
}

}  // namespace
}  // namespace arrakis::inline v1
