// Expressions of live numbers: what follows "=" in braces, and the conditions of a text's parts
// (core/lessons/live_expression.h). In order of increasing precedence:
// or; and; not; = ≠ < ≤ > ≥ ≈; + -; * /; - √.
//
//   {leaf: value}, {quantity}, or {operation, operands: [expression, …]}
const LiveExpression = (() => {
  "use strict";

  const { refuse, missing, ofNumber, ofWord, ofResult, boxCells, boxNumbers } = LiveValue;
  const deepest = 100;  // nesting of brackets, which take two
  const mostSigns = 1000;  // of one expression: values are computed by recursion
  const nearly = 1e-3;  // of the larger: "≈"

  // As written, and as typed
  const comparisons = [["≠", "!="], ["≤", "<="], ["≥", ">="], ["≈", "~"], ["=", "="], ["<", "<"], [">", ">"]];

  class Reader extends LiveValue.Reader {
    constructor(text, at, settings) {
      super(text, at, settings);
      Object.assign(this, { depth: 0, signs: 0 });
    }

    take(sign) {
      this.skipBlanks();
      return this.takeText(sign);
    }
    // A name that ends here: "or", but not "output".
    takeName(name) {
      this.skipBlanks();
      const end = this.at + name.length;
      const ends = end >= this.text.length || " ():".includes(this.text[end]);
      return ends && this.takeText(name);
    }

    any() { return this.chain(["or"], "takeName", "both"); }
    both() { return this.chain(["and"], "takeName", "unit"); }
    sum() { return this.chain(["+", "-"], "take", "product"); }
    product() { return this.chain(["*", "/"], "take", "factor"); }

    // Operands with any of the signs between them, the first two joined first.
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
      if (++this.depth > deepest) refuse("a condition is too deep");
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
      const digit = this.at < this.text.length && ".0123456789".includes(this.text[this.at]);
      return digit ? this.number() : { quantity: this.quantity() };
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

  function valueOf(expression, subject) {
    if (expression.leaf) return expression.leaf;
    if (expression.quantity) return LiveValue.value(expression.quantity, subject);
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

  const mayBeSeveral = (quantity) => LiveValue.isCell(quantity) && severalIn(quantity.boxes[0]);
  const severalIn = ({ ranges }) => ranges.length === 0 || ranges.some(({ from, to }) => to !== from + 1);

  function addBoxes(expression, found) {
    const { quantity, operands } = expression;
    if (quantity && mayBeSeveral(quantity)) found.set(quantity.written, quantity.boxes[0]);
    for (const operand of operands || []) addBoxes(operand, found);
  }

  // {tensor, from, to} of the first such box, and `each`, a subject for every cell, row-major; or {problem}.
  function cellsOf(expression, subject, most) {
    const boxes = new Map(), numbers = new Map();
    addBoxes(expression, boxes);
    let first = null;
    for (const [written, box] of boxes) {
      const range = boxCells(box, subject.trace);
      if (!range) return { problem: `the trace has no such cells of ${box.tensor}` };
      const count = range.from.reduce((all, from, axis) => all * (range.to[axis] - from), 1);
      if (count > most)
        return { problem: `the box of ${box.tensor} has ${count} cells, ` +
                          `and at most ${most} can be asked for` };
      first = first || { tensor: box.tensor, ...range, count };
      if (count !== first.count)
        return { problem: `the boxes of the key have ${first.count} and ${count} cells` };
      numbers.set(written, boxNumbers(box, subject.trace));
      if (numbers.get(written).some(Number.isNaN))
        return { problem: `a number of ${box.tensor} that the key needs is NaN` };
    }
    if (!first) return { problem: "the key has no box of several cells" };
    const cellAt = (i) => new Map([...numbers].map(([written, of]) => [written, of[i]]));
    const each = Array.from({ length: first.count }, (_, i) => ({ ...subject, cell: cellAt(i) }));
    return { ...first, each };
  }

  // Whether one of its quantities is such.
  const some = ({ quantity, operands }, isSuch) =>
    (quantity ? isSuch(quantity) : (operands || []).some((operand) => some(operand, isSuch)));

  return { Reader, read: readExpression, value: valueOf, truth: truthOf, cells: cellsOf, some };
})();
