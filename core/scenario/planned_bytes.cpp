// How much memory the inputs and parameters of a plan need, and which key to reduce if it is not available.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/indexer.h"
#include "core/scenario/scenario_plan.h"
#include "core/scenario/weight_initialisation.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

Index checked_add(Index a, Index b) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    throw Error(ExitStatus::memory, {.where = "scenario", .what = "the sizes exceed any memory"});
  return sum;
}

Index product(std::initializer_list<Index> sizes) {
  Index all = 1;
  for (const Index size : sizes) all = checked_multiply(all, size, "scenario");
  return all;
}

// A size determined by a key of the scenario.
struct SizeKey {
  const char* path;
  Index size;
  std::function<void(ScenarioPlan&, Index)> set;  // and everything that follows from it
};

// The keys that determine the sizes of the plan, the largest size first.
// A size determined by a text or an array has none.
std::vector<SizeKey> size_keys(const ScenarioPlan& plan, const Scenario& scenario) {
  using Plan = ScenarioPlan;
  const InputsSpec& i = scenario.inputs;
  const AttentionSpec& a = scenario.attention;
  const AttentionOptions& o = plan.options;
  std::vector<SizeKey> keys;
  const auto add = [&](const char* path, const std::optional<Index>& written, Index size, auto set) {
    if (written == size) keys.push_back({path, size, set});
  };
  const auto set_keys = [](Plan& p, Index size) {
    p.all_keys = p.past + size + (p.all_keys - p.masked_keys);
    p.key_length = size;
    p.masked_keys = p.past + size;
  };
  const auto follow = [&a](AttentionOptions& p) {
    if (is_latent(p)) {
      p.num_kv_heads = is_absorbed(p) ? 1 : p.num_heads;
      p.head_dim = p.qk_nope_head_dim.value_or(1) + p.qk_rope_head_dim.value_or(1);
      if (!a.v_head_dim) p.v_head_dim = p.qk_nope_head_dim.value_or(1);
      if (!a.kdim) p.kdim = p.embed_dim;
      return;
    }
    if (!a.num_kv_heads) p.num_kv_heads = p.num_heads;
    if (!a.kdim) p.kdim = p.embed_dim;
    if (!a.vdim) p.vdim = p.embed_dim;
    if (!a.head_dim) p.head_dim = std::max<Index>(1, p.embed_dim / p.num_heads);
    if (!a.v_head_dim) p.v_head_dim = p.head_dim;
  };
  const auto option = [&](const char* path, const std::optional<Index>& written,
                          Index AttentionOptions::*member) {
    add(path, written, o.*member, [member, follow](Plan& p, Index size) {
      p.options.*member = size;
      follow(p.options);
    });
  };
  add("inputs.batch", i.batch, plan.batch, [](Plan& p, Index size) { p.batch = size; });
  add("inputs.query_length", i.query_length, plan.query_length, [&i, set_keys](Plan& p, Index size) {
    p.query_length = size;
    if (p.self_attention || !i.key_length) set_keys(p, size);
  });
  if (!plan.self_attention) add("inputs.key_length", i.key_length, plan.key_length, set_keys);
  add("inputs.past_length", i.past_length, plan.past, [](Plan& p, Index size) {
    p.masked_keys += size - p.past;
    p.all_keys += size - p.past;
    p.past = size;
  });
  option("attention.embed_dim", a.embed_dim, &AttentionOptions::embed_dim);
  option("attention.num_heads", a.num_heads, &AttentionOptions::num_heads);
  option("attention.num_kv_heads", a.num_kv_heads, &AttentionOptions::num_kv_heads);
  option("attention.kdim", a.kdim, &AttentionOptions::kdim);
  option("attention.vdim", a.vdim, &AttentionOptions::vdim);
  option("attention.head_dim", a.head_dim, &AttentionOptions::head_dim);
  option("attention.v_head_dim", a.v_head_dim, &AttentionOptions::v_head_dim);
  const auto latent = [&](const char* path, std::optional<Index> AttentionOptions::*member) {
    if (o.*member)
      add(path, o.*member, *(o.*member), [member, follow](Plan& p, Index size) {
        p.options.*member = size;
        follow(p.options);
      });
  };
  latent("attention.kv_lora_rank", &AttentionOptions::kv_lora_rank);
  latent("attention.q_lora_rank", &AttentionOptions::q_lora_rank);
  latent("attention.qk_nope_head_dim", &AttentionOptions::qk_nope_head_dim);
  latent("attention.qk_rope_head_dim", &AttentionOptions::qk_rope_head_dim);
  if (const std::optional<Indexer>& indexer = o.indexer) {
    add("mask.indexer.heads", indexer->heads, indexer->heads,
        [](Plan& p, Index size) { p.options.indexer->heads = size; });
    add("mask.indexer.width", indexer->width, indexer->width,
        [](Plan& p, Index size) { p.options.indexer->width = size; });
  }
  std::ranges::stable_sort(keys, std::ranges::greater(), &SizeKey::size);
  return keys;
}

