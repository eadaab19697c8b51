#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "core/attention/reference_backend.h"
#include "core/files/array_files.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

// One that has nearly every tensor of the table.
const std::string scenario_text =
    R"({"headwise":1,"attention":{"embed_dim":16,"num_heads":4,"num_kv_heads":2,"add_bias_kv":true,"add_zero_attn":true,
    "residual":true,"layer_norm":true,"average_attn_weights":false},"inputs":{"batch":2,"query_length":5,"key_length":6,
    "self_attention":false},"mask":{"is_causal":true,"valid_lens":[4,6]},"heads":{"gain":[1,0,1,1]}})";

// The lines of a table as fields; none of the labels here needs quotes.
std::vector<std::vector<std::string>> fields_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

void check_export_refused(const Words& words, int status, const std::string& part) {
  check_refused(joined({{"export"}, words}), status, part);
}

}  // namespace

TEST_CASE("every tensor of a trace is exported in every format, one head and all of them") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file("all.json", scenario_text);
  const TracePtr trace = reference_forward(
      make_scenario_inputs(scenario_from_json(scenario_text, "all.json"), DType::f32).attention);
  int count = 0;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = trace->tensor(entry.id);
    if (!tensor) continue;
    ++count;
    const std::string name(entry.name);
    CAPTURE(name);
    for (const char* head : {"1", "all"}) {
      for (const char* extension : {"png", "svg", "pdf", "csv", "npy"}) {
        const std::string path = folder.file(fmt::format("{}-{}.{}", name, head, extension));
        const ProgramResult result = run_well({"export", scenario, "--tensor", name, "--batch", "1", "--head",
                                               head, "--scale", "6", "-o", path});
        CHECK(result.out.empty());
      }
      const std::string base = folder.file(fmt::format("{}-{}.", name, head));
      CHECK(content_of(base + "png").starts_with("\x89PNG\r\n\x1a\n"));
      CHECK(content_of(base + "pdf").starts_with("%PDF-"));
      CHECK_CONTAINS(content_of(base + "svg"), "<svg");
      CHECK_CONTAINS(content_of(base + "svg"), name);
      CHECK(read_array_file(base + "npy").size() == 1);
      CHECK_FALSE(content_of(base + "csv").empty());
    }
  }
  CHECK(count >= 28);
}

TEST_CASE("an exported array and an exported table hold the numbers of the head that was asked for") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file("all.json", scenario_text);
  const TracePtr trace = reference_forward(
      make_scenario_inputs(scenario_from_json(scenario_text, "all.json"), DType::f64).attention);
  const Tensor& weights = *trace->tensors.attn_weights;  // (2,4,5,8)
  const Words common{"export", scenario, "--dtype", "f64", "--tensor", "attn_weights", "--batch", "1"};
  const auto exported = [&](const Words& more, const std::string& file) {
    run_well(joined({common, more, {"-o", folder.file(file)}}));
    return folder.file(file);
  };
  const TensorPtr one = read_array_file(exported({"--head", "2"}, "one.npy")).at(0).tensor;
  CHECK(one->shape().sizes() == std::vector<Index>{5, 8});
  const TensorPtr all = read_array_file(exported({"--head", "all"}, "all.npy")).at(0).tensor;
  CHECK(all->shape().sizes() == std::vector<Index>{4, 5, 8});
  const auto table = fields_of(content_of(exported({"--head", "all"}, "all.csv")));
  REQUIRE(table.size() == 1 + 4 * 5);  // the headings, then a row a query of each head
  for (Index head = 0; head < 4; ++head) {
    for (Index row = 0; row < 5; ++row) {
      const std::vector<std::string>& fields = table[static_cast<std::size_t>(1 + head * 5 + row)];
      REQUIRE(fields.size() == 2 + 8);  // the head, the query, the numbers
      CHECK(fields[0] == std::to_string(head));
      for (Index col = 0; col < 8; ++col) {
        const double expected = weights.at({1, head, row, col});
        CHECK(all->at({head, row, col}) == expected);
        if (head == 2) CHECK(one->at({row, col}) == expected);
        const std::string& field = fields[fields.size() - 8 + static_cast<std::size_t>(col)];
        double read = -1;
        std::from_chars(field.data(), field.data() + field.size(), read);
        CHECK(read == expected);
      }
    }
  }
}

