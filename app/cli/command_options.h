// The options of one subcommand: which there are, the words that are read into them, and the help that is made of them. The only
// place that CLI11 is compiled in, which costs every file that includes it seconds.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

using Words = std::vector<std::string>;

// How an option that takes a value is written, and what help says of it.
struct OptionForm {
  std::string type = {};  // "FILE"; TEXT or INT if empty
  bool required = false;
  bool shows_default = false;  // help names the value that the variable has now
  // Of an option with a list of values. One value each time it is given, unless:
  bool several_words = false;  // it takes all words up to the next option
  char delimiter = '\0';       // "a,b": two values
  int least = 0, most = 0;     // of a number; any if both are 0
};

class CommandOptions {
 public:
  // The subcommand's name, what it does in one line, and its examples, a line each.
  CommandOptions(std::string_view name, std::string_view what, std::string_view examples);
  ~CommandOptions();

  // `names`: "--json", "-o,--output", or "FILE", a word by its place. The variables have to live until the words are parsed.
  void flag(const std::string& names, bool& value, const std::string& what, const std::string& needs = "");
  void value(const std::string& names, std::string& value, const std::string& what,
             const OptionForm& form = {});
  void value(const std::string& names, int& value, const std::string& what, const OptionForm& form = {});
  void values(const std::string& names, std::vector<std::string>& values, const std::string& what,
              const OptionForm& form = {});
  void values(const std::string& names, std::vector<int>& values, const std::string& what,
              const OptionForm& form = {});

  // Reads the words behind the subcommand's name. False where help was asked for, and printed. Throws Error(usage), one line, for
  // everything that is wrong.
  bool parse(const Words& words);
  // Whether the option stood among the words.
  bool given(const std::string& name) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace headwise
