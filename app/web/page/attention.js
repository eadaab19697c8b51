// The forward pass of multi-head attention, in doubles: "Attention Is All You Need", section 3.2, in the steps and with the
// options of torch.nn.MultiheadAttention and F.scaled_dot_product_attention. The program computes the same
// (core/attention/multi_head_attention.cpp).
//
//   N batch   L queries   P keys of a past   S keys, S′ with those and appended ones   E embedding   H heads   G key/value heads   D, Dv width of a head
//
// A tensor is { shape: [sizes], data: Float64Array }, row-major.
const Attention = (() => {
  "use strict";

  const tensor = (...shape) => ({ shape, data: new Float64Array(shape.reduce((all, size) => all * size, 1)) });
  const rowsOf = (x) => x.data.length / Math.max(1, x.shape[x.shape.length - 1]);

  // --- Linear layers ---

  // y[…,r] = Σ_e x[…,e] · W[begin + r, e] + b[begin + r], r < rows
  function linear(x, weight, bias, begin, rows) {
    const width = x.shape[x.shape.length - 1];
    const y = tensor(...x.shape.slice(0, -1), rows);
    for (let i = 0; i < rowsOf(x); i += 1)
      for (let r = 0; r < rows; r += 1) {
        let sum = 0;
        const [from, at] = [i * width, (begin + r) * width];
        for (let e = 0; e < width; e += 1) sum += x.data[from + e] * weight.data[at + e];
        y.data[i * rows + r] = bias ? sum + bias.data[begin + r] : sum;
      }
    return y;
  }

  // (N,G,S,D) → (N,S,G·D): heads side by side, each times its gain
  function mergeHeads(x, gain = null) {
    const [batch, heads, length, width] = x.shape;
    const y = tensor(batch, length, heads * width);
    for (let n = 0; n < batch; n += 1)
      for (let h = 0; h < heads; h += 1)
        for (let l = 0; l < length; l += 1)
          for (let d = 0; d < width; d += 1) {
            const value = x.data[((n * heads + h) * length + l) * width + d];
            y.data[(n * length + l) * heads * width + h * width + d] = gain ? value * gain.data[h] : value;
          }
    return y;
  }

  // (N,L,H·D) → (N,H,L,D): head h takes columns [h·D, (h+1)·D)
  function splitHeads(x, heads, clip) {
    const [batch, length, all] = x.shape;
    const width = all / heads;
    const y = tensor(batch, heads, length, width);
    for (let n = 0; n < batch; n += 1)
      for (let h = 0; h < heads; h += 1)
        for (let l = 0; l < length; l += 1)
          for (let d = 0; d < width; d += 1) {
            const value = x.data[(n * length + l) * all + h * width + d];
            const clipped = clip === null || Number.isNaN(value) ? value : Math.min(clip, Math.max(-clip, value));
            y.data[((n * heads + h) * length + l) * width + d] = clipped;
          }
    return y;
  }

  // Appends to each sequence of (N,S,C) the row of bias_k or bias_v, then a row of zeros.
  function appendRows(x, bias, zeros) {
    const [batch, length, width] = x.shape;
    const y = tensor(batch, length + (bias ? 1 : 0) + (zeros ? 1 : 0), width);
    for (let n = 0; n < batch; n += 1) {
      const to = n * y.shape[1] * width;
      y.data.set(x.data.subarray(n * length * width, (n + 1) * length * width), to);
      if (bias) y.data.set(bias.data, to + length * width);
    }
    return y;
  }

  // (…,P,W), (…,T,W) → (…,P+T,W): the rows of a cache, and others behind them
  function withPast(past, x) {
    const axis = x.shape.length - 2;
    const [before, own] = [past, x].map(({ shape }) => shape[axis] * shape[axis + 1]);
    const y = tensor(...x.shape.slice(0, axis), past.shape[axis] + x.shape[axis], x.shape[axis + 1]);
    for (let from = 0, head = 0; from < y.data.length; from += before + own, head += 1) {
      y.data.set(past.data.subarray(head * before, (head + 1) * before), from);
      y.data.set(x.data.subarray(head * own, (head + 1) * own), from + before);
    }
    return y;
  }
  const pastLength = ({ past_key: keys, past_k_rot: rotated }) => (keys || rotated || { shape: [0, 0, 0] }).shape[2];

  // --- Rotary position embedding ---

  function rotationOf({ rotary_base: base, rotary_inverse_frequencies: given, rotary_pairs: pairs, rotary_factor: factor = 1 }, width) {
    const without = base === null || base === undefined;
    const frequencies = without ? given || [] : Array.from({ length: width / 2 }, (_, j) => base ** (-(2 * j) / width));
    return { frequencies, pairs, factor };
  }

  // The columns of pair j of a row at position p are rotated by p · frequency j, and multiplied by the factor; columns before `begin` are not.
  function rotate(x, { frequencies, pairs: kind, factor }, firstPosition, begin = 0) {
    const y = { shape: x.shape, data: Float64Array.from(x.data) };
    const [length, width] = x.shape.slice(-2);
    const pairs = frequencies.length;
    const [step, apart] = kind === "neighbours" ? [2, 1] : [1, pairs];
    for (let row = 0; row < rowsOf(x); row += 1)
      for (let j = 0; j < pairs; j += 1) {
        const angle = (firstPosition + (row % length)) * frequencies[j];
        const [cosine, sine] = [factor * Math.cos(angle), factor * Math.sin(angle)];
        const first = row * width + begin + j * step;
        const [a, b] = [x.data[first], x.data[first + apart]];
        y.data[first] = a * cosine - b * sine;
        y.data[first + apart] = b * cosine + a * sine;
      }
    return y;
  }

  // --- Norms ---

  // Each row x as (offset + weight) · (x − mean) / deviation: "rms" by the root of the mean square, "layer" by the deviation from the
  // mean, "l2" by the length. Weights are one row, or one for each head of (N,H,T,D).
  function normalised(x, { kind, epsilon, offset }, weight) {
    const y = { shape: x.shape, data: new Float64Array(x.data.length) };
    const width = x.shape[x.shape.length - 1];
    for (let r = 0; r < rowsOf(x); r += 1) {
      const row = x.data.subarray(r * width, (r + 1) * width);
      const mean = kind === "layer" ? row.reduce((sum, value) => sum + value, 0) / width : 0;
      const squares = row.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      const deviation = Math.sqrt(squares / (kind === "l2" ? 1 : width) + epsilon);
      const own = weight && weight.shape.length === 2 ? (Math.floor(r / x.shape[x.shape.length - 2]) % weight.shape[0]) * width : 0;
      for (let d = 0; d < width; d += 1)
        y.data[r * width + d] = (weight ? offset + weight.data[own + d] : 1) * ((row[d] - mean) / deviation);
    }
    return y;
  }

  const layerNorm = (x) => normalised(x, { kind: "layer", epsilon: 1e-5, offset: 0 }, null);

  // q_normed and k_normed, if this is the place for them.
  function normaliseAt(place, t, { attention }, q, k) {
    if (attention.qk_norm !== place) return;
    const norm = { kind: attention.qk_norm_kind || "rms", epsilon: attention.qk_norm_epsilon === undefined ? 1e-6 : attention.qk_norm_epsilon,
      offset: attention.qk_norm_offset || 0 };
    t.q_normed = normalised(q, norm, t["q_norm.weight"]);
    t.k_normed = normalised(k, norm, t["k_norm.weight"]);
  }

  // output_gate and gated_concat: a number of the gate for each column of concat, or for each head.
  function gate(t) {
    const weight = t["output_gate.weight"];
    t.output_gate = linear(t.query, weight, t["output_gate.bias"], 0, weight.shape[0]);
    const columns = t.concat.shape[2] / weight.shape[0];
    const open = t.output_gate.data.map((x) => 1 / (1 + Math.exp(-x)));
    t.gated_concat = { shape: t.concat.shape, data: t.concat.data.map((x, i) => x * open[Math.floor(i / columns)]) };
  }

  // --- Scores ---

  // scores[n,h,l,s] = Σ_d q[n,h,l,d] · k[n,g,s,d], g = h / (H/G)
  function attentionScores(q, k) {
    const [batch, heads, queries, width] = q.shape;
    const [, groups, keys] = k.shape;
    const scores = tensor(batch, heads, queries, keys);
    let at = 0;
    for (let n = 0; n < batch; n += 1)
      for (let h = 0; h < heads; h += 1) {
        const group = n * groups + Math.floor(h / (heads / groups));
        for (let l = 0; l < queries; l += 1)
          for (let s = 0; s < keys; s += 1) {
            let sum = 0;
            const [from, of] = [((n * heads + h) * queries + l) * width, (group * keys + s) * width];
            for (let d = 0; d < width; d += 1) sum += q.data[from + d] * k.data[of + d];
            scores.data[at] = sum;
            at += 1;
          }
      }
    return scores;
  }

  // score · scale / temperature, capped: c · tanh(x / c)
  function scaleScores(scores, { scale, temperature, softcap }, width) {
    const factor = scale === null || scale === undefined ? 1 / Math.sqrt(width) : scale;
    return { shape: scores.shape, data: scores.data.map((score) => {
      const x = temperature === 1 ? score * factor : (score * factor) / temperature;
      return softcap > 0 ? softcap * Math.tanh(x / softcap) : x;
    }) };
  }

  // --- Masks ---

  // ALiBi's slope of each head: 2^(−8(h+1)/H); where H is no power of two, every second one of twice the power below it follows.
  function alibiSlopes(heads, scale) {
    const power = 2 ** Math.floor(Math.log2(heads));
    const slope = (h, of) => 2 ** ((-8 * (h + 1)) / of);
    return Array.from({ length: heads }, (_, h) => scale * (h < power ? slope(h, power) : slope(2 * (h - power), 2 * power)));
  }

  // The bucket of a key that lies `ahead` places after its query: near distances have one each, further ones share more and more.
  function relativeBucket({ buckets, max_distance: most, bidirectional }, ahead) {
    const count = bidirectional ? Math.floor(buckets / 2) : buckets;
    const first = bidirectional && ahead > 0 ? count : 0;
    const distance = bidirectional ? Math.abs(ahead) : Math.max(-ahead, 0);
    const exact = Math.floor(count / 2);
    if (distance < exact) return first + distance;
    // In f32, as T5 does it: which bucket a distance at an edge is in depends on it.
    const round = Math.fround;
    const share = round(round(Math.log(round(distance / exact))) / round(Math.log(most / exact)));
    return first + Math.min(exact + Math.trunc(round(share * (count - exact))), count - 1);
  }

  // position_bias[0,h,l,s]: a head's number for the bucket of the distance; 0 in appended columns.
  function positionBias(settings, leaves, [, heads, queries, allKeys], keys) {
    const bias = tensor(1, heads, queries, allKeys);
    const weight = leaves["relative_attention_bias.weight"];
    const first = firstQuery(settings, leaves, queries, keys);
    for (let l = 0; l < queries; l += 1)
      for (let s = 0; s < keys; s += 1) {
        const bucket = relativeBucket(settings.attention.relative_bias, s - l - first);
        for (let h = 0; h < heads; h += 1) bias.data[(h * queries + l) * allKeys + s] = weight.data[bucket * heads + h];
      }
    return bias;
  }

  // --- The indexer ---

  // Its queries, keys and the weights of its heads; scaled_dot_product_attention is given them.
  function projectIndexer(t, settings, sizes) {
    const { heads, width, rotary_pairs: pairs } = settings.mask.indexer;
    const isLatent = settings.op === "multi_head_latent_attention";
    const source = isLatent ? t.compressed_q : t.query;
    const rotation = { ...rotationOf(settings.attention, isLatent ? settings.attention.qk_rope_head_dim : sizes.D), pairs };
    const withRotation = (x, first) => (rotation.frequencies.length > 0 ? rotate(x, rotation, first) : x);
    t.indexer_q = withRotation(splitHeads(linear(source, t["indexer.wq_b.weight"], null, 0, heads * width), heads, null),
      firstQuery(settings, t, sizes.L, sizes.S));
    const keys = normalised(linear(t.key, t["indexer.wk.weight"], null, 0, width), { kind: "layer", epsilon: 1e-6, offset: 0 },
      t["indexer.k_norm.weight"]);
    const bias = t["indexer.k_norm.bias"];
    if (bias) keys.data.forEach((value, i) => { keys.data[i] = value + bias.data[i % width]; });
    t.indexer_k = withRotation(splitHeads(keys, 1, null), 0);
    const weights = linear(t.query, t["indexer.weights_proj.weight"], null, 0, heads);
    t.indexer_weights = { shape: weights.shape, data: weights.data.map((value) => value / Math.sqrt(heads)) };
  }

  // indexer_scores[n,l,s] = Σ_m w[n,l,m] · ReLU(q[n,m,l]·k[n,0,s] / √W)
  function indexerScores(q, k, weights) {
    const products = attentionScores(q, k);
    const [batch, heads, queries, keys] = products.shape;
    const root = Math.sqrt(q.shape[3]);
    const scores = tensor(batch, queries, keys);
    for (let n = 0; n < batch; n += 1)
      for (let m = 0; m < heads; m += 1)
        for (let l = 0; l < queries; l += 1)
          for (let s = 0; s < keys; s += 1) {
            const product = products.data[((n * heads + m) * queries + l) * keys + s] / root;
            if (!(product < 0)) scores.data[(n * queries + l) * keys + s] += weights.data[(n * queries + l) * heads + m] * product;
          }
    return scores;
  }

  // Blocks the keys that are not among the k with the largest scores, of those that are left; of equal scores the first stay. NaN is largest.
  function blockUnchosen(bias, scores, k) {
    const [batch, heads, queries, keys] = bias.shape;
    const larger = (x, y) => (Number.isNaN(x) ? (Number.isNaN(y) ? 0 : -1) : Number.isNaN(y) ? 1 : x > y ? -1 : x < y ? 1 : 0);
    for (let row = 0; row < batch * heads * queries; row += 1) {
      const left = bias.data.subarray(row * keys, (row + 1) * keys);
      const from = (Math.floor(row / (heads * queries)) * queries + (row % queries)) * keys;
      const own = scores.data.subarray(from, from + keys);
      [...left.keys()].filter((s) => left[s] !== -Infinity).sort((a, b) => larger(own[a], own[b])).slice(k)
        .forEach((s) => { left[s] = -Infinity; });
    }
  }

  // How the indices n, h, l, s of a score lead into an attn_mask: (L,S), (N·H,L,S), or whatever broadcasts to (N,H,L,S).
  function maskReader(mask, isModule, [batch, heads, queries], keys) {
    const { shape } = mask;
    if (isModule) {
      const perHead = shape.length === 3 ? queries * keys : 0;
      return { keys, at: (n, h, l, s) => (n * heads + h) * perHead + l * keys + s };
    }
    const wanted = [batch, heads, queries, keys];
    const steps = [0, 0, 0, 0];
    let stride = 1;
    let width = keys;
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const target = axis + 4 - shape.length;
      if (shape[axis] !== 1) {
        steps[target] = stride;
        if (target === 3 && shape[axis] < wanted[3]) width = shape[axis];
      }
      stride *= shape[axis];
    }
    return { keys: width, at: (n, h, l, s) => n * steps[0] + h * steps[1] + l * steps[2] + s * steps[3] };
  }

  // How many keys behind and ahead of its own position a query sees.
  function windowOf({ sliding_window: width, window_left: left, window_right: right }) {
    const most = width ? width - 1 : Infinity;
    const side = (wanted) => (wanted === null || wanted === undefined ? most : wanted);
    return { behind: side(left), ahead: side(right) };
  }

  // Where query 0 stands among all keys, those of the past in front; each of the batch by its own length where nonpad_kv_seqlen says it.
  const firstQuery = ({ mask }, t, queries, keys) => (mask.causal_alignment === "bottom_right" ? keys - queries : pastLength(t));

  // mask_bias[n,h,l,s]: every mask as what it adds, −∞ where it blocks. Appended columns are never blocked.
  // True blocks in multi_head_attention, and keeps in scaled_dot_product_attention.
  function mergeMasks(settings, leaves, shape, keys) {
    const { mask, op } = settings;
    const { attn_mask: given, key_padding_mask: padding, valid_lens: lens, nonpad_kv_seqlen: nonpad, position_bias: relative } = leaves;
    const [batch, heads, queries, allKeys] = shape;
    const isModule = op !== "scaled_dot_product_attention";
    const causal = isCausal(settings);
    const first = firstQuery(settings, leaves, queries, keys);
    const slopes = mask.alibi ? alibiSlopes(heads, mask.alibi_scale) : null;
    const reader = given && maskReader(given, isModule, shape, keys);
    const added = (of, cell, trueBlocks) => (of.isBool ? ((cell !== 0) === trueBlocks ? -Infinity : 0) : cell);
    const { behind, ahead } = windowOf(mask);
    const bias = tensor(batch, heads, queries, allKeys);
    for (let n = 0; n < batch; n += 1)
      for (let h = 0; h < heads; h += 1)
        for (let l = 0; l < queries; l += 1)
          for (let s = 0; s < keys; s += 1) {
            let sum = 0;
            const distance = l + (nonpad ? nonpad.data[n] - queries : first) - s; // how far back the key is
            if (given) sum += s < reader.keys ? added(given, given.data[reader.at(n, h, l, s)], isModule) : -Infinity;
            if (padding) sum += added(padding, padding.data[n * keys + s], true);
            if (lens && s >= lens.data[lens.shape.length === 2 ? n * queries + l : n]) sum += -Infinity;
            if (nonpad && s >= nonpad.data[n]) sum += -Infinity;
            const isTooFar = distance > behind || (!causal && -distance > ahead);
            if (isTooFar || (causal && distance < 0)) sum += -Infinity;
            if (relative) sum += relative.data[(h * queries + l) * allKeys + s];
            if (slopes) sum += distance < 0 && causal ? 0 : -slopes[h] * Math.abs(distance);
            bias.data[((n * heads + h) * queries + l) * allKeys + s] = sum;
          }
    return bias;
  }

  const isCausal = ({ mask }) => mask.is_causal || mask.preset === "causal";

  const hasAnyMask = (settings, leaves) =>
    Boolean(leaves.attn_mask || leaves.key_padding_mask || leaves.valid_lens || leaves.nonpad_kv_seqlen || isCausal(settings) ||
      Object.values(windowOf(settings.mask)).some(Number.isFinite) || settings.mask.alibi || settings.attention.relative_bias || settings.mask.indexer);

  // A finite fill takes the place of blocked scores; −∞ is added to them.
  function maskScores(scores, bias, fill) {
    const isFilled = typeof fill === "number";
    return { shape: scores.shape, data: scores.data.map((x, i) => (isFilled && bias.data[i] === -Infinity ? fill : x + bias.data[i])) };
  }

  // --- Softmax, dropout, frozen heads ---

  const vanishes = -708;

  const largestOf = (row) => row.reduce((most, value) => (Number.isNaN(most) || most > value ? most : value), -Infinity);

  // exp(x − max) / Σ exp(x − max) along each row; a row whose keys are all blocked is NaN, or 0 where that is the rule. A sink is one more
  // score in each row of its head, whose weight is dropped.
  function softmax(x, zeroFullyMasked, sinks) {
    const y = { shape: x.shape, data: new Float64Array(x.data.length) };
    const keys = x.shape[x.shape.length - 1];
    for (let begin = 0; begin < x.data.length; begin += keys) {
      const row = x.data.subarray(begin, begin + keys);
      const sink = sinks ? sinkOf(sinks, begin / keys, x.shape[2]) : -Infinity;
      const inKeys = largestOf(row);
      const largest = inKeys < sink ? sink : inKeys;
      if (largest === -Infinity && zeroFullyMasked) continue;
      let sum = sinks ? Math.exp(sink - largest) : 0;
      for (let s = 0; s < keys; s += 1) {
        // Next to nothing is nothing, as in the program.
        y.data[begin + s] = row[s] - largest <= vanishes ? 0 : Math.exp(row[s] - largest);
        sum += y.data[begin + s];
      }
      for (let s = 0; s < keys; s += 1) y.data[begin + s] /= sum;
    }
    return y;
  }

  const sinkOf = (sinks, row, queries) => sinks.data[Math.floor(row / queries) % sinks.data.length];

  // ln Σ exp of each row of (N,H,L,S′): (N,H,L)
  function logSumExp(x) {
    const keys = x.shape[3];
    const y = tensor(...x.shape.slice(0, 3));
    for (let row = 0; row < y.data.length; row += 1) {
      const scores = x.data.subarray(row * keys, (row + 1) * keys);
      const largest = largestOf(scores);
      y.data[row] = Number.isFinite(largest) ? largest + Math.log(scores.reduce((sum, value) => sum + Math.exp(value - largest), 0)) : largest;
    }
    return y;
  }

  // The share of each row that the sink takes
  const sinkShares = (lse, sinks) =>
    ({ shape: lse.shape, data: lse.data.map((value, row) => 1 / (1 + Math.exp(value - sinkOf(sinks, row, lse.shape[2])))) });

  // What a row becomes whose keys are all blocked: NaN, or 0 where that is set or PyTorch guards against it.
  function fullyMaskedRows({ op, attention, mask }) {
    const isGuarded = op === "scaled_dot_product_attention" || !attention.need_weights; // as in PyTorch's fused path
    return mask.fully_masked_rows || (isGuarded ? "zero" : "nan");
  }

  // Philox4x32-10 (Salmon et al., 2011): the same numbers as in the program, of the seed and the cell alone.
  function philox(counter, key) {
    const product = (a, b) => BigInt(a) * BigInt(b);
    let [c0, c1, c2, c3] = counter;
    let [k0, k1] = key;
    for (let round = 0; round < 10; round += 1) {
      const [p0, p1] = [product(0xd2511f53, c0), product(0xcd9e8d57, c2)];
      const [high0, high1] = [Number(p0 >> 32n), Number(p1 >> 32n)];
      [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, Number(p1 & 0xffffffffn), (high0 ^ c3 ^ k1) >>> 0, Number(p0 & 0xffffffffn)];
      k0 = (k0 + 0x9e3779b9) >>> 0;
      k1 = (k1 + 0xbb67ae85) >>> 0;
    }
    return [c0, c1];
  }

  const halves = (bits) => [Number(bits & 0xffffffffn), Number((bits >> 32n) & 0xffffffffn)];

  // Of the stream "dropout": the FNV-1a hash of its name.
  const dropoutStream = [..."dropout"].reduce(
    (hash, letter) => ((hash ^ BigInt(letter.charCodeAt(0))) * 0x100000001b3n) & 0xffffffffffffffffn, 0xcbf29ce484222325n);

  // [0, 1), 53 bits
  function uniform(seed, index) {
    const [low, high] = philox([...halves(BigInt(index)), ...halves(dropoutStream)], halves(BigInt(seed)));
    return Number((BigInt(high) << 32n | BigInt(low)) >> 11n) * 2 ** -53;
  }

  // Each weight is set to 0 with probability p; the others are divided by 1 − p.
  const dropout = (weights, p, seed) =>
    ({ shape: weights.shape, data: weights.data.map((weight, i) => weight * (uniform(seed, i) >= p ? 1 / (1 - p) : 0)) });

  // Slice f of frozen (N,F,L,S′) takes the place of the weights of head heads[f].
  function withFrozenHeads(weights, frozen, heads) {
    const y = { shape: weights.shape, data: Float64Array.from(weights.data) };
    const [batch, all, queries, keys] = weights.shape;
    const cells = queries * keys;
    for (let n = 0; n < batch; n += 1)
      heads.forEach((head, f) => {
        const from = (n * heads.length + f) * cells;
        y.data.set(frozen.data.subarray(from, from + cells), (n * all + head) * cells);
      });
    return y;
  }

  // head_output[n,h,l,e] = Σ_s weights[n,h,l,s] · v[n,g,s,e]
  function weightedSum(weights, v) {
    const [batch, heads, queries, keys] = weights.shape;
    const [, groups, , width] = v.shape;
    const output = tensor(batch, heads, queries, width);
    for (let n = 0; n < batch; n += 1)
      for (let h = 0; h < heads; h += 1) {
        const group = n * groups + Math.floor(h / (heads / groups));
        for (let l = 0; l < queries; l += 1) {
          const row = (n * heads + h) * queries + l;
          for (let s = 0; s < keys; s += 1)
            for (let e = 0; e < width; e += 1)
              output.data[row * width + e] += weights.data[row * keys + s] * v.data[(group * keys + s) * width + e];
        }
      }
    return output;
  }

  // --- What a transformer block adds, and the module's second result ---

  function averageOverHeads(weights) {
    const [batch, heads, queries, keys] = weights.shape;
    const mean = tensor(batch, queries, keys);
    const cells = queries * keys;
    for (let n = 0; n < batch; n += 1)
      for (let i = 0; i < cells; i += 1) {
        let sum = 0;
        for (let h = 0; h < heads; h += 1) sum += weights.data[(n * heads + h) * cells + i];
        mean.data[n * cells + i] = sum / heads;
      }
    return mean;
  }

  // --- The whole pass ---

  // q = query·W_qᵀ + b_q (N,L,E) → (N,L,H·D), k and v likewise; then each is cut into heads.
  function projectAndSplit(t, settings, sizes) {
    const { H, G, D, Dv } = sizes;
    const { attention } = settings;
    const clip = attention.clip_qkv === undefined ? null : attention.clip_qkv;
    const parts = [
      { name: "q", x: t.query, begin: 0, rows: H * D, heads: H },
      { name: "k", x: t.key, begin: H * D, rows: G * D, heads: G, fixed: t.static_k, bias: t.bias_k },
      { name: "v", x: t.value, begin: H * D + G * D, rows: G * Dv, heads: G, fixed: t.static_v, bias: t.bias_v },
    ];
    for (const { name, x, begin, rows, heads, fixed, bias } of parts) {
      const own = t[`${name}_proj_weight`];
      let projected;
      if (fixed) projected = mergeHeads(fixed);
      else if (own) projected = linear(x, own, t.in_proj_bias && { data: t.in_proj_bias.data.subarray(begin) }, 0, rows);
      else projected = linear(x, t.in_proj_weight, t.in_proj_bias, begin, rows);
      const appends = name !== "q" && (bias || attention.add_zero_attn);
      t[name] = appends ? appendRows(projected, bias, attention.add_zero_attn) : projected;
    }
    normaliseAt("whole", t, settings, t.q, t.k);
    const isWhole = attention.qk_norm === "whole";
    for (const { name, heads } of parts)
      t[`${name}_heads`] = splitHeads(isWhole && name !== "v" ? t[`${name}_normed`] : t[name], heads, clip);
    normaliseAt("per_head", t, settings, t.q_heads, t.k_heads);
  }

  // --- Latent attention: "DeepSeek-V2" (arXiv 2405.04434), section 2.1 ---

  // Columns [begin, begin + width) of the rows of x, in the shape of its leading axes or another.
  function columnsOf(x, begin, width, shape = [...x.shape.slice(0, -1), width]) {
    const all = x.shape[x.shape.length - 1];
    const y = tensor(...shape);
    for (let row = 0; row < rowsOf(x); row += 1) y.data.set(x.data.subarray(row * all + begin, row * all + begin + width), row * width);
    return y;
  }

  // The rows of both side by side.
  function sideBySide(a, b, shape) {
    const [left, right] = [a.shape[a.shape.length - 1], b.shape[b.shape.length - 1]];
    const y = tensor(...shape);
    for (let row = 0; row < rowsOf(a); row += 1) {
      y.data.set(a.data.subarray(row * left, (row + 1) * left), row * (left + right));
      y.data.set(b.data.subarray(row * right, (row + 1) * right), row * (left + right) + left);
    }
    return y;
  }

  const oneHead = ({ shape: [batch, length, width], data }) => ({ shape: [batch, 1, length, width], data });

  // y[n,h,t,i] = Σ_j x[n,h,t,j] · W(h, j, i)
  function timesHeads(x, inner, outer, weight) {
    const [batch, heads, length] = x.shape;
    const width = x.shape[3];
    const y = tensor(batch, heads, length, outer);
    for (let row = 0; row < batch * heads * length; row += 1) {
      const h = Math.floor(row / length) % heads;
      for (let i = 0; i < outer; i += 1) {
        let sum = 0;
        for (let j = 0; j < inner; j += 1) sum += x.data[row * width + j] * weight(h, j, i);
        y.data[row * outer + i] = sum;
      }
    }
    return y;
  }

  // From query and key to what meets in the scores, and what is added up. A head's W_UK is Dn rows of kv_b_proj.weight, its W_UV the Dv rows behind
  // them. In the absorbed layout queries are multiplied by W_UK, and all heads read the latents themselves.
  function latentFactors(t, settings, { H, L, S, Dv }) {
    const { attention } = settings;
    const { kv_lora_rank: C, qk_nope_head_dim: Dn, qk_rope_head_dim: R, latent_norm_epsilon: epsilon } = attention;
    const norm = { kind: "rms", epsilon, offset: 0 };
    const rows = (weight) => t[weight].shape[0];
    let x = t.query;
    if (attention.q_lora_rank) {
      t.q_a = linear(x, t["q_a_proj.weight"], t["q_a_proj.bias"], 0, rows("q_a_proj.weight"));
      t.compressed_q = normalised(t.q_a, norm, t["q_a_layernorm.weight"]);
      x = t.compressed_q;
    }
    const up = attention.q_lora_rank ? "q_b_proj.weight" : "q_proj_weight";
    t.q = linear(x, t[up], null, 0, rows(up));
    t.kv_a = linear(t.key, t["kv_a_proj_with_mqa.weight"], t["kv_a_proj_with_mqa.bias"], 0, C + R);
    t.compressed_kv = normalised(columnsOf(t.kv_a, 0, C), norm, t["kv_a_layernorm.weight"]);
    const batch = t.query.shape[0];
    const rotation = rotationOf(attention, R);
    const turns = rotation.frequencies.length > 0;
    const shared = columnsOf(t.kv_a, C, R, [batch, 1, S, R]);
    t.k_rot = turns ? rotate(shared, rotation, pastLength(t)) : shared;
    const [cached, T] = [t.past_k_rot, pastLength(t) + S];
    const [latents, rotated] = cached ? [withPast(t.past_compressed_kv, t.compressed_kv), withPast(cached, t.k_rot)] : [t.compressed_kv, t.k_rot];
    if (cached) Object.assign(t, { present_compressed_kv: latents, present_k_rot: rotated });
    t.q_heads = splitHeads(t.q, H, null);
    if (turns) t.q_rotary = rotate(t.q_heads, rotation, firstQuery(settings, t, L, T), Dn);
    const q = turns ? t.q_rotary : t.q_heads;
    const weight = t["kv_b_proj.weight"].data;
    if (attention.layout === "absorbed") {
      const pressed = timesHeads(q, Dn, C, (h, d, c) => weight[(h * (Dn + Dv) + d) * C + c]);
      t.q_absorbed = sideBySide(pressed, columnsOf(q, Dn, R), [batch, H, L, C + R]);
      t.k_absorbed = sideBySide(oneHead(latents), rotated, [batch, 1, T, C + R]);
      return [t.q_absorbed, t.k_absorbed, oneHead(latents)];
    }
    t.kv_b = linear(latents, t["kv_b_proj.weight"], null, 0, rows("kv_b_proj.weight"));
    const heads = splitHeads(t.kv_b, H, null);
    const keys = tensor(batch, H, T, R);
    const ofBatch = (n) => rotated.data.subarray(n * T * R, (n + 1) * T * R);
    for (let head = 0; head < batch * H; head += 1) keys.data.set(ofBatch(Math.floor(head / H)), head * T * R);
    t.k_heads = sideBySide(columnsOf(heads, 0, Dn), keys, [batch, H, T, Dn + R]);
    t.v_heads = columnsOf(heads, Dn, Dv);
    return [q, t.k_heads, t.v_heads];
  }

  // head_output = latent_output·W_UVᵀ of each head
  function expandLatentOutput(t, { attention: { kv_lora_rank: C, qk_nope_head_dim: Dn } }, { Dv }) {
    const weight = t["kv_b_proj.weight"].data;
    return timesHeads(t.latent_output, C, Dv, (h, c, e) => weight[(h * (Dn + Dv) + Dn + e) * C + c]);
  }

  // --- From the heads to their output ---

  function factorsOf(t, settings, sizes) {
    const { attention } = settings;
    const rotation = rotationOf(attention, sizes.D);
    const past = pastLength(t);
    let [q, k] = attention.qk_norm === "per_head" ? [t.q_normed, t.k_normed] : [t.q_heads, t.k_heads];
    if (rotation.frequencies.length > 0) {
      t.q_rotary = rotate(q, rotation, firstQuery(settings, t, sizes.L, past + sizes.S));
      t.k_rotary = rotate(k, rotation, past);
      [q, k] = [t.q_rotary, t.k_rotary];
    }
    normaliseAt("per_head_after_rotary", t, settings, q, k);
    if (attention.qk_norm === "per_head_after_rotary") [q, k] = [t.q_normed, t.k_normed];
    let v = t.v_heads;
    if (t.past_key) {
      t.present_key = k = withPast(t.past_key, k);
      t.present_value = v = withPast(t.past_value, v);
    }
    return [q, k, v];
  }

  function scaledDotProduct(t, settings, sizes) {
    const { attention, mask } = settings;
    const isLatent = settings.op === "multi_head_latent_attention";
    const keys = pastLength(t) + sizes.S;
    const [q, k, v] = isLatent ? latentFactors(t, settings, sizes) : factorsOf(t, settings, sizes);
    t.scores = attentionScores(q, k);
    t.scaled_scores = scaleScores(t.scores, attention, sizes.D);
    if (attention.relative_bias)
      t.position_bias = positionBias(settings, t, t.scores.shape, keys);
    const frozen = settings.heads.frozen ? settings.heads.frozen.heads : [];
    const freeze = (weights) => (frozen.length > 0 ? withFrozenHeads(weights, t.frozen_weights, frozen) : weights);
    const shares = (scores) => freeze(softmax(scores, fullyMaskedRows(settings) === "zero", t.sinks));
    if (hasAnyMask(settings, t)) {
      const bias = mergeMasks(settings, t, t.scores.shape, keys);
      if (mask.indexer) {
        if (settings.op !== "scaled_dot_product_attention") projectIndexer(t, settings, sizes);
        t.indexer_scores = indexerScores(t.indexer_q, t.indexer_k, t.indexer_weights);
        t.full_weights = shares(maskScores(t.scaled_scores, bias, mask.value));
        blockUnchosen(bias, t.indexer_scores, mask.indexer.k);
      }
      t.mask_bias = bias;
    }
    t.masked_scores = t.mask_bias ? maskScores(t.scaled_scores, t.mask_bias, mask.value) : t.scaled_scores;
    t.lse = logSumExp(t.masked_scores);
    if (t.sinks) t.sink_weights = sinkShares(t.lse, t.sinks);
    t.attn_weights = shares(t.masked_scores);
    const drops = attention.dropout > 0 && frozen.length < sizes.H;
    t.dropped_weights = drops ? freeze(dropout(t.attn_weights, attention.dropout, attention.dropout_seed)) : t.attn_weights;
    const isAbsorbed = isLatent && attention.layout === "absorbed";
    if (isAbsorbed) t.latent_output = weightedSum(t.dropped_weights, v);
    t.head_output = isAbsorbed ? expandLatentOutput(t, settings, sizes) : weightedSum(t.dropped_weights, v);
  }

  // The arrays with those that stand in the settings themselves: gains exactly as they are there.
  function withSettings(leaves, { heads, mask }) {
    const all = { ...leaves };
    if (heads.gain) all["heads.gain"] = { shape: [heads.gain.length], data: Float64Array.from(heads.gain) };
    if (mask.valid_lens && !all.valid_lens) {
      const perQuery = Array.isArray(mask.valid_lens[0]) ? [mask.valid_lens[0].length] : [];
      all.valid_lens = { shape: [mask.valid_lens.length, ...perQuery], data: Float64Array.from(mask.valid_lens.flat()) };
    }
    return all;
  }

  // Keeps what is computed as it is, or rounds each tensor before the next stage reads it.
  const keeper = (leaves, rounds) =>
    new Proxy({ ...leaves }, { set: (tensors, name, value) => {
      tensors[name] = rounds && value ? rounded(value) : value;
      return true;
    } });

  const rounded = (x) => ({ shape: x.shape, data: x.data.map(Math.fround) });
  const overflows = (exact, narrow) => exact.data.some((value, i) => Number.isFinite(value) && !Number.isFinite(narrow.data[i]));

  // The same as the window shows in f32: every number the one in doubles, rounded; only where one is beyond f32's range is each stage
  // rounded by itself, so that infinities arise where they do in f32.
  function computeRounded(settings, sizes, leaves) {
    const all = withSettings(leaves, settings);
    const { tensors } = compute(settings, sizes, leaves);
    const narrow = { ...all };
    for (const [name, exact] of Object.entries(tensors)) {
      if (Object.hasOwn(all, name) || !exact) continue;
      narrow[name] = rounded(exact);
      if (overflows(exact, narrow[name])) return { tensors: pass(settings, sizes, keeper(all, true)), sizes };
    }
    return { tensors: narrow, sizes };
  }

  // Every tensor of the trace by its name: those given and those computed.
  function compute(settings, sizes, leaves) {
    return { tensors: pass(settings, sizes, keeper(withSettings(leaves, settings), false)), sizes };
  }

  function pass(settings, sizes, t) {
    const { attention } = settings;
    if (settings.op === "scaled_dot_product_attention") {
      scaledDotProduct(t, settings, sizes);
      t.output = t.head_output;
      return { ...t };
    }
    if (settings.op === "multi_head_attention") projectAndSplit(t, settings, sizes);
    scaledDotProduct(t, settings, sizes);
    t.concat = mergeHeads(t.head_output, t["heads.gain"]);
    if (attention.output_gate) gate(t);
    t.output = linear(t.gated_concat || t.concat, t["out_proj.weight"], t["out_proj.bias"], 0, t["out_proj.weight"].shape[0]);
    if (attention.residual)
      t.residual_output = { shape: t.output.shape, data: t.output.data.map((value, i) => value + t.query.data[i]) };
    if (attention.layer_norm) t.layer_norm_output = layerNorm(t.residual_output || t.output);
    if (attention.need_weights)
      t.attn_output_weights = attention.average_attn_weights ? averageOverHeads(t.dropped_weights) : t.dropped_weights;
    return { ...t };
  }

  return { compute, computeRounded };
})();
