// The warnings of one command: what went on all the same and a person should know of.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "app/cli/command_options.h"

namespace headwise {

// Prints each warning on stderr as it arises, once, and keeps it for the files and reports that carry it.
class Warnings {
 public:
  // Where the next warnings arise: "page 3". It stands before them; a warning that arises in many places is said of the first.
  void set_place(const std::string& place) { place_ = place; }
  void add(const std::string& warning);
  const std::vector<std::string>& all() const { return all_; }

  // Throws Error(input) where `strict` holds and there is a warning. To be called before anything is written.
  void refuse_where(bool strict) const;

 private:
  std::string place_;
  std::set<std::string> said_;
  std::vector<std::string> all_;
};

// --strict, with what it means. `strict` must live until the words are parsed.
void add_strict_flag(CommandOptions& options, bool& strict);

}  // namespace headwise