// "set inputs.query_length to at most 4096: it is 99999999999": the largest size, and its maximum given the others. `fits`
// says whether there is memory for a plan.
std::string size_remedy(const ScenarioPlan& plan, const Scenario& scenario,
                        const std::function<bool(const ScenarioPlan&)>& fits) {
  const std::vector<SizeKey> keys = size_keys(plan, scenario);
  for (const SizeKey& key : keys) {
    const auto fits_with = [&](Index size) {
      ScenarioPlan smaller = plan;
      key.set(smaller, size);
      return fits(smaller);
    };
    Index most = 0, too_large = key.size;
    while (too_large - most > 1) {
      const Index middle = most + (too_large - most) / 2;
      (fits_with(middle) ? most : too_large) = middle;
    }
    if (most > 0) return fmt::format("set {} to at most {}: it is {}", key.path, most, key.size);
  }
  if (keys.empty()) return "choose smaller sizes";
  return fmt::format("choose smaller sizes: {} = {} is the largest", keys[0].path, keys[0].size);
}

}  // namespace

Index planned_bytes(const ScenarioPlan& plan, const Scenario& scenario, DType dtype) {
  constexpr Index label_bytes = 2 * sizeof(std::string);
  const AttentionOptions& o = plan.options;
  const Index labels =
      checked_multiply(checked_add(plan.query_length, plan.masked_keys), label_bytes, "labels");
  const Index of_past = is_latent(o) ? checked_add(o.kv_lora_rank.value_or(0), o.qk_rope_head_dim.value_or(0))
                                     : product({o.num_kv_heads, checked_add(o.head_dim, o.v_head_dim)});
  const Index past = product({plan.batch, plan.past, of_past});
  Index cells = 0;
  if (is_latent(o)) {
    const Index rank = o.kv_lora_rank.value_or(0), rope = o.qk_rope_head_dim.value_or(0);
    const Index compressed = o.q_lora_rank.value_or(0), q_rows = product({o.num_heads, o.head_dim});
    cells = product({plan.batch, plan.query_length, o.embed_dim});
    if (!plan.self_attention) cells = checked_add(cells, product({plan.batch, plan.key_length, o.kdim}));
    cells = checked_add(cells, product({q_rows, compressed > 0 ? compressed : o.embed_dim}));
    cells = checked_add(cells, product({compressed, o.embed_dim}));
    cells = checked_add(cells, product({checked_add(rank, rope), o.kdim}));
    const Index kv_rows = product({o.num_heads, checked_add(o.qk_nope_head_dim.value_or(0), o.v_head_dim)});
    cells = checked_add(cells, product({kv_rows, rank}));
    cells = checked_add(cells, product({o.embed_dim, o.num_heads, o.v_head_dim}));
  } else if (o.op == Op::scaled_dot_product_attention) {
    cells = product({plan.batch, o.num_heads, plan.query_length, o.head_dim});
    cells = checked_add(cells, product({plan.batch, o.num_kv_heads, plan.key_length, o.head_dim}));
    cells = checked_add(cells, product({plan.batch, o.num_kv_heads, plan.key_length, o.v_head_dim}));
  } else {
    const ProjectionRows rows = projection_rows(o);
    cells = product({plan.batch, plan.query_length, o.embed_dim});
    if (!plan.self_attention) cells = checked_add(cells, product({plan.batch, plan.key_length, o.kdim}));
    if (!plan.self_attention && !plan.value_is_key)
      cells = checked_add(cells, product({plan.batch, plan.key_length, o.vdim}));
    cells = checked_add(cells, product({rows.q, o.embed_dim}));
    cells = checked_add(cells, product({rows.k, o.kdim}));
    cells = checked_add(cells, product({rows.v, o.vdim}));
    cells = checked_add(cells, product({o.embed_dim, o.num_heads, o.v_head_dim}));
    if (scenario.attention.bias)
      cells = checked_add(cells, checked_add(o.embed_dim, checked_add(rows.q, checked_add(rows.k, rows.v))));
  }
  cells = checked_add(cells, past);
  if (const std::optional<Indexer>& indexer = o.indexer) {
    const Index columns = product({indexer->heads, indexer->width});
    const bool sdpa = o.op == Op::scaled_dot_product_attention;
    const Index of_queries = sdpa ? product({plan.batch, plan.query_length}) : o.embed_dim;
    cells = checked_add(cells, product({sdpa ? of_queries : indexer_source_width(o), columns}));
    cells = checked_add(cells, product({of_queries, indexer->heads}));
    cells =
        checked_add(cells, product({sdpa ? product({plan.batch, plan.key_length}) : o.kdim, indexer->width}));
  }
  const auto frozen = static_cast<Index>(o.frozen_heads.size());
  cells = checked_add(cells, product({2, plan.batch, frozen, plan.query_length, plan.all_keys}));
  // one byte per cell
  const Index mask = plan.mask_preset ? product({plan.query_length, plan.masked_keys}) : 0;
  const Index bytes = checked_multiply(cells, static_cast<Index>(dtype_bytes(dtype)), "scenario");
  return checked_add(checked_add(bytes, mask), labels);
}

