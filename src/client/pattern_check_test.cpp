#include "client/pattern_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace arrakis::inline v1 {
namespace {

using ::testing::HasSubstr;

TEST(PatternCheck, WhatPythonTakesIsNotFaulted) {
  for (const char* const pattern : {"",
                                    ".*",
                                    "H1:CAL-",
                                    "H1:(A|B)_[0-9]+$",
                                    "[]a]",
                                    "[^]a]",
                                    "[a\\]b]",
                                    "\\(",
                                    "a{",
                                    "a{}",
                                    "a{2}",
                                    "a{,3}?",
                                    "x{1,2",
                                    "(?i)h1:.*",
                                    "(?P<n>a)(?P=n)",
                                    "(?<!a)b",
                                    "(?<=a)b",
                                    "(?=a)",
                                    "(?#note ( )a",
                                    "a*?",
                                    "a+?",
                                    "a??",
                                    "()*",
                                    "(?x) a # (",
                                    "(?:a|b)*",
                                    "|",
                                    "a||b",
                                    "(a)(?(1)b|c)",
                                    "(?>a*)",
                                    "a*+",
                                    "{",
                                    "}",
                                    "]",
                                    "a,{2}"}) {
    EXPECT_EQ(pattern_fault(pattern), std::nullopt) << pattern;
  }
}

TEST(PatternCheck, WhatIsWrongIsSaid) {
  struct Case {
    const char* pattern;
    const char* fault;
  };
  for (const Case& c : {Case{"(", "'(' is not closed"}, Case{"a(b", "'(' is not closed"},
                        Case{"a)", "')' without its '('"}, Case{"[a", "'[' is not closed"},
                        Case{"[]", "'[' is not closed"}, Case{"[a\\]", "'[' is not closed"},
                        Case{"a\\", "backslash"}, Case{"*a", "nothing before '*'"},
                        Case{"a|+", "nothing before '+'"}, Case{"(?:*)", "nothing before '*'"},
                        Case{"{2}", "nothing before '{2}'"}, Case{"a**", "'*' after a repetition"},
                        Case{"a{2}{3}", "'{3}' after a repetition"}, Case{"(?#note", "comment"}}) {
    const auto fault = pattern_fault(c.pattern);
    ASSERT_TRUE(fault) << c.pattern;
    EXPECT_THAT(*fault, HasSubstr(c.fault));
  }
}

}  // namespace
}  // namespace arrakis::inline v1
