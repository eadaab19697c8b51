// The language of live text, as core/lessons/live_text.h defines it: sentences with numbers of a trace in them.
//
//   LiveText.words(text, subject)  {text, changed}: the text with its numbers and with those of its claims that hold
//   LiveText.text(text, subject)   only that text
//   LiveText.value(written, subject)  {kind: "number" | "word" | "missing", number, text}: of an expression
//   LiveText.truth(written, subject)  true, false, or null: of a condition that depends on a missing number
//   LiveText.cells(written, subject, most)  an expression cell by cell
//
// `subject`: {trace: {tensors, settings, sizes, labels, roles}, given, changed}. `given` has, by how they are
// written (single blanks), the numbers that are not computed here: layouts, wide, habit, trained, and those
// of tensors that the trace lacks, as grad.q. They are those of the page's own scenario: where the page is
// `changed`, they are missing. A text is only ever a string: nothing of it is looked up in an object by name
// without asking whether the object has it, and none of it becomes a pattern or a program.
const LiveText = (() => {
  "use strict";

  const deepestParts = 4, deepestBrackets = 100;  // nesting
  const mostSigns = 1000;  // of one expression: values are computed by recursion
  const nearly = 1e-3;  // of the larger: "≈"

  // Thrown for what cannot be read. A text keeps it as it is written.
  class Unreadable extends Error {}
  const refuse = (what) => { throw new Unreadable(what); };

  const has = (object, name) =>
    object !== null && typeof object === "object" && Object.prototype.hasOwnProperty.call(object, name);

  // The letters of their axes.
  const tensors = new Map([
    ["query", "N L E"], ["key", "N S kdim"], ["value", "N S vdim"],
    ["in_proj_weight", "HD+GD+GDv E"], ["q_proj_weight", "HD E"], ["k_proj_weight", "GD kdim"],
    ["v_proj_weight", "GDv vdim"], ["in_proj_bias", "HD+GD+GDv"], ["bias_k", "GD"], ["bias_v", "GDv"],
    ["static_k", "N G S D"], ["static_v", "N G S Dv"], ["out_proj.weight", "E HDv"], ["out_proj.bias", "E"],
    ["attn_mask", "N H L S"], ["key_padding_mask", "N S"], ["valid_lens", "N"], ["heads.gain", "H"],
    ["frozen_weights", "N F L S′"],
    ["q", "N L HD"], ["k", "N S′ GD"], ["v", "N S′ GDv"],
    ["q_heads", "N H L D"], ["k_heads", "N G S′ D"], ["v_heads", "N G S′ Dv"],
    ["q_rotary", "N H L D"], ["k_rotary", "N G S D"],
    ["scores", "N H L S′"], ["scaled_scores", "N H L S′"], ["mask_bias", "N H L S′"],
    ["masked_scores", "N H L S′"], ["attn_weights", "N H L S′"], ["dropped_weights", "N H L S′"],
    ["head_output", "N H L Dv"], ["concat", "N L HDv"], ["output", "N L E"], ["residual_output", "N L E"],
    ["layer_norm_output", "N L E"], ["attn_output_weights", "N H L S′"],
  ]);
  const learnable = ["in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias",
                     "bias_k", "bias_v", "out_proj.weight", "out_proj.bias"];
  const habits = ["previous_token", "next_token", "itself", "same_word", "first_token", "induction",
                  "punctuation", "entropy"];

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
  const ofCount = (count) => ({ kind: "number", number: count, text: String(count) });
  const ofWord = (text) => ({ kind: "word", number: 0, text });

  const signed = (number, text) => (number < 0 ? "−" + text : text);

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
      return signed(number, fixed(size, size < 1 ? 3 : Math.max(0, 2 - whole)));
    }
    const [digits, exponent] = halfToEven((places) => size.toExponential(places), 2).split("e");
    return signed(number, digits + "e" + signed(Number(exponent), String(Math.abs(exponent))));
  }

  // The result of a calculation: a whole number has no point.
  function ofResult(number) {
    const size = Math.abs(number);
    const whole = size < 1e9 && number === Math.floor(number);
    return whole ? { kind: "number", number, text: signed(number, String(size)) } : ofNumber(number);
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
    const counts = learnable.map((name) => tensorOf(trace, name)).map((tensor) => (tensor ? tensor.data.length : 0));
    return ofCount(sumOf(counts));
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
    const q = tensorOf(trace, "q_rotary") || tensorOf(trace, "q_heads");
    const k = tensorOf(trace, "k_rotary") || tensorOf(trace, "k_heads");
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
    if (more.length > 0) return undefined;
    if (key === undefined) return (path === "op" || path === "edits") && has(settings, path) ? settings[path] : undefined;
    return has(settings, section) && has(settings[section], key) ? settings[section][key] : undefined;
  }

  function settingValue({ settings }, path) {
    const setting = settingAt(settings, path);
    if (path === "mask.value") return settingNumber(setting === "-inf" || setting === null ? -Infinity : setting);
    if (Array.isArray(setting)) return ofCount(setting.length);
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
  const letter = (name) => [name, { read: () => {}, value: (q, trace) => ofCount(trace.sizes[name]) }];
  const ofBox = (value) => ({ read: takeBox, value: (q, trace) => ofBoxes(q, trace, ([numbers]) => value(numbers)) });
  const elsewhere = (names) => ({ read: (reader, q) => { q.argument = reader.oneOf(names); }, value: () => missing });
  const quantities = new Map([
    ...["N", "L", "S", "S′", "E", "H", "G", "D", "Dv"].map(letter),
    ["scale", { read: () => {}, value: (q, trace) => scaleValue(trace) }],
    ["parameters", { read: () => {}, value: (q, trace) => parametersValue(trace) }],
    ["spread", { read: takeNumber, value: (q, trace) => spreadValue(trace, q.at) }],
    ["frozen", { read: takeNumber, value: (q, trace) => frozenValue(trace, q.at) }],
    ["role", { read: takeNumber, value: (q, trace) => roleValue(trace, q.at) }],
    ["query", { argument: true, read: takeNumber, value: (q, trace) => tokenValue(tokensOf(trace, "query"), q.at) }],
    ["key", { argument: true, read: takeKey, value: keyValue }],
    ["habit", { read: (reader, q) => { reader.oneOf(habits); takeNumber(reader, q); }, value: () => missing }],
    ["trained", { argument: true, ...elsewhere(["step", "loss", "accuracy"]) }],
    ["sum", ofBox((numbers) => ofNumber(sumOf(numbers)))],
    ["mean", ofBox((numbers) => ofNumber(meanOf(numbers)))],
    ["max", ofBox((numbers) => ofNumber(largest(numbers)))],
    ["min", ofBox((numbers) => ofNumber(-largest(numbers.map((number) => -number))))],
    ["deviation", ofBox((numbers) => ofNumber(deviationOf(numbers)))],
    ["argmax", ofBox(argmax)],
    ["finite", ofBox((numbers) => ofCount(numbers.filter(Number.isFinite).length))],
    ["shape", { read: takeBox, value: shapeValue }],
    ["difference", { read: takeTwoBoxes, value: (q, trace) => ofBoxes(q, trace, difference) }],
    ["layouts", elsewhere(["output"])],
    ["wide", { read: takeWide, value: () => missing }],
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

  function takeWide(reader) {
    const what = reader.word();
    if (what !== "output" && what !== "scores" && !isTensor(what)) refuse("no such number of the one wide head");
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

  // Reads expressions from a place in a text on. Of the signs between operands, the first two operands are
  // joined first. In order of increasing precedence: or; and; not; comparisons; + -; * /; - √.
  const comparisons = [["≠", "!="], ["≤", "<="], ["≥", ">="], ["≈", "~"], ["=", "="], ["<", "<"], [">", ">"]];
  class Reader {
    constructor(text, at, settings) { Object.assign(this, { text, at, settings, depth: 0, signs: 0 }); }

    sees(text) { return this.text.startsWith(text, this.at); }
    skipBlanks() { while (this.sees(" ")) ++this.at; }
    takeText(text) {
      if (!this.sees(text)) return false;
      this.at += text.length;
      return true;
    }
    take(sign) {
      this.skipBlanks();
      return this.takeText(sign);
    }
    // A name that ends here: "or", but not "output".
    takeName(name) {
      this.skipBlanks();
      const end = this.at + name.length;
      return this.sees(name) && (end >= this.text.length || " ():".includes(this.text[end])) && this.takeText(name);
    }

    any() { return this.chain(["or"], "takeName", "both"); }
    both() { return this.chain(["and"], "takeName", "unit"); }
    sum() { return this.chain(["+", "-"], "take", "product"); }
    product() { return this.chain(["*", "/"], "take", "factor"); }

    chain(signs, take, operand) {
      let left = this[operand]();
      for (;;) {
        const sign = signs.find((each) => this[take](each));
        if (sign === undefined) return left;
        if (++this.signs > mostSigns) refuse("too many signs");
        left = { operation: sign, operands: [left, this[operand]()] };
      }
    }

    nested(read) {
      if (++this.depth > deepestBrackets) refuse("a condition is too deep");
      const result = read();
      --this.depth;
      return result;
    }

    unit() {
      return this.nested(() => {
        if (this.takeName("not")) return { operation: "not", operands: [this.unit()] };
        const left = this.sum();
        const sign = comparisons.find(([each, typed]) => this.take(each) || this.take(typed));
        return sign ? { operation: sign[0], operands: [left, this.sum()] } : left;
      });
    }

    factor() {
      return this.nested(() => {
        if (this.take("-")) return { operation: "negative", operands: [this.factor()] };
        if (this.take("√")) return { operation: "√", operands: [this.factor()] };
        return this.take("(") ? this.inBrackets() : this.leaf();
      });
    }

    inBrackets() {
      const inside = this.any();
      if (!this.take(")")) refuse("an unmatched bracket");
      return inside;
    }

    leaf() {
      if (this.take("'")) return this.quoted();
      for (const word of ["true", "false", "null"]) if (this.takeName(word)) return { leaf: ofWord(word) };
      if (this.takeName("inf")) return { leaf: ofNumber(Infinity) };
      if (this.takeName("nan")) return { leaf: ofNumber(NaN) };
      this.skipBlanks();
      return ".0123456789".includes(this.text[this.at] || " ") ? this.number() : { quantity: this.quantity() };
    }

    quoted() {
      const end = this.text.indexOf("'", this.at);
      if (end < 0) refuse("an unterminated word");
      const word = this.text.slice(this.at, end);
      this.at = end + 1;
      return { leaf: ofWord(word) };
    }

    number() {
      const pattern = /([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/y;
      pattern.lastIndex = this.at;
      const [written, digits] = pattern.exec(this.text) || refuse("a number cannot be read");
      const number = Number(written);
      if (number === Infinity || (number === 0 && /[1-9]/.test(digits))) refuse("a number is out of range");
      this.at += written.length;
      return { leaf: ofNumber(number) };
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
      return number === "" || number === "-" || number.length > 9 ? refuse("a number is needed") : Number(number);
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
      quantity.written = this.text.slice(from, this.at).split(" ").filter((part) => part !== "").join(" ");
      return quantity;
    }
  }

  // The whole text as one expression.
  function readExpression(written, settings) {
    const reader = new Reader(written, 0, settings);
    const expression = reader.any();
    for (let i = reader.at; i < written.length; ++i)
      if (!" \n\t".includes(written[i])) refuse("something is left over after the expression");
    return expression;
  }

  // Values of expressions.

  const arithmetic = new Map([
    ["negative", (a) => -a], ["√", Math.sqrt], ["+", (a, b) => a + b], ["-", (a, b) => a - b],
    ["*", (a, b) => a * b], ["/", (a, b) => a / b],
  ]);
  const same = (x, y) => x === y || (Number.isNaN(x) && Number.isNaN(y));
  const close = (x, y) => same(x, y) || (Number.isFinite(x) && Number.isFinite(y) &&
    Math.abs(x - y) <= nearly * Math.max(Math.abs(x), Math.abs(y)));
  const compare = new Map([
    ["=", same], ["≠", (x, y) => !same(x, y)], ["<", (x, y) => x < y], ["≤", (x, y) => x <= y],
    [">", (x, y) => x > y], ["≥", (x, y) => x >= y], ["≈", close],
  ]);

  function compared(sign, a, b) {
    if (a.kind === "missing" || b.kind === "missing") return null;
    if (a.kind !== b.kind) return sign === "≠";
    if (a.kind === "number") return compare.get(sign)(a.number, b.number);
    if (sign === "=" || sign === "≈") return a.text === b.text;
    return sign === "≠" ? a.text !== b.text : null;
  }

  const unwritten = new Map([["NaN", NaN], ["∞", Infinity], ["−∞", -Infinity]]);  // JSON has no such numbers

  function givenValue(quantity, { given, changed }) {
    if (changed || !has(given, quantity.written)) return missing;
    const { kind, number, text } = given[quantity.written];
    return kind === "number" || kind === "word"
      ? { kind, number: unwritten.has(text) ? unwritten.get(text) : number || 0, text: String(text) } : missing;
  }

  function quantityValue(quantity, subject) {
    // Of an expression that is computed cell by cell
    if (subject.cell && subject.cell.has(quantity.written)) return ofNumber(subject.cell.get(quantity.written));
    const value = quantity.row.value(quantity, subject.trace);
    return value.kind === "missing" ? givenValue(quantity, subject) : value;
  }

  function valueOf(expression, subject) {
    if (expression.leaf) return expression.leaf;
    if (expression.quantity) return quantityValue(expression.quantity, subject);
    const operands = expression.operands.map((operand) => valueOf(operand, subject));
    const calculate = arithmetic.get(expression.operation);
    if (!calculate || operands.some(({ kind }) => kind !== "number")) return missing;
    return ofResult(calculate(...operands.map(({ number }) => number)));
  }

  function truthOf(expression, subject) {
    const { operation, operands } = expression;
    if (operation === "not") {
      const inner = truthOf(operands[0], subject);
      return inner === null ? null : !inner;
    }
    if (operation === "and" || operation === "or") {
      const decides = operation === "or";
      const truths = operands.map((operand) => truthOf(operand, subject));
      if (truths.includes(decides)) return decides;
      return truths.includes(null) ? null : !decides;
    }
    if (compare.has(operation))
      return compared(operation, valueOf(operands[0], subject), valueOf(operands[1], subject));
    // A value by itself: "mask.is_causal"
    const value = valueOf(expression, subject);
    if (value.kind === "word") return value.text !== "false" && value.text !== "null";
    return value.kind === "number" ? value.number !== 0 : null;
  }

  // Expressions cell by cell: a box of several cells stands for each of its numbers in turn.

  const mayBeSeveral = ({ row, boxes }) => row === cell &&
    (boxes[0].ranges.length === 0 || boxes[0].ranges.some(({ from, to }) => to === null || to !== from + 1));

  function addBoxes(expression, found) {
    const { quantity, operands } = expression;
    if (quantity && mayBeSeveral(quantity)) found.set(quantity.written, quantity.boxes[0]);
    for (const operand of operands || []) addBoxes(operand, found);
  }

  // {tensor, from, to} of the first such box, and `each`, a subject for every cell; or {problem}.
  function cellsOf(expression, subject, most) {
    const boxes = new Map(), numbers = new Map();
    addBoxes(expression, boxes);
    let first = null;
    for (const [written, box] of boxes) {
      const range = boxCells(box, subject.trace);
      if (!range) return { problem: `the trace has no such cells of ${box.tensor}` };
      const count = range.from.reduce((all, from, axis) => all * (range.to[axis] - from), 1);
      if (count > most)
        return { problem: `the box of ${box.tensor} has ${count} cells, and at most ${most} can be asked for` };
      first = first || { tensor: box.tensor, ...range, count };
      if (count !== first.count) return { problem: `the boxes of the key have ${first.count} and ${count} cells` };
      numbers.set(written, boxNumbers(box, subject.trace));
      if (numbers.get(written).some(Number.isNaN))
        return { problem: `a number of ${box.tensor} that the key needs is NaN` };
    }
    if (!first) return { problem: "the key has no box of several cells" };
    const cellAt = (i) => new Map([...numbers].map(([written, of]) => [written, of[i]]));
    return { ...first, each: Array.from({ length: first.count }, (_, i) => ({ ...subject, cell: cellAt(i) })) };
  }

  // Reads a text into pieces: {plain}, {number, written} or {parts: [{condition, pieces}, …]}. What cannot be
  // read stays as it is written.
  class TextReader {
    constructor(text, settings) { Object.assign(this, { text, settings, at: 0, depth: 0, read: new Map() }); }

    get ended() { return this.at >= this.text.length; }
    sees(text) { return this.text.startsWith(text, this.at); }
    skipBlanks() { while (this.sees(" ")) ++this.at; }

    all() {
      const pieces = [];
      while (!this.ended) {
        this.takePieces(pieces, false);
        if (!this.ended) this.addPlain(pieces, this.at + 1);  // a closing brace of none
      }
      return pieces;
    }

    // Until a closing brace or, within a choice, the next part.
    takePieces(pieces, withinChoice) {
      while (!this.ended && !this.sees("}")) {
        if (this.sees("{")) this.takeBrace(pieces);
        else if (withinChoice && this.nextPartBegins()) return;
        else this.addPlain(pieces, this.plainEnd(withinChoice ? "{}|" : "{}"));
      }
    }

    plainEnd(signs) {
      let end = this.at + 1;
      while (end < this.text.length && !signs.includes(this.text[end])) ++end;
      return end;
    }

    // Each brace is read once at each depth: else a choice without an end would be read again by each around it.
    takeBrace(pieces) {
      const place = this.at * (deepestParts + 1) + this.depth;
      if (!this.read.has(place)) this.read.set(place, this.readBrace());
      const { piece, end } = this.read.get(place);
      if (piece) pieces.push(piece);
      else this.addPlain(pieces, this.at + 1);
      this.at = end;
    }

    readBrace() {
      const { at, depth } = this;
      try {
        const piece = this.sees("{if ") ? this.choice() : this.number();
        return { piece, end: this.at };
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        return { piece: null, end: at + 1 };
      } finally {
        Object.assign(this, { at, depth });
      }
    }

    number() {
      const end = this.plainEnd("{}");
      if (this.text[end] !== "}") refuse("an unmatched brace");
      const written = this.text.slice(this.at + 1, end);
      const expression = written.startsWith("=");
      const reader = new Reader(written, expression ? 1 : 0, this.settings);
      const number = expression ? reader.any() : { quantity: reader.quantity() };
      if (reader.at < written.length) refuse("no such number");
      this.at = end + 1;
      return { number, written };
    }

    // "{if A: … | if B: … | else: …}"
    choice() {
      if (++this.depth > deepestParts) refuse("parts are nested too deeply");
      const parts = [];
      ++this.at;
      for (;;) {
        const part = { condition: this.condition(), pieces: [] };
        this.takePieces(part.pieces, true);
        trim(part.pieces);
        parts.push(part);
        if (this.ended) refuse("an unmatched brace");
        if (this.sees("}")) break;
        if (!part.condition) refuse("a part follows 'else'");
        ++this.at;
        this.skipBlanks();
      }
      ++this.at;
      return { parts };
    }

    // "if COND:"; null for "else:"
    condition() {
      if (this.sees("else:")) {
        this.at += 5;
        return null;
      }
      const reader = new Reader(this.text, this.at + 3, this.settings);
      const condition = reader.any();
      if (!reader.take(":")) refuse("a condition goes on");
      this.at = reader.at;
      return condition;
    }

    nextPartBegins() {
      let next = this.at + 1;
      while (this.text[next] === " ") ++next;
      return this.sees("|") && (this.text.startsWith("if ", next) || this.text.startsWith("else:", next));
    }

    addPlain(pieces, end) {
      const last = pieces[pieces.length - 1];
      const added = this.text.slice(this.at, end);
      if (last && last.plain !== undefined) last.plain += added;
      else pieces.push({ plain: added });
      this.at = end;
    }
  }

  const withoutBlanks = /^ +/;
  function trimmedEnd(text) {
    let end = text.length;
    while (end > 0 && text[end - 1] === " ") --end;
    return text.slice(0, end);
  }

  function trim(pieces) {
    const first = pieces[0], last = pieces[pieces.length - 1];
    if (first && first.plain !== undefined) first.plain = first.plain.replace(withoutBlanks, "");
    if (last && last.plain !== undefined) last.plain = trimmedEnd(last.plain);
  }

  // Writes pieces; `dropped` counts the choices without any part that holds, what is missing goes to `gaps`.
  class Writer {
    constructor(subject) { Object.assign(this, { subject, dropped: 0 }); }

    write(pieces, gaps) {
      let text = "", afterNothing = false;  // an empty choice removes the blank before it
      for (const piece of pieces) {
        let added = piece.plain || "";
        if (afterNothing && text === "" && added.startsWith(" ")) added = added.slice(1);
        if (afterNothing && text.endsWith(" ") && added !== "" && " .,;:)".includes(added[0])) text = text.slice(0, -1);
        if (added !== "") afterNothing = false;
        if (piece.number) {
          const value = valueOf(piece.number, this.subject);
          if (value.kind === "missing") gaps.push(piece.written);
          added = value.text;
          afterNothing = false;
        } else if (piece.parts) {
          added = this.choose(piece.parts);
          afterNothing = added === "";
        }
        text += added;
      }
      return afterNothing && text.endsWith(" ") ? text.slice(0, -1) : text;
    }

    // The first part that holds, unless the trace lacks one of its numbers.
    choose(parts) {
      const before = this.dropped;
      for (const { condition, pieces } of parts) {
        if (condition && !truthOf(condition, this.subject)) continue;
        const gaps = [];
        const text = this.write(pieces, gaps);
        if (gaps.length === 0 && this.dropped === before) return text;
        this.dropped = before;
      }
      ++this.dropped;
      return "";
    }
  }

  const settingsOf = (subject) => subject.trace.settings;

  function written(text, subject) {
    const writer = new Writer(subject), gaps = [];
    const shown = writer.write(new TextReader(text, settingsOf(subject)).all(), gaps);
    return { text: shown, gaps, complete: gaps.length === 0 && writer.dropped === 0 };
  }

  // A text of a page. Where the page was changed, one that needs a number the trace lacks is left out, and
  // `changed` says that a claim of it no longer holds.
  function wordsOf(text, subject, { changed = Boolean(subject.changed) } = {}) {
    const words = written(text, { ...subject, changed });
    const lost = changed && !words.complete;
    return { text: lost && words.gaps.length > 0 ? "" : words.text, changed: lost };
  }

  const read = (text, subject) => readExpression(text, settingsOf(subject));
  return {
    words: wordsOf,
    text: (text, subject) => written(text, subject).text,
    value: (text, subject) => valueOf(read(text, subject), subject),
    truth: (text, subject) => truthOf(read(text, subject), subject),
    cells: (text, subject, most) => cellsOf(read(text, subject), subject, most),
    number: numberText,
    fixed,
    axisLetter,
    tokens: tokensOf,
    tensor: tensorOf,
    hasQuantity: (text) => {
      const reads = (e) => Boolean(e.quantity) || (e.operands || []).some(reads);
      return reads(readExpression(text, {}));
    },
    Unreadable,
  };
})();
