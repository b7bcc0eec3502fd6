#include "files/pending_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "files/file_size_limit.hpp"
#include "testing/temporary_folder.hpp"

namespace arrakis {
namespace {

namespace fs = std::filesystem;
using arrakis::testing::TemporaryFolder;
using arrakis::testing::text_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string refusal(const fs::path& path, bool overwrite) {
  try {
    PendingFile(path, overwrite);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::io);
    return error.what();
  }
  return "none";
}

TEST(PendingFile, FileHasItsNameAfterCommitAndNotBefore) {
  const TemporaryFolder folder;
  PendingFile file(folder / "a.csv", true);
  file.write("hello");
  EXPECT_FALSE(fs::exists(folder / "a.csv"));
  file.commit();
  EXPECT_EQ(text_of(folder / "a.csv"), "hello");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(PendingFile, NothingIsLeftOfAFileThatWasNotCommitted) {
  const TemporaryFolder folder;
  put(folder / "a.csv", "before");
  {
    PendingFile file(folder / "a.csv", true);
    file.write("hello");
    const Descriptor scratch = file.make_scratch();
    EXPECT_EQ(folder.entries(), 2U);  // the scratch file has no name
  }
  EXPECT_EQ(folder.entries(), 1U);
  EXPECT_EQ(text_of(folder / "a.csv"), "before");
}

TEST(PendingFile, FileThatIsThereIsRefusedUnlessItMayBeReplaced) {
  const TemporaryFolder folder;
  put(folder / "a.csv", "before");
  EXPECT_THAT(refusal(folder / "a.csv", false),
              AllOf(HasSubstr("a.csv"), HasSubstr("there already")));
  PendingFile file(folder / "a.csv", true);
  file.commit();
  EXPECT_EQ(text_of(folder / "a.csv"), "");
}

TEST(PendingFile, FileThatAppearedMeanwhileIsNotReplacedUnlessItMayBe) {
  const TemporaryFolder folder;
  PendingFile file(folder / "a.csv", false);
  put(folder / "a.csv", "theirs");
  EXPECT_THROW(file.commit(), Error);
  EXPECT_EQ(text_of(folder / "a.csv"), "theirs");
}

TEST(PendingFile, DeviceOrFolderIsNeverReplaced) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal("/dev/null", true), HasSubstr("not an ordinary file"));
  EXPECT_THAT(refusal(folder.path(), true), HasSubstr("not an ordinary file"));
}

TEST(PendingFile, MissingFolderIsNamedWithTheSystemsReason) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder / "none" / "a.csv", true),
              AllOf(HasSubstr("none/a.csv"), HasSubstr("No such file or directory")));
}

TEST(PendingFile, SymbolicLinkStaysAndItsTargetIsReplaced) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  put(folder / "real/a.csv", "before");
  fs::create_symlink(folder / "real/a.csv", folder / "link.csv");
  PendingFile file(folder / "link.csv", true);
  file.write("after");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(folder / "link.csv"));
  EXPECT_EQ(text_of(folder / "real/a.csv"), "after");
}

TEST(PendingFile, DiskThatIsFullIsAnErrorWithPathAndReason) {
  const TemporaryFolder folder;
  PendingFile file(folder / "a.csv", true);
  file.write("kept");
  const FileSizeLimit limit(6);
  try {
    file.write("too long");
    FAIL() << "it was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::io);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("a.csv"), HasSubstr("File too large")));
  }
  file.truncate(4);
  file.commit();
  EXPECT_EQ(text_of(folder / "a.csv"), "kept");
}

}  // namespace
}  // namespace arrakis
