#include "testing/python_server.hpp"

#include <arrow/buffer.h>
#include <arrow/flight/client.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "testing/eventually.hpp"
#include "testing/real_broker.hpp"

namespace arrakis::testing {

namespace {

namespace flight = arrow::flight;

/// How long a server may take to answer first, or to end.
constexpr std::chrono::seconds kLifeTimeout{120};
constexpr flight::TimeoutDuration kLookTimeout{5.0};
constexpr std::string_view kLogName = "log";

/// The environment of a server that knows of nothing but its folder.
std::vector<std::string> environment_in(const std::string& folder) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const bool is_ours =
        text.starts_with("ARRAKIS_") || text.starts_with("HOME=") || text.starts_with("XDG_");
    if (!is_ours) variables.emplace_back(text);
  }
  variables.push_back("HOME=" + folder);
  variables.push_back("XDG_CACHE_HOME=" + folder);
  variables.emplace_back("PYTHONDONTWRITEBYTECODE=1");
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Whether the server answers a question.
bool answers(const std::string& url) {
  const auto ask = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const flight::Location location, flight::Location::Parse(url));
    ARROW_ASSIGN_OR_RAISE(const auto client, flight::FlightClient::Connect(location));
    flight::FlightCallOptions options;
    options.timeout = kLookTimeout;
    const flight::Action action{"server-info", arrow::Buffer::FromString("")};
    ARROW_ASSIGN_OR_RAISE(const auto results, client->DoAction(options, action));
    ARROW_RETURN_NOT_OK(results->Next());
    return client->Close();
  };
  return ask().ok();
}

}  // namespace

PythonServer::~PythonServer() {
  if (getpid() != owner_) return;  // a child of the test's that exits
  try {
    kill();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
}

std::string PythonServer::url() const { return fmt::format("grpc://127.0.0.1:{}", port_.first()); }

void PythonServer::start(const Arguments& arguments) {
  if (pid_ != 0) throw std::logic_error("the server runs already");
  arguments_ = arguments;
  launch();
  await_answer();
}

void PythonServer::launch() {
  std::vector<std::string> command{python(), "-m", "arrakis_server", "--url", url()};
  command.insert(command.end(), arguments_.begin(), arguments_.end());
  std::vector<std::string> variables = environment_in(folder_.path());
  // All is prepared: in the child of a program with threads nothing may be allocated.
  const std::vector<char*> argv = pointers_to(command);
  const std::vector<char*> envp = pointers_to(variables);
  const std::string log_path = folder_.path() / kLogName;
  owner_ = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("can't start a server");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int descriptor = open(log_path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  if (getppid() == owner_ && descriptor >= 0 && dup2(descriptor, STDOUT_FILENO) >= 0 &&
      dup2(descriptor, STDERR_FILENO) >= 0 && chdir(folder_.path().c_str()) == 0) {
    execve(argv[0], argv.data(), envp.data());
  }
  _exit(127);
}

void PythonServer::await_answer() {
  const auto has_come = [&] { return has_ended() || answers(url()); };
  if (eventually(has_come, kLifeTimeout) && pid_ != 0) return;
  const bool was_running = pid_ != 0;
  kill();
  throw std::runtime_error(fmt::format("arrakis-server {}; it wrote:\n{}",
                                       was_running ? "does not answer" : "ended", log()));
}

bool PythonServer::has_ended() {
  if (pid_ == 0 || waitpid(pid_, nullptr, WNOHANG) != pid_) return pid_ == 0;
  pid_ = 0;
  return true;
}

void PythonServer::end(int signal) {
  if (pid_ == 0) return;
  ::kill(pid_, signal);
  // Now and then one hangs in its own shutdown.
  constexpr auto kShutdownLimit = std::chrono::seconds(10);
  if (eventually([&] { return has_ended(); }, kShutdownLimit)) return;
  ::kill(pid_, SIGKILL);
  if (!eventually([&] { return has_ended(); }, kLifeTimeout)) {
    throw std::runtime_error(fmt::format("server {} did not end", pid_));
  }
}

void PythonServer::kill() { end(SIGKILL); }
void PythonServer::terminate() { end(SIGTERM); }
void PythonServer::freeze() const {
  if (pid_ != 0) testing::freeze(pid_);
}
void PythonServer::thaw() const {
  if (pid_ != 0) ::kill(pid_, SIGCONT);
}

std::string PythonServer::log() const {
  std::ostringstream text;
  text << std::ifstream(folder_.path() / kLogName, std::ios::binary).rdbuf();
  return text.str();
}

std::string PublisherConfig::toml() const {
  std::string text =
      fmt::format("[publisher]\npublisher_id = \"{}\"\nstride = {}\nmax_latency = {}\n",
                  publisher_id, stride_ns, max_latency_ns);
  if (is_dynamic) text += "dynamic = true\n";
  if (!replay_id.empty()) text += fmt::format("replay_id = \"{}\"\n", replay_id);
  for (const Item& item : channels) {
    text += fmt::format("[\"{}\"]\ndata_type = \"{}\"\nsample_rate = {}\n", item.name,
                        item.data_type, item.sample_rate);
  }
  return text;
}

}  // namespace arrakis::testing
