#include "app/content/stage_matrix.h"

#include <doctest/doctest.h>

#include "tests/app/stage/stage_trace.h"

using namespace headwise;

TEST_CASE("a drawn cell leads to the tensor's index and back, for every cell of every tensor") {
  for (const TracedScenario& given :
       {traced(),
        traced({"attention.num_heads=4", "attention.num_kv_heads=2", "inputs.batch=2", "mask.is_causal=true",
                "inputs.self_attention=false", "inputs.key_length=5", "attention.add_bias_kv=true"})}) {
    const Trace& trace = *given.trace;
    for (const TensorEntry& entry : tensor_entries()) {
      const TensorPtr tensor = trace.tensor(entry.id);
      if (!tensor || tensor->shape().rank() > 4) continue;
      for (const bool transposed : {false, true}) {
        CAPTURE(std::string(entry.name));
        CAPTURE(transposed);
        const auto matrix = stage_matrix(trace, {entry.id}, {1, 2}, transposed);
        REQUIRE(matrix);
        for (Index row = 0; row < matrix->view.rows; ++row) {
          for (Index col = 0; col < matrix->view.cols; ++col) {
            const CellRef cell = cell_at(*matrix, row, col);
            const double drawn = matrix->view.value(row, col), stored = tensor->at(cell.index);
            const bool same = drawn == stored || (drawn != drawn && stored != stored);
            if (!same)
              FAIL_CHECK("cell " << row << "," << col << " is drawn as " << drawn << ", stored as " << stored);
            if (drawn_box(*matrix, box_of(cell)) != CellBox{row, row + 1, col, col + 1})
              FAIL_CHECK("cell " << row << "," << col << " does not find its way back");
          }
        }
      }
    }
  }
}

TEST_CASE("a query head looks at the key/value head that serves it") {
  const TracedScenario given = traced({"attention.num_heads=6", "attention.num_kv_heads=2"});
  CHECK(stage_matrix(*given.trace, {TensorId::k_heads}, {0, 2})->leading == std::vector<Index>{0, 0});
  CHECK(stage_matrix(*given.trace, {TensorId::k_heads}, {0, 3})->leading == std::vector<Index>{0, 1});
  CHECK(head_count(*given.trace, {TensorId::k_heads}) == 2);
  CHECK(head_of_map(*given.trace, {TensorId::k_heads}, 1) == 3);
  CHECK(head_count(*given.trace, {TensorId::scores}) == 6);
  CHECK(head_of_map(*given.trace, {TensorId::scores}, 5) == 5);
  CHECK(head_count(*given.trace, {TensorId::concat}) == 1);
}

TEST_CASE("part of a stacked parameter knows its rows") {
  const TracedScenario given = traced();
  const auto w_k = stage_matrix(*given.trace, {TensorId::in_proj_weight}, {}, true, 12, 24);
  REQUIRE(w_k);
  CHECK(w_k->view.rows == 12);
  CHECK(w_k->view.cols == 12);
  CHECK(cell_at(*w_k, 3, 0).index == std::vector<Index>{12, 3});
  CHECK(matrix_name(*w_k) == "in_proj_weight[12:24]ᵀ");
  // A row of the q part lies outside, a box over all of them is cut to these.
  CHECK_FALSE(drawn_box(*w_k, {{TensorId::in_proj_weight}, {3, 0}, {4, 12}}));
  CHECK(drawn_box(*w_k, {{TensorId::in_proj_weight}, {0, 2}, {36, 3}}) == CellBox{2, 3, 0, 12});
  const auto b_k = stage_matrix(*given.trace, {TensorId::in_proj_bias}, {}, false, 12, 24);
  CHECK(cell_at(*b_k, 0, 2).index == std::vector<Index>{14});
  CHECK(matrix_name(*b_k) == "in_proj_bias[12:24]");
}

TEST_CASE("boxes of other tensors, other heads and other batches are not drawn") {
  const TracedScenario given = traced({"inputs.batch=2"});
  const auto scores = stage_matrix(*given.trace, {TensorId::scores}, {1, 2});
  CHECK(drawn_box(*scores, {{TensorId::scores}, {1, 2, 0, 1}, {2, 3, 1, 2}}) == CellBox{0, 1, 1, 2});
  CHECK_FALSE(drawn_box(*scores, {{TensorId::scores}, {0, 2, 0, 1}, {1, 3, 1, 2}}));
  CHECK_FALSE(drawn_box(*scores, {{TensorId::scores}, {1, 1, 0, 1}, {2, 2, 1, 2}}));
  CHECK_FALSE(drawn_box(*scores, {{TensorId::attn_weights}, {1, 2, 0, 1}, {2, 3, 1, 2}}));
  CHECK_FALSE(drawn_box(*scores, {{TensorId::scores}, {1, 2}, {2, 3}}));
  CHECK(matrix_name(*scores) == "scores[1,2]");
  CHECK(matrix_sizes(*scores) == "L×S 4×4");
}

TEST_CASE("a tensor that the trace does not have has no matrix, one without cells has its sizes") {
  CHECK_FALSE(stage_matrix(*traced().trace, {TensorId::mask_bias}, {}));
  const TracedScenario empty = traced({"inputs.query_length=0"});
  const auto scores = stage_matrix(*empty.trace, {TensorId::scores}, {0, 1});
  REQUIRE(scores);
  CHECK(scores->view.rows == 0);
  CHECK(scores->view.cols == 0);
}
