#include "app/panels/code_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace headwise {
namespace {

using Id = TensorId;

std::string sizes(const TensorPtr& tensor) {
  return tensor ? tensor->shape().sizes_text() : std::string();
}

// Sizes with the last two axes swapped, as a transposed operand has them.
std::string swapped_sizes(const TensorPtr& tensor) {
  std::vector<Index> s = tensor->shape().sizes();
  if (s.size() >= 2) std::swap(s[s.size() - 1], s[s.size() - 2]);
  return fmt::format("({})", fmt::join(s, ","));
}

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

class Lines {
 public:
  Lines(Step step, Id result, const Trace& trace)
      : step_(step), result_(result), trace_(trace), t_(trace.tensors), o_(trace.options) {}

  std::vector<CodeLine> take() {
    switch (step_) {
      case Step::inputs:
        inputs();
        break;
      case Step::project:
        project();
        break;
      case Step::split_heads:
        split_heads();
        break;
      case Step::scores:
        scores();
        break;
      case Step::scale:
        scale();
        break;
      case Step::mask:
        mask();
        break;
      case Step::softmax:
        softmax();
        break;
      case Step::weighted_sum:
        weighted_sum();
        break;
      case Step::concat:
        concat();
        break;
      case Step::output:
        output();
        break;
    }
    return std::move(lines_);
  }

 private:
  void add(std::string code, std::string comment = {}) {
    lines_.push_back({std::move(code), std::move(comment)});
  }

  void inputs() {
    if (o_.op == Op::scaled_dot_product_attention) {
      add("q_heads, k_heads, v_heads = query, key, value",
          fmt::format("{} {} {}", sizes(t_.q_heads), sizes(t_.k_heads), sizes(t_.v_heads)));
    } else if (t_.key == t_.query && t_.value == t_.query) {
      add("query = key = value = x", fmt::format("{}, batch first", sizes(t_.query)));
    } else if (t_.value == t_.key) {
      add("key = value = memory", fmt::format("query {}, memory {}", sizes(t_.query), sizes(t_.key)));
    } else {
      add("query, key, value", fmt::format("{} {} {}", sizes(t_.query), sizes(t_.key), sizes(t_.value)));
    }
  }

  void project() {
    const auto pictures = step_pictures(Step::project, trace_);
    const auto found = std::ranges::find(pictures, result_, &StepPicture::result);
    if (found == pictures.end() || !found->left) return;
    const std::string name(tensor_entry(result_).name), from(tensor_entry(*found->left).name);
    if (!found->above) {
      const char* rule = from.starts_with("static") ? "{} = {}.transpose(1, 2).flatten(2)" : "{} = {}";
      add(fmt::format(fmt::runtime(rule), name, from), sizes(trace_.tensor(result_)));
      return;
    }
    const Id weight = *found->above;
    const bool packed = weight == Id::in_proj_weight;
    const Index begin = found->above_row_begin, end = found->above_row_end;
    const std::string rows = packed ? fmt::format("[{}:{}]", begin, end) : std::string();
    // Separate weights share one bias vector, in the order q, k, v.
    const Index q_rows = o_.num_heads * o_.head_dim, k_rows = o_.num_kv_heads * o_.head_dim;
    const Index bias_begin = result_ == Id::q ? 0 : result_ == Id::k ? q_rows : q_rows + k_rows;
    const Index width = trace_.tensor(result_)->shape().sizes().back();
    const std::string bias = t_.in_proj_bias
                                 ? fmt::format(", in_proj_bias[{}:{}]", bias_begin, bias_begin + width)
                                 : std::string();
    add(fmt::format("{} = F.linear({}, {}{}{})", name, from, tensor_entry(weight).name, rows, bias),
        fmt::format("{} @ ({},{})ᵀ → {}", sizes(trace_.tensor(*found->left)), width,
                    trace_.tensor(weight)->shape().size(1), sizes_before_appending()));
    if (result_ == Id::q) return;
    const TensorPtr row = result_ == Id::k ? t_.bias_k : t_.bias_v;
    if (row) {
      add(fmt::format("{0} = torch.cat([{0}, bias_{0}.expand({1}, 1, -1)], dim=1)", name,
                      trace_.tensor(result_)->shape().size(0)));
    }
    if (o_.add_zero_attn) add(fmt::format("{0} = F.pad({0}, (0, 0, 0, 1))", name), "a row of zeros");
  }

  // bias_k and the zero row are appended behind the product.
  std::string sizes_before_appending() const {
    std::vector<Index> s = trace_.tensor(result_)->shape().sizes();
    if (result_ != Id::q && s.size() == 3) s[1] -= (t_.bias_k ? 1 : 0) + (o_.add_zero_attn ? 1 : 0);
    return fmt::format("({})", fmt::join(s, ","));
  }

  void split_heads() {
    const Id from = result_ == Id::k_heads ? Id::k : result_ == Id::v_heads ? Id::v : Id::q;
    const TensorPtr heads = trace_.tensor(result_), joined = trace_.tensor(from);
    if (!heads || !joined) return;
    const auto s = heads->shape().sizes();  // (N,H,L,D)
    add(fmt::format("{} = {}.view({}, {}, {}, {}).transpose(1, 2)", tensor_entry(result_).name,
                    tensor_entry(from).name, s[0], s[2], s[1], s[3]),
        fmt::format("{} → {}", sizes(joined), sizes(heads)));
  }

