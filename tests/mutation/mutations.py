"""One-line mistakes: (what, file, the text that stands there once, what takes its place)."""

A = "core/attention/"
SDPA, SDPA_BACK = A + "scaled_dot_product_attention.cpp", A + "scaled_dot_product_attention_backward.cpp"
MASK, HEADS, LINEAR, LINEAR_BACK = A + "attention_mask.cpp", A + "heads.cpp", A + "linear.cpp", A + "linear_backward.cpp"
BACKWARD, FORWARD = "core/trace/reference_backward.cpp", "core/trace/reference_backend.cpp"
TRANSPOSED, GRADIENT_RULES = "core/trace/transposed_product.cpp", "core/trace/gradient_rules.cpp"
NORM_BACK = A + "add_and_norm_backward.cpp"

MUTATIONS = [
    # ---- scores and scale
    ("the scale is dropped", SDPA, "static_cast<double>(from[i]) * factor / scale.temperature", "static_cast<double>(from[i]) * (1.0 + 0.0 * factor) / scale.temperature"),
    ("the scale is 1/D, not 1/√D", SDPA, "1.0 / std::sqrt(static_cast<double>(options.head_dim))", "1.0 / static_cast<double>(options.head_dim)"),
    ("the scale is 1/√E", SDPA, "static_cast<double>(options.head_dim)", "static_cast<double>(options.embed_dim)"),
    ("a given scale of 0 counts as none", SDPA, "options.scale.value_or(", "(options.scale && *options.scale != 0.0 ? *options.scale : "),
    ("the temperature multiplies", SDPA, "* factor / scale.temperature", "* factor * scale.temperature"),
    ("softcap forgets to multiply back", SDPA, "x = scale.softcap * std::tanh(", "x = std::tanh("),
    ("grouped heads are tiled, not repeated", SDPA, "const Index g = kv_head_of(h, heads, kv_heads);", "const Index g = h % kv_heads;"),
    # ---- masks
    ("True keeps in multi-head attention", MASK, "const bool true_blocks = options.op == Op::multi_head_attention;", "const bool true_blocks = false;"),
    ("True blocks in scaled dot-product attention", MASK, "const bool true_blocks = options.op == Op::multi_head_attention;", "const bool true_blocks = true;"),
    ("key_padding_mask the other way round", MASK, "const MaskCell<T> added{true};", "const MaskCell<T> added{false};"),
    ("the causal mask hides the query's own position", MASK, "options.is_causal && distance < 0;", "options.is_causal && distance <= 0;"),
    ("the window is one wider into the past", MASK, "distance >= window ||", "distance > window ||"),
    ("the window is one wider into the future", MASK, "distance <= -window;", "distance < -window;"),
    ("bottom_right counts the other way", MASK, "? 0 : keys - queries;", "? 0 : queries - keys;"),
    ("top_left and bottom_right change places", MASK, "alignment == CausalAlignment::top_left", "alignment == CausalAlignment::bottom_right"),
    ("valid_lens are one too long", MASK, "Index s = std::max<Index>(0, len);", "Index s = std::max<Index>(0, len) + 1;"),
    ("valid_lens of each query are read by batch", MASK, "per_query ? n * queries + l : n", "n"),
    ("a mask short in S leaves the rest open", MASK, ": blocked<T>;\n    }\n  });\n}\n\ntemplate <class T, class M>", ": T{0};\n    }\n  });\n}\n\ntemplate <class T, class M>"),
    ("masks of (N·H,L,S) ignore the head", MASK, "AttnMaskView{heads * queries * keys, queries * keys, keys, 1, keys}", "AttnMaskView{heads * queries * keys, 0, keys, 1, keys}"),
    ("ALiBi rewards distance", A + "alibi.cpp", "return -slope *", "return slope *"),
    ("ALiBi slopes begin at 1", A + "alibi.cpp", "static_cast<double>(h + 1)", "static_cast<double>(h)"),
    ("ALiBi's in-between slopes are those of the lower power", A + "alibi.cpp", "slope_of(2 * h, 2 * power)", "slope_of(h, power)"),
    ("a finite mask value is added, not filled in", SDPA, "filled ? fill : score[i] + bias[i]", "filled ? static_cast<T>(fill + score[i]) : score[i] + bias[i]"),
    # ---- softmax and dropout
    ("softmax does not subtract the maximum", A + "softmax.cpp", "maximum = std::max(maximum, static_cast<double>(value));", "maximum = 0.0 * static_cast<double>(value);"),
    ("softmax does not divide", A + "softmax.cpp", "exponentials[s] / sum", "exponentials[s] / std::max(1.0, 0.0 * sum)"),
    ("fully masked rows are NaN when they should be zero", A + "softmax.cpp", "fully_masked == FullyMaskedRows::zero && all_blocked(row)", "false"),
    ("fully masked rows are zero when they should be NaN", A + "softmax.cpp", "fully_masked == FullyMaskedRows::zero && all_blocked(row)", "all_blocked(row)"),
    ("dropout does not scale the survivors", A + "dropout.cpp", "kept ? 1.0 / (1.0 - p) : 0.0", "kept ? 1.0 : 0.0"),
    ("dropout drops what it should keep", A + "dropout.cpp", ">= p;", "< p;"),
    ("dropout reaches a frozen head", FORWARD, "if (frozen.empty()) return dropped;", "return dropped;"),
    ("frozen heads change places", A + "frozen_heads.cpp", "(n * frozen + f) * cells, cells);", "(n * frozen + frozen - 1 - f) * cells, cells);"),
    ("a frozen head's weights go on to its scores' gradient", BACKWARD, "return with_zero_heads(std::move(gradient), frozen);", "return gradient;"),
    ("the gradient of a frozen head's weights is dropped", BACKWARD, "return with_heads_of(std::move(gradient), *g_.dropped_weights, frozen);", "return gradient;"),
    ("an edit of the frozen weights is not noticed", FORWARD, "{t.masked_scores, t.frozen_weights}}", "{t.masked_scores}}"),
    ("the returned weights are those before dropout", FORWARD, "t.attn_output_weights = t.dropped_weights;", "t.attn_output_weights = t.attn_weights;"),
    ("the average is a sum over heads", A + "average_weights.cpp", "sum / static_cast<double>(heads)", "sum"),
    # ---- projections, heads, appended rows
    ("the heads are merged without their transpose", HEADS, "out.values<T>().begin() + ((n * length + t) * heads + h) * width;", "out.values<T>().begin() + ((n * heads + h) * length + t) * width;"),
    ("the heads are split without their transpose", HEADS, "x.values<T>().begin() + ((n * length + t) * heads + h) * width", "x.values<T>().begin() + ((n * heads + h) * length + t) * width"),
    ("the head gains are not applied", HEADS, "return g * value;", "return g * 0 + value;"),
    ("k reads the rows of q", A + "in_projection.cpp", "which == Projection::k ? q_rows", "which == Projection::k ? 0 * q_rows"),
    ("separate matrices read the bias from its start", A + "in_projection.cpp", "return {own_weight, 0, in_proj_bias, first};", "return {own_weight, 0, in_proj_bias, 0};"),
    ("the bias is dropped", LINEAR, "wide_y.rowwise() += bias;", "wide_y.rowwise() += 0.0 * bias;"),
    ("the bias row is not appended", A + "in_projection.cpp", "if (bias_row) std::ranges::copy(", "if (bias_row && length < 0) std::ranges::copy("),
    ("the residual adds the output twice", A + "add_and_norm.cpp", "= a[i] + b[i];", "= b[i] + b[i];"),
    ("the layer norm divides by E − 1", A + "add_and_norm.cpp", "variance / static_cast<double>(width) + layer_norm_epsilon", "variance / static_cast<double>(width - 1) + layer_norm_epsilon"),
    ("the layer norm has no ε", A + "add_and_norm.cpp", "static_cast<double>(width) + layer_norm_epsilon", "static_cast<double>(width)"),
    # ---- gradients
    ("the softmax gradient misses its sum", SDPA_BACK, "(static_cast<double>(dp[s]) - sum)", "(static_cast<double>(dp[s]) - 0.0 * sum)"),
    ("the scale is missing in the gradient of the scores", SDPA_BACK, "dx * scale.scale / scale.temperature", "dx / scale.temperature"),
    ("the temperature is missing in the gradient of the scores", SDPA_BACK, "dx * scale.scale / scale.temperature", "dx * scale.scale"),
    ("softcap has no derivative", SDPA_BACK, "dx *= 1.0 - squashed * squashed;", "dx *= 1.0;"),
    ("cells that were filled pass their gradient on", SDPA_BACK, "grad.values<T>()[i] = T{0};", "grad.values<T>()[i] *= T{1};"),
    ("only the first head of a group sends its gradient", SDPA_BACK, "h < (g + 1) * group;", "h < g * group + 1;"),
    ("d v is taken from the weights before dropout", BACKWARD, "*g_.head_output, *t_.dropped_weights, t_.v_heads->shape()", "*g_.head_output, *t_.attn_weights, t_.v_heads->shape()"),
    ("dropout is forgotten on the way back", BACKWARD, "if (o_.dropout == 0.0 || all_frozen) {", "if (o_.dropout <= 1.0) {"),
    ("the gradient of a weight keeps the last block of rows only", LINEAR_BACK, "sum += product(", "sum = product("),
    ("the gradient of the bias is that of the mean", LINEAR_BACK, "colwise().sum();", "colwise().mean();"),
    ("d gain misses the head output", A + "heads_backward.cpp", "static_cast<double>(head_output.values<T>()[cell]);", "(0.0 * static_cast<double>(head_output.values<T>()[cell]) + 1.0);"),
    ("the gains are forgotten on the way back", A + "heads_backward.cpp", "*= gain->values<T>()", "*= T{1} + T{0} * gain->values<T>()"),
    ("d bias_k is read one row early", A + "in_projection_backward.cpp", "(n * rows + first_appended) * width", "(n * rows + first_appended - 1) * width"),
    ("the residual sends nothing back to the query", BACKWARD, "if (g_.residual_output) sum =", "if (g_.residual_output && sizes_.batch < 0) sum ="),
    ("in self-attention the gradient of the values is left out", BACKWARD, "add_residual(add_residual(sum, input_gradient(ways[1])), input_gradient(ways[2]))", "add_residual(sum, input_gradient(ways[1]))"),
    ("the gradient of the layer norm misses its mean", NORM_BACK, "dy[e] - mean_dy - y[e]", "dy[e] - y[e]"),
    ("the gradient of the layer norm misses its projection", NORM_BACK, "- y[e] * mean_dy_y)", "- 0.0 * y[e] * mean_dy_y)"),
    ("the gradient of a broadcast mask is that of its last cell", A + "attention_mask_backward.cpp", "+= grad_mask_bias.flat(row + s);", "= grad_mask_bias.flat(row + s);"),
    # ---- what an edit shares
    ("an edit of the scale is not noticed", FORWARD, "{{scale.scale, scale.temperature, scale.softcap}, {t.scores}}", "{{scale.temperature, scale.softcap}, {t.scores}}"),
    ("an edit of the values is not noticed", FORWARD, "{{}, {t.dropped_weights, t.v_heads}}", "{{}, {t.dropped_weights}}"),
    ("an edit of a mask is not noticed", FORWARD, "{choices, {t.attn_mask, t.key_padding_mask, t.valid_lens}}", "{choices, {t.attn_mask, t.valid_lens}}"),
    ("an edit of v_heads leaves the gradient of the weights as it was", BACKWARD, "stage(TensorId::dropped_weights, {g_.head_output, t_.v_heads}", "stage(TensorId::dropped_weights, {g_.head_output}"),
    # ---- where gradients come from
    ("a gradient is sent back from every row, appended or not", TRANSPOSED, "  result_.where.push_back({axis, range});", "  (void)range;"),
    ("the heads of a group are told apart as tiles", TRANSPOSED, "for (AxisTerm& term : group.terms) term.times = digits.group;", "for (AxisTerm& term : group.terms) term.times = 1;"),
    ("rows that begin later are read from the start", TRANSPOSED, "values_[variable]->offset += range.begin;", ""),
    ("the query does not collect what comes back through key and value", GRADIENT_RULES, "all_inputs_are_one(trace.tensors) ? Id::query : id", "all_inputs_are_one(trace.tensors) ? id : id"),
    ("a filled score passes its gradient in the rule", GRADIENT_RULES, "if (!trace_.options.mask_value) return add_ways_through(reader);", "return add_ways_through(reader);"),
    ("softcap is forgotten in the rule", GRADIENT_RULES, "if (trace_.options.softcap > 0.0) rule_.products.push_back(same_cell(source));", ""),
    # ---- f32, random numbers, files
    ("f32 is rounded at every stage", FORWARD, "if (TracePtr trace = rounded_forward(inputs, previous)) return trace;", "if (TracePtr trace = rounded_forward(inputs, previous, 0)) return trace;"),
    ("f32 overflow goes unnoticed", "core/trace/rounded_trace.cpp", "if (std::isinf(after[i]) && std::isfinite(before[i])) return std::nullopt;", "if (std::isinf(after[i]) && std::isnan(before[i])) return std::nullopt;"),
    ("Philox with nine rounds", "core/tensor/random.cpp", "round < 10", "round < 9"),
    ("Fortran order is not turned", "core/files/npy_format.cpp", "array_.fortran_order = boolean();", "array_.fortran_order = boolean() && false;"),
    ("a checksum is not looked at", "core/files/zip_entry_reader.cpp", "if (static_cast<std::uint32_t>(state.crc) != state.entry.crc)", "if (state.crc == 1 && state.entry.crc == 2)"),
]
