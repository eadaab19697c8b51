// Latent attention and the indexer in Python.
#include <string>

#include "core/attention/indexer.h"
#include "core/attention/rules.h"
#include "core/attention/score_path.h"
#include "core/export/step_lines.h"

namespace headwise {

using Id = TensorId;

// rows divided by their root mean square, times the weights
void StepLines::normalise_latent(const std::string& rows, Id weight) {
  std::string line = rows + " / " + dialect_("root mean square", rows, python_number(o_.latent_norm_epsilon));
  if (trace_.tensor(weight)) line += " * " + code_variable(weight);
  set(line, sizes(result_));
}

void StepLines::project_latents() {
  const auto layer = [&](const char* name, Id x, Id weight, std::optional<Id> bias = {}) {
    set(linear(name, code_variable(x), code_variable(weight),
               bias && trace_.tensor(*bias) ? code_variable(*bias) : std::string()),
        fmt::format("{} @ {} → {}", sizes(first_name(trace_, {x}).id), swapped_sizes(weight), sizes(result_)));
  };
  switch (result_) {
    case Id::q_a:
      return layer("W_DQ", Id::query, Id::q_a_weight, Id::q_a_bias);
    case Id::compressed_q:
      return normalise_latent("q_a", Id::q_a_norm_weight);
    case Id::q:
      return o_.q_lora_rank ? layer("W_UQ", Id::compressed_q, Id::q_b_weight)
                            : layer("W_q", Id::query, Id::q_proj_weight);
    case Id::kv_a:
      return layer("W_DKV", Id::key, Id::kv_a_weight, Id::kv_a_bias);
    case Id::compressed_kv:
      add(fmt::format("latent = kv_a[..., :{}]", sizes_.latent));
      return normalise_latent("latent", Id::kv_a_norm_weight);
    case Id::k_rot:
      set(dialect_("one head", fmt::format("kv_a[..., {}:]", sizes_.latent)),
          sizes(result_) + ", of all heads");
      if (const Rotation rotation = rotation_of_keys(o_))
        turn({code_variable(result_), rotary_first_key(o_), sizes_.new_keys(), sizes_.rope}, rotation,
             sizes(result_));
      return;
    case Id::kv_b:
      return layer("W_UKV", latents_of_heads(o_), Id::kv_b_weight);
    default:
      return;
  }
}

void StepLines::split_latents() {
  const Index width = sizes_.nope + sizes_.v_head_dim;
  const auto of_heads = [&](const char* columns) {
    return fmt::format("{}[..., {}]", dialect_("split heads", "kv_b", sizes_.keys, sizes_.heads, width),
                       columns);
  };
  const std::string nope = std::to_string(sizes_.nope);
  const std::string latents = code_variable(latents_of_heads(o_)),
                    k_rot = code_variable(rotated_keys_of_heads(o_));
  switch (result_) {
    case Id::kv_b:  // after a past
      return project_latents();
    case Id::k_heads:
      return set(
          dialect_("side by side", of_heads((":" + nope).c_str()) + ", " + dialect_("for all heads", k_rot)),
          sizes(result_));
    case Id::v_heads:
      return set(of_heads((nope + ":").c_str()), sizes(result_));
    case Id::q_absorbed: {
      const std::string q = code_variable(made_of(result_, o_));
      add(fmt::format("W_UK = {}[:, :{}]",
                      dialect_("reshape", "kv_b_proj_weight",
                               fmt::format("{}, {}, {}", sizes_.heads, width, sizes_.latent)),
                      nope),
          "of each head");
      return set(dialect_("side by side",
                          dialect_("times head weights", fmt::format("{}[..., :{}]", q, nope), "W_UK") +
                              fmt::format(", {}[..., {}:]", q, nope)),
                 sizes(result_));
    }
    case Id::k_absorbed:
      return set(dialect_("side by side", dialect_("one head", latents) + ", " + k_rot), sizes(result_));
    default:
      return;
  }
}

// The indexer's tensors, whose heads have an axis of their own in every style.
// scaled_dot_product_attention is given all but the scores.
void StepLines::choose() {
  const Indexer& indexer = *o_.indexer;
  const std::string shape = sizes_list(trace_.tensor(result_)->shape().sizes());
  if (result_ == Id::indexer_scores)
    return set(dialect_("indexer scores", "indexer_q", "indexer_k", "indexer_weights", indexer.width), shape);
  if (o_.op == Op::scaled_dot_product_attention) return;
  const bool of_queries = result_ == Id::indexer_q;
  const std::string name = code_variable(result_);
  if (result_ == Id::indexer_weights)
    return set(fmt::format("{} / {}", dialect_("product", "query", "indexer_weights_proj_weight"),
                           dialect_("sqrt", indexer.heads)),
               shape);
  set(of_queries ? dialect_("product", code_variable(indexer_source(o_)), "indexer_wq_b_weight")
                 : dialect_("product", "key", "indexer_wk_weight"));
  if (!of_queries) {
    std::string normed = dialect_("without mean", name) + " / " +
                         dialect_("deviation", name, python_number(indexer_norm.epsilon));
    if (t_.indexer_k_norm_weight) normed += " * indexer_k_norm_weight";
    if (t_.indexer_k_norm_bias) normed += " + indexer_k_norm_bias";
    set(normed, "LayerNorm");
  }
  set(dialect_("indexer heads", name, of_queries ? indexer.heads : 1, indexer.width), shape);
  if (const Rotation rotation = indexer_rotation(o_))
    turn({name, of_queries ? rotary_first_query(o_, sizes_.queries, sizes_.keys) : rotary_first_key(o_),
          of_queries ? sizes_.queries : sizes_.new_keys(), indexer.width},
         rotation, shape);
}

}  // namespace headwise
