// An environment variable for one test: afterwards it is what it was before.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace headwise::test {

class EnvironmentVariable {
 public:
  explicit EnvironmentVariable(const char* name) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
  }
  EnvironmentVariable(const char* name, const std::string& value) : EnvironmentVariable(name) { set(value); }
  ~EnvironmentVariable() {
    if (old_)
      set(*old_);
    else
      unset();
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

  void set(const std::string& value) const { setenv(name_, value.c_str(), 1); }
  void unset() const { unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace headwise::test