  void repeat_groups(const char* name) {
    if (o_.num_kv_heads == o_.num_heads || o_.num_kv_heads <= 0) return;
    add(fmt::format("{0} = {0}.repeat_interleave({1}, dim=1)", name, o_.num_heads / o_.num_kv_heads),
        fmt::format("{} heads share {}", o_.num_heads, o_.num_kv_heads));
  }

  void scores() {
    if (!t_.scores) return;
    repeat_groups("k_heads");
    add("scores = q_heads @ k_heads.transpose(-2, -1)",
        fmt::format("{} @ {} → {}", sizes(t_.q_heads), swapped_sizes(t_.k_heads), sizes(t_.scores)));
  }

  void scale() {
    const std::string factor =
        o_.scale ? fmt::format("* {}", number(*o_.scale)) : fmt::format("/ math.sqrt({})", o_.head_dim);
    const std::string temperature = o_.temperature != 1.0 ? fmt::format(" / {}", number(o_.temperature)) : "";
    add(fmt::format("scaled_scores = scores {}{}", factor, temperature), sizes(t_.scaled_scores));
    if (o_.softcap > 0) {
      add(fmt::format("scaled_scores = {0} * torch.tanh(scaled_scores / {0})", number(o_.softcap)),
          "softcap");
    }
  }

  void mask() {
    if (!t_.mask_bias) {
      add("masked_scores = scaled_scores", "no mask");
    } else if (o_.mask_value) {
      add(fmt::format("masked_scores = scaled_scores.masked_fill(blocked, {})", number(*o_.mask_value)),
          sizes(t_.masked_scores));
    } else {
      add("masked_scores = scaled_scores + mask_bias", sizes(t_.masked_scores));
    }
  }

  void softmax() {
    const bool guarded = o_.fully_masked_rows == FullyMaskedRows::zero && t_.mask_bias;
    add(fmt::format("attn_weights = F.softmax(masked_scores, dim=-1){}", guarded ? ".nan_to_num(0.0)" : ""),
        sizes(t_.attn_weights));
    if (o_.dropout > 0) {
      add(fmt::format("dropped_weights = F.dropout(attn_weights, p={})", number(o_.dropout)), "own seed");
    }
  }

  void weighted_sum() {
    if (!t_.head_output) return;
    repeat_groups("v_heads");
    add(fmt::format("head_output = {} @ v_heads", o_.dropout > 0 ? "dropped_weights" : "attn_weights"),
        fmt::format("{} @ {} → {}", sizes(t_.dropped_weights ? t_.dropped_weights : t_.attn_weights),
                    sizes(t_.v_heads), sizes(t_.head_output)));
  }

  void concat() {
    if (!t_.concat || !t_.head_output) return;
    const auto s = t_.concat->shape().sizes();  // (N,L,H·Dv)
    const bool gained = std::ranges::any_of(o_.head_gain, [](double gain) { return gain != 1.0; });
    const std::string from = gained ? "(head_output * gain[:, None, None])" : "head_output";
    add(fmt::format("concat = {}.transpose(1, 2).reshape({}, {}, {})", from, s[0], s[1], s[2]),
        fmt::format("{} → {}", sizes(t_.head_output), sizes(t_.concat)));
  }

  void output() {
    const auto width = [&](const TensorPtr& tensor) { return tensor->shape().sizes().back(); };
    if (o_.op == Op::scaled_dot_product_attention) {
      add("output = head_output", sizes(t_.output));
    } else if (result_ == Id::residual_output) {
      add("residual_output = query + output", sizes(t_.residual_output));
    } else if (result_ == Id::layer_norm_output) {
      add(fmt::format("layer_norm_output = F.layer_norm({}, ({},))",
                      t_.residual_output ? "residual_output" : "output", width(t_.layer_norm_output)),
          sizes(t_.layer_norm_output));
    } else if (result_ == Id::attn_output_weights) {
      const bool mean = t_.attn_output_weights->shape().rank() == 3;
      add(fmt::format("attn_output_weights = {}{}", o_.dropout > 0 ? "dropped_weights" : "attn_weights",
                      mean ? ".mean(dim=1)" : ""),
          sizes(t_.attn_output_weights));
    } else if (t_.out_proj_weight) {
      add(fmt::format("output = F.linear(concat, out_proj.weight{})",
                      t_.out_proj_bias ? ", out_proj.bias" : ""),
          fmt::format("{} @ {} → {}", sizes(t_.concat), swapped_sizes(t_.out_proj_weight), sizes(t_.output)));
    }
  }

  Step step_;
  Id result_;
  const Trace& trace_;
  const TraceTensors& t_;
  const AttentionOptions& o_;
  std::vector<CodeLine> lines_;
};

}  // namespace

std::vector<CodeLine> pytorch_lines(Step step, TensorId result, const Trace& trace) {
  return Lines(step, result, trace).take();
}

}  // namespace headwise
