#include <fmt/format.h>

#include <string>
#include <vector>

#include "program_options.hpp"

namespace arrakis::cli {
namespace {

/// Every name of the app's options: "--url -u".
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : described_options(app)) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// What is to be offered after an option, as a command of bash; empty: nothing.
std::string value_action(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == "FILE") return "COMPREPLY=($(compgen -f -- \"$word\"))";
  if (type == "FOLDER") return "COMPREPLY=($(compgen -d -- \"$word\"))";
  if (type == "DTYPE") {
    return "COMPREPLY=($(compgen -W 'uint32 uint64 int32 int64 float32 float64' -- \"$word\"))";
  }
  if (type == "bash") return "COMPREPLY=($(compgen -W 'bash' -- \"$word\"))";
  if (type.find('|') == std::string::npos) return {};
  std::string words = type;
  for (char& c : words) c = c == '|' ? ' ' : c;
  return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", words);
}

/// Cases for the values of an app's options.
std::string value_cases(const CLI::App& app) {
  std::string cases;
  for (const CLI::Option* option : described_options(app)) {
    if (!takes_value(*option) || option->get_positional()) continue;
    std::vector<std::string> names;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    cases += fmt::format("      {}) {}; return ;;\n", fmt::join(names, "|"),
                         value_action(*option).empty() ? ":" : value_action(*option));
  }
  return cases;
}

/// Options that take a value, as a pattern of case.
std::string value_pattern(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : described_options(app)) {
    if (!takes_value(*option) || option->get_positional()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

}  // namespace

std::string bash_completion(ProgramOptions& options) {
  std::vector<std::string> words;
  std::string by_command;
  for (const KnownCommand& known : options.commands()) {
    std::vector<std::string> names{std::string(known.entry->name)};
    for (const std::string_view alias : known.entry->aliases) names.emplace_back(alias);
    words.insert(words.end(), names.begin(), names.end());
    by_command += fmt::format(
        "    {})\n      options='{}'\n      case $before in\n{}      esac ;;\n",
        fmt::join(names, "|"), fmt::join(option_names(*known.app), " "), value_cases(*known.app));
  }
  return fmt::format(R"(# Completes the commands and options of arrakis in bash.
_arrakis() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local command='' options='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      {}) ((i++)) ;;
      -*) ;;
      *) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $before in
{}  esac
  case $command in
{}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options {}" -- "$word"))
  elif [[ -z $command ]]; then
    COMPREPLY=($(compgen -W '{}' -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -F _arrakis arrakis
)",
                     value_pattern(options.app()), value_cases(options.app()), by_command,
                     fmt::join(option_names(options.app()), " "), fmt::join(words, " "));
}

}