Index planned_map_bytes(const ScenarioPlan& plan, DType dtype) {
  return product({plan.batch, plan.options.num_heads, plan.query_length, plan.all_keys,
                  static_cast<Index>(dtype_bytes(dtype))});
}

void require_planned_memory(const ScenarioPlan& plan, const Scenario& scenario, DType dtype,
                            const GivenArrays& given, Index maps) {
  Index there = 0;
  for (const auto& [name, array] : given)
    if (array.is_read()) there += static_cast<Index>(array.outline().bytes());
  const auto inputs = [&](const ScenarioPlan& p) { return planned_bytes(p, scenario, dtype); };
  const auto trace = [&](const ScenarioPlan& p) {
    return checked_add(std::max<Index>(0, inputs(p) - there),
                       checked_multiply(maps, planned_map_bytes(p, dtype), "the trace"));
  };
  const auto refuse = [&](const char* what, const std::string& bytes) {
    const Index most = available_memory() / 10 * 9;
    const auto fits = [&](const ScenarioPlan& p) {
      try {
        return inputs(p) <= most && (maps == 0 || trace(p) <= most);
      } catch (const Error&) {
        return false;
      }
    };
    throw Error(ExitStatus::memory, {what, "it would not fit in memory", bytes, "at most " + bytes_text(most),
                                     size_remedy(plan, scenario, fits)});
  };
  const auto require = [&](const char* what, const auto& bytes_of) {
    Index bytes = std::numeric_limits<Index>::max();  // if more than that is needed
    try {
      bytes = bytes_of(plan);
      require_memory(bytes, what);
    } catch (const Error&) {
      refuse(what, (bytes == std::numeric_limits<Index>::max() ? "more than " : "") + bytes_text(bytes));
    }
  };
  require("the inputs and parameters of the scenario", inputs);
  if (maps > 0) require("the trace", trace);
}

}  // namespace headwise
