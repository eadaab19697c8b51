// The stage: the maps of a step, where each of their numbers comes from, and what a reader may switch.
const Stage = (reader, answer) => {
  "use strict";

  const { element, button, paragraphs } = Elements;
  const { lesson, dataOf, isChanged, traceOf, isAsking, isVeiled, placeOf, pinOf } = reader;
  const show = (change) => reader.show(change);
  const stage = element("section", { id: "stage", "aria-label": "the stage" });

  // --- Colours ---

  const darkMedia = window.matchMedia("(prefers-color-scheme: dark)");
  const stillMedia = window.matchMedia("(prefers-reduced-motion: reduce)");
  const themes = {
    light: { accent: "#c2410c", soft: "#5b6068", veil: "#d5d9df", source: "#1d6fd1", pin: "#111" },
    dark: { accent: "#ffb454", soft: "#9aa3af", veil: "#343a44", source: "#6cb2ff", pin: "#fff" },
  };
  let printing = false; // on paper the light theme
  const themeName = () => (darkMedia.matches && !printing ? "dark" : "light");
  // Those of cells are the program's.
  const tables = {};
  for (const theme of ["light", "dark"]) {
    const { probabilities, signed, blocked, nan } = lesson.colors[theme];
    tables[theme] = { probabilities: Maps.colorTable(probabilities), signed: Maps.colorTable(signed) };
    Object.assign(themes[theme], { blocked: Maps.colorTable(blocked)[0], nan: Maps.colorTable(nan)[0] });
  }

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
    const most = Math.round((above ? 27 : 34) * Maps.scale());
    const cell = side(Math.max(result.columns, Math.min(result.rows, 40)), Math.min(width, 620 * Maps.scale()), result.columns <= 24 ? most : 24);
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
    const isAsked = isAsking(walk) && wanted && (wanted.kind === "mask" ? veiled && isPairs(trace, plane.name) : wanted.kind === "cell" && wanted.tensor === plane.name);
    const view = new Maps.View(plane, trace, {
      cell, range, veiled, pinned, colors, labels,
      id: `map-${views.length}`,
      table: tables[themeName()][table.probabilities ? "probabilities" : "signed"],
      painted: isAsked && wanted.kind === "mask" ? walk.painted : null,
      wrong: isPairs(trace, plane.name) ? wrongPairs(walk) : null,
      point: (of, row, column) => pointAt(walk, of, row, column),
      leave: () => inspectPinned(walk),
      pick: (of, row, column) => pick(walk, of, row, column, isAsked),
      drag: (of, row, column) => isAsked && wanted.kind === "mask" && paint(walk, row, column, walk.brush),
    });
    views.push(view);
    return view;
  }

  // Every hidden map shows what is painted.
  function paint(walk, row, column, blocks) {
    const cell = `${row},${column}`;
    walk.brush = blocks;
    if (blocks) walk.painted.add(cell);
    else walk.painted.delete(cell);
    for (const view of views) if (view.options.painted) view.draw();
    inspector.replaceChildren(paragraphs(`row ${row}, column ${column}: ${blocks ? "blocked" : "open"}; ${walk.painted.size} blocked in all`));
  }

  // The pairs of a mask that were answered otherwise than they are.
  function wrongPairs(walk) {
    const { answer: wanted } = walk.page;
    if (!walk.answered || !wanted || wanted.kind !== "mask" || walk.right !== false || isChanged(walk)) return null;
    const { mask } = reader.answerWords(walk).key;
    if (!mask) return null;
    const given = new Set(walk.given.map(String));
    const name = (i) => `${mask.row + Math.floor(i / mask.columns)},${mask.column + (i % mask.columns)}`;
    return mask.blocked.map((blocked, i) => (blocked === given.has(name(i)) ? "" : name(i))).filter(Boolean);
  }

  function pick(walk, view, row, column, isAsked) {
    const wanted = walk.page.answer;
    if (isAsked && wanted.kind === "mask") return paint(walk, row, column, !walk.painted.has(`${row},${column}`));
    if (isAsked && wanted.kind === "cell") return answer(walk, [row, column]);
    if (view.options.choose) return view.options.choose();
    if (view.options.veiled) return undefined;
    walk.pin = { tensor: view.plane.name, index: view.plane.index(row, column) };
    const at = [row, column];
    for (const each of views) each.options.pinned = each === view ? at : null;
    for (const each of views) each.draw();
    return inspect(walk, view.plane.name, walk.pin.index);
  }

  function pointAt(walk, view, row, column) {
    if (view.options.veiled) {
      markSources(walk, null);
      const words = cellWords(traceOf(walk), view.plane, row, column);
      return inspector.replaceChildren(paragraphs(`${words || view.plane.title}: hidden until you answer`));
    }
    const index = view.plane.index(row, column);
    markSources(walk, view.plane.name, index);
    return inspect(walk, view.plane.name, index, cellWords(traceOf(walk), view.plane, row, column));
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

  function inspect(walk, tensor, index, tokens = "") {
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
    const some = sorted.filter((term) => term.value !== 0);
    const list = element("ul", { class: "terms" }, ...some.slice(0, shownTerms).map((term) => element("li", {}, line(term))));
    const rest = sorted.slice(Math.min(shownTerms, some.length));
    if (rest.every((term) => term.value === 0) && rest.length > 0) list.append(element("li", {}, `and ${rest.length} terms that are 0`));
    else if (rest.length > 0)
      list.append(element("li", {}, `${Maps.numberText(rest.reduce((sum, term) => sum + term.value, 0))}  from ${rest.length} smaller terms`));
    return list;
  }

  function inspectPinned(walk) {
    const pin = pinOf(walk);
    markSources(walk, null);
    const trace = traceOf(walk);
    const usable = pin && trace && trace.tensors[pin.tensor] && pin.index.length === trace.tensors[pin.tensor].shape.length &&
      pin.index.every((at, axis) => at >= 0 && at < trace.tensors[pin.tensor].shape[axis]);
    // A cell that was chosen on another map is not explained beside this one.
    const isSeen = usable && (pin === walk.page.pin || views.some((view) => view.options.pinned));
    if (isSeen) return inspect(walk, pin.tensor, pin.index);
    return inspector.replaceChildren(paragraphs("Point at a cell or tap it, or move to a map with Tab and use the arrow keys, to see where its number comes from.", { class: "hint" }));
  }

  // --- Figures ---

  const openTables = new Set(); // those that stay open while something is switched

  function figureOf(walk, view, caption) {
    const details = element("details", { class: "numbers" }, element("summary", { id: `table-${view.options.id}` }, "as a table"));
    const key = `${walk.at} ${view.options.id}`;
    details.addEventListener("toggle", () => {
      if (details.open) openTables.add(key);
      else openTables.delete(key);
      if (!details.open || details.childElementCount > 1) return;
      details.append(view.options.veiled ? paragraphs("Hidden until you answer.") : element("div", { class: "scroll" }, Maps.tableOf(view.plane, traceOf(walk))));
    });
    if (openTables.has(key)) details.open = true;
    return element("figure", {}, element("figcaption", {}, caption || `${view.plane.title}  ${view.plane.rows} × ${view.plane.columns}`),
      element("div", { class: "scroll" }, view.canvas), details);
  }

  function pinnedIn(walk, plane) {
    const pin = pinOf(walk);
    if (!pin || pin.tensor !== plane.name) return null;
    const rank = pin.index.length;
    const first = plane.index(0, 0);
    const row = rank < 2 ? 0 : pin.index[rank - 2] - first[rank - 2];
    const column = pin.index[rank - 1] - first[rank - 1];
    const at = plane.transposed ? [column, row] : [row, column];
    const inside = at[0] >= 0 && at[0] < plane.rows && at[1] >= 0 && at[1] < plane.columns;
    return inside && String(plane.index(at[0], at[1])) === String(pin.index) ? at : null;
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
    const forRows = narrow && left && Maps.hasWords(left.rowAxis) ? 80 : 0;
    const slim = { width: room.width - forRows, height: room.height };
    const sizes = cellSizes(result, product && !narrow ? left : null, product ? above : null, slim);
    const kind = (plane) => (lesson.tensor_table[plane.name] || {}).probabilities;
    const range = (plane) => Maps.rangeOf(lesson, trace, plane.name, place.batch);
    let [own, besides, over] = [range(result), left && range(left), above && range(above)];
    if (left && !product && kind(left) === kind(result) && picture.result !== "layer_norm_output") own = besides = joined(own, besides);
    if (picture.result === "scores" && left && above) besides = over = joined(besides, over);
    // What is given stays in sight.
    const before = (plane) => Boolean(dataOf(walk).rules[plane.name]) && isVeiled(walk, lesson.tensor_table[plane.name].step);
    const parts = [];
    const view = (plane, cell, span, labels, hidden) => makeView(walk, plane, cell, span, { veiled: hidden, labels, pinned: pinnedIn(walk, plane) });
    const both = { rows: Maps.hasWords(result.rowAxis), columns: Maps.hasWords(result.columnAxis) };
    if (!product) {
      const forWords = Maps.hasWords(result.rowAxis) ? 90 : 20;
      const half = { width: (left && !narrow ? room.width / 2 : room.width) - forWords, height: room.height };
      const cells = cellSizes(result, null, null, half);
      if (left) parts.push(figureOf(walk, view(left, left.columns === result.columns ? cells.result : cellSizes(left, null, null, half).result, besides, { rows: true, columns: Maps.hasWords(left.columnAxis) }, before(left))));
      if (above && !narrow) parts.push(figureOf(walk, view(above, cells.result, over, both, before(above))));
      const shown = view(result, cells.result, own, both, veiled);
      parts.push(figureOf(walk, shown));
      return { node: element("div", { class: "row" }, ...parts), result: shown, legends: legendsOf([[left, besides], [above, over], [result, own]]) };
    }
    const shown = view(result, sizes.result, own, { rows: both.rows && (narrow || !left), columns: false }, veiled);
    const upper = view(above, sizes.above, over, { rows: false, columns: Maps.hasWords(above.columnAxis) }, before(above));
    const side = view(left, narrow ? cellSizes(left, null, null, slim).result : sizes.left, besides, { rows: Maps.hasWords(left.rowAxis), columns: false }, before(left));
    const [aboveFigure, leftFigure, resultFigure] = [upper, side, shown].map((each) => figureOf(walk, each));
    // In one column the result comes first, and what is said of its cells.
    const node = narrow
      ? element("div", { class: "stack" }, resultFigure, slot, leftFigure, aboveFigure)
      : element("div", { class: "product" }, element("div", { class: "corner" }), element("div", { class: "above" }, aboveFigure),
        element("div", { class: "left" }, leftFigure), element("div", { class: "result" }, resultFigure));
    return { node, result: shown, legends: legendsOf([[left, besides], [above, over], [result, own]]) };
  }

  function legendsOf(parts) {
    const byRange = new Map();
    for (const [plane, range] of parts) {
      if (!plane || range[0] === range[1]) continue; // masks that only block have a single number
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
    const at = pin || walk.page.pin; // which query it is about gives nothing away
    const row = Math.min(queries - 1, walk.row === null ? (at && at.index.length === 4 ? at.index[2] : 0) : walk.row);
    const plane = {
      name: picture.result, rows: heads, columns: keys, rowAxis: "H", columnAxis: "S′", title: `${picture.result}[${place.batch},:,${row},:]`,
      index: (head, key) => [place.batch, head, row, key],
      at: (head, key) => Provenance.valueAt(tensor, [place.batch, head, row, key]),
    };
    const range = Maps.rangeOf(lesson, trace, picture.result, place.batch);
    const size = Math.max(10, Math.min(34, Math.floor((stage.clientWidth - 80) / keys)));
    const view = makeView(walk, plane, { width: size, height: Math.min(size, 26) }, range, { veiled: isVeiled(walk, place.step), labels: { rows: true, columns: true } });
    const words = Maps.wordsAlong(trace, "L", queries);
    const choice = element("select", { id: "switch-row", "aria-label": "the query whose row is shown", onchange: (event) => {
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
    show({});
  }

  function toggleMute(walk, head) {
    const trace = traceOf(walk);
    const own = dataOf(walk).settings.heads.gain || Array(trace.sizes.H).fill(1);
    const gains = walk.gains || [...own];
    gains[head] = gains[head] === 0 ? own[head] || 1 : 0;
    walk.gains = gains.every((gain, i) => gain === own[i]) ? null : gains;
    walk.trace = null;
    show({});
  }

  function restorePage(walk) {
    [walk.settings, walk.gains, walk.trace] = [null, null, null];
    show({ focus: "title" });
  }

  function switches(walk, place) {
    const trace = traceOf(walk);
    const { H: heads } = trace.sizes;
    const settings = trace.settings;
    const gains = walk.gains || settings.heads.gain || [];
    const hidesHead = isAsking(walk) && walk.page.answer && walk.page.answer.kind === "head";
    const headChoice = element("select", { id: "switch-head", "aria-label": "head", onchange: (event) => {
      walk.head = Number(event.target.value);
      show({});
    } }, ...Array.from({ length: heads }, (_, i) => element("option", { value: String(i), selected: i === place.head },
      `head ${i}${trace.roles[i] ? `: ${trace.roles[i]}` : ""}${gains[i] === 0 ? " (muted)" : ""}`)));
    const check = (id, text, checked, flip) => element("label", { class: "check" }, element("input", { id: `switch-${id}`, type: "checkbox", checked, onchange: flip }), text);
    const pairs = place.view === "all_heads";
    const box = element("fieldset", { class: "switches" }, element("legend", {}, "Try it"));
    if (!hidesHead) {
      if (heads > 1) box.append(headChoice, check("all", "all heads", pairs, () => {
        walk.view = pairs ? "one_head" : "all_heads";
        show({});
      }));
      if (settings.op === "multi_head_attention") box.append(check("mute", `mute head ${place.head}`, gains[place.head] === 0, () => toggleMute(walk, place.head)));
    }
    box.append(check("causal", "causal mask", settings.mask.is_causal === true, () => change(walk, (all) => {
      all.mask.is_causal = !all.mask.is_causal;
    })));
    const widthField = element("input", { id: "switch-window", type: "number", min: "1", max: String(Math.max(trace.sizes.L, trace.sizes.S)), value: settings.mask.sliding_window || "", "aria-label": "sliding window, in keys", placeholder: "none",
      onchange: () => change(walk, (all) => {
        const wanted = Number.parseInt(widthField.value, 10);
        all.mask.sliding_window = wanted >= 1 ? wanted : null;
      }) });
    widthField.addEventListener("keydown", (event) => event.stopPropagation());
    box.append(element("label", { class: "check" }, "window ", widthField, " keys"));
    if (isChanged(walk)) box.append(button("Restore its settings", () => restorePage(walk), { class: "quiet" }));
    const isElsewhere = [walk.step, walk.view, walk.head, walk.row].some((moved) => moved !== null) || walk.picture > 0;
    if (isElsewhere) box.append(button("Back to this page", () => {
      Object.assign(walk, { step: null, view: null, head: null, row: null, picture: 0, pin: null });
      show({ focus: "title" });
    }, { class: "quiet" }));
    return box;
  }

  // --- All of it ---

  let shownAt = "";
  // The inspector stands under the words where there is a column for them, else beside the map that it speaks of.
  const wideMedia = window.matchMedia("(min-width: 901px)");
  const aside = element("div", { id: "aside" });
  let slot = null;

  function stepBar(walk, place) {
    const press = (step) => () => {
      walk.step = step;
      walk.picture = 0;
      show({ focus: `step-${step}` });
    };
    const trace = traceOf(walk);
    return element("nav", { class: "steps", "aria-label": "steps of attention" }, ...dataOf(walk).shown.map((i) => {
      const step = lesson.steps[i];
      const there = picturesOf(walk, i).length > 0;
      return button(step.name, press(i), { id: `step-${i}`, "aria-current": i === place.step ? "step" : null, disabled: !there || !trace, title: step.question });
    }));
  }

  function writeStage(walk) {
    views = [];
    slot = element("div", { class: "slot" });
    aside.replaceChildren();
    const { page } = walk;
    const asking = isAsking(walk);
    const picture = asking && page.ask_picture !== undefined ? page.ask_picture : page.picture;
    if (picture !== undefined && walk.step === null && walk.view === null && !isChanged(walk)) {
      const image = element("img", { class: "picture", tabindex: "0", title: "larger or smaller", onclick: () => image.classList.toggle("large"),
        alt: `A picture of this page as the program shows it: the view ${page.view} of the step ${page.step}, with the text above.`, src: `data:image/svg+xml,${encodeURIComponent(lesson.pictures[picture])}` });
      const place = dataOf(walk) ? placeOf(walk) : null;
      stage.replaceChildren(...(place ? [stepBar(walk, { step: -1 })] : []), element("div", { class: "scroll" }, image), ...(place ? [switches(walk, place)] : []));
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
      }, { id: `picture-${i}`, "aria-pressed": String(each === shown) })));
    const step = lesson.steps[place.step];
    stage.replaceChildren(bar, ...[
      element("div", { class: "step" }, element("h3", {}, `${dataOf(walk).shown.indexOf(place.step) + 1}  ${step.name}`), element("p", { class: "question" }, step.question)),
      tabs,
      element("p", { class: "formula" }, shown.formulas.join("     ")),
      built.node || built,
      slot.parentNode ? null : slot,
      element("div", { class: "legends" }, ...(built.legends || [])),
      element("p", { class: "sentence" }, shown.sentence),
      switches(walk, place),
    ].filter(Boolean));
    (wideMedia.matches && !printing ? aside : slot).append(inspector);
    inspectPinned(walk);
    const at = `${walk.at} ${place.step} ${place.view} ${shown.result} ${asking}`;
    if (at !== shownAt) moveInto(built.result);
    shownAt = at;
  }

  // On paper: in the light theme, and nothing moves into it.
  function writeForPaper(walk) {
    printing = true;
    writeStage(walk);
    printing = false;
    cancelAnimationFrame(motion);
    for (const view of views) {
      view.shownRows = view.plane.rows;
      view.draw();
    }
  }

  const clear = () => {
    stage.replaceChildren();
    aside.replaceChildren();
  };
  const unpin = (walk) => {
    walk.pin = null;
    for (const view of views) view.options.pinned = null;
    for (const view of views) view.draw();
    inspectPinned(walk);
  };

  return { node: stage, aside, write: writeStage, writeForPaper, clear, unpin, restorePage, darkMedia, moving: () => moving, views: () => views };
};
