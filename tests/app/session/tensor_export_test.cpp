#include <doctest/doctest.h>

#include <filesystem>

#include "app/session/computation.h"
#include "app/session/tensor_export.h"
#include "core/files/array_files.h"
#include "core/tensor/error.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

ComputationPtr small_computation(bool causal = true) {
  Scenario scenario;
  scenario.attention.embed_dim = 16;
  scenario.attention.num_heads = 4;
  scenario.attention.num_kv_heads = 2;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = "a quick brown fox";
  scenario.inputs.batch = 2;
  scenario.mask.is_causal = causal;
  return compute(scenario, nullptr);
}

ExitStatus refused(const Computation& c, const TensorExport& what) {
  try {
    export_heatmaps(*c.trace, c.inputs.labels, what);
  } catch (const Error& error) {
    return error.status();
  }
  return ExitStatus::done;
}

}  // namespace

TEST_CASE("the extension chooses the format, in any case of letters") {
  CHECK(export_format("a.png") == ExportFormat::png);
  CHECK(export_format("a.b/c.SVG") == ExportFormat::svg);
  CHECK(export_format("x.PDF") == ExportFormat::pdf);
  CHECK(picture_format("x.pdf") == ExportFormat::pdf);
  CHECK(picture_format("x.Svg") == ExportFormat::svg);
  CHECK_THROWS_AS(picture_format("x.csv"), Error);
  CHECK(export_format("x.Csv") == ExportFormat::csv);
  CHECK(export_format("x.npy") == ExportFormat::npy);
  for (const char* wrong : {"", "png", "a.gif", "a.png/b", "a.", "dir.npy/name"})
    CHECK_THROWS_AS(export_format(wrong), Error);
}

TEST_CASE("another format replaces the extension of a known one and is appended to any other name") {
  CHECK(path_with_format("a/b.PNG", ExportFormat::pdf) == "a/b.pdf");
  CHECK(path_with_format("a.png/b", ExportFormat::npy) == "a.png/b.npy");
  CHECK(path_with_format("figure 1.2", ExportFormat::svg) == "figure 1.2.svg");
}

TEST_CASE("one head is one heatmap with its tokens, its mask and its own range") {
  const ComputationPtr c = small_computation();
  TensorExport what;
  what.tensor = {TensorId::attn_weights};
  what.batch = 1;
  what.head = 3;
  const std::vector<HeatmapSpec> specs = export_heatmaps(*c->trace, c->inputs.labels, what);
  REQUIRE(specs.size() == 1);
  const HeatmapSpec& spec = specs[0];
  CHECK(spec.values.value(3, 2) == c->trace->tensors.attn_weights->at({1, 3, 3, 2}));
  CHECK(spec.row_labels == std::vector<std::string>{"a", "quick", "brown", "fox"});
  CHECK(spec.color_map == ColorMap::viridis);
  CHECK(spec.title == "attn_weights[1,3] — L×S = 4×4");
  CHECK(spec.range_note == "this head");
  CHECK(cell_kind(spec, 0, 3) == CellKind::blocked);
}

TEST_CASE("in a grid each heatmap is named by its head, and the title tells the whole shape") {
  const ComputationPtr c = small_computation();
  TensorExport what;
  what.tensor = {TensorId::k_heads};
  what.batch = 1;
  what.head.reset();
  const std::vector<HeatmapSpec> specs = export_heatmaps(*c->trace, c->inputs.labels, what);
  REQUIRE(specs.size() == 2);
  CHECK(specs[1].title == "head 1");
  CHECK(specs[1].range_note == "per head");
  CHECK(export_title(*c->trace, what) == "k_heads[1,:] — G×S×D = 2×4×4");
}

TEST_CASE("what the mask acts on is hatched: weights, their mean over heads, and gradients before it") {
  const ComputationPtr c = small_computation();
  TensorExport what;
  for (const TensorId id : {TensorId::masked_scores, TensorId::attn_weights, TensorId::attn_output_weights}) {
    what.tensor = {id};
    const HeatmapSpec spec = export_heatmaps(*c->trace, c->inputs.labels, what).front();
    CHECK(cell_kind(spec, 1, 2) == CellKind::blocked);
    CHECK(cell_kind(spec, 2, 1) == CellKind::value);
  }
  what.tensor = {TensorId::scores};
  CHECK(cell_kind(export_heatmaps(*c->trace, c->inputs.labels, what).front(), 1, 2) == CellKind::value);
}

TEST_CASE("a mask that fills with any number hatches the blocked cells and no others") {
  for (const double fill : {-1e9, 0.0, 5.0}) {
    Scenario scenario;
    scenario.inputs.source = InputSource::text;
    scenario.inputs.text = "a quick brown fox";
    scenario.mask.is_causal = true;
    scenario.mask.alibi = true;
    scenario.mask.value = fill;
    const ComputationPtr c = compute(scenario, nullptr);
    TensorExport what;
    what.tensor = {TensorId::masked_scores};
    const HeatmapSpec spec = export_heatmaps(*c->trace, c->inputs.labels, what).front();
    for (Index row = 0; row < 4; ++row) {
      for (Index col = 0; col < 4; ++col)
        CHECK((cell_kind(spec, row, col) == CellKind::blocked) == (col > row));
    }
    CHECK(spec.range.hi < 100.0);
  }
}

