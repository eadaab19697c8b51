// Where a number comes from: the terms of any cell, from the rule that its tensor declares. The rules are those of
// the program (core/attention/rules.h): an einsum with a function on top; none is written a second time here.
const Provenance = (() => {
  "use strict";

  // offset + Σ times · ((x / divide) % modulus); mirrored: modulus − 1 minus that remainder
  function mappedIndex(map, variables) {
    let index = map.offset;
    for (const [variable, divide, modulus, times, mirrored] of map.terms) {
      const x = Math.floor(variables[variable] / divide);
      const digit = modulus === 0 ? x : x % modulus;
      index += times * (mirrored ? modulus - 1 - digit : digit);
    }
    return index;
  }

  // Inside its ranges, and on its diagonals if it has a band: [row, column, begin, end) of column − row.
  function holdsAt({ where, band }, index) {
    if (!where.every(([axis, begin, end]) => begin <= index[axis] && index[axis] < end)) return false;
    if (!band) return true;
    const ahead = mappedIndex(band[1], index) - mappedIndex(band[0], index);
    return band[2] <= ahead && ahead < band[3];
  }

  const offsetOf = (shape, index) => index.reduce((at, i, axis) => at * shape[axis] + i, 0);
  const valueAt = (tensor, index) => tensor.data[offsetOf(tensor.shape, index)];
  const cellName = (name, index) => `${name}[${index.join(",")}]`;

  // Calls visit(variables) for every combination of the summed axes, at most `most` times.
  function forEachSum(product, index, most, visit) {
    const sizes = product.sums.map(([, size]) => size);
    const count = sizes.reduce((all, size) => all * size, 1);
    for (let i = 0; i < Math.min(count, most); i += 1) {
      const sums = [];
      for (let axis = sizes.length - 1, rest = i; axis >= 0; axis -= 1) {
        sums.unshift(rest % sizes[axis]);
        rest = Math.floor(rest / sizes[axis]);
      }
      visit([...index, ...sums]);
    }
  }

  // The factors of each term of a cell, with their numbers and their product.
  function terms(trace, rules, name, index, most = 100000) {
    const rule = rules[name];
    const found = [];
    if (!rule) return found;
    for (const product of rule.products) {
      if (!holdsAt(product, index)) continue;
      forEachSum(product, index, most, (variables) => {
        const factors = [];
        for (const factor of product.factors) {
          const tensor = trace.tensors[factor.tensor];
          if (!tensor) return;
          const at = factor.axes.map((map) => mappedIndex(map, variables));
          factors.push({ tensor: factor.tensor, index: at, value: valueAt(tensor, at) });
        }
        const value = factors.reduce((all, factor) => all * factor.value, 1);
        found.push({ factors, value, label: product.label || "" });
      });
    }
    return found;
  }

  // Which cells of other tensors a cell is made from, as boxes: {tensor, begin, end} with one past the last.
  function sources(rules, name, index) {
    const rule = rules[name];
    if (!rule) return [];
    const boxes = [];
    for (const product of rule.products) {
      if (!holdsAt(product, index)) continue;
      for (const factor of product.factors) {
        const box = { tensor: factor.tensor, begin: [], end: [] };
        for (const map of factor.axes) {
          // Every map grows with each of its variables, so its ends lie at theirs.
          const first = [...index, ...product.sums.map(() => 0)];
          const last = [...index, ...product.sums.map(([, size]) => size - 1)];
          box.begin.push(mappedIndex(map, first));
          box.end.push(mappedIndex(map, last) + 1);
        }
        boxes.push(box);
      }
    }
    return boxes;
  }

  // The index of one axis as a formula writes it: "8", "d", "2·r + 4".
  function axisText(map, index, sums) {
    const parts = [];
    let number = map.offset;
    for (const term of map.terms) {
      const [variable, divide, modulus, times] = term;
      if (variable < index.length) {
        number += mappedIndex({ offset: 0, terms: [term] }, index);
        continue;
      }
      let text = sums[variable - index.length][0];
      if (divide !== 1) text = `(${text} // ${divide})`;
      if (modulus !== 0) text = `(${text} % ${modulus})`;
      parts.push(times === 1 ? text : `${times}·${text}`);
    }
    if (number !== 0 || parts.length === 0) parts.push(String(number));
    return parts.join(" + ");
  }

  const factorsText = (product, index) =>
    product.factors
      .map((factor) => `${factor.tensor}[${factor.axes.map((map) => axisText(map, index, product.sums)).join(",")}]`)
      .join(" · ");

  function sumSign(product) {
    const letters = product.sums.map(([letter]) => letter);
    if (letters.length === 0) return "";
    return letters.length === 1 ? `Σ_${letters[0]} ` : `Σ_{${letters.join(",")}} `;
  }

  // "scores[0,0,8,7] · 0.25", over the temperature, and capped
  function scaledText(score, { scale, temperature, softcap }, width) {
    let text = `${score} · ${scale === null || scale === undefined ? `1/√${width}` : scale}`;
    if (temperature !== 1) text += ` / ${temperature}`;
    return softcap > 0 ? `${softcap} · tanh(${text} / ${softcap})` : text;
  }

  // "q_norm.weight[1] · q_heads[0,0,2,1] / √(mean square + ε)"; the layer norm behind the output has no weight.
  function normText(of) {
    const { qk_norm_kind: kind, qk_norm_offset: offset } = of.settings.attention;
    const isOfHeads = of.name === "q_normed" || of.name === "k_normed";
    const divisors = { rms: "√(mean square + ε)", layer: "√(variance + ε)", l2: "√(Σ squares + ε)" };
    const isLatent = of.name === "compressed_q" || of.name === "compressed_kv";
    const own = isOfHeads ? kind : isLatent ? "rms" : "layer";
    const weight = of.products.length > 1 ? factorsText(of.products[1], of.index) : "";
    const gain = weight && offset && !isLatent ? `(${offset} + ${weight}) · ` : weight && `${weight} · `;
    return `${gain}${own === "layer" ? `(${of.own()} − mean)` : of.own()} / ${divisors[own]}`;
  }

  // The sink, if there is one, is in the sum too.
  function softmaxText(of) {
    const sum = `${sumSign(of.products[0])}exp(${of.factors()} − max)`;
    const all = of.products.length > 1 ? `(exp(${factorsText(of.products[1], of.index)} − max) + ${sum})` : sum;
    return `exp(${of.own()} − max) / ${all}`;
  }

  // One factor of the first product.
  const factorText = (of, which) => factorsText({ ...of.products[0], factors: [of.products[0].factors[which]] }, of.index);

  // What stands behind "=" for each way of combining.
  const formulas = {
    indexer_query: (of) => `${sumSign(of.products[0])}${of.factors()}, rotated by its position`,
    indexer_key: (of) => `LayerNorm of Σ_e ${of.factors()} over j, rotated by its position`,
    indexer_weight: (of) => `${sumSign(of.products[0])}${of.factors()} / √${of.settings.mask.indexer.heads}`,
    indexer_score: (of) => `Σ_m ${factorText(of, 2)} · ReLU(Σ_d ${factorText(of, 0)} · ${factorText(of, 1)} / √${of.settings.mask.indexer.width})`,
    full_softmax: (of) => `exp(${of.own()} + masks − max) / ${sumSign(of.products[0])}exp(${of.factors()} + masks − max), masks without the indexer's choice`,
    given: () => "given",
    clip: (of) => `${of.factors()} clipped to ±${of.settings.attention.clip_qkv}`,
    rotation: (of) => `${of.factors()} rotated by its position`,
    scale: (of) => scaledText(of.factors(), of.settings.attention, of.width),
    add_mask: (of) => `${of.products.map((product) => factorsText(product, of.index)).join(" + ")}`,
    softmax: (of) => softmaxText(of),
    log_sum_exp: (of) => `max + ln ${sumSign(of.products[0])}exp(${of.factors()} − max)`,
    sink_share: (of) => {
      const sink = `exp(${factorsText(of.products[1], of.index)})`;
      return `${sink} / (${sink} + exp(${of.factors()}))`;
    },
    dropout: (of) => `${of.factors()} · 0 or 1/(1 − ${of.settings.attention.dropout})`,
    mean: (of) => `1/${of.products[0].sums[0][1]} · ${sumSign(of.products[0])}${of.factors()}`,
    gate: (of) => of.products[0].factors.map((factor, i) => (i ? "σ(" : "") + factorsText({ ...of.products[0], factors: [factor] }, of.index) + (i ? ")" : "")).join(" · "),
    norm: (of) => normText(of),
    merge_masks: (of) => of.products.map((product) => product.label).join(" + ") || "0",
  };

  // "scores[0,0,8,1] = Σ_d q_heads[0,0,8,d] · k_heads[0,0,1,d]"
  function formula(trace, rules, name, index) {
    const rule = rules[name];
    if (!rule) return `${cellName(name, index)} = given`;
    const products = rule.products.filter(
      (product) => holdsAt(product, index) && product.factors.every((factor) => trace.tensors[factor.tensor]));
    const combine = (products[0] && products[0].combine) || rule.combine;
    const of = {
      name,
      index,
      products,
      settings: trace.settings,
      width: trace.sizes.D,
      factors: () => factorsText(products[0], index),
      own: () => cellName(products[0].factors[0].tensor, index),
    };
    const sum = () => products.map((product) => sumSign(product) + factorsText(product, index)).join(" + ") || "0";
    const write = Object.hasOwn(formulas, combine) ? formulas[combine] : null;
    const right = write && (products.length > 0 || combine === "merge_masks") ? write(of) : sum();
    return `${cellName(name, index)} = ${right}`;
  }

  return { terms, sources, formula, valueAt, cellName, offsetOf };
})();
