// The lesson as it is in the file, and what its reader has done with it: for each page what was switched, what was computed of it and
// how its question was answered.
const Reader = async () => {
  "use strict";

  // Bytes that were deflated and written in base64.
  async function unpacked(base64) {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  const packed = JSON.parse(document.getElementById("data").textContent);
  if (typeof DecompressionStream === "undefined") {
    document.getElementById("lesson").textContent = "This lesson needs a browser of 2023 or newer.";
    return null;
  }
  const lesson = JSON.parse(new TextDecoder().decode(await unpacked(packed.lesson)));
  const numbers = await unpacked(packed.numbers);
  const arrays = new Map(); // made when they are first computed with
  const kinds = { f32: Float32Array, f64: Float64Array, bool: Uint8Array };
  const leafOf = (at) => {
    if (!arrays.has(at)) {
      const { shape, type, at: begin } = lesson.arrays[at];
      const count = shape.reduce((all, size) => all * size, 1);
      arrays.set(at, { shape, data: Float64Array.from(new kinds[type](numbers, begin, count)), isBool: type === "bool" });
    }
    return arrays.get(at);
  };
  const asks = lesson.pages.map((page) => Boolean(page.ask));
  const questions = lesson.pages.map((page, at) => at).filter((at) => lesson.pages[at].answer);
  const homeworkAt = questions.length > 0 ? lesson.pages.length : -1;
  const stepNames = lesson.steps.map((step) => step.word);
  // Of this very file: another lesson, or another version of it, has answers of its own.
  const storageKey = `headwise ${lesson.title} ${[...packed.lesson].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) | 0, 0)}`;

  // --- What the reader has done, page by page ---

  // given: the answer, null where it was asked to be shown; right: true, false or null
  const unanswered = () => ({ answered: false, given: null, right: null, verdict: "", typed: "", bars: null, painted: new Set(), message: "" });
  const walks = lesson.pages.map((page, at) => ({
    at, page, settings: null, gains: null, step: null, view: null, head: null, picture: 0, pin: null, row: null,
    ...unanswered(),
  }));
  // The page that is shown, who reads, and what shows the page anew (lesson.js).
  const reader = { current: 0, name: "", show: () => {} };

  function restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(storageKey) || "null");
      if (!kept) return;
      reader.name = String(kept.name || "");
      for (const { page, given } of kept.answers || []) {
        const walk = walks[page - 1];
        if (walk && walk.page.answer) giveAnswer(walk, given);
      }
    } catch {
      // Answers that cannot be kept, as in a private window, are still judged.
    }
  }

  // The next one at this computer begins anew.
  function forget() {
    reader.name = "";
    walks.forEach(takeBack);
    try {
      localStorage.removeItem(storageKey);
    } catch {
      // as above
    }
  }

  function keep() {
    try {
      const answers = walks.filter((walk) => walk.answered && walk.page.answer);
      localStorage.setItem(storageKey, JSON.stringify({ name: reader.name, answers: answers.map(({ at, given }) => ({ page: at + 1, given })) }));
    } catch {
      // as above
    }
  }

  // --- Computing ---

  const ownTraces = new Map();

  function computed(data, settings, gains) {
    const leaves = {};
    for (const [leaf, at] of Object.entries(data.tensors)) leaves[leaf] = leafOf(at);
    const wanted = gains ? { ...settings, heads: { ...settings.heads, gain: gains } } : settings;
    const trace = Attention.computeRounded(wanted, data.sizes, leaves);
    return { ...trace, sizes: data.sizes, settings: wanted, labels: data.labels, roles: data.roles };
  }

  const dataOf = (walk) => (walk.page.data === undefined ? null : lesson.scenarios[walk.page.data]);
  const isChanged = (walk) => walk.settings !== null || walk.gains !== null;

  function traceOf(walk) {
    const data = dataOf(walk);
    if (!data) return null;
    if (isChanged(walk)) {
      if (!walk.trace) walk.trace = computed(data, walk.settings || data.settings, walk.gains);
      return walk.trace;
    }
    return ownTraceOf(walk);
  }

  function ownTraceOf(walk) {
    const data = dataOf(walk);
    if (!ownTraces.has(walk.page.data)) ownTraces.set(walk.page.data, computed(data, data.settings, null));
    return ownTraces.get(walk.page.data);
  }

  function subjectOf(walk) {
    return { trace: traceOf(walk), given: isChanged(walk) ? {} : dataOf(walk).given };
  }

  const wordsOf = (walk, text) =>
    dataOf(walk) ? LiveText.words(text || "", subjectOf(walk), { changed: isChanged(walk) }) : { text: text || "", changed: false };

  // --- Where a page is ---

  const isAsking = (walk) => asks[walk.at] && !walk.answered;
  // What is hidden while a page asks: the result of its step, and all that follows from it.
  // A mask that is asked for is hidden in every map that shows it.
  const veilsFrom = ({ step, answer }) => {
    const own = stepNames.indexOf(step);
    return answer && answer.kind === "mask" ? Math.min(own, stepNames.indexOf("mask")) : own;
  };
  const isVeiled = (walk, step) => isAsking(walk) && walk.page.veil === true && step >= veilsFrom(walk.page);

  function placeOf(walk) {
    const { page } = walk;
    const asking = isAsking(walk);
    const step = asking && page.ask_step ? page.ask_step : page.step;
    const view = asking && page.ask_view ? page.ask_view : page.view;
    return {
      step: walk.step === null ? stepNames.indexOf(step) : walk.step,
      view: walk.view || (view === "all_heads" || view === "head_rows" ? view : "one_head"),
      head: walk.head === null ? page.head : walk.head,
      batch: page.batch,
    };
  }

  function pinOf(walk) {
    const { page } = walk;
    if (walk.pin) return walk.pin;
    if (!page.pin || (isAsking(walk) && (page.ask_step || page.ask_view || page.veil || page.answer))) return null;
    return page.pin;
  }

  // --- Answers ---

  // A question is about the page as it is written, whatever a reader has switched: so homework is graded, too.
  const askedSubject = (walk) => ({ trace: ownTraceOf(walk), given: dataOf(walk).given });

  // The texts beside an answer, as Answers wants them.
  const answerWords = (walk) => Answers.words(walk.page.answer, askedSubject(walk));

  const takeBack = (walk) => Object.assign(walk, unanswered());

  function giveAnswer(walk, given) {
    walk.answered = true;
    walk.given = given;
    walk.message = "";
    walk.painted = new Set();
    [walk.step, walk.view, walk.pin] = [null, null, null];
    judge(walk);
  }

  // An answer as the file to hand in has it, as Answers takes it; null where it cannot be read.
  const readAnswers = {
    number: (walk, given) => Answers.typed(walk.page.answer, String(given), askedSubject(walk)),
    shape: (walk, given) => Answers.typed(walk.page.answer, String(given), askedSubject(walk)),
    choice: (walk, given) => ({ option: given - 1 }),
    tensor: (walk, given) => ({ option: walk.page.answer.options.findIndex((option) => option.tensor === given) }),
    head: (walk, given) => ({ head: given }),
    cell: (walk, given) => ({ cell: given }),
    weights: (walk, given) => ({ weights: given }),
    mask: (walk, given, { key }) => {
      if (!key.mask) return null;
      const { row, column, rows, columns } = key.mask;
      const blocked = Array(rows * columns).fill(false);
      for (const [l, s] of given) blocked[(l - row) * columns + (s - column)] = true;
      return { mask: { row, column, rows, columns, blocked } };
    },
  };

  function judge(walk) {
    const { answer } = walk.page;
    if (!answer) return;
    const words = answerWords(walk);
    const given = walk.given === null ? null : readAnswers[answer.kind](walk, walk.given, words);
    const verdict = given === null ? { text: Answers.rightAnswer(answer, words), right: null } : Answers.verdict(answer, words, given);
    [walk.verdict, walk.right] = [verdict.text, verdict.right];
  }

  function homeworkFile() {
    const answers = questions.map((at) => walks[at]).filter((walk) => walk.answered).map((walk) => ({
      page: walk.at + 1, title: walk.page.title || "", kind: walk.page.answer.kind, given: walk.given, right: walk.right,
    }));
    return { headwise_homework: 1, lesson: lesson.title, name: reader.name, saved: new Date().toISOString().replace(/\.\d+Z$/, "Z"), answers };
  }

  return Object.assign(reader, {
    lesson, walks, questions, homeworkAt, restore, keep, forget, dataOf, isChanged, traceOf, subjectOf, wordsOf, isAsking, isVeiled,
    placeOf, pinOf, answerWords, giveAnswer, takeBack, readAnswers, homeworkFile,
  });
};
