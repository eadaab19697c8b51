// Questions of a page: their keys on a trace, and what is said of an answer.
//
//   Answers.key(answer, subject)    the key on this trace (core/lessons/answer_key.h), or its `problem`; it
//     `waits` where the page is changed, so that numbers it needs are no longer given
//   Answers.words(answer, subject)  {key, options, reasons, why, weightLabels, rows, columns}: its texts
//   Answers.typed(answer, text, subject)  what somebody typed, {number} or {sizes}; null if it cannot be read
//   Answers.verdict(answer, words, given)  {text, right: true | false | null}; null where there is no key
//   Answers.rightAnswer(answer, words)  what is right, where nothing was given: "" if nothing is
//
// `answer` is that of a playlist (core/lessons/playlist.h). `given` is one of {number}, {option} (from 0),
// {sizes}, {head}, {cell: [index, …]}, {weights: [bar, …]} and {mask: {row, column, rows, columns, blocked}}.
const Answers = (() => {
  "use strict";

  const usualShare = 0.05, usualMisplaced = 0.1;
  const mostWeights = 64, mostPairs = 4096;
  const rounding = 1e-3;  // by which a row of weights may miss its sum
  const mostIndex = 1e15;

  // Why there is no key.
  class NoKey extends Error {}
  const refuse = (problem) => { throw new NoKey(problem); };

  // Keys.

  const blankKey = () => ({ number: null, option: null, sizes: [], head: null, row: null, column: null,
                            weights: null, mask: null, shown: "", problem: "", waits: false });

  function numberKey({ is }, subject) {
    const value = LiveText.value(is, subject);
    if (value.kind === "missing") refuse(`the trace lacks a number that the key needs: ${is}`);
    if (value.kind !== "number" || !Number.isFinite(value.number))
      refuse(`the key ${is} is ${value.text}, which is not a finite number`);
    return { number: value.number, shown: value.text };
  }

  function truth(condition, subject, who) {
    const holds = LiveText.truth(condition, subject);
    return holds === null ? refuse(`the trace lacks a number that ${who}: ${condition}`) : holds;
  }

  function optionKey({ options }, subject) {
    const holds = options.map(({ is }, i) => truth(is, subject, `option ${i + 1} needs`));
    const right = holds.map((each, i) => (each ? i : -1)).filter((i) => i >= 0);
    if (right.length === 0) refuse("none of the options holds here; exactly one must");
    if (right.length > 1)
      refuse(`options ${right[0] + 1} and ${right[1] + 1} both hold here; exactly one must`);
    return { option: right[0] };
  }

  function shapeKey({ is }, subject) {
    const value = LiveText.value(is, subject);
    const sizes = value.kind === "word" ? typedSizes(value.text, subject) : [];
    if (sizes.length === 0) refuse(`the trace lacks what the key needs: ${is}`);
    return { sizes, shown: value.text };
  }

  const isIndex = ({ kind, number }) =>
    kind === "number" && number === Math.floor(number) && number >= 0 && number <= mostIndex;

  function indexKey(written, subject) {
    const value = LiveText.value(written, subject);
    return isIndex(value) ? value.number : refuse(`the key ${written} is ${value.text}, which is no index`);
  }

  function headKey({ is }, subject) {
    const head = indexKey(is, subject), heads = subject.trace.sizes.H;
    if (head >= heads) refuse(`the key ${is} is ${head}, and there are ${heads} heads, counted from 0`);
    return { head, shown: String(head) };
  }

  // One of row and column may be left out: any is then right.
  function cellKey(answer, subject) {
    const map = LiveValue.tensor(subject.trace, answer.tensor);
    if (!map || map.shape.length < 2) refuse(`this scenario has no map ${answer.tensor}`);
    const part = (written, size, what) => {
      if (!written) return null;
      const index = indexKey(written, subject);
      return index < size ? index : refuse(`the ${what} ${index} lies outside ${answer.tensor}`);
    };
    const [rows, columns] = map.shape.slice(-2);
    return { row: part(answer.row, rows, "row"), column: part(answer.column, columns, "column") };
  }

  function cellsOf(is, subject, most) {
    const cells = LiveText.cells(is, subject, most);
    if (cells.problem) refuse(cells.problem);
    const axes = cells.from.map((_, axis) => axis).filter((axis) => cells.to[axis] - cells.from[axis] > 1);
    return { ...cells, axes };
  }

  // Numbers from 0 to 1 that sum to 1
  function weightsKey({ is }, subject) {
    const { tensor, from, axes, each } = cellsOf(is, subject, mostWeights);
    const runs = axes.length === 0 ? "is one number" : `runs along ${axes.length} axes`;
    if (axes.length !== 1) refuse(`the key ${is} is no row: it ${runs}`);
    const weights = each.map((cell, i) => {
      const { kind, number, text } = LiveText.value(is, cell);
      const fits = kind === "number" && number >= -rounding && number <= 1 + rounding;  // not NaN either
      if (!fits) refuse(`number ${i} of the key ${is} is ${text}, and a weight lies between 0 and 1`);
      return number;
    });
    const sum = weights.reduce((all, weight) => all + weight, 0);
    if (Math.abs(sum - 1) > rounding)
      refuse(`the key ${is} sums to ${LiveText.number(sum)}, and a row of weights sums to 1`);
    const axis = LiveValue.axisLetter(tensor, from.length, axes[0]);
    return { weights: { weights, axis, from: from[axes[0]] }, shown: weights.map(twoDigits).join(" ") };
  }

  function maskKey({ is }, subject) {
    const { tensor, from, to, axes, each } = cellsOf(is, subject, mostPairs);
    const rank = from.length;
    const wrong = axes.find((axis) => rank < 2 || axis + 2 < rank);
    if (wrong !== undefined) refuse(`the key ${is} is no map: it runs along axis ${wrong} of ${tensor}`);
    if (rank < 2) refuse(`the key ${is} is no map: ${tensor} has no rows`);
    const blocked = each.map((cell) => truth(is, cell, "the key needs"));
    const [row, column] = from.slice(-2), [rowEnd, columnEnd] = to.slice(-2);
    return { mask: { tensor, row, column, rows: rowEnd - row, columns: columnEnd - column, blocked },
             shown: `${count(blocked)} of ${blocked.length}` };
  }

  // What was typed.

  const joined = (text, signs, by) => signs.reduce((rest, sign) => rest.split(sign).join(by), text);

  // "0.5", "0,5", "1/8", "√16", "50 %"; null if it is none, or not finite.
  function typedNumber(typed) {
    let text = joined(joined(typed, [","], "."), ["−"], "-").replace(/[ \t]+$/, "");
    const percent = text.endsWith("%");
    if (percent) text = text.slice(0, -1);
    const value = readable(() => numberOf(LiveExpression.read(text, {})));
    if (!value || value.kind !== "number" || !Number.isFinite(value.number)) return null;
    return percent ? value.number / 100 : value.number;
  }
  // What reads the page is no number by itself.
  const numberOf = (expression) =>
    (LiveExpression.some(expression, () => true) ? null : LiveExpression.value(expression, {}));

  function readable(read) {
    try {
      return read();
    } catch (error) {
      if (error instanceof LiveText.Unreadable) return null;
      throw error;
    }
  }

  // "8×12×16" and "8 x 12 x 16" are sizes too. The letter x is only meant so between two of them.
  function withoutCrosses(text) {
    const characters = [...joined(text, ["×", "·"], " ")];
    const isSize = (c) => c !== undefined && /^[ A-Za-z0-9]$/.test(c);
    characters.forEach((c, i) => {
      const between = isSize(characters[i - 1]) && isSize(characters[i + 1]);
      if ((c === "x" || c === "*") && between) characters[i] = " ";
    });
    return characters.join("");
  }

  // "(1, 8, 12, 16)", "1 H L D": letters are read from the page. Empty if one of them cannot be read.
  function typedSizes(typed, subject) {
    const text = withoutCrosses(joined(typed, ["(", ")", "[", "]", ","], " "));
    const sizes = text.split(/[ \t]+/).filter((word) => word !== "")
      .map((word) => readable(() => LiveText.value(word, subject)));
    return sizes.every((size) => size && isIndex(size)) ? sizes.map(({ number }) => number) : [];
  }

  function typedAnswer(answer, text, subject) {
    if (answer.kind === "number") {
      const number = typedNumber(text);
      return number === null ? null : { number };
    }
    const sizes = typedSizes(text, subject);
    return sizes.length === 0 ? null : { sizes };
  }

  // What counts as right.

  const tolerance = (answer) =>
    answer.within || answer.within_share ? { within: answer.within || 0, share: answer.within_share || 0 }
      : { within: 0, share: usualShare };

  function isRight(answer, key, given) {
    const off = Math.abs(given - key), { within, share } = tolerance(answer);
    return off <= within || off <= share * Math.abs(key);
  }

  // How much of a row of weights lies where it does not belong, from 0 to 1.
  const misplacedWeight = (drawn, right) =>
    right.reduce((sum, weight, i) => sum + Math.abs(drawn[i] - weight), 0) / 2;

  // Bars of any sum as weights, which sum to 1; null where nothing is drawn.
  function scaledBars(bars) {
    const sum = bars.reduce((all, bar) => all + bar, 0);
    return sum > 0 ? bars.map((bar) => bar / sum) : null;
  }

  // What is said.

  const twoDigits = (number) => LiveValue.fixed(number, 2);
  const count = (truths) => truths.filter(Boolean).length;

  function numberWords(number) {
    const size = Math.abs(number);
    if (number !== Math.floor(number) || size >= 1e9) return LiveText.number(number);
    return (number < 0 ? "−" : "") + LiveValue.grouped(String(size));
  }

  // "1, “at ‘animal’”": what it quotes itself stands in single marks.
  function namedOption({ options }, option) {
    return `${option + 1}, “${joined(joined(options[option], ["“"], "‘"), ["”"], "’")}”`;
  }

  const verdict = (text, right) => ({ text, right });
  // Where there is no key, or, with the second sentence, where it is not computed
  const without = (key, said, none, waits = "") =>
    verdict(key.waits && waits ? `${said}. ${waits}` : `${said}. As the page is now, ${none}`, null);

  function numberVerdict(answer, { key, why }, { number }) {
    const said = `You said ${numberWords(number)}`, reason = why ? " " + why : "";
    if (key.number === null)
      return without(key, said, `there is no right number to compare it with.${reason}`,
                     `The right number takes too long to be computed here.${reason}`);
    const is = answer.unit ? `${key.shown} ${answer.unit}` : key.shown, off = number - key.number;
    if (off === 0) return verdict(`${said}: right.${reason}`, true);
    if (isRight(answer, key.number, number)) return verdict(`${said}: right, it is ${is}.${reason}`, true);
    const how = off > 0 ? "high" : "low";
    return verdict(`${said}; it is ${is}: ${numberWords(Math.abs(off))} too ${how}.${reason}`, false);
  }

  function optionVerdict(answer, words, { option }) {
    const { key, reasons } = words;
    const chose = `You chose ${namedOption(words, option)}`;
    if (key.option === null)
      return without(key, chose, "no single option is right.",
                     "Its numbers take too long to be computed here.");
    if (key.option === option) return verdict(`${chose}: right.`, true);
    const right = namedOption(words, key.option);
    // Why it is wrong comes before the right one, about which it would be read otherwise.
    return verdict(reasons[option] ? `${chose}: wrong. ${reasons[option]} Answer: ${right}.`
      : `${chose}; it is ${right}.`, false);
  }

  const equalLists = (a, b) => a.length === b.length && a.every((each, i) => each === b[i]);
  const sorted = (sizes) => [...sizes].sort((a, b) => a - b);

  function shapeVerdict(answer, { key }, { sizes }) {
    const said = `You said (${sizes.join(",")})`;
    if (key.sizes.length === 0) return without(key, said, "there is no such tensor.");
    if (equalLists(sizes, key.sizes)) return verdict(`${said}: right.`, true);
    const swapped = equalLists(sorted(sizes), sorted(key.sizes));
    const order = swapped ? " The sizes are right, their order is not." : "";
    return verdict(`${said}; it is ${key.shown}.${order}`, false);
  }

  function headVerdict(answer, { key }, { head }) {
    const chose = `You chose head ${head}`;
    if (key.head === null) return without(key, chose, "there is no right one.");
    return key.head === head ? verdict(`${chose}: right.`, true)
      : verdict(`${chose}; it is head ${key.head}.`, false);
  }

  function cellVerdict(answer, { key, rows, columns }, { cell }) {
    const [row, column] = cell.slice(-2);
    const pointed = `You pointed at ${cellWords(rows, columns, row, column)}`;
    if (key.row === null && key.column === null)
      return without(key, pointed, "there is no right cell.");
    const right = (key.row === null || key.row === row) && (key.column === null || key.column === column);
    return verdict(right ? `${pointed}: right.` : `${pointed}; it is ${key.shown}.`, right);
  }

  function weightsVerdict(answer, { key, weightLabels }, { weights: drawn }) {
    const row = "You drew a row of weights";
    if (!key.weights || key.weights.weights.length !== drawn.length)
      return without(key, row, "there is none of this length to compare it with.");
    const right = key.weights.weights, misplaced = misplacedWeight(drawn, right);
    if (misplaced < 0.005) return verdict(`${row}: right, to two digits.`, true);
    const off = drawn.map((bar, i) => Math.abs(bar - right[i]));
    const most = off.indexOf(Math.max(...off));
    const within = misplaced <= (answer.within || usualMisplaced);
    const where = `the largest difference is at “${weightLabels[most]}”: ` +
      `you drew ${twoDigits(drawn[most])}, it is ${twoDigits(right[most])}.`;
    const how = `${twoDigits(misplaced)} of the weight lies at the wrong keys; ${where}`;
    return verdict(`${row}${within ? ": right," : ";"} ${how}`, within);
  }

  const sameBox = (a, b) => ["row", "column", "rows", "columns"].every((side) => a[side] === b[side]);
  const pairs = (number, which, how) => `${number} ${which} ${number === 1 ? "pair is" : "pairs are"} ${how}`;

  function maskVerdict(answer, { key }, { mask }) {
    if (!key.mask || !sameBox(mask, key.mask))
      return without(key, "You painted a mask", "there is no mask of that size to compare yours with.");
    const right = key.mask.blocked, painted = mask.blocked;
    const said = `You blocked ${count(painted)} of ${painted.length} pairs`;
    const missed = count(right.map((is, i) => is && !painted[i]));
    const added = count(right.map((is, i) => !is && painted[i]));
    if (missed + added === 0) return verdict(`${said}: right.`, true);
    const how = [];
    if (missed > 0) how.push(pairs(missed, "blocked", "missed"));
    if (added > 0) how.push(pairs(added, "open", "blocked"));
    const wrong = missed + added === 1 ? "1 is" : `${missed + added} are`;
    return verdict(`${said}; ${wrong} wrong, outlined on the map: ${how.join(", ")}.`, false);
  }

  // "“it” (row 8), “because” (column 7)"; without a token "row 8"
  function cellWords(rows, columns, row, column) {
    const named = (what, index, tokens) => (index === null ? ""
      : index < tokens.length ? `“${tokens[index]}” (${what} ${index})` : `${what} ${index}`);
    return [named("row", row, rows), named("column", column, columns)].filter(Boolean).join(", ");
  }

  function largestWeight({ key, weightLabels }) {
    const { weights } = key.weights, most = Math.max(...weights);
    return `The largest weight is ${twoDigits(most)}, at “${weightLabels[weights.indexOf(most)]}”.`;
  }

  const headRight = (answer, { key }) => `The right head is ${key.shown}.`;
  const weightsRight = (answer, words) => largestWeight(words);
  const maskRight = (answer, { key }) => `${key.shown} pairs are blocked.`;
  const numberRight = ({ unit }, { key, why }) =>
    `It is ${key.shown}${unit ? " " + unit : ""}.${why ? " " + why : ""}`;
  const shownRight = (answer, { key }) => `It is ${key.shown}.`;
  const optionRight = (answer, words) => `It is ${namedOption(words, words.key.option)}.`;

  // `right`: the verdict where nothing was given.
  const kinds = new Map([
    ["number", { key: numberKey, verdict: numberVerdict, right: numberRight,
                 wanted: "a number", unreadable: "type a number, such as 0.5, 1/8 or 50 %" }],
    ["choice", { key: optionKey, verdict: optionVerdict, right: optionRight }],
    ["shape", { key: shapeKey, verdict: shapeVerdict, right: shownRight,
                wanted: "a shape", unreadable: "type sizes, such as 2, 3, 5 or N L E" }],
    ["head", { key: headKey, verdict: headVerdict, right: headRight }],
    ["cell", { key: cellKey, verdict: cellVerdict, right: shownRight }],
    ["tensor", { key: optionKey, verdict: optionVerdict, right: optionRight }],
    ["weights", { key: weightsKey, verdict: weightsVerdict, right: weightsRight }],
    ["mask", { key: maskKey, verdict: maskVerdict, right: maskRight }],
  ]);
  const kindOf = ({ kind }) => kinds.get(kind);

  function keyOf(answer, subject) {
    try {
      return { ...blankKey(), ...kindOf(answer).key(answer, subject) };
    } catch (error) {
      // Of an expression that cannot be read, too
      if (!(error instanceof NoKey || error instanceof LiveText.Unreadable)) throw error;
      return { ...blankKey(), problem: error.message, waits: Boolean(subject.changed) && needsGiven(answer) };
    }
  }

  // Whether a key needs numbers that are not computed here.
  function needsGiven({ is, options }) {
    const written = options ? options.map((option) => option.is) : [is || "0"];
    const needs = (text) => LiveExpression.some(LiveExpression.read(text, {}), LiveValue.isElsewhere);
    return written.some((text) => readable(() => needs(text)));
  }

  // The tokens along an axis of queries or of keys; none along any other.
  function tokensAlong(trace, letter) {
    const side = letter === "L" ? "query" : letter === "S" || letter === "S′" ? "key" : "";
    return side ? LiveValue.tokens(trace, side) : [];
  }

  function weightLabels({ weights, axis, from }, trace) {
    const tokens = tokensAlong(trace, axis);
    return weights.map((_, i) => (from + i < tokens.length ? tokens[from + i] : String(from + i)));
  }

  function wordsOf(answer, subject) {
    const { trace } = subject, options = answer.options || [];
    const words = {
      key: keyOf(answer, subject),
      options: options.map(({ text, tensor }) => LiveText.text(text || tensor || "", subject)),
      reasons: options.map(({ why }) => LiveText.text(why || "", subject)),
      why: LiveText.text(answer.why || "", subject), weightLabels: [], rows: [], columns: [],
    };
    if (words.key.weights) words.weightLabels = weightLabels(words.key.weights, trace);
    const map = answer.tensor ? LiveValue.tensor(trace, answer.tensor) : null;
    if (!map || map.shape.length < 2) return words;
    const rank = map.shape.length;
    words.rows = tokensAlong(trace, LiveValue.axisLetter(answer.tensor, rank, rank - 2));
    words.columns = tokensAlong(trace, LiveValue.axisLetter(answer.tensor, rank, rank - 1));
    words.key.shown = cellWords(words.rows, words.columns, words.key.row, words.key.column);
    return words;
  }

  function rightOf(answer, words) {
    if (words.key.waits) return "What is right takes too long to be computed here.";
    return words.key.shown === "" && words.key.option === null ? "" : kindOf(answer).right(answer, words);
  }

  function verdictOf(answer, words, given) {
    const outside = has(given, "option") && !(given.option < words.options.length);
    return outside ? verdict(rightOf(answer, words), null) : kindOf(answer).verdict(answer, words, given);
  }
  const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);

  return {
    key: keyOf, words: wordsOf, typed: typedAnswer, verdict: verdictOf, rightAnswer: rightOf,
    typedNumber, typedSizes, isRight, misplacedWeight, scaledBars, cellWords,
    wanted: (answer) => kindOf(answer).wanted || "",
    unreadable: (answer) => kindOf(answer).unreadable || "",
  };
})();
