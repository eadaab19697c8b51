// The lines of one picture of one step, in the style of a program: what code_lines() collects.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/memory_order.h"
#include "core/attention/rotary_embedding.h"
#include "core/export/code_lines.h"
#include "core/export/mask_lines.h"

namespace headwise {

// "(1,8,12,16)"
std::string sizes_list(const std::vector<Index>& sizes);
// The shortest text that reads back as the same number.
std::string python_number(double value);

class StepLines {
 public:
  StepLines(CodeStyle style, Step step, TensorId result, const Trace& trace)
      : style_(style),
        step_(step),
        result_(result),
        trace_(trace),
        t_(trace.tensors),
        o_(trace.options),
        sizes_(attention_sizes(trace.options, trace.tensors)),
        dialect_(is_fused() || style != CodeStyle::flex ? style : CodeStyle::pytorch, sizes_) {}

  std::vector<CodeLine> take();

 private:
  void add(std::string code, std::string comment = {}) {
    lines_.push_back({std::move(code), std::move(comment)});
  }
  // result = expression
  void set(const std::string& expression, std::string comment = {}) {
    add(fmt::format("{} = {}", code_variable(result_), expression), std::move(comment));
  }
  std::string sizes(TensorId id) const {
    return trace_.tensor(id) ? sizes_list(folded_sizes(id)) : std::string();
  }
  std::string linear(const std::string& layer, const std::string& x, const std::string& weight,
                     const std::string& bias) const {
    return bias.empty() ? dialect_("linear", layer, x, weight)
                        : dialect_("linear biased", layer, x, weight, bias);
  }
  std::vector<Index> folded_sizes(TensorId id) const;
  std::string swapped_sizes(TensorId id) const;
  std::string sizes_before_appending() const;
  std::string split_comment(TensorId from) const;
  std::string strides(const StridedLayout& layout) const;
  std::string concat_comment() const;
  std::string turned_strides() const;

  void inputs();
  void project();
  void project_latents();
  void split_latents();
  void normalise_latent(const std::string& rows, TensorId weight);
  void split_heads();
  void normalise();
  // The columns of a rotation by positions from `first` on; `width` columns in all.
  struct Turn {
    std::string rows;  // what is rotated
    Index first, positions, width;
  };
  void turn();
  void turn(const Turn& of, const Rotation& rotation, const std::string& comment);
  void past();
  void choose();
  void scores();
  void scale();
  // Whether mask_bias has a picture of its own, before that of masked_scores.
  bool bias_is_apart() const;
  void mask();
  void freeze();
  // In one call of flex_attention (core/export/flex_lines.cpp)
  bool is_fused() const;
  std::string scale_argument() const;
  MaskFunctions functions() const;
  bool takes_block_mask(const MaskFunctions& made) const { return made.has_mask_mod && !o_.mask_value; }
  void inside(const std::string& how = {});  // a remark on the result
  void fused_scores();
  void fused_scale();
  void fused_mask();
  void fused_softmax();
  void fused_weighted_sum();
  void softmax();
  void weighted_sum();
  void concat();
  void gate();
  void output();

  CodeStyle style_;
  Step step_;
  TensorId result_;
  const Trace& trace_;
  const TraceTensors& t_;
  const AttentionOptions& o_;
  const AttentionSizes sizes_;
  CodeDialect dialect_;
  std::vector<CodeLine> lines_;
};

}  // namespace headwise
