#include "flight/flight_error.hpp"

#include <arrow/flight/types.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace arrakis::inline v1 {
namespace {

using arrow::Status;
using arrow::flight::FlightStatusCode;
using arrow::flight::MakeFlightError;

TEST(FlightError, CodeIsThatOfTheFlightStatus) {
  const auto code = [](const Status& status) { return to_error(status, "find").code(); };
  EXPECT_EQ(code(MakeFlightError(FlightStatusCode::Unavailable, "no")), Errc::unavailable);
  EXPECT_EQ(code(MakeFlightError(FlightStatusCode::Unauthenticated, "no")), Errc::unauthenticated);
  EXPECT_EQ(code(MakeFlightError(FlightStatusCode::Unauthorized, "no")), Errc::permission_denied);
  EXPECT_EQ(code(MakeFlightError(FlightStatusCode::Cancelled, "no")), Errc::cancelled);
  EXPECT_EQ(code(MakeFlightError(FlightStatusCode::TimedOut, "no")), Errc::timeout);
  EXPECT_EQ(code(MakeFlightError(FlightStatusCode::Internal, "no")), Errc::server);
  EXPECT_EQ(code(MakeFlightError(FlightStatusCode::Failed, "no")), Errc::server);
  EXPECT_EQ(code(Status::UnknownError("Flight error: action not valid")), Errc::server);
  EXPECT_EQ(code(Status::Invalid("no")), Errc::invalid_argument);
  EXPECT_EQ(code(Status::KeyError("no")), Errc::not_found);
  EXPECT_EQ(code(Status::NotImplemented("no")), Errc::unsupported);
}

TEST(FlightError, WhatNothingServesIsNotFoundWhateverTheStatus) {
  const auto code = [](FlightStatusCode status, const char* text) {
    return to_error(MakeFlightError(status, text), "stream").code();
  };
  EXPECT_EQ(code(FlightStatusCode::Unavailable,
                 "channel(s) {A:B} are not available on this server [request: 1]"),
            Errc::not_found);
  EXPECT_EQ(code(FlightStatusCode::Unavailable,
                 "time range requested (1 - None) not available on this server"),
            Errc::not_found);
  EXPECT_EQ(code(FlightStatusCode::Unavailable,
                 "channel metadata changed for subscribed channels; resubscribe to pick up the new "
                 "metadata"),
            Errc::unavailable);
  EXPECT_EQ(to_error(Status::UnknownError("Flight error: Could not serve request (channels + time) "
                                          "from any known endpoint. [request: 1]"),
                     "stream")
                .code(),
            Errc::not_found);
}

TEST(FlightError, MessageIsWhatWasAskedAndTheServersTextAlone) {
  const Error error =
      to_error(Status::IOError(
                   "Flight returned internal error, with message: publisher 'X' is not recognized "
                   "by this server [request: 0a1b2c3d]. Detail: Unauthorized. gRPC client debug "
                   "context: UNKNOWN:Error received from peer {grpc_status:7}"),
               "publish at grpc://a:1");
  EXPECT_STREQ(error.what(),
               "publish at grpc://a:1: publisher 'X' is not recognized by this server");
  EXPECT_EQ(error.request_id(), "0a1b2c3d");
  const Error base = to_error(Status::UnknownError("Flight error: action not valid"), "domains");
  EXPECT_STREQ(base.what(), "domains: action not valid");
  EXPECT_EQ(base.request_id(), std::nullopt);
  EXPECT_STREQ(to_error(MakeFlightError(FlightStatusCode::Unavailable, ""), "find").what(),
               "find: unavailable");
}

TEST(FlightError, MessageIsOneLineOfBoundedLength) {
  const Error error = to_error(Status::IOError("a\nb\x1b[31m", std::string(100'000, 'x')), "find");
  const std::string message = error.what();
  EXPECT_EQ(message.find_first_of("\n\x1b"), std::string::npos);
  EXPECT_LT(message.size(), 3000U);
}

TEST(FlightError, OnlyWhatIsAboutTheMomentMayPass) {
  EXPECT_TRUE(may_pass(Error(Errc::unavailable, "")));
  EXPECT_TRUE(may_pass(Error(Errc::stalled, "")));
  EXPECT_TRUE(may_pass(Error(Errc::timeout, "")));
  EXPECT_FALSE(may_pass(Error(Errc::not_found, "")));
  EXPECT_FALSE(may_pass(Error(Errc::permission_denied, "")));
  EXPECT_FALSE(may_pass(Error(Errc::invalid_argument, "")));
}

}  // namespace
}  // namespace arrakis::inline v1