TEST_CASE("pixels per cell make the picture larger, the same request makes the same bytes") {
  const TemporaryFolder folder;
  const auto exported = [&](const std::string& scale, const std::string& name) {
    run_well({"export", "hand_made", "--tensor", "attn_weights", "--scale", scale, "-o", folder.file(name)});
    return content_of(folder.file(name));
  };
  const std::string small = exported("20", "a.png"), large = exported("40", "b.png");
  CHECK(exported("20", "c.png") == small);
  CHECK(big_endian(large, 16) >= big_endian(small, 16) + 12 * 20);  // IHDR: width; 12 cells
}

TEST_CASE("an exported picture has the title, label, font size and pixels per inch that are asked for") {
  const TemporaryFolder folder;
  const auto exported = [&](const Words& more, const std::string& name) {
    run_well(joined({{"export", "hand_made", "--tensor", "attn_weights", "-o", folder.file(name)}, more}));
    return content_of(folder.file(name));
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  for (const char* head : {"2", "all"}) {
    CAPTURE(head);
    const std::string usual = exported({"--head", head}, "usual.svg");
    CHECK(has(usual, "attn_weights[0,"));
    const std::string own = exported({"--head", head, "--title", "Figure 1: <causal>", "--bar-label",
                                      "weight", "--range", "shared", "--font-size", "23"},
                                     "own.svg");
    CHECK(has(own, ">Figure 1: &lt;causal&gt;</text>"));
    CHECK_FALSE(has(own, "attn_weights[0,"));
    CHECK(has(own, ">weight</text>"));
    CHECK_FALSE(has(own, ">all heads</text>"));
    CHECK(has(own, "font-size=\"23\""));
    CHECK_FALSE(has(usual, "font-size=\"23\""));
    const std::string bare = exported({"--head", head, "--title", "", "--no-bar"}, "bare.svg");
    CHECK_FALSE(has(bare, "attn_weights[0,"));
    CHECK_FALSE(has(bare, "linearGradient"));
    CHECK(has(usual, "linearGradient"));
  }
  const std::string usual = exported({}, "usual.png"), fine = exported({"--dpi", "300"}, "fine.png");
  const auto density = [](const std::string& png) { return big_endian(png, png.find("pHYs") + 4); };
  CHECK(density(usual) == 3780);  // pixels per metre: 96 per inch
  CHECK(density(fine) == 11811);
  CHECK(usual.size() == fine.size());  // the same pixels
  const std::string pdf = exported({}, "a.pdf");
  CHECK(exported({}, "b.pdf") == pdf);
  CHECK(exported({"--dpi", "192"}, "c.pdf") != pdf);
}

TEST_CASE("the range of the colours is as asked, below 0 too") {
  const TemporaryFolder folder;
  for (const char* range : {"-.5:2", "-1e-3:1e-3", "0:0", "own", "shared"}) {
    const std::string path = folder.file("scores.svg");
    const ProgramResult result =
        run_well({"export", "hand_made", "--tensor", "scores", "--range", range, "-o", path});
    CHECK(result.err.empty());
    // "−0.5" with a true minus stands below the colour bar.
    CHECK((content_of(path).find("−0.5") != std::string::npos) == (std::string(range) == "-.5:2"));
  }
}

TEST_CASE("a wrong export is one line and status 2, and no file is made") {
  const TemporaryFolder folder;
  const std::string out = folder.file("x.png");
  check_export_refused({"hand_made", "-o", out}, 2, "--tensor");
  check_export_refused({"hand_made", "--tensor", "attn_weight", "-o", out}, 2, "did you mean attn_weights?");
  check_export_refused({"hand_made", "--tensor", "foo", "-o", out}, 2,
                       "expected query, key, value, q_a, compressed_q, q, k, v");
  check_export_refused({"hand_made", "--tensor", "foo", "-o", out}, 2,
                       "headwise list tensors lists all names");
  check_export_refused({"hand_made", "--tensor", "static_k", "-o", out}, 2, "static_k");
  check_export_refused({"hand_made", "--tensor", "grad.scores", "-o", out}, 2, "add --backward");
  check_export_refused({"hand_made", "--tensor", "scores", "--head", "8", "-o", out}, 2, "0 to 7");
  check_export_refused({"hand_made", "--tensor", "scores", "--head", "-1", "-o", out}, 2, "0 to 7");
  check_export_refused({"hand_made", "--tensor", "scores", "--head", "1.5", "-o", out}, 2, "a whole number");
  check_export_refused({"hand_made", "--tensor", "scores", "--head", "99999999999999999999", "-o", out}, 2,
                       "a whole number");
  check_export_refused({"hand_made", "--tensor", "scores", "--batch", "1", "-o", out}, 2, "batch");
  check_export_refused({"hand_made", "--tensor", "scores", "--colormap", "jet", "-o", out}, 2, "viridis");
  check_export_refused({"hand_made", "--tensor", "scores", "--range", "1", "-o", out}, 2, "LO:HI");
  check_export_refused({"hand_made", "--tensor", "scores", "--range", "2:1", "-o", out}, 2, "upside down");
  check_export_refused({"hand_made", "--tensor", "scores", "--range", "nan:1", "-o", out}, 2,
                       "a finite number");
  check_export_refused({"hand_made", "--tensor", "scores", "--scale", "0", "-o", out}, 2, "pixels per cell");
  check_export_refused({"hand_made", "--tensor", "scores", "--scale", "1e300", "-o", out}, 2, "");
  check_export_refused({"hand_made", "--tensor", "scores", "--theme", "beige", "-o", out}, 2,
                       "light, dark or projector");
  for (const char* dpi : {"0", "-1", "nan", "1e9", "x"})
    check_export_refused({"hand_made", "--tensor", "scores", "--dpi", dpi, "-o", out}, 2, "--dpi");
  for (const char* size : {"0", "3", "401", "12pt"})
    check_export_refused({"hand_made", "--tensor", "scores", "--font-size", size, "-o", out}, 2,
                         "--font-size");
  check_export_refused({"hand_made", "--tensor", "scores", "--no-bar", "--bar-label", "x", "-o", out}, 2,
                       "one of the two");
  check_export_refused({"hand_made", "--tensor", "scores", "-o", folder.file("x.gif")}, 2,
                       ".png, .svg, .pdf, .csv or .npy");
  check_export_refused({"hand_made", "--tensor", "scores", "-o", folder.file("missing/x.png")}, 4,
                       "create the folder first");
  CHECK(folder.count_files() == 0);
}

TEST_CASE("a tensor without cells is an empty table or array, and no picture") {
  const TemporaryFolder folder;
  const auto exported = [&](const std::string& name) {
    return run_program({"export", "random", "--set", "inputs.source=random", "--set", "inputs.query_length=0",
                        "--tensor", "attn_weights", "--head", "all", "-o", folder.file(name)});
  };
  CHECK(exported("x.npy").status == 0);
  CHECK(read_array_file(folder.file("x.npy")).at(0).tensor->shape().sizes() == std::vector<Index>{8, 0, 0});
  CHECK(exported("x.csv").status == 0);
  for (const char* name : {"x.png", "x.svg", "x.pdf"}) {
    const ProgramResult result = exported(name);
    CHECK(result.status == 2);
    CHECK(is_one_line(result.err));
  }
}

TEST_CASE("all heads are a leading axis and column, of one head too, and not where there is no such axis") {
  const TemporaryFolder folder;
  const auto exported = [&](const std::string& tensor, const std::string& name) {
    run_well({"export", "random", "--set", "attention.num_heads=1", "--tensor", tensor, "--head", "all", "-o",
              folder.file(name)});
    return folder.file(name);
  };
  CHECK(read_array_file(exported("scores", "x.npy")).at(0).tensor->shape().rank() == 3);
  CHECK(content_of(exported("scores", "x.csv")).starts_with("head,"));
  CHECK(read_array_file(exported("output", "y.npy")).at(0).tensor->shape().rank() == 2);
  CHECK_FALSE(content_of(exported("output", "y.csv")).starts_with("head,"));
}

TEST_CASE("export --cell-titles: an .svg says each cell's labels and number at the pointer") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file(
      "a.json",
      R"({"attention":{"embed_dim":8,"num_heads":2},"inputs":{"source":"text","text":"a < c"},"mask":{"is_causal":true}})");
  const Words words{"export", path, "--tensor", "attn_weights", "--format", "svg", "-o", "-"};
  const auto titles = [](const std::string& svg) {
    std::size_t count = 0;
    for (std::size_t at = svg.find("<title>"); at != std::string::npos; at = svg.find("<title>", at + 1))
      ++count;
    return count;
  };
  const std::string without = run_well(words).out, with = run_well(joined({words, {"--cell-titles"}})).out;
  CHECK(titles(without) == 0);
  CHECK(titles(with) == 3 * 3);
  CHECK(titles(run_well(joined({words, {"--cell-titles", "--head", "all"}})).out) == 2 * 3 * 3);
  CHECK_CONTAINS(with, "<title>query a, key a: 1</title>");
  CHECK_CONTAINS(with, "<title>query a, key &lt;: 0, blocked</title>");
  check_refused({"export", path, "--tensor", "attn_weights", "--cell-titles", "-o", folder.file("a.png")}, 2,
                "a .svg file");
}
