#include "core/model/layers/head_choices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace headwise {
namespace {

constexpr Index most_heads = 4096;
constexpr std::array<Index, 5> usual_widths{32, 64, 80, 96, 128};
constexpr std::size_t most_asked = 5, few = 3;

// Head width 64 in BERT, GPT-2, ViT, T5 and Llama 3.2 1B; 128 in most wider models: OPT 6.7B, Llama,
// Mistral, Qwen.
constexpr std::array<Index, 5> likely_widths{64, 128, 32, 96, 80}, likely_widths_of_wide{128, 64, 96, 80, 32};
constexpr Index wide_rows = 3072;
// Numbers of rows for which nearly all models have another head width.
struct KnownRows {
  Index rows, width;
  std::string_view family = {};  // empty: any
};
constexpr std::array known_rows{
    KnownRows{2560, 80},          // OPT 2.7B, Phi-2, Pythia 2.8B, BLOOM 3B
    KnownRows{384, 32, "BERT"}};  // MiniLM, and the embedding models derived from it; ViT-S has 64

struct Rows {
  Index q = 0, k = 0, v = 0;
};

// A packed array narrower than three times E has fewer heads for keys and values.
Rows rows_of(const AttentionLayer& layer) {
  const Index packed = layer.packed_rows, E = layer.query_width;
  if (packed == 0) return {layer.q_rows, layer.k_rows, layer.v_rows};
  if (packed > E && packed < 3 * E && (packed - E) % 2 == 0) return {E, (packed - E) / 2, (packed - E) / 2};
  return {packed / 3, packed / 3, packed / 3};
}

double distance_from_64(const HeadChoice& choice) {
  return std::abs(std::log2(static_cast<double>(choice.head_dim) / 64.0));
}

}  // namespace

std::vector<HeadChoice> head_choices(const AttentionLayer& layer) {
  std::vector<HeadChoice> choices;
  const Rows rows = rows_of(layer);
  const bool even = layer.family->positions == "rotary";
  for (Index heads = 1; heads <= std::min(rows.q, most_heads); ++heads) {
    if (rows.q % heads != 0) continue;
    const Index width = rows.q / heads;
    if (rows.k < width || rows.k % width != 0 || (even && width % 2 != 0)) continue;
    const Index kv_heads = rows.k / width;
    if (heads % kv_heads != 0 || rows.v == 0 || rows.v % kv_heads != 0) continue;
    if (!layer_problem(with_heads(layer, heads, kv_heads)).empty()) continue;
    choices.push_back({heads, kv_heads, width, rows.v / kv_heads});
  }
  return choices;
}

std::vector<HeadChoice> usual_head_choices(const AttentionLayer& layer) {
  const std::vector<HeadChoice> all = head_choices(layer);
  std::vector<HeadChoice> asked, others;
  for (const HeadChoice& choice : all)
    (std::ranges::count(usual_widths, choice.head_dim) > 0 ? asked : others).push_back(choice);
  std::ranges::stable_sort(others, {}, distance_from_64);
  if (asked.size() < few)
    for (std::size_t i = 0; i < others.size() && asked.size() < most_asked; ++i) asked.push_back(others[i]);
  std::ranges::sort(asked, {}, &HeadChoice::head_dim);
  return asked;
}

std::optional<HeadChoice> likeliest_heads(const AttentionLayer& layer) {
  const std::vector<HeadChoice> all = head_choices(layer);
  if (all.empty()) return std::nullopt;
  const auto of_width = [&](Index width) { return std::ranges::find(all, width, &HeadChoice::head_dim); };
  const Index rows = rows_of(layer).q;
  for (const KnownRows& known : known_rows) {
    if (rows != known.rows || (!known.family.empty() && known.family != layer.family->name)) continue;
    if (const auto at = of_width(known.width); at != all.end()) return *at;
  }
  for (const Index width : rows >= wide_rows ? likely_widths_of_wide : likely_widths)
    if (const auto at = of_width(width); at != all.end()) return *at;
  return *std::ranges::min_element(all, {}, distance_from_64);
}

std::optional<HeadChoice> choice_of_heads(const AttentionLayer& layer, Index num_heads) {
  for (const HeadChoice& choice : head_choices(layer))
    if (choice.num_heads == num_heads) return choice;
  return std::nullopt;
}

}  // namespace headwise
