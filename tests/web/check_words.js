// Holds LiveText and Answers against what the program says: the cases of word_cases.json, or of the lessons
// (make_word_cases.py). In a browser or in node, after the scripts of app/web/page:
//
//   checkWords(cases)  the failures, each a sentence; none: all is right
const checkWords = (() => {
  "use strict";

  const arrays = { f32: Float32Array, f64: Float64Array, bool: Uint8Array, i64: BigInt64Array };

  function tensorOf({ shape, type, data }) {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    return { shape, data: Float64Array.from(new arrays[type](bytes.buffer), Number) };
  }

  function subjectOf({ tensors, settings, sizes, labels, roles, given }) {
    const read = {};
    for (const [name, tensor] of Object.entries(tensors)) read[name] = tensorOf(tensor);
    return { trace: { tensors: read, settings, sizes, labels, roles }, given };
  }

  const shown = (value) => JSON.stringify(value);
  const same = (a, b) => shown(a) === shown(b);
  const near = (a, b) => a === b || Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b), 1e-6);

  // A key as `headwise info --json` reports it.
  const reported = {
    number: (key) => key.number, head: (key) => key.head, shape: (key) => key.sizes,
    choice: (key) => key.option + 1, tensor: (key) => key.option + 1, weights: (key) => key.weights.weights,
    cell: ({ row, column }) => ({ ...(row === null ? {} : { row }), ...(column === null ? {} : { column }) }),
    mask: ({ mask }) => mask.blocked.map((is, i) => is &&
      [mask.row + Math.floor(i / mask.columns), mask.column + (i % mask.columns)]).filter(Boolean),
  };

  function sameKey(kind, found, key) {
    if (kind === "weights")
      return found.length === key.length && found.every((weight, i) => near(weight, key[i]));
    return kind === "number" ? near(found, key) : same(found, key);
  }

  function checkKey(answer, { key, refused }, subject) {
    const found = Answers.key(answer, subject);
    const told = refused !== undefined && found.problem !== "" && refused.includes(found.problem);
    if (refused !== undefined) return told ? "" : `no key, because “${refused}”; got ${shown(found)}`;
    if (found.problem !== "") return `the key ${shown(key)}; got “${found.problem}”`;
    const value = reported[answer.kind](found);
    return sameKey(answer.kind, value, key) ? "" : `the key ${shown(key)}; got ${shown(value)}`;
  }

  const changed = (subject) => ({ ...subject, changed: true });

  // [expected, got] of each kind of case, after the scenario's subject.
  const checks = {
    texts: (subject, text, says) => [says, LiveText.text(text, subject)],
    pages: (subject, text, says, isChanged) => {
      const words = LiveText.words(text, subject, { changed: true });
      return [[says, isChanged], [words.text, words.changed]];
    },
    unchanged: (subject, text, says) => {
      const words = LiveText.words(text, subject, { changed: false });
      return [[says, false], [words.text, words.changed]];
    },
    numbers: (subject, number, says) => [says, LiveText.number(unwritten(number))],
    truths: (subject, condition, is) => [is, LiveText.truth(condition, subject)],
    typed_numbers: (subject, typed, number) => [number, Answers.typedNumber(typed)],
    typed_sizes: (subject, typed, sizes) => [sizes, Answers.typedSizes(typed, subject)],
    typed: (subject, answer, typed, given) => [given, Answers.typed(answer, typed, subject)],
    misplaced: (subject, drawn, right, share) => [share, Answers.misplacedWeight(drawn, right)],
    right: (subject, answer, key, given, is) => [is, Answers.isRight(answer, key, given)],
    verdicts: (subject, answer, given, says, right) => {
      const { text, right: found } = Answers.verdict(answer, Answers.words(answer, subject), given);
      return [[says, right], [text, found]];
    },
    changed_verdicts: (subject, answer, given, says) =>
      [says, Answers.verdict(answer, Answers.words(answer, changed(subject)), given).text],
    changed_right_answers: (subject, answer, says) =>
      [says, Answers.rightAnswer(answer, Answers.words(answer, changed(subject)))],
    right_answers: (subject, answer, says) =>
      [says, Answers.rightAnswer(answer, Answers.words(answer, subject))],
  };
  const unwritten = (number) => (typeof number === "string" ? Number(number) : number);  // "Infinity", "-0"

  function checkCases(cases) {
    const subjects = new Map(), failures = [];
    for (const [name, scenario] of Object.entries(cases.scenarios)) subjects.set(name, subjectOf(scenario));
    const attempt = (name, given, check) => {
      let failure;
      try {
        failure = check();
      } catch (error) {
        failure = `no error; got ${error.stack}`;
      }
      if (failure) failures.push(`${name}: ${given.map(shown).join(", ")}: expected ${failure}`);
    };
    for (const [kind, check] of Object.entries(checks))
      for (const [name, ...given] of cases[kind] || [])
        attempt(`${kind}, ${name}`, given.slice(0, -1), () => {
          const [expected, got] = check(subjects.get(name), ...given);
          return same(expected, got) ? "" : `${shown(expected)}; got ${shown(got)}`;
        });
    for (const [name, answer, told] of cases.keys || [])
      attempt(`keys, ${name}`, [answer], () => checkKey(answer, told, subjects.get(name)));
    return failures;
  }

  return checkCases;
})();
