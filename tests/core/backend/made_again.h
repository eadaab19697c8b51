// Cases whose weights are made again and compared with the reference's.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/core/fused/agreement.h"

namespace headwise::test {

struct WeightCase {
  std::string name;
  AttentionInputs inputs;
};

// Odd sizes, grouped heads, every option that changes what a weight is.
inline std::vector<WeightCase> weight_cases() {
  std::vector<WeightCase> cases;
  const auto add = [&](const std::string& name, const std::function<void(AttentionInputs&)>& change) {
    AttentionInputs inputs = as_f32(sized_inputs(2, 70, 133, 6, 2, 9, 5));
    change(inputs);
    cases.push_back({name, std::move(inputs)});
  };
  add("plain", [](AttentionInputs&) {});
  add("causal", [](AttentionInputs& i) { i.options.is_causal = true; });
  add("causal, bottom right", [](AttentionInputs& i) {
    i.options.is_causal = true;
    i.options.causal_alignment = CausalAlignment::bottom_right;
  });
  add("window and alibi", [](AttentionInputs& i) {
    i.options.is_causal = i.options.alibi = true;
    i.options.sliding_window = 7;
  });
  add("softcap and temperature", [](AttentionInputs& i) {
    i.options.softcap = 2.0;
    i.options.temperature = 0.5;
  });
  add("a finite fill", [](AttentionInputs& i) {
    i.options.is_causal = true;
    i.options.mask_value = -3.0;
  });
  add("rotary, bottom right", [](AttentionInputs& i) {
    i.options.rotary_inverse_frequencies = {1.0, 0.2, 0.01};
    i.options.causal_alignment = CausalAlignment::bottom_right;
  });
  const auto padded = [](AttentionInputs& i, FullyMaskedRows rows) {
    i.tensors.valid_lens = std::make_shared<const Tensor>(Tensor(Shape{{"N", 2}}, std::vector<Index>{0, 50}));
    i.options.fully_masked_rows = rows;
  };
  const auto cached = [](AttentionInputs& i) {
    const auto rows = [](Index width, const char* axis) {
      Tensor past(Shape{{"N", 2}, {"G", 2}, {"P", 67}, {axis, width}}, DType::f32);
      for (Index at = 0; at < past.size(); ++at) past.set_flat(at, 0.02 * static_cast<double>(at % 97) - 1.0);
      return std::make_shared<const Tensor>(std::move(past));
    };
    i.tensors.past_key = rows(9, "D");
    i.tensors.past_value = rows(5, "Dv");
  };
  add("a past", cached);
  add("a past, causal and rotary, with a window and ALiBi", [&](AttentionInputs& i) {
    cached(i);
    i.options.is_causal = i.options.alibi = true;
    i.options.window_left = 90;
    i.options.rotary_inverse_frequencies = {1.0, 0.2, 0.01};
  });
  add("keys that are there, causal", [](AttentionInputs& i) {
    i.options.is_causal = true;
    i.tensors.nonpad_kv_seqlen =
        std::make_shared<const Tensor>(Tensor(Shape{{"N", 2}}, std::vector<Index>{131, 40}));
  });
  add("sinks", [](AttentionInputs& i) { i.options.sink = {-3, -1, 0, 0.5, 2, 200}; });
  add("a sink and rows with no key", [&](AttentionInputs& i) {
    padded(i, FullyMaskedRows::nan);
    i.options.sink = {0.3};
  });
  add("rows with no key, NaN", [&](AttentionInputs& i) { padded(i, FullyMaskedRows::nan); });
  add("rows with no key, 0", [&](AttentionInputs& i) { padded(i, FullyMaskedRows::zero); });
  add("a NaN among the keys", [](AttentionInputs& i) {
    Tensor key = *i.tensors.key;
    key.values<float>()[40] = std::numeric_limits<float>::quiet_NaN();
    i.tensors.key = std::make_shared<const Tensor>(std::move(key));
  });
  return cases;
}

}  // namespace headwise::test