TEST_CASE("a tensor without cells is a heatmap without cells, in its own shape") {
  Scenario scenario;
  scenario.inputs.query_length = 0;
  scenario.inputs.key_length = 3;
  scenario.inputs.self_attention = false;
  const ComputationPtr c = compute(scenario, nullptr);
  TensorExport what;
  what.tensor = {TensorId::scores};
  const std::vector<HeatmapSpec> specs = export_heatmaps(*c->trace, c->inputs.labels, what);
  REQUIRE(specs.size() == 1);
  CHECK(specs[0].values.rows == 0);
  CHECK(specs[0].values.cols == 3);
}

TEST_CASE("shared colours are those of all heads, own ones of each") {
  const ComputationPtr c = small_computation(false);
  TensorExport what;
  what.tensor = {TensorId::scores};
  what.head.reset();
  what.range_kind = ExportRange::shared;
  const std::vector<HeatmapSpec> shared = export_heatmaps(*c->trace, c->inputs.labels, what);
  REQUIRE(shared.size() == 4);
  what.range_kind = ExportRange::own;
  const std::vector<HeatmapSpec> own = export_heatmaps(*c->trace, c->inputs.labels, what);
  double largest = 0.0;
  for (std::size_t head = 0; head < 4; ++head) {
    CHECK(shared[head].range == shared[0].range);
    CHECK(own[head].range.hi <= shared[0].range.hi);
    CHECK(own[head].range.lo == -own[head].range.hi);
    largest = std::max(largest, own[head].range.hi);
  }
  CHECK(largest == shared[0].range.hi);
}

TEST_CASE("a tensor of key/value heads is asked for by its own heads") {
  const ComputationPtr c = small_computation();
  CHECK(export_head_count(*c->trace, {TensorId::k_heads}) == 2);
  CHECK(export_head_count(*c->trace, {TensorId::scores}) == 4);
  CHECK(export_head_count(*c->trace, {TensorId::concat}) == 1);
  CHECK(export_head_of(*c->trace, {TensorId::k_heads}, 3) == 1);
  CHECK(export_head_of(*c->trace, {TensorId::scores}, 3) == 3);
  CHECK(export_head_of(*c->trace, {TensorId::concat}, 3) == 0);
}

TEST_CASE("a head, batch or tensor that is not there is refused; an axis that is not there is ignored") {
  const ComputationPtr c = small_computation();
  TensorExport what;
  what.tensor = {TensorId::scores};
  what.head = 4;
  CHECK(refused(*c, what) == ExitStatus::usage);
  what.head = -1;
  CHECK(refused(*c, what) == ExitStatus::usage);
  what.head = 0;
  what.batch = 2;
  CHECK(refused(*c, what) == ExitStatus::usage);
  what.batch = 0;
  what.tensor = {TensorId::scores, true};
  CHECK(refused(*c, what) == ExitStatus::usage);
  what.tensor = {TensorId::in_proj_weight};
  what.head = 99;
  what.batch = 99;
  CHECK(refused(*c, what) == ExitStatus::done);
  what.tensor = {TensorId::in_proj_bias};
  CHECK(refused(*c, what) == ExitStatus::done);
}

TEST_CASE("arrays hold the matrix, or all heads of it, bit for bit") {
  const ComputationPtr c = small_computation();
  const TemporaryFolder folder;
  const std::string path = folder.file("a.npy");
  TensorExport what;
  what.tensor = {TensorId::head_output};
  what.batch = 1;
  what.head.reset();
  export_tensor(*c->trace, c->inputs.labels, what, path);
  const TensorPtr all = read_array_file(path).at(0).tensor;
  CHECK(all->shape().sizes() == std::vector<Index>{4, 4, 4});
  CHECK(all->dtype() == DType::f32);
  for (Index i = 0; i < 64; ++i) CHECK(all->flat(i) == c->trace->tensors.head_output->flat(64 + i));
  what.tensor = {TensorId::in_proj_bias};
  export_tensor(*c->trace, c->inputs.labels, what, path);
  CHECK(read_array_file(path).at(0).tensor->shape().sizes() == std::vector<Index>{1, 32});
}

TEST_CASE("every tensor of a trace can be exported in every format") {
  const ComputationPtr c = small_computation();
  const TemporaryFolder folder;
  for (const TensorEntry& entry : tensor_entries()) {
    if (!c->trace->tensor(entry.id)) continue;
    for (const char* extension : {".png", ".svg", ".csv", ".npy"}) {
      const std::string path = folder.file(std::string(entry.name) + extension);
      TensorExport what;
      what.tensor = {entry.id};
      what.cell_pixels = 4;
      INFO(path);
      CHECK_NOTHROW(export_tensor(*c->trace, c->inputs.labels, what, path));
      what.head.reset();
      CHECK_NOTHROW(export_tensor(*c->trace, c->inputs.labels, what, path));
      CHECK(std::filesystem::file_size(path) > 50);
    }
  }
}
