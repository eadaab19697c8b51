#include "core/gpu/gpu_programs.h"

#include <fmt/format.h>

namespace headwise {

std::string_view embedded_matrix_product_comp(), embedded_scaled_dot_product_attention_comp(),
    embedded_attention_weights_comp(), embedded_all_finite_comp(), embedded_frozen_weights_comp(),
    embedded_head_gains_comp(), embedded_rotary_embedding_comp(), embedded_qk_norm_comp(),
    embedded_masked_score_glsl(), embedded_dropout_glsl(), embedded_emulated_subgroups_glsl(),
    embedded_subgroup_check_comp();

const ComputeProgram& GpuPrograms::matrix_product(const MatrixProductTile& tile) {
  ComputeProgram& program =
      made_[fmt::format("matrix_product {} {} {} {}", tile.rows, tile.columns, tile.ragged, tile.loads_ahead)];
  if (!program) {
    std::vector<ComputeProgram::Define> defines{
        {"ROWS", tile.rows}, {"COLS", tile.columns}, {"DEPTH", product_strip_depth}};
    if (tile.ragged) defines.push_back({"RAGGED"});
    if (tile.loads_ahead) defines.push_back({"LOADS_AHEAD"});
    program = ComputeProgram("matrix_product", defines, {embedded_matrix_product_comp()});
  }
  return program;
}

const ComputeProgram& GpuPrograms::scaled_dot_product_attention(const AttentionTile& tile) {
  ComputeProgram& program = made_["scaled_dot_product_attention " + variant_of(tile)];
  if (!program) {
    std::vector<ComputeProgram::Define> defines{{"ROWS", tile.rows},
                                                {"COLS", tile.columns},
                                                {"DEPTH", attention_strip_depth},
                                                {"V_ROWS", attention_value_rows(tile.columns)}};
    for (const std::string& macro : shader_macros(tile)) defines.push_back({macro});
    add_subgroups(defines);
    program = ComputeProgram(
        "scaled_dot_product_attention", defines,
        {limits_.emulated_subgroups ? embedded_emulated_subgroups_glsl() : std::string_view(),
         embedded_masked_score_glsl(), embedded_dropout_glsl(), embedded_scaled_dot_product_attention_comp()});
  }
  return program;
}

void GpuPrograms::add_subgroups(std::vector<ComputeProgram::Define>& defines) const {
  if (!limits_.clustered_subgroups) return;
  defines.push_back({"SUBGROUPS"});
  if (!limits_.emulated_subgroups) defines.push_back({"CLUSTERED_SUBGROUPS"});
}

const ComputeProgram& GpuPrograms::subgroup_check() {
  ComputeProgram& program = made_["subgroup_check"];
  if (!program) {
    std::vector<ComputeProgram::Define> defines;
    add_subgroups(defines);
    program =
        ComputeProgram("subgroup_check", defines,
                       {limits_.emulated_subgroups ? embedded_emulated_subgroups_glsl() : std::string_view(),
                        embedded_subgroup_check_comp()});
  }
  return program;
}

const ComputeProgram& GpuPrograms::attention_weights() {
  ComputeProgram& program = made_["attention_weights"];
  if (!program) {
    std::vector<ComputeProgram::Define> defines;
    for (const std::string& macro : shader_macros({.needs = {.cap = true}})) defines.push_back({macro});
    program = ComputeProgram("attention_weights", defines,
                             {embedded_masked_score_glsl(), embedded_attention_weights_comp()});
  }
  return program;
}

const ComputeProgram& GpuPrograms::frozen_weights() {
  ComputeProgram& program = made_["frozen_weights"];
  if (!program) program = ComputeProgram("frozen_weights", {}, {embedded_frozen_weights_comp()});
  return program;
}

const ComputeProgram& GpuPrograms::head_gains() {
  ComputeProgram& program = made_["head_gains"];
  if (!program) program = ComputeProgram("head_gains", {}, {embedded_head_gains_comp()});
  return program;
}

const ComputeProgram& GpuPrograms::rotary_embedding() {
  ComputeProgram& program = made_["rotary_embedding"];
  if (!program) program = ComputeProgram("rotary_embedding", {}, {embedded_rotary_embedding_comp()});
  return program;
}

const ComputeProgram& GpuPrograms::qk_norm() {
  ComputeProgram& program = made_["qk_norm"];
  if (!program) program = ComputeProgram("qk_norm", {}, {embedded_qk_norm_comp()});
  return program;
}

const ComputeProgram& GpuPrograms::all_finite() {
  ComputeProgram& program = made_["all_finite"];
  if (!program) program = ComputeProgram("all_finite", {}, {embedded_all_finite_comp()});
  return program;
}

}  // namespace headwise
