// HEADWISE_PART=2/3 in the environment runs the second third of the cases that are asked for, in the order of
// their names: where a run is slow, a day takes a part.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Fewer are not worth parting.
constexpr int fewest_cases = 8;

int cases_asked_for(int argc, char** argv) {
  std::ostringstream told;
  std::vector<const char*> arguments(argv, argv + argc);
  arguments.insert(arguments.end(), {"--count", "--no-colors=true"});
  doctest::Context context(static_cast<int>(arguments.size()), arguments.data());
  context.setCout(&told);
  context.run();
  const std::string text = told.str();
  const auto colon = text.find("filters: ");
  return colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 9);
}

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  if (const char* const text = std::getenv("HEADWISE_PART")) {
    int part = 0, parts = 0;
    if (std::sscanf(text, "%d/%d", &part, &parts) != 2 || part < 1 || part > parts) {
      std::fprintf(stderr, "HEADWISE_PART is %s; expected a part and their number, such as 1/2\n", text);
      return 2;
    }
    if (const int cases = cases_asked_for(argc, argv); cases >= fewest_cases) {
      const int first = cases * (part - 1) / parts, last = cases * part / parts;
      std::printf("cases %d to %d of %d, by name (HEADWISE_PART=%s)\n", first + 1, last, cases, text);
      context.setOption("order-by", "name");
      context.setOption("first", first + 1);
      context.setOption("last", last);
    }
  }
  return context.run();
}
