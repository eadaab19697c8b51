// Walks through the pages of a lesson: its texts and questions, the steps of attention with their maps, and what a
// reader may switch. Everything that is shown is computed here, from the arrays in the page.
(async () => {
  "use strict";

  // --- The lesson as it is in the file ---

  // Bytes that were deflated and written in base64.
  async function unpacked(base64) {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  const packed = JSON.parse(document.getElementById("data").textContent);
  if (typeof DecompressionStream === "undefined") {
    document.getElementById("lesson").textContent = "This lesson needs a browser of 2023 or newer.";
    return;
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
  const storageKey = `headwise ${lesson.title} ${lesson.pages.length}`;

  // --- Elements ---

  // Text is only ever text: nothing of a file is read as HTML.
  function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (typeof value === "boolean") node.toggleAttribute(name, value);
      else if (value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  const button = (text, press, attributes = {}) => element("button", { type: "button", onclick: press, ...attributes }, text);
  const paragraphs = (text, attributes = {}) => element("p", attributes, text);

  // --- Colours ---

  const darkMedia = window.matchMedia("(prefers-color-scheme: dark)");
  const stillMedia = window.matchMedia("(prefers-reduced-motion: reduce)");
  const themes = {
    light: { accent: "#c2410c", soft: "#5b6068", veil: "#d5d9df", blocked: "#e8e9ec", nan: "#a3195b", source: "#1d6fd1", pin: "#111" },
    dark: { accent: "#ffb454", soft: "#9aa3af", veil: "#343a44", blocked: "#2a2f37", nan: "#d6408a", source: "#6cb2ff", pin: "#fff" },
  };
  let printing = false; // on paper the light theme
  const themeName = () => (darkMedia.matches && !printing ? "dark" : "light");
  const tables = {};
  for (const theme of ["light", "dark"])
    tables[theme] = {
      probabilities: Maps.colorTable(lesson.colors[theme].probabilities),
      signed: Maps.colorTable(lesson.colors[theme].signed),
    };

  // --- What the reader has done, page by page ---

  // given: the answer; shown: the answer was asked for; right: true, false or null
  const walks = lesson.pages.map((page, at) => ({
    at, page, settings: null, gains: null, step: null, view: null, head: null, picture: 0, pin: null, row: null,
    answered: false, given: null, right: null, verdict: "",
    typed: "", bars: null, painted: new Set(), message: "",
  }));
  let current = 0;
  let name = "";

  function restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(storageKey) || "null");
      if (!kept) return;
      name = String(kept.name || "");
      for (const { page, given } of kept.answers || []) {
        const walk = walks[page - 1];
        if (walk && walk.page.answer) giveAnswer(walk, given);
      }
    } catch {
      // Answers that cannot be kept, as in a private window, are still judged.
    }
  }

  function keep() {
    try {
      const answers = walks.filter((walk) => walk.answered && walk.page.answer);
      localStorage.setItem(storageKey, JSON.stringify({ name, answers: answers.map(({ at, given }) => ({ page: at + 1, given })) }));
    } catch {
      // as above
    }
  }

  // --- Computing ---

  const ownTraces = new Map();

  function computed(data, settings, gains) {
    const leaves = {};
    for (const [leaf, at] of Object.entries(data.tensors)) leaves[leaf] = leafOf(at);
    if (gains) leaves["heads.gain"] = { shape: [gains.length], data: Float64Array.from(gains) };
    const trace = Attention.compute(settings, data.sizes, leaves);
    return { ...trace, sizes: data.sizes, settings, labels: data.labels, roles: data.roles };
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
  const isVeiled = (walk, step) => isAsking(walk) && walk.page.veil === true && step >= stepNames.indexOf(walk.page.step);

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

  // The texts beside an answer, as Answers wants them.
  const answerWords = (walk) => Answers.words(walk.page.answer, subjectOf(walk));

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
    number: (walk, given) => Answers.typed(walk.page.answer, String(given), subjectOf(walk)),
    shape: (walk, given) => Answers.typed(walk.page.answer, String(given), subjectOf(walk)),
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

  function answer(walk, given) {
    giveAnswer(walk, given);
    keep();
    show({ focus: "verdict" });
  }

  function answerAgain(walk) {
    Object.assign(walk, { answered: false, given: null, right: null, verdict: "", bars: null, typed: "", message: "" });
    keep();
    show({ focus: "question" });
  }

  function answerControls(walk) {
    const { answer: wanted } = walk.page;
    const box = element("div", { class: "answer" });
    const showIt = button("show the answer", () => answer(walk, null), { class: "quiet" });
    if (!wanted) {
      box.append(showIt);
      return box;
    }
    const controls = answerKinds[wanted.kind];
    box.append(...controls(walk, wanted), showIt);
    if (walk.message) box.append(paragraphs(walk.message, { class: "message", role: "alert" }));
    return box;
  }

  function typedControls(walk) {
    const example = Answers.wanted(walk.page.answer);
    const field = element("input", { type: "text", value: walk.typed, size: "14", "aria-label": "your answer", autocomplete: "off", inputmode: "text", placeholder: example });
    const give = () => {
      walk.typed = field.value;
      if (readAnswers[walk.page.answer.kind](walk, field.value) === null) {
        walk.message = `Please ${Answers.unreadable(walk.page.answer)}.`;
        show({ focus: "field" });
        return;
      }
      answer(walk, field.value.trim());
    };
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") give();
    });
    const unit = walk.page.answer.unit ? element("span", {}, walk.page.answer.unit) : null;
    return [field, unit, button("answer", give, { class: "primary" })].filter(Boolean);
  }

  function optionControls(walk, given) {
    const words = answerWords(walk);
    return [element("div", { class: "options" }, ...words.options.map((text, i) => button(`${i + 1}   ${text}`, () => answer(walk, given(words, i)), { class: "option" })))];
  }

  // A row of weights: a slider for each token.
  function weightControls(walk) {
    const words = answerWords(walk);
    const labels = words.weightLabels;
    if (!walk.bars) walk.bars = labels.map(() => 0);
    const sum = element("output", { class: "sum" });
    const total = () => walk.bars.reduce((all, bar) => all + bar, 0);
    const say = () => {
      sum.textContent = `sum ${total().toFixed(2)}; what you draw is scaled to 1`;
    };
    const rows = labels.map((label, i) => {
      const value = element("output", {}, walk.bars[i].toFixed(2));
      const slider = element("input", { type: "range", min: "0", max: "1", step: "0.01", value: String(walk.bars[i]), "aria-label": `weight of ${label}`, oninput: () => {
        walk.bars[i] = Number(slider.value);
        value.textContent = walk.bars[i].toFixed(2);
        say();
      } });
      slider.addEventListener("keydown", (event) => event.stopPropagation());
      return element("label", { class: "bar" }, element("span", {}, label), slider, value);
    });
    say();
    const give = () => {
      if (total() > 0) return answer(walk, walk.bars.map((bar) => bar / total()));
      walk.message = "Draw the row first: move the sliders.";
      return show({ focus: "question" });
    };
    return [element("div", { class: "bars" }, ...rows), sum, button("answer", give, { class: "primary" })];
  }

  function maskControls(walk) {
    const give = () => answer(walk, [...walk.painted].map((cell) => cell.split(",").map(Number)));
    return [
      paragraphs("Click the blocked pairs on the map, or drag over them; by keys: the arrows and Space.", { class: "hint" }),
      button("answer", give, { class: "primary" }),
    ];
  }

  function headControls(walk) {
    const heads = traceOf(walk).sizes.H;
    return [element("div", { class: "heads" }, ...Array.from({ length: Math.min(64, heads) }, (_, head) => button(String(head), () => answer(walk, head), { "aria-label": `head ${head}` })))];
  }

  const answerKinds = {
    number: typedControls,
    shape: typedControls,
    choice: (walk) => optionControls(walk, (words, i) => i + 1),
    tensor: (walk, wanted) => optionControls(walk, (words, i) => wanted.options[i].tensor),
    head: headControls,
    cell: (walk, wanted) => [paragraphs(`Click a cell of ${wanted.tensor} on the map; by keys: Tab to the map, the arrows, Enter.`, { class: "hint" })],
    weights: weightControls,
    mask: maskControls,
  };

  // --- The stage ---

  let views = []; // the maps on it

  function picturesOf(walk, step) {
    const trace = traceOf(walk);
    const data = dataOf(walk);
    const masked = data.masked_steps && trace.tensors.mask_bias;
    const pictures = (masked ? data.masked_steps : data.steps)[step] || [];
    return pictures.filter((picture) => trace.tensors[picture.result]);
  }

  const isPairs = (trace, tensor) => {
    const axes = (lesson.tensor_table[tensor] || { axes: [] }).axes;
    return axes.length === 4 && axes[2] === "L" && axes[3].startsWith("S") && trace.tensors[tensor].shape.length === 4;
  };

  // One size for the result, so that rows and columns of its operands stand beside its own.
  function cellSizes(result, left, above, room) {
    const side = (count, pixels, most) => Math.max(2, Math.min(most, Math.floor(pixels / Math.max(1, count))));
    const width = left ? room.width * 0.6 : room.width;
    const most = above ? 27 : 34;
    const cell = side(Math.max(result.columns, Math.min(result.rows, 40)), Math.min(width, 620), result.columns <= 24 ? most : 24);
    const height = side(result.rows, Math.max(200, room.height), Math.max(cell, 14));
    const both = { width: cell, height: Math.max(3, Math.min(height, Math.max(cell, 14))) };
    return {
      result: both,
      left: left && { width: side(left.columns, Math.min(room.width * 0.34, 300), 20), height: both.height },
      above: above && { width: both.width, height: side(above.rows, 128, 14) },
    };
  }

  function makeView(walk, plane, cell, range, { veiled, labels = {}, pinned = null }) {
    const trace = traceOf(walk);
    const table = lesson.tensor_table[plane.name] || {};
    const colors = themes[themeName()];
    const wanted = walk.page.answer;
    const isAsked = isAsking(walk) && wanted && (wanted.kind === "mask" ? isPairs(trace, plane.name) : wanted.kind === "cell" && wanted.tensor === plane.name);
    const view = new Maps.View(plane, trace, {
      cell, range, veiled, pinned, colors, labels,
      table: tables[themeName()][table.probabilities ? "probabilities" : "signed"],
      painted: isAsked && wanted.kind === "mask" ? walk.painted : null,
      point: (of, row, column) => pointAt(walk, of, row, column),
      leave: () => inspectPinned(walk),
      pick: (of, row, column) => pick(walk, of, row, column, isAsked),
      drag: (of, row, column) => isAsked && wanted.kind === "mask" && paint(walk, of, row, column, true),
    });
    views.push(view);
    return view;
  }

  function paint(walk, view, row, column, only = null) {
    const cell = `${row},${column}`;
    const paints = only === null ? !walk.painted.has(cell) : walk.brush;
    if (only === null) walk.brush = paints;
    if (paints) walk.painted.add(cell);
    else walk.painted.delete(cell);
    view.draw();
  }

  function pick(walk, view, row, column, isAsked) {
    const wanted = walk.page.answer;
    if (isAsked && wanted.kind === "mask") return paint(walk, view, row, column);
    if (isAsked && wanted.kind === "cell") return answer(walk, [row, column]);
    if (view.options.choose) return view.options.choose();
    if (view.options.veiled) return undefined;
    walk.pin = { tensor: view.plane.name, index: view.plane.index(row, column) };
    const at = [row, column];
    for (const each of views) each.options.pinned = each === view ? at : null;
    for (const each of views) each.draw();
    return inspect(walk, view.plane.name, walk.pin.index, false);
  }

  function pointAt(walk, view, row, column) {
    if (view.options.veiled) {
      markSources(walk, null);
      const words = cellWords(traceOf(walk), view.plane, row, column);
      return inspector.replaceChildren(paragraphs(`${words || view.plane.title}: hidden until you answer`));
    }
    const index = view.plane.index(row, column);
    markSources(walk, view.plane.name, index);
    return inspect(walk, view.plane.name, index, true, cellWords(traceOf(walk), view.plane, row, column));
  }

  // Outlines, in the other maps, what a cell is made from.
  function markSources(walk, tensor, index) {
    const boxes = tensor ? Provenance.sources(dataOf(walk).rules, tensor, index) : [];
    for (const view of views) {
      const marks = boxes.map((box) => view.markOf(box)).filter(Boolean);
      if (marks.length === 0 && view.marks.length === 0) continue;
      view.marks = marks;
      view.draw();
    }
  }

  function cellWords(trace, plane, row, column) {
    const part = (axis, at) => {
      const word = Maps.hasWords(axis) ? Maps.wordsAlong(trace, axis, at + 1)[at] : null;
      return word === null ? "" : word;
    };
    return [part(plane.rowAxis, row), part(plane.columnAxis, column)].filter(Boolean).join(" → ");
  }

  // --- The inspector: where a number comes from ---

  const inspector = element("div", { id: "inspector", role: "status", "aria-live": "polite" });
  const shownTerms = 6;

  function inspect(walk, tensor, index, brief, tokens = "") {
    const trace = traceOf(walk);
    const { rules } = dataOf(walk);
    const value = Provenance.valueAt(trace.tensors[tensor], index);
    const title = `${Provenance.cellName(tensor, index)} = ${Maps.numberText(value)}`;
    const lines = [element("p", { class: "cell" }, element("strong", {}, title), tokens ? `   ${tokens}` : "")];
    if (rules[tensor]) {
      lines.push(paragraphs(Provenance.formula(trace, rules, tensor, index), { class: "formula" }));
      const terms = Provenance.terms(trace, rules, tensor, index);
      if (["product_sum", "copy", "mean"].includes(rules[tensor].combine) && terms.length > 1) lines.push(termList(terms));
    } else {
      lines.push(paragraphs((lesson.tensor_table[tensor] || { what: "" }).what, { class: "formula" }));
    }
    inspector.replaceChildren(...lines);
  }

  function termList(terms) {
    const size = (term) => (Number.isNaN(term.value) ? Infinity : Math.abs(term.value));
    const sorted = [...terms].sort((a, b) => size(b) - size(a));
    const line = ({ factors, value }) =>
      `${Maps.numberText(value)}  =  ${factors.map((factor) => `${Provenance.cellName(factor.tensor, factor.index)} ${Maps.numberText(factor.value)}`).join(" · ")}`;
    const list = element("ul", { class: "terms" }, ...sorted.slice(0, shownTerms).map((term) => element("li", {}, line(term))));
    const rest = sorted.slice(shownTerms);
    if (rest.length > 0)
      list.append(element("li", {}, `${Maps.numberText(rest.reduce((sum, term) => sum + term.value, 0))}  from ${rest.length} smaller terms`));
    return list;
  }

  function inspectPinned(walk) {
    const pin = pinOf(walk);
    markSources(walk, null);
    const trace = traceOf(walk);
    const usable = pin && trace && trace.tensors[pin.tensor] && pin.index.length === trace.tensors[pin.tensor].shape.length &&
      pin.index.every((at, axis) => at >= 0 && at < trace.tensors[pin.tensor].shape[axis]);
    if (usable) return inspect(walk, pin.tensor, pin.index, true);
    return inspector.replaceChildren(paragraphs("Point at a cell, or move to a map with Tab and use the arrow keys, to see where its number comes from.", { class: "hint" }));
  }

  // --- Figures ---

  function figureOf(walk, view, caption) {
    const details = element("details", { class: "numbers" }, element("summary", {}, "as a table"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.childElementCount > 1) return;
      details.append(view.options.veiled ? paragraphs("Hidden until you answer.") : element("div", { class: "scroll" }, Maps.tableOf(view.plane, traceOf(walk))));
    });
    return element("figure", {}, element("figcaption", {}, caption || `${view.plane.title}  ${view.plane.rows} × ${view.plane.columns}`),
      element("div", { class: "scroll" }, view.canvas), details);
  }

  function pinnedIn(walk, plane) {
    const pin = pinOf(walk);
    if (!pin || pin.tensor !== plane.name) return null;
    for (const turned of [false]) {
      const rank = pin.index.length;
      const [row, column] = rank < 2 ? [0, pin.index[0]] : pin.index.slice(-2);
      const first = plane.index(0, 0);
      const at = turned ? [column, row] : [row - (rank < 2 ? 0 : first[rank - 2]), column];
      const inside = at[0] >= 0 && at[0] < plane.rows && at[1] >= 0 && at[1] < plane.columns;
      if (inside && String(plane.index(at[0], at[1])) === String(pin.index)) return at;
    }
    return null;
  }

  function joined(a, b) {
    return a && b ? [Math.min(a[0], b[0]), Math.max(a[1], b[1])] : a || b;
  }

  // The result of a step with its operands beside and above it.
  function productStage(walk, place, picture) {
    const trace = traceOf(walk);
    const at = { batch: place.batch, head: place.head };
    const result = Maps.planeOf(lesson, trace, picture.result, at);
    if (!result) return paragraphs("Nothing to show: this map has no cells.");
    const left = picture.left && Maps.planeOf(lesson, trace, picture.left, at);
    const above = picture.above && Maps.planeOf(lesson, trace, picture.above, { ...at, transposed: picture.transposed, rows: picture.rows });
    const room = { width: Math.max(260, stage.clientWidth - 24), height: 420 };
    const product = left && above && (picture.transposed || picture.result === "head_output");
    const narrow = room.width < 560;
    const veiled = isVeiled(walk, place.step);
    const sizes = cellSizes(result, product && !narrow ? left : null, product ? above : null, room);
    const kind = (plane) => (lesson.tensor_table[plane.name] || {}).probabilities;
    const range = (plane) => Maps.rangeOf(lesson, trace, plane.name, place.batch);
    let [own, besides, over] = [range(result), left && range(left), above && range(above)];
    if (left && !product && kind(left) === kind(result) && picture.result !== "layer_norm_output") own = besides = joined(own, besides);
    if (picture.result === "scores" && left && above) besides = over = joined(besides, over);
    const before = (plane) => isVeiled(walk, (lesson.tensor_table[plane.name] || { step: 0 }).step);
    const parts = [];
    const view = (plane, cell, span, labels, hidden) => makeView(walk, plane, cell, span, { veiled: hidden, labels, pinned: pinnedIn(walk, plane) });
    const both = { rows: Maps.hasWords(result.rowAxis), columns: Maps.hasWords(result.columnAxis) };
    if (!product) {
      const half = { width: left ? room.width / 2 - (Maps.hasWords(result.rowAxis) ? 90 : 20) : room.width - 90, height: room.height };
      const cells = cellSizes(result, null, null, half);
      if (left) parts.push(figureOf(walk, view(left, left.columns === result.columns ? cells.result : cellSizes(left, null, null, half).result, besides, { rows: true, columns: Maps.hasWords(left.columnAxis) }, before(left))));
      if (above && !narrow) parts.push(figureOf(walk, view(above, cells.result, over, both, before(above))));
      const shown = view(result, cells.result, own, both, veiled);
      parts.push(figureOf(walk, shown));
      return { node: element("div", { class: "row" }, ...parts), result: shown, legends: legendsOf([[left, besides], [above, over], [result, own]]) };
    }
    const shown = view(result, sizes.result, own, { rows: both.rows && (narrow || !left), columns: false }, veiled);
    const upper = view(above, sizes.above, over, { rows: false, columns: Maps.hasWords(above.columnAxis) }, before(above));
    const side = view(left, narrow ? cellSizes(left, null, null, room).result : sizes.left, besides, { rows: Maps.hasWords(left.rowAxis), columns: false }, before(left));
    const node = element("div", { class: narrow ? "stack" : "product" },
      narrow ? null : element("div", { class: "corner" }),
      element("div", { class: "above" }, figureOf(walk, upper)),
      element("div", { class: "left" }, figureOf(walk, side)),
      element("div", { class: "result" }, figureOf(walk, shown)));
    return { node, result: shown, legends: legendsOf([[left, besides], [above, over], [result, own]]) };
  }

  function legendsOf(parts) {
    const byRange = new Map();
    for (const [plane, range] of parts) {
      if (!plane) continue;
      const kind = (lesson.tensor_table[plane.name] || {}).probabilities ? "probabilities" : "signed";
      const key = `${kind} ${range.join(" ")}`;
      if (!byRange.has(key)) byRange.set(key, { kind, range, names: new Set() });
      byRange.get(key).names.add(plane.name);
    }
    const colors = themes[themeName()];
    return [...byRange.values()].map(({ kind, range, names }) => {
      const caption = [...names].join(" and ");
      return element("span", { class: "legend" }, `${caption}: ${Maps.numberText(range[0], 3)} `,
        Maps.legend(tables[themeName()][kind], range, caption, colors), ` ${Maps.numberText(range[1], 3)}`);
    });
  }

  // The result of a step at every head.
  function headsStage(walk, place, picture) {
    const trace = traceOf(walk);
    const shape = trace.tensors[picture.result].shape;
    const heads = shape.length === 4 ? shape[1] : 0;
    if (heads === 0) return productStage(walk, place, picture);
    const range = Maps.rangeOf(lesson, trace, picture.result, place.batch);
    const veiled = isVeiled(walk, place.step);
    const across = stage.clientWidth < 560 ? 2 : 4;
    const figures = [];
    for (let map = 0; map < Math.min(heads, 64); map += 1) {
      const head = map * (trace.sizes.H / heads);
      const plane = Maps.planeOf(lesson, trace, picture.result, { batch: place.batch, head });
      const width = Math.max(2, Math.min(16, Math.floor(((stage.clientWidth - 20) / across - 24) / plane.columns)));
      const view = makeView(walk, plane, { width, height: Math.max(3, Math.min(16, isPairs(trace, picture.result) ? width : 8)) }, range, { veiled, pinned: pinnedIn(walk, plane) });
      view.options.choose = veiled || isAsking(walk) ? null : () => {
        [walk.head, walk.view] = [head, "one_head"];
        show({});
      };
      const role = trace.roles[head] ? `: ${trace.roles[head]}` : "";
      const muted = walk.gains && walk.gains[head] === 0 ? ", muted" : "";
      const figure = figureOf(walk, view, `head ${head}${role}${muted}`);
      figure.style.width = `${view.width + 8}px`; // a long name does not widen it
      figures.push(figure);
    }
    return { node: element("div", { class: "all" }, ...figures), result: null, legends: legendsOf([[{ name: picture.result }, range]]) };
  }

  // One query's row in every head.
  function rowsStage(walk, place, picture) {
    const trace = traceOf(walk);
    const tensor = trace.tensors[picture.result];
    if (!isPairs(trace, picture.result)) return productStage(walk, place, picture);
    const [, heads, queries, keys] = tensor.shape;
    const pin = pinOf(walk);
    const row = Math.min(queries - 1, walk.row === null ? (pin && pin.index.length === 4 ? pin.index[2] : 0) : walk.row);
    const plane = {
      name: picture.result, rows: heads, columns: keys, rowAxis: "H", columnAxis: "S′", title: `${picture.result}[${place.batch},:,${row},:]`,
      index: (head, key) => [place.batch, head, row, key],
      at: (head, key) => Provenance.valueAt(tensor, [place.batch, head, row, key]),
    };
    const range = Maps.rangeOf(lesson, trace, picture.result, place.batch);
    const size = Math.max(10, Math.min(34, Math.floor((stage.clientWidth - 80) / keys)));
    const view = makeView(walk, plane, { width: size, height: Math.min(size, 26) }, range, { veiled: isVeiled(walk, place.step), labels: { rows: true, columns: true } });
    const words = Maps.wordsAlong(trace, "L", queries);
    const choice = element("select", { "aria-label": "the query whose row is shown", onchange: (event) => {
      walk.row = Number(event.target.value);
      show({});
    } }, ...words.map((word, i) => element("option", { value: String(i), selected: i === row }, `${word} (${i})`)));
    return { node: element("div", {}, element("label", {}, "query ", choice), figureOf(walk, view, `row of ‘${words[row]}’ in every head`)), result: null, legends: legendsOf([[plane, range]]) };
  }

  // Rows of the result appear one after another, beside what each is made from.
  let motion = 0;
  let moving = false;
  function moveInto(view) {
    cancelAnimationFrame(motion);
    moving = false;
    if (!view || stillMedia.matches || view.options.veiled || document.hidden) return;
    const begun = performance.now();
    const lasts = 700;
    moving = true;
    const frame = (now) => {
      const share = Math.min(1, (now - begun) / lasts);
      const rows = Math.ceil(share * view.plane.rows);
      if (rows !== view.shownRows) {
        view.shownRows = rows;
        view.draw();
      }
      moving = share < 1;
      if (moving) motion = requestAnimationFrame(frame);
    };
    view.shownRows = 0;
    view.draw();
    motion = requestAnimationFrame(frame);
  }

  // --- What a reader may switch ---

  function change(walk, edit) {
    const data = dataOf(walk);
    if (!walk.settings) walk.settings = JSON.parse(JSON.stringify(data.settings));
    edit(walk.settings);
    walk.trace = null;
    if (JSON.stringify(walk.settings) === JSON.stringify(data.settings)) walk.settings = null;
    if (walk.answered) judge(walk);
    show({});
  }

  function toggleMute(walk, head) {
    const trace = traceOf(walk);
    const own = dataOf(walk).settings.heads.gain || Array(trace.sizes.H).fill(1);
    const gains = walk.gains || [...own];
    gains[head] = gains[head] === 0 ? own[head] || 1 : 0;
    walk.gains = gains.every((gain, i) => gain === own[i]) ? null : gains;
    walk.trace = null;
    if (walk.answered) judge(walk);
    show({});
  }

  function restorePage(walk) {
    [walk.settings, walk.gains, walk.trace] = [null, null, null];
    if (walk.answered) judge(walk);
    show({ focus: "title" });
  }

  function switches(walk, place) {
    const trace = traceOf(walk);
    const { H: heads } = trace.sizes;
    const settings = trace.settings;
    const gains = walk.gains || settings.heads.gain || [];
    const hidesHead = isAsking(walk) && walk.page.answer && walk.page.answer.kind === "head";
    const headChoice = element("select", { "aria-label": "head", onchange: (event) => {
      walk.head = Number(event.target.value);
      show({});
    } }, ...Array.from({ length: heads }, (_, i) => element("option", { value: String(i), selected: i === place.head },
      `head ${i}${trace.roles[i] ? `: ${trace.roles[i]}` : ""}${gains[i] === 0 ? " (muted)" : ""}`)));
    const check = (text, checked, flip) => element("label", { class: "check" }, element("input", { type: "checkbox", checked, onchange: flip }), text);
    const pairs = place.view === "all_heads";
    const box = element("fieldset", { class: "switches" }, element("legend", {}, "Try it"));
    if (!hidesHead) {
      if (heads > 1) box.append(headChoice, check("all heads", pairs, () => {
        walk.view = pairs ? "one_head" : "all_heads";
        show({});
      }));
      if (settings.op === "multi_head_attention") box.append(check(`mute head ${place.head}`, gains[place.head] === 0, () => toggleMute(walk, place.head)));
    }
    box.append(check("causal mask", settings.mask.is_causal === true, () => change(walk, (all) => {
      all.mask.is_causal = !all.mask.is_causal;
    })));
    const window_ = element("input", { type: "number", min: "1", max: String(Math.max(trace.sizes.L, trace.sizes.S)), value: settings.mask.sliding_window || "", "aria-label": "sliding window, in keys", placeholder: "none",
      onchange: () => change(walk, (all) => {
        const wanted = Number.parseInt(window_.value, 10);
        all.mask.sliding_window = wanted >= 1 ? wanted : null;
      }) });
    window_.addEventListener("keydown", (event) => event.stopPropagation());
    box.append(element("label", { class: "check" }, "window ", window_));
    if (isChanged(walk)) box.append(button("Restore its settings", () => restorePage(walk), { class: "quiet" }));
    return box;
  }

  // --- A page ---

  const stage = element("section", { id: "stage", "aria-label": "the stage" });
  const words = element("section", { id: "words", "aria-label": "the page" });
  const head = element("header", {});
  let shownAt = "";

  function stepBar(walk, place) {
    const press = (step) => () => {
      walk.step = step;
      walk.picture = 0;
      show({ focus: `step-${step}` });
    };
    const trace = traceOf(walk);
    return element("nav", { class: "steps", "aria-label": "steps of attention" }, ...lesson.steps.map((step, i) => {
      const there = picturesOf(walk, i).length > 0;
      return button(step.name, press(i), { id: `step-${i}`, "aria-current": i === place.step ? "step" : null, disabled: !there || !trace, title: step.question });
    }));
  }

  function pageHead() {
    const choice = element("select", { id: "pages", "aria-label": "page", onchange: (event) => turnTo(Number(event.target.value)) },
      ...lesson.pages.map((page, i) => element("option", { value: String(i), selected: i === current }, `${pageName(i)}${mark(walks[i])}`)));
    if (homeworkAt >= 0) choice.append(element("option", { value: String(homeworkAt), selected: current === homeworkAt }, "Your answers"));
    const last = homeworkAt >= 0 ? homeworkAt : lesson.pages.length - 1;
    head.replaceChildren(
      element("h1", {}, lesson.title || "A lesson"),
      element("nav", { class: "turn", "aria-label": "pages" },
        button("←", () => turnTo(current - 1), { disabled: current === 0, "aria-label": "previous page", title: "previous page (←)" }), choice,
        button("→", () => turnTo(current + 1), { disabled: current === last, "aria-label": "next page", title: "next page (→)" })));
  }
  // Many titles begin with their number.
  const pageName = (at) => {
    const { title } = lesson.pages[at];
    return title && /^\d/.test(title) ? title : `${at + 1}  ${title || "page"}`;
  };
  const mark = (walk) => (!walk.page.answer || !walk.answered ? "" : walk.right === true ? "  ✓" : walk.right === false ? "  ✗" : "  –");

  function writeWords(walk) {
    const { page } = walk;
    const parts = [element("h2", { id: "title", tabindex: "-1" }, page.title || `Page ${walk.at + 1}`)];
    const live = (text) => {
      const said = wordsOf(walk, text);
      const lines = said.text.split("\n").filter(Boolean).map((line) => paragraphs(line));
      if (said.changed) lines.push(element("p", { class: "changed" }, "You changed this page. ", button("Restore its settings", () => restorePage(walk), { class: "quiet" })));
      return lines;
    };
    if (page.ask) parts.push(element("div", { id: "question", class: "ask", tabindex: "-1" }, ...live(page.ask)));
    if (isAsking(walk)) parts.push(answerControls(walk));
    else {
      if (page.answer) parts.push(verdictOf(walk));
      if (page.caption) parts.push(element("div", { class: "caption" }, ...live(page.caption)));
    }
    words.replaceChildren(...parts);
  }

  function verdictOf(walk) {
    const box = element("div", { id: "verdict", tabindex: "-1", class: walk.right === true ? "verdict right" : walk.right === false ? "verdict wrong" : "verdict" }, paragraphs(walk.verdict || "That was the question."));
    const see = seeOf(walk);
    if (see !== null) box.append(button(`see “${lesson.pages[see].title}”`, () => turnTo(see), { class: "quiet" }));
    box.append(button("answer again", () => answerAgain(walk), { class: "quiet" }));
    return box;
  }

  // The page of this lesson that goes into a wrong option; null where there is none.
  function seeOf(walk) {
    const { answer: wanted } = walk.page;
    if (walk.right !== false || !wanted.options) return null;
    const option = wanted.options[wanted.kind === "choice" ? walk.given - 1 : wanted.options.findIndex((each) => each.tensor === walk.given)];
    const at = option && option.see ? lesson.pages.findIndex((page) => page.title === option.see) : -1;
    return at < 0 ? null : at;
  }

  function writeStage(walk) {
    views = [];
    const { page } = walk;
    const asking = isAsking(walk);
    const picture = asking && page.ask_picture !== undefined ? page.ask_picture : page.picture;
    if (picture !== undefined && walk.step === null && walk.view === null && !isChanged(walk)) {
      const image = element("img", { class: "picture", alt: `the stage of the page: ${page.step}, ${page.view}`, src: `data:image/svg+xml,${encodeURIComponent(lesson.pictures[picture])}` });
      const place = dataOf(walk) ? placeOf(walk) : null;
      stage.replaceChildren(...(place ? [stepBar(walk, { step: -1 })] : []), image, ...(place ? [switches(walk, place)] : []));
      return;
    }
    if (!dataOf(walk)) return;
    const place = placeOf(walk);
    const pictures = picturesOf(walk, place.step);
    const own = pictures.findIndex((each) => each.result === page.tensor);
    const chosen = walk.picture || (walk.step === null && own >= 0 ? own : 0);
    const shown = pictures[Math.min(chosen, pictures.length - 1)];
    const bar = stepBar(walk, place);
    if (!shown) {
      stage.replaceChildren(bar, paragraphs("This step is not part of this operator."), switches(walk, place));
      return;
    }
    const stages = { all_heads: headsStage, head_rows: rowsStage };
    const built = (stages[place.view] || productStage)(walk, place, shown);
    const tabs = pictures.length < 2 ? null : element("div", { class: "tabs", role: "group", "aria-label": "pictures of this step" },
      ...pictures.map((each, i) => button(each.result, () => {
        walk.picture = i;
        if (walk.step === null) walk.step = place.step;
        show({});
      }, { "aria-pressed": String(each === shown) })));
    const step = lesson.steps[place.step];
    stage.replaceChildren(bar, ...[
      element("div", { class: "step" }, element("h3", {}, `${place.step + 1}  ${step.name}`), element("p", { class: "question" }, step.question)),
      tabs,
      element("p", { class: "formula" }, shown.formulas.join("     ")),
      built.node || built,
      element("div", { class: "legends" }, ...(built.legends || [])),
      inspector,
      element("p", { class: "sentence" }, shown.sentence),
      switches(walk, place),
    ].filter(Boolean));
    inspectPinned(walk);
    const at = `${walk.at} ${place.step} ${place.view} ${shown.result} ${asking}`;
    if (at !== shownAt) moveInto(built.result);
    shownAt = at;
  }

  function show({ focus = null }) {
    if (current === homeworkAt) showHomework();
    else {
      const walk = walks[current];
      writeWords(walk);
      writeStage(walk);
    }
    pageHead();
    const target = focus && document.getElementById(focus === "field" ? "words" : focus);
    if (focus === "field") target.querySelector("input").focus();
    else if (target) target.focus({ preventScroll: focus !== "title" });
  }

  function turnTo(at) {
    const last = homeworkAt >= 0 ? homeworkAt : lesson.pages.length - 1;
    current = Math.min(last, Math.max(0, at));
    history.replaceState(null, "", `#${current + 1}`);
    show({ focus: "title" });
    window.scrollTo(0, 0);
  }

  // --- The reader's answers, to hand in ---

  function homeworkFile() {
    const answers = questions.map((at) => walks[at]).filter((walk) => walk.answered).map((walk) => ({
      page: walk.at + 1, title: walk.page.title || "", kind: walk.page.answer.kind, given: walk.given, right: walk.right,
    }));
    return { headwise_homework: 1, lesson: lesson.title, name, saved: new Date().toISOString().replace(/\.\d+Z$/, "Z"), answers };
  }

  function save() {
    const text = `${JSON.stringify(homeworkFile(), null, 1)}\n`;
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const safe = (word) => word.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60);
    const link = element("a", { href: url, download: `${[safe(name), safe(lesson.title)].filter(Boolean).join("-") || "answers"}.json` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  function showHomework() {
    stage.replaceChildren();
    const given = (walk) => (!walk.answered ? "not yet answered" : walk.given === null ? "the answer was shown" : walk.verdict);
    const rows = questions.map((at) => {
      const walk = walks[at];
      return element("tr", {}, element("th", { scope: "row" }, button(walk.page.title || `Page ${at + 1}`, () => turnTo(at), { class: "quiet" })), element("td", {}, given(walk)),
        element("td", {}, !walk.answered ? "" : walk.right === true ? "right" : walk.right === false ? "wrong" : "–"));
    });
    const right = questions.filter((at) => walks[at].right === true).length;
    const done = questions.filter((at) => walks[at].answered).length;
    const field = element("input", { type: "text", value: name, "aria-label": "your name", autocomplete: "name", maxlength: "200", oninput: () => {
      name = field.value;
      keep();
    } });
    field.addEventListener("keydown", (event) => event.stopPropagation());
    words.replaceChildren(
      element("h2", { id: "title", tabindex: "-1" }, "Your answers"),
      paragraphs(`${done} of ${questions.length} questions answered, ${right} right.`),
      element("div", { class: "scroll" }, element("table", { class: "answers" }, element("thead", {}, element("tr", {}, ...["question", "your answer", ""].map((text) => element("th", { scope: "col" }, text)))), element("tbody", {}, ...rows))),
      element("p", {}, element("label", {}, "Your name  ", field)),
      element("p", {}, button("Save the answers as a file", save, { class: "primary", disabled: done === 0 })),
      paragraphs("Hand this file in. Nothing is sent from here: the page has no connection to anywhere.", { class: "hint" }));
  }

  // --- On paper: a page a sheet ---

  function printSheets() {
    printing = true;
    const kept = current;
    const sheets = element("div", { id: "sheets" });
    for (const walk of walks) {
      current = walk.at;
      writeWords(walk);
      writeStage(walk);
      const sheet = element("section", { class: "sheet" });
      // What a canvas shows is not copied with it.
      const copy = (node) => {
        const made = node.cloneNode(true);
        const [from, to] = [node.querySelectorAll("canvas"), made.querySelectorAll("canvas")];
        from.forEach((canvas, i) => to[i].getContext("2d").drawImage(canvas, 0, 0));
        made.querySelectorAll("[id]").forEach((each) => each.removeAttribute("id"));
        made.removeAttribute("id");
        return made;
      };
      cancelAnimationFrame(motion);
      for (const view of views) {
        view.shownRows = view.plane.rows;
        view.draw();
      }
      sheet.append(copy(words), copy(stage));
      sheets.append(sheet);
    }
    current = kept;
    document.body.append(sheets);
    document.body.classList.add("printing");
  }

  function afterPrint() {
    printing = false;
    const sheets = document.getElementById("sheets");
    if (sheets) sheets.remove();
    document.body.classList.remove("printing");
    show({});
  }

  // --- Begin ---

  document.getElementById("lesson").append(head, element("main", {}, words, stage),
    element("footer", {}, `Made by Headwise ${lesson.version}. Every number is computed in this page.`));
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const turns = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
    if (Object.hasOwn(turns, event.key)) {
      event.preventDefault();
      turnTo(current + turns[event.key]);
      return;
    }
    const walk = walks[current];
    const digit = Number.parseInt(event.key, 10);
    if (!walk || !isAsking(walk) || !walk.page.answer || Number.isNaN(digit)) return;
    const options = [...words.querySelectorAll(".option")];
    if (options[digit - 1]) options[digit - 1].click();
  });
  window.addEventListener("beforeprint", printSheets);
  window.addEventListener("afterprint", afterPrint);
  window.addEventListener("hashchange", () => {
    const at = Number.parseInt(location.hash.slice(1), 10) - 1;
    if (at >= 0 && at !== current) turnTo(at);
  });
  darkMedia.addEventListener("change", () => show({}));
  let widthBefore = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === widthBefore) return; // a phone's address bar comes and goes
    widthBefore = window.innerWidth;
    show({});
  });
  restore();
  const wanted = Number.parseInt(location.hash.slice(1), 10) - 1;
  current = wanted > 0 && wanted <= Math.max(homeworkAt, lesson.pages.length - 1) ? wanted : 0;
  show({});

  // For tests: what the page computes and says.
  window.headwise = {
    lesson, walks, turnTo, traceOf: (at) => traceOf(walks[at]), show,
    texts: (at) => ({ ask: wordsOf(walks[at], lesson.pages[at].ask).text, caption: wordsOf(walks[at], lesson.pages[at].caption).text }),
    key: (at) => Answers.key(lesson.pages[at].answer, subjectOf(walks[at])),
    answer: (at, given) => { giveAnswer(walks[at], given); return { text: walks[at].verdict, right: walks[at].right }; },
    moving: () => moving, homework: homeworkFile, print: printSheets, afterPrint,
  };
})();
