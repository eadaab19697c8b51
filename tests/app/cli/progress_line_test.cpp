#include "app/cli/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

// A terminal of our own: what is written to its `inside` is read from its `outside`.
struct Terminal {
  int outside = posix_openpt(O_RDWR | O_NOCTTY), inside = -1;
  Terminal() {
    REQUIRE(outside >= 0);
    REQUIRE(grantpt(outside) == 0);
    REQUIRE(unlockpt(outside) == 0);
    inside = open(ptsname(outside), O_RDWR | O_NOCTTY);
    REQUIRE(inside >= 0);
  }
  ~Terminal() {
    close(inside);
    close(outside);
  }
  // Reads until `part` has come; what came so far where nothing more does.
  std::string read_until(const std::string& part) const {
    std::string text;
    for (pollfd ready{outside, POLLIN, 0}; text.find(part) == std::string::npos && poll(&ready, 1, 20000) > 0;) {
      char buffer[4096];
      const ssize_t count = read(outside, buffer, sizeof buffer);
      if (count <= 0) break;
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }
  // What is there already.
  std::string read_rest() const {
    std::string text;
    for (pollfd ready{outside, POLLIN, 0}; poll(&ready, 1, 0) > 0;) {
      char buffer[4096];
      const ssize_t count = read(outside, buffer, sizeof buffer);
      if (count <= 0) break;
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }
};

}  // namespace

TEST_CASE("a terminal sees one line, which is drawn over itself and taken away in the end") {
  const Terminal terminal;
  {
    const ProgressLine line(terminal.inside, "run", std::chrono::milliseconds(0));
    const ProgressPart part(0.25, 0.5, "attn_weights");
    const std::string seen = terminal.read_until("25 %, attn_weights");
    CHECK_CONTAINS(seen, "\r\x1b[Kheadwise: run: 0 s");
    CHECK_CONTAINS(seen, "25 %, attn_weights");
    CHECK(seen.find('\n') == std::string::npos);
  }
  CHECK(terminal.read_rest().ends_with("\r\x1b[K"));
}

TEST_CASE("what is short draws nothing, and neither does what is no terminal") {
  const Terminal terminal;
  { const ProgressLine line(terminal.inside, "run", std::chrono::hours(1)); }
  CHECK(terminal.read_rest().empty());
  const TemporaryFolder folder;
  const std::string file = folder.with_file("err", "");
  const int descriptor = open(file.c_str(), O_WRONLY);
  {
    const ProgressLine line(descriptor, "run", std::chrono::milliseconds(0));
    const ProgressPart part(0.5, 1.0, "scores");
    usleep(300000);
  }
  close(descriptor);
  CHECK(content_of(file).empty());
}
