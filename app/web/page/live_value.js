// One live number of a text: how it is written, and its value on a trace (core/lessons/live_value.h). The
// numbers that are not computed here, as of layouts, wide, habit and trained, are `given` with the page.
//
// A text is only ever a string: none of it becomes a pattern or a program, and no name of it is looked up in
// an object without asking whether the object itself has it.
const LiveValue = (() => {
  "use strict";

  // Thrown for what cannot be read. A text keeps it as it is written.
  class Unreadable extends Error {}
  const refuse = (what) => { throw new Unreadable(what); };

  const has = (object, name) =>
    object !== null && typeof object === "object" && Object.prototype.hasOwnProperty.call(object, name);

  // All that there are, with the letters of their axes.
  const tensors = new Map([
    ["query", "N L E"], ["key", "N S kdim"], ["value", "N S vdim"], ["past_key", "N G P D"], ["past_value", "N G P Dv"],
    ["past_compressed_kv", "N P C"], ["past_k_rot", "N 1 P R"],
    ["in_proj_weight", "HD+GD+GDv E"], ["q_proj_weight", "HD E"], ["k_proj_weight", "GD kdim"],
    ["v_proj_weight", "GDv vdim"], ["in_proj_bias", "HD+GD+GDv"],
    ["q_a_proj.weight", "Cq E"], ["q_a_proj.bias", "Cq"], ["q_a_layernorm.weight", "Cq"], ["q_b_proj.weight", "HD Cq"],
    ["kv_a_proj_with_mqa.weight", "C+R kdim"], ["kv_a_proj_with_mqa.bias", "C+R"], ["kv_a_layernorm.weight", "C"],
    ["kv_b_proj.weight", "H(Dn+Dv) C"],
    ["q_norm.weight", "D"], ["k_norm.weight", "D"], ["sinks", "H"],
    ["relative_attention_bias.weight", "buckets H"], ["indexer.wq_b.weight", "HiW E"], ["indexer.wk.weight", "W kdim"],
    ["indexer.k_norm.weight", "W"], ["indexer.k_norm.bias", "W"], ["indexer.weights_proj.weight", "Hi E"], ["bias_k", "GD"], ["bias_v", "GDv"],
    ["static_k", "N G S D"], ["static_v", "N G S Dv"], ["output_gate.weight", "HDv E"],
    ["output_gate.bias", "HDv"], ["out_proj.weight", "E HDv"], ["out_proj.bias", "E"],
    ["attn_mask", "N H L S"], ["key_padding_mask", "N S"], ["valid_lens", "N"], ["nonpad_kv_seqlen", "N"], ["heads.gain", "H"],
    ["frozen_weights", "N F L S′"],
    ["q_a", "N L Cq"], ["compressed_q", "N L Cq"], ["q", "N L HD"], ["k", "N S′ GD"], ["v", "N S′ GDv"],
    ["kv_a", "N S C+R"], ["compressed_kv", "N S C"], ["k_rot", "N 1 S R"], ["present_compressed_kv", "N S′ C"],
    ["present_k_rot", "N 1 S′ R"], ["kv_b", "N S′ H(Dn+Dv)"],
    ["q_heads", "N H L D"], ["k_heads", "N G S′ D"], ["v_heads", "N G S′ Dv"],
    ["q_normed", "N H L D"], ["k_normed", "N G S D"], ["q_rotary", "N H L D"], ["k_rotary", "N G S D"],
    ["present_key", "N G S′ D"], ["present_value", "N G S′ Dv"],
    ["indexer_q", "N Hi L W"], ["indexer_k", "N 1 S W"], ["indexer_weights", "N L Hi"], ["indexer_scores", "N L S"],
    ["q_absorbed", "N H L C+R"], ["k_absorbed", "N 1 S′ C+R"],
    ["scores", "N H L S′"], ["scaled_scores", "N H L S′"], ["position_bias", "1 H L S′"], ["mask_bias", "N H L S′"],
    ["masked_scores", "N H L S′"], ["lse", "N H L"], ["sink_weights", "N H L"], ["full_weights", "N H L S′"],
    ["attn_weights", "N H L S′"], ["dropped_weights", "N H L S′"],
    ["latent_output", "N H L C"], ["head_output", "N H L Dv"], ["concat", "N L HDv"],
    ["output_gate", "N L HDv"], ["gated_concat", "N L HDv"], ["output", "N L E"], ["residual_output", "N L E"],
    ["layer_norm_output", "N L E"], ["attn_output_weights", "N H L S′"],
  ]);
  const learnable = ["in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias",
                     "q_a_proj.weight", "q_a_proj.bias", "q_a_layernorm.weight", "q_b_proj.weight", "kv_a_proj_with_mqa.weight",
                     "kv_a_proj_with_mqa.bias", "kv_a_layernorm.weight", "kv_b_proj.weight",
                     "q_norm.weight", "k_norm.weight", "sinks", "relative_attention_bias.weight", "indexer.wq_b.weight", "indexer.wk.weight", "indexer.k_norm.weight",
                     "indexer.k_norm.bias", "indexer.weights_proj.weight", "bias_k", "bias_v", "output_gate.weight", "output_gate.bias",
                     "out_proj.weight", "out_proj.bias"];
  const habits = ["previous_token", "next_token", "itself", "same_word", "first_token", "induction",
                  "punctuation", "entropy"];
  const trainings = ["step", "loss", "accuracy"];

  const withoutGradient = (name) => (name.startsWith("grad.") ? name.slice(5) : name);
  const isTensor = (name) => tensors.has(withoutGradient(name));
  const tensorOf = (trace, name) => (has(trace.tensors, name) ? trace.tensors[name] : null);

  // The letter of an axis, counted from the last: a mask may have fewer axes than its letters.
  function axisLetter(name, rank, axis) {
    const letters = (tensors.get(withoutGradient(name)) || "").split(" ");
    return letters[letters.length - rank + axis] || "";
  }

  // Values, as they are printed.

  const missing = { kind: "missing", number: 0, text: "–" };
  const ofNumber = (number) => ({ kind: "number", number, text: numberText(number) });
  const ofCount = (count) => ({ kind: "number", number: count, text: grouped(String(count)) });
  const ofWord = (text) => ({ kind: "word", number: 0, text });

  const signed = (number, text) => (number < 0 ? "−" + text : text);
  // The digits of a whole number: "12,288".
  const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

  // JavaScript rounds a number in the middle up, C++ to the even digit: `write(digits)` is exact for
  // that many more digits, which tell whether it lies in the middle.
  function halfToEven(write, digits) {
    const more = 40;
    const [long, exponent] = write(digits + more).split("e");
    const rest = long.slice(-more), kept = long.slice(0, -more);
    const even = "02468".includes(kept.replace(".", "").slice(-1));
    if (!even || rest !== "5" + "0".repeat(more - 1)) return write(digits);
    const down = kept.endsWith(".") ? kept.slice(0, -1) : kept;
    return exponent === undefined ? down : down + "e" + exponent;
  }
  const fixed = (number, digits) => halfToEven((places) => number.toFixed(places), digits);

  // Three digits, with a real minus sign: "0.083", "−12.3", "1.22e−7", "−∞", "NaN".
  function numberText(number) {
    if (Number.isNaN(number)) return "NaN";
    const size = Math.abs(number);
    if (size === Infinity) return signed(number, "∞");
    if (size === 0) return "0";
    if (size >= 1e-3 && size < 1e6) {
      const whole = Math.max(0, Math.floor(Math.log10(size)));
      const text = fixed(size, size < 1 ? 3 : Math.max(0, 2 - whole));
      return signed(number, whole > 1 ? grouped(text) : text);
    }
    const [digits, exponent] = halfToEven((places) => size.toExponential(places), 2).split("e");
    return signed(number, digits + "e" + signed(Number(exponent), String(Math.abs(exponent))));
  }

  // The result of a calculation: a whole number has no point.
  function ofResult(number) {
    const size = Math.abs(number);
    const whole = size < 1e9 && number === Math.floor(number);
    return whole ? { kind: "number", number, text: signed(number, grouped(String(size))) } : ofNumber(number);
  }

  // The fewest digits that are this number, as C++ writes them: "0.25", "1e-06".
  function shortest(size) {
    const [digits, power] = size.toExponential().split("e");
    const exponent = Number(power);
    if (size === 0 || (exponent >= -4 && exponent < 16)) return String(size);
    return digits + "e" + (exponent < 0 ? "-" : "+") + String(Math.abs(exponent)).padStart(2, "0");
  }

  // Boxes of tensors.

  // From and to along each axis; null if the trace has no such cells.
  function boxCells(box, trace) {
    const tensor = tensorOf(trace, box.tensor);
    if (!tensor) return null;
    const ranges = box.ranges.length > 0 ? box.ranges : tensor.shape.map(() => ({ from: 0, to: null }));
    if (ranges.length !== tensor.shape.length) return null;
    const from = [], to = [];
    for (let axis = 0; axis < ranges.length; ++axis) {
      const range = ranges[axis], size = tensor.shape[axis];
      const counted = (at) => (at < 0 ? at + size : at);
      from.push(counted(range.from));
      // [−1] is read as from −1 to 0: the one cell at the end.
      const last = range.to === null || (range.from === -1 && range.to === 0);
      to.push(last ? size : counted(range.to));
      if (from[axis] < 0 || from[axis] >= to[axis] || to[axis] > size) return null;
    }
    return { from, to };
  }

  // Their numbers, row-major.
  function boxNumbers(box, trace) {
    const cells = boxCells(box, trace);
    if (!cells) return null;
    const { shape, data } = tensorOf(trace, box.tensor);
    let offsets = [0];
    for (let axis = 0; axis < shape.length; ++axis) {
      const next = [];
      for (const offset of offsets)
        for (let at = cells.from[axis]; at < cells.to[axis]; ++at) next.push(offset * shape[axis] + at);
      offsets = next;
    }
    return offsets.map((offset) => Number(data[offset]));
  }

  const larger = (a, b) => (Number.isNaN(a) || a > b ? a : b);  // NaN wins, as in the operator
  const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
  const meanOf = (numbers) => sumOf(numbers) / numbers.length;
  const largest = (numbers) => numbers.reduce((most, number) => larger(most, number), numbers[0]);

  function deviationOf(numbers) {
    const mean = meanOf(numbers);
    return Math.sqrt(meanOf(numbers.map((number) => (number - mean) * (number - mean))));
  }

  // The first of the largest; a row with NaN in it has none.
  function argmax(numbers) {
    const most = largest(numbers);
    return Number.isNaN(most) ? missing : ofCount(numbers.indexOf(most));
  }

  function difference([a, b]) {
    if (a.length !== b.length) return missing;
    // Equal infinities do not differ.
    return ofNumber(a.reduce((worst, x, i) => larger(worst, x === b[i] ? 0 : Math.abs(x - b[i])), 0));
  }

  const cellNumber = (numbers) => (numbers.length === 1 ? ofNumber(numbers[0]) : missing);

  // What else there is to ask.

  const words = (labels) => (Array.isArray(labels) && Array.isArray(labels[0]) ? labels[0] : labels || []);
  const tokensOf = (trace, side) => (has(trace.labels, side) ? words(trace.labels[side]) : []);

  function tokenValue(tokens, at) {
    const counted = at < 0 ? at + tokens.length : at;
    return counted < 0 || counted >= tokens.length ? missing : ofWord(tokens[counted]);
  }

  function scaleValue({ settings, sizes }) {
    const { scale, temperature } = settings.attention;
    return ofNumber((scale === null ? 1 / Math.sqrt(sizes.D) : scale) / temperature);
  }

  function parametersValue(trace) {
    const present = learnable.map((name) => tensorOf(trace, name)).filter((tensor) => tensor);
    return ofCount(sumOf(present.map(({ data }) => data.length)));
  }

  function frozenValue({ settings, sizes }, head) {
    if (head < 0 || head >= sizes.H) return missing;
    const { frozen } = settings.heads;
    return ofCount(frozen ? frozen.heads.filter((each) => each === head).length : 0);
  }

  function roleValue({ roles }, head) {
    return head < 0 || !roles || head >= roles.length ? missing : ofWord(roles[head]);
  }

  // The deviation of Σ_{c < products} q_c·k_c over all pairs of all heads.
  function spreadValue(trace, products) {
    const norm = trace.settings.attention.qk_norm;
    const factorOf = (letter) => {
      const normed = norm && norm !== "whole" ? [`${letter}_normed`] : [];
      const names = norm === "per_head_after_rotary" ? [...normed, `${letter}_rotary`] : [`${letter}_rotary`, ...normed];
      return [...names, `${letter}_heads`].map((name) => tensorOf(trace, name)).find((tensor) => tensor);
    };
    const [q, k] = [factorOf("q"), factorOf("k")];
    if (!q || !k || products < 1 || products > q.shape[3]) return missing;
    const [batch, heads, queries, width] = q.shape, [, groups, keys] = k.shape;
    const sums = [];
    for (let n = 0; n < batch; ++n)
      for (let h = 0; h < heads; ++h)
        for (let i = 0; i < queries; ++i)
          for (let j = 0; j < keys; ++j) {
            const row = ((n * heads + h) * queries + i) * width;
            const column = ((n * groups + Math.floor((h * groups) / heads)) * keys + j) * width;
            let sum = 0;
            for (let c = 0; c < products; ++c) sum += q.data[row + c] * k.data[column + c];
            sums.push(sum);
          }
    return sums.length === 0 ? missing : ofNumber(deviationOf(sums));
  }

  // Settings of the scenario. `undefined` for what is no path of one.
  function settingAt(settings, path) {
    const [section, key, ...more] = path.split(".");
    if (more.length > 0 || !has(settings, section)) return undefined;
    if (key === undefined) return section === "op" || section === "edits" ? settings[section] : undefined;
    return has(settings[section], key) ? settings[section][key] : undefined;
  }

  function settingValue({ settings }, path) {
    const setting = settingAt(settings, path);
    if (path === "mask.value") return settingNumber(typeof setting === "number" ? setting : -Infinity);
    if (Array.isArray(setting)) return ofCount(setting.length);
    // Of an object, the number or the name that a scenario's reader asks about first.
    for (const key of ["k", "buckets"]) if (has(setting, key)) return settingNumber(setting[key]);
    if (has(setting, "rope_type")) return ofWord(setting.rope_type);
    if (has(setting, "heads")) return ofCount(setting.heads.length);
    if (typeof setting !== "number") return ofWord(String(setting));
    // A seed beyond what a number holds
    if (path.endsWith("seed") && !Number.isSafeInteger(setting)) return missing;
    return settingNumber(setting);
  }

  function settingNumber(number) {
    const value = ofNumber(number);
    return Number.isFinite(number) ? { ...value, text: signed(number, shortest(Math.abs(number))) } : value;
  }

  // What may stand in braces: how it goes on behind its word, and its value. `argument`: only with one, as
  // "query 8"; else the word is a tensor.
  const ofTrace = (value) => ({ read: () => {}, value: (q, trace) => value(trace) });
  const ofNumbered = (value) => ({ read: takeNumber, value: (q, trace) => value(trace, q.at) });
  const letter = (name) => [name, ofTrace(({ sizes }) => ofCount(sizes[name]))];
  const ofBox = (value) =>
    ({ read: takeBox, value: (q, trace) => ofBoxes(q, trace, ([numbers]) => value(numbers)) });
  const elsewhere = (read) => ({ read, value: () => missing, isElsewhere: true });
  const quantities = new Map([
    ...["N", "L", "P", "S", "S′", "E", "H", "G", "D", "Dv"].map(letter),
    ["scale", ofTrace(scaleValue)],
    ["parameters", ofTrace(parametersValue)],
    ["spread", ofNumbered(spreadValue)],
    ["frozen", ofNumbered(frozenValue)],
    ["role", ofNumbered(roleValue)],
    ["query", { argument: true, ...ofNumbered((trace, at) => tokenValue(tokensOf(trace, "query"), at)) }],
    ["key", { argument: true, read: takeKey, value: keyValue }],
    ["habit", elsewhere(takeHabit)],
    ["trained", { argument: true, ...elsewhere((reader) => reader.oneOf(trainings)) }],
    ["sum", ofBox((numbers) => ofNumber(sumOf(numbers)))],
    ["mean", ofBox((numbers) => ofNumber(meanOf(numbers)))],
    ["max", ofBox((numbers) => ofNumber(largest(numbers)))],
    ["min", ofBox((numbers) => ofNumber(-largest(numbers.map((number) => -number))))],
    ["deviation", ofBox((numbers) => ofNumber(deviationOf(numbers)))],
    ["argmax", ofBox(argmax)],
    ["distinct", ofBox((numbers) => (numbers.some(Number.isNaN) ? missing : ofCount(new Set(numbers).size)))],
    ["finite", ofBox((numbers) => ofCount(numbers.filter(Number.isFinite).length))],
    ["shape", { read: takeBox, value: shapeValue }],
    ["difference", { read: takeTwoBoxes, value: (q, trace) => ofBoxes(q, trace, difference) }],
    ["turn", elsewhere(takeNumber)],
    ["stretch", elsewhere(takeNumber)],
    ["layouts", elsewhere((reader) => reader.oneOf(["output"]))],
    ["wide", elsewhere(takeWide)],
  ]);
  const setting = { value: (q, trace) => settingValue(trace, q.word) };
  const cell = ofBox(cellNumber);

  function takeBox(reader, quantity) { quantity.boxes.push(readBox(reader.word())); }
  function takeNumber(reader, quantity) { quantity.at = reader.wholeNumber(); }

  function takeTwoBoxes(reader, quantity) {
    takeBox(reader, quantity);
    if (!reader.sees(" ")) refuse("a difference needs two tensors");
    takeBox(reader, quantity);
  }

  // "key 7", or "key argmax attn_weights[0,0,8,:]"
  function takeKey(reader, quantity) {
    reader.skipBlanks();
    if (reader.takeText("argmax ")) takeBox(reader, quantity);
    else takeNumber(reader, quantity);
  }

  function takeHabit(reader, quantity) {
    reader.oneOf(habits);
    takeNumber(reader, quantity);
  }

  function takeWide(reader) {
    const what = reader.word();
    if (!["output", "scores"].includes(what) && !isTensor(what)) refuse("no such number of one wide head");
  }

  function ofBoxes(quantity, trace, value) {
    const numbers = quantity.boxes.map((box) => boxNumbers(box, trace));
    return numbers.includes(null) ? missing : value(numbers);
  }

  function keyValue(quantity, trace) {
    const tokens = tokensOf(trace, "key");
    if (quantity.boxes.length === 0) return tokenValue(tokens, quantity.at);
    const brightest = ofBoxes(quantity, trace, ([numbers]) => argmax(numbers));
    return brightest.kind === "number" ? tokenValue(tokens, brightest.number) : missing;
  }

  function shapeValue(quantity, trace) {
    const tensor = tensorOf(trace, quantity.boxes[0].tensor);
    return tensor ? ofWord("(" + tensor.shape.join(",") + ")") : missing;
  }

  // "scores[0,0,8,:]"
  function readBox(word) {
    const bracket = word.indexOf("[");
    const name = bracket < 0 ? word : word.slice(0, bracket);
    if (!isTensor(name)) refuse("there is no such tensor");
    if (bracket < 0) return { tensor: name, ranges: [] };
    if (!word.endsWith("]")) refuse("an unterminated box");
    return { tensor: name, ranges: word.slice(bracket + 1, -1).split(",").map(readRange) };
  }

  function readRange(text) {
    const colon = text.indexOf(":");
    if (colon < 0) return { from: readIndex(text), to: readIndex(text) + 1 };
    const to = text.slice(colon + 1);
    return { from: colon > 0 ? readIndex(text.slice(0, colon)) : 0, to: to === "" ? null : readIndex(to) };
  }

  function readIndex(text) {
    const value = /^-?[0-9]+$/.test(text) ? Number(text) : NaN;
    return Math.abs(value) < 2 ** 63 ? value : refuse("an index cannot be read");
  }

  const isNameCharacter = (c) => c === "_" || c === "." || c === "′" || (c >= "a" && c <= "z") ||
    (c >= "A" && c <= "Z") || (c >= "0" && c <= "9");

  // Reads from a place in a text on.
  class Reader {
    constructor(text, at, settings) { Object.assign(this, { text, at, settings }); }

    sees(text) { return this.text.startsWith(text, this.at); }
    skipBlanks() { while (this.sees(" ")) ++this.at; }
    takeText(text) {
      if (!this.sees(text)) return false;
      this.at += text.length;
      return true;
    }

    // A name and the box after it: "scores[0,0,8,:]".
    word() {
      this.skipBlanks();
      const from = this.at;
      while (this.at < this.text.length && isNameCharacter(this.text[this.at])) ++this.at;
      if (this.sees("[")) this.at = this.text.indexOf("]", this.at) + 1 || this.text.length;
      return this.text.slice(from, this.at);
    }

    oneOf(names) {
      const word = this.word();
      return names.includes(word) ? word : refuse("there is no such number");
    }

    wholeNumber() {
      this.skipBlanks();
      const from = this.at;
      this.takeText("-");
      while (this.at < this.text.length && "0123456789".includes(this.text[this.at])) ++this.at;
      const number = this.text.slice(from, this.at);
      if (number === "" || number === "-" || number.length > 9) refuse("a number is needed");
      return Number(number);
    }

    quantity() {
      this.skipBlanks();
      const from = this.at;
      const quantity = { word: this.word(), boxes: [] };
      const row = quantities.get(quantity.word);
      if (row && (!row.argument || this.sees(" "))) {
        quantity.row = row;
        row.read(this, quantity);
      } else if (settingAt(this.settings, quantity.word) !== undefined) {
        quantity.row = setting;
      } else {
        quantity.row = cell;
        quantity.boxes.push(readBox(quantity.word));
      }
      // As it is written, with single blanks: its key among the given values
      quantity.written = this.text.slice(from, this.at).split(" ").filter((part) => part !== "").join(" ");
      return quantity;
    }
  }

  // JSON has no such numbers
  const unwritten = new Map([["NaN", NaN], ["∞", Infinity], ["−∞", -Infinity]]);

  function givenValue(quantity, { given, changed }) {
    if (changed || !has(given, quantity.written)) return missing;
    const { kind, number, text } = given[quantity.written];
    if (kind !== "number" && kind !== "word") return missing;
    return { kind, number: unwritten.has(text) ? unwritten.get(text) : number || 0, text: String(text) };
  }

  function quantityValue(quantity, subject) {
    // Of an expression that is computed cell by cell
    const { cell: numbers } = subject;
    if (numbers && numbers.has(quantity.written)) return ofNumber(numbers.get(quantity.written));
    const value = quantity.row.value(quantity, subject.trace);
    return value.kind === "missing" ? givenValue(quantity, subject) : value;
  }

  return {
    Unreadable, refuse, Reader, missing, ofNumber, ofWord, ofResult, number: numberText, grouped, fixed,
    value: quantityValue, isCell: ({ row }) => row === cell,
    isElsewhere: ({ row }) => Boolean(row.isElsewhere), boxCells, boxNumbers, axisLetter,
    tensor: tensorOf, tokens: tokensOf,
  };
})();
