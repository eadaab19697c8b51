// Maps of numbers on a canvas: a part of a tensor as coloured cells, with the words of its rows and columns, a cell
// that follows the pointer and the arrow keys, and the same numbers as a table.
const Maps = (() => {
  "use strict";

  const keyAxes = new Set(["S", "S′"]);

  // Which part of a tensor is shown: its last two axes, at one index of each other one. `rows` may cut it, as W_k is
  // rows of in_proj_weight; `transposed` turns it.
  function planeOf(lesson, trace, name, { batch = 0, head = 0, transposed = false, rows = [0, 0] } = {}) {
    const tensor = trace.tensors[name];
    if (!tensor || tensor.data.length === 0) return null;
    const rank = tensor.shape.length;
    const declared = lesson.tensor_table[name] ? lesson.tensor_table[name].axes : [];
    const axes = tensor.shape.map((_, i) => declared[declared.length - rank + i] || "");
    const leading = axes.slice(0, Math.max(0, rank - 2)).map((axis, i) => {
      const size = tensor.shape[i];
      if (axis === "N") return Math.min(batch, size - 1);
      if (axis === "H") return Math.min(head, size - 1);
      if (axis === "G") return Math.min(size - 1, Math.floor(head / Math.max(1, trace.sizes.H / size)));
      return 0;
    });
    const height = rank < 2 ? 1 : tensor.shape[rank - 2];
    const width = tensor.shape[rank - 1];
    const [begin, end] = rows[1] > 0 ? rows : [0, height];
    const stored = (row, column) => {
      const [r, c] = transposed ? [column, row] : [row, column];
      return rank < 2 ? [c] : [...leading, r + begin, c];
    };
    const [rowAxis, columnAxis] = [rank < 2 ? "" : axes[rank - 2], axes[rank - 1]];
    return {
      name,
      transposed,
      rows: transposed ? width : end - begin,
      columns: transposed ? end - begin : width,
      rowAxis: transposed ? columnAxis : rowAxis,
      columnAxis: transposed ? rowAxis : columnAxis,
      index: stored,
      at: (row, column) => Provenance.valueAt(tensor, stored(row, column)),
      title: titleOf(name, leading, begin, end, height, transposed),
      leading,
    };
  }

  function titleOf(name, leading, begin, end, height, transposed) {
    const cut = end - begin < height ? [`${begin}:${end}`] : [];
    const index = [...leading, ...cut];
    return name + (index.length > 0 ? `[${index.join(",")}]` : "") + (transposed ? "ᵀ" : "");
  }

  // Rows of k and v have none of the keys of a past, which come first; what is appended to them comes last.
  const firstWord = ({ sizes }, axis, count, words) =>
    axis === "S" ? (count === sizes.S ? sizes.P || 0 : 0) : Math.max(0, words.length - count);

  // The words along an axis, or its indices.
  function wordsAlong(trace, axis, count) {
    const lists = axis === "L" ? trace.labels.query : keyAxes.has(axis) ? trace.labels.key : [];
    const all = lists[0] || [];
    const words = keyAxes.has(axis) ? all.slice(firstWord(trace, axis, count, all)) : all;
    return Array.from({ length: count }, (_, i) => (i < words.length ? words[i] : String(i)));
  }
  const hasWords = (axis) => axis === "L" || keyAxes.has(axis);

  // −0.25, 1.2e−5, −∞: six digits at most.
  function numberText(value, digits = 6) {
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
    if (value === 0) return "0";
    const size = Math.abs(value);
    let text = size < 1e-4 || size >= 10 ** digits ? size.toExponential(digits - 1) : size.toPrecision(digits);
    if (text.includes(".")) text = text.replace(/\.?0+(e|$)/, "$1");
    return (value < 0 ? "−" : "") + text.replace("e-", "e−").replace("e+", "e");
  }

  // In a cell there is room for three or four characters.
  function shortNumber(value) {
    if (!Number.isFinite(value)) return numberText(value);
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size < 0.005) return value < 0 ? "−0" : "0";
    const text = size < 10 ? size.toFixed(size < 1 ? 2 : 1) : size < 10000 ? size.toFixed(0) : size.toExponential(0);
    return (value < 0 ? "−" : "") + text.replace(/^0\./, ".").replace("e+", "e");
  }

  // The numbers that the colours of a tensor span: 0 to 1 for probabilities, else as far from 0 on either side as the
  // largest finite number of this batch that no mask blocks.
  function rangeOf(lesson, trace, name, batch) {
    if (lesson.tensor_table[name] && lesson.tensor_table[name].probabilities) return [0, 1];
    const tensor = trace.tensors[name];
    const isMasked = name === "masked_scores" && trace.tensors.mask_bias;
    const hasBatch = tensor.shape.length > 2;
    const size = hasBatch ? tensor.data.length / tensor.shape[0] : tensor.data.length;
    const begin = hasBatch ? Math.min(batch, tensor.shape[0] - 1) * size : 0;
    let largest = 0;
    for (let i = begin; i < begin + size; i += 1) {
      const number = Math.abs(tensor.data[i]);
      if (number > largest && number < Infinity && !(isMasked && isBlocked(trace, i))) largest = number;
    }
    return [-largest, largest];
  }
  const isBlocked = (trace, at) => trace.tensors.mask_bias.data[at] === -Infinity;

  const maskedNames = new Set(["mask_bias", "masked_scores", "attn_weights", "dropped_weights", "attn_output_weights"]);
  // Whether this cell is only blocked, in a map that masks have acted on: its number says no more than the mask. Of the
  // mean of the heads, where all of them are blocked. (cell_kind in core/export/heatmap.h)
  function blockedAt(trace, plane, row, column) {
    const mask = trace.tensors.mask_bias;
    if (!mask || !maskedNames.has(plane.name)) return false;
    const value = plane.at(row, column);
    const fill = trace.settings.mask.value;
    const isFill = typeof fill === "number" && (value === fill || value === Math.fround(fill));
    if (value !== 0 && value !== -Infinity && !isFill) return false;
    const at = plane.index(row, column);
    const heads = at.length === 4 ? [at[1]] : Array.from({ length: mask.shape[1] }, (_, head) => head);
    return heads.every((head) => Provenance.valueAt(mask, [at[0], head, ...at.slice(-2)]) === -Infinity);
  }

  // Letters as large as the page's own.
  const scale = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const fontOf = (pixels) => `${Math.round(pixels * scale())}px system-ui, sans-serif`;

  // "rrggbb…" as colours, each [red, green, blue].
  function colorTable(hex) {
    return Array.from({ length: hex.length / 6 }, (_, i) => [0, 2, 4].map((at) => parseInt(hex.slice(6 * i + at, 6 * i + at + 2), 16)));
  }
  const cssColor = ([r, g, b]) => `rgb(${r},${g},${b})`;

  // Between the two entries beside its place in the table, as the program colours it (core/export/color_map.h). NaN has none.
  function colorOf(table, value, [lo, hi]) {
    if (Number.isNaN(value)) return null;
    const share = Number.isFinite(value) && hi <= lo ? 0.5 : value <= lo ? 0 : value >= hi ? 1 : (value - lo) / (hi - lo);
    const place = 255 * share;
    const entry = Math.floor(place);
    const next = table[Math.min(entry + 1, 255)];
    return table[entry].map((channel, i) => Math.round(channel + (place - entry) * (next[i] - channel)));
  }

  // Dark letters on light cells.
  function inkOn([r, g, b]) {
    return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111" : "#fff";
  }

  // A map that is drawn. `options`: cell (pixels), table, range, labels {rows, columns}, veiled, painted (a set of
  // "row,column"), name; events: point(row, column), pick(row, column), key(event) → true if it was used.
  class View {
    constructor(plane, trace, options) {
      Object.assign(this, { plane, trace, options, marks: [], cursor: null, shownRows: plane.rows });
      this.canvas = document.createElement("canvas");
      this.canvas.tabIndex = 0;
      // Arrow keys go to the map itself, also from a screen reader; what they reach is said by the inspector.
      this.canvas.setAttribute("role", "application");
      this.canvas.setAttribute("aria-roledescription", "map");
      this.canvas.setAttribute("aria-label", this.label());
      this.canvas.id = options.id;
      this.measure();
      this.listen();
      this.draw();
    }

    label() {
      const { plane, options } = this;
      const size = `${plane.rows} rows and ${plane.columns} columns`;
      return options.veiled ? `${plane.title}: hidden until you answer, ${size}` : `${plane.title}, ${size}. Arrow keys move through its cells.`;
    }

    measure() {
      const { plane, options } = this;
      const context = this.canvas.getContext("2d");
      context.font = fontOf(12);
      const widest = (words) => words.reduce((most, word) => Math.max(most, context.measureText(word).width), 0);
      this.rowWords = options.labels.rows ? wordsAlong(this.trace, plane.rowAxis, plane.rows) : [];
      this.columnWords = options.labels.columns ? wordsAlong(this.trace, plane.columnAxis, plane.columns) : [];
      this.left = this.rowWords.length > 0 ? Math.min(90, Math.ceil(widest(this.rowWords)) + 8) : 1;
      this.top = this.columnWords.length > 0 ? Math.min(80, Math.ceil(widest(this.columnWords)) + 8) : 1;
      [this.cellWidth, this.cellHeight] = [options.cell.width, options.cell.height];
      this.width = this.left + Math.ceil(plane.columns * this.cellWidth) + 1;
      this.height = this.top + Math.ceil(plane.rows * this.cellHeight) + 1;
      const ratio = window.devicePixelRatio || 1;
      this.canvas.width = Math.round(this.width * ratio);
      this.canvas.height = Math.round(this.height * ratio);
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${this.height}px`;
    }

    cellAt(event) {
      const box = this.canvas.getBoundingClientRect();
      const scale = box.width > 0 ? this.width / box.width : 1;
      const column = Math.floor(((event.clientX - box.left) * scale - this.left) / this.cellWidth);
      const row = Math.floor(((event.clientY - box.top) * scale - this.top) / this.cellHeight);
      const inside = row >= 0 && row < this.plane.rows && column >= 0 && column < this.plane.columns;
      return inside ? [row, column] : null;
    }

    listen() {
      const { canvas, options } = this;
      const point = (cell) => {
        this.cursor = cell;
        this.draw();
        if (cell) options.point(this, cell[0], cell[1]);
      };
      canvas.addEventListener("pointermove", (event) => {
        const cell = this.cellAt(event);
        if (String(cell) === String(this.cursor)) return;
        point(cell);
        if (cell && event.buttons === 1 && event.pointerType === "mouse" && options.drag) options.drag(this, cell[0], cell[1]);
      });
      canvas.addEventListener("pointerleave", () => {
        if (document.activeElement !== canvas) this.cursor = null;
        this.draw();
        options.leave(this);
      });
      // A mouse picks as it is pressed, so that it can paint; a finger when it is lifted where it was put, as it may be scrolling.
      let touched = null;
      canvas.addEventListener("pointerdown", (event) => {
        const cell = this.cellAt(event);
        touched = cell;
        if (cell && event.pointerType === "mouse") options.pick(this, cell[0], cell[1]);
      });
      canvas.addEventListener("pointercancel", () => {
        touched = null;
      });
      canvas.addEventListener("pointerup", (event) => {
        const cell = this.cellAt(event);
        if (event.pointerType !== "mouse" && cell && String(cell) === String(touched)) options.pick(this, cell[0], cell[1]);
        touched = null;
      });
      canvas.addEventListener("focus", () => point(this.cursor || this.first()));
      canvas.addEventListener("blur", () => {
        this.cursor = null;
        this.draw();
      });
      canvas.addEventListener("keydown", (event) => {
        const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
        const [row, column] = this.cursor || this.first();
        if (Object.hasOwn(moves, event.key) && !event.altKey && !event.ctrlKey && !event.metaKey) {
          const [down, right] = moves[event.key];
          const clamp = (x, size) => Math.min(size - 1, Math.max(0, x));
          point([clamp(row + down, this.plane.rows), clamp(column + right, this.plane.columns)]);
        } else if (event.key === "Enter" || event.key === " ") {
          options.pick(this, row, column);
        } else {
          return;
        }
        event.preventDefault();
        event.stopPropagation();
      });
    }

    first() {
      return [0, 0];
    }

    rect(row, column) {
      const x = this.left + Math.round(column * this.cellWidth);
      const y = this.top + Math.round(row * this.cellHeight);
      const right = this.left + Math.round((column + 1) * this.cellWidth);
      const below = this.top + Math.round((row + 1) * this.cellHeight);
      return [x, y, Math.max(1, right - x), Math.max(1, below - y)];
    }

    draw() {
      const context = this.canvas.getContext("2d");
      const ratio = window.devicePixelRatio || 1;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, this.width, this.height);
      this.drawWords(context);
      for (let row = 0; row < this.plane.rows; row += 1)
        for (let column = 0; column < this.plane.columns; column += 1) this.drawCell(context, row, column);
      this.drawMarks(context);
    }

    drawWords(context) {
      const { colors } = this.options;
      context.font = fontOf(12);
      context.textBaseline = "middle";
      const every = (size) => Math.max(1, Math.ceil((11 * scale()) / size));
      context.textAlign = "right";
      this.rowWords.forEach((word, row) => {
        if (row % every(this.cellHeight) !== 0) return;
        context.fillStyle = this.cursor && this.cursor[0] === row ? colors.accent : colors.soft;
        context.fillText(word, this.left - 4, this.top + (row + 0.5) * this.cellHeight, this.left - 6);
      });
      context.textAlign = "left";
      this.columnWords.forEach((word, column) => {
        if (column % every(this.cellWidth) !== 0) return;
        context.fillStyle = this.cursor && this.cursor[1] === column ? colors.accent : colors.soft;
        context.save();
        context.translate(this.left + (column + 0.5) * this.cellWidth, this.top - 4);
        context.rotate(-Math.PI / 2);
        context.fillText(word, 0, 0, this.top - 6);
        context.restore();
      });
    }

    drawCell(context, row, column) {
      const { options, plane, trace } = this;
      const { colors } = options;
      const [x, y, width, height] = this.rect(row, column);
      const gap = Math.min(width, height) >= 10 ? 1 : 0;
      const fill = (color) => {
        context.fillStyle = color;
        context.fillRect(x, y, width - gap, height - gap);
      };
      if (options.veiled || row >= this.shownRows) {
        fill(colors.veil);
        if (options.painted && options.painted.has(`${row},${column}`)) this.drawCross(context, row, column, colors.accent);
        return;
      }
      if (blockedAt(trace, plane, row, column)) {
        fill(cssColor(colors.blocked));
        this.drawCross(context, row, column, inkOn(colors.blocked));
        return;
      }
      const value = plane.at(row, column);
      const color = colorOf(options.table, value, options.range) || colors.nan;
      fill(cssColor(color));
      if (width < 21 || height < 13) return;
      context.font = fontOf(width < 27 * scale() ? 9 : 11);
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillStyle = inkOn(color);
      context.fillText(shortNumber(value), x + (width - gap) / 2, y + (height - gap) / 2, width - 3);
    }

    drawCross(context, row, column, color) {
      const [x, y, width, height] = this.rect(row, column);
      const side = Math.min(width, height);
      if (side < 6) return;
      const reach = side / 5;
      const [middle, centre] = [x + width / 2, y + height / 2];
      context.strokeStyle = color;
      context.lineWidth = Math.max(1, side / 14);
      context.beginPath();
      context.moveTo(middle - reach, centre - reach);
      context.lineTo(middle + reach, centre + reach);
      context.moveTo(middle + reach, centre - reach);
      context.lineTo(middle - reach, centre + reach);
      context.stroke();
    }

    // Boxes of cells: what a cell is made from, and the cell itself.
    drawMarks(context) {
      const { colors } = this.options;
      const outline = ([row, column], [rowEnd, columnEnd], color, thick) => {
        const [x, y] = this.rect(row, column);
        const [right, below, width, height] = this.rect(rowEnd - 1, columnEnd - 1);
        context.strokeStyle = color;
        context.lineWidth = thick;
        context.strokeRect(x - 0.5, y - 0.5, right + width - x, below + height - y);
      };
      for (const cell of this.options.wrong || []) {
        const [row, column] = cell.split(",").map(Number);
        outline([row, column], [row + 1, column + 1], colors.accent, 3);
      }
      for (const mark of this.marks) outline(mark.begin, mark.end, mark.color || colors.source, 2);
      if (this.options.pinned) {
        const [row, column] = this.options.pinned;
        outline([row, column], [row + 1, column + 1], colors.pin, 2);
      }
      if (this.cursor) outline(this.cursor, [this.cursor[0] + 1, this.cursor[1] + 1], colors.accent, 2);
    }

    // The part of a box of the tensor that this map shows, as a mark; null if it shows none.
    markOf(box) {
      const { plane } = this;
      if (box.tensor !== plane.name) return null;
      const first = plane.index(0, 0);
      const last = plane.index(plane.rows - 1, plane.columns - 1);
      const inside = first.every((at, axis) => box.begin[axis] <= last[axis] && box.end[axis] > at);
      if (!inside) return null;
      const rank = first.length;
      const span = (axis) => [
        Math.max(box.begin[axis], first[axis]) - first[axis],
        Math.min(box.end[axis], last[axis] + 1) - first[axis],
      ];
      const columns = span(rank - 1);
      const rows = rank < 2 ? [0, 1] : span(rank - 2);
      return plane.transposed
        ? { begin: [columns[0], rows[0]], end: [columns[1], rows[1]] }
        : { begin: [rows[0], columns[0]], end: [rows[1], columns[1]] };
    }
  }

  // The same numbers as a table, for a screen reader or to be copied.
  function tableOf(plane, trace) {
    const table = document.createElement("table");
    const caption = table.createCaption();
    caption.textContent = `${plane.title}, ${plane.rows} × ${plane.columns}`;
    const words = (axis, count) => wordsAlong(trace, axis, count).map((word, i) => (hasWords(axis) ? `${word}` : `${axis} ${i}`));
    const header = (text, scope) => {
      const cell = document.createElement("th");
      cell.scope = scope;
      cell.textContent = text;
      return cell;
    };
    const head = table.createTHead().insertRow();
    head.append(header(`${plane.rowAxis || "row"} \\ ${plane.columnAxis || "column"}`, "col"));
    for (const word of words(plane.columnAxis, plane.columns)) head.append(header(word, "col"));
    const body = table.createTBody();
    words(plane.rowAxis, plane.rows).forEach((word, row) => {
      const line = body.insertRow();
      line.append(header(word, "row"));
      for (let column = 0; column < plane.columns; column += 1)
        line.insertCell().textContent = numberText(plane.at(row, column));
    });
    return table;
  }

  // The colours of a range, with its ends.
  function legend(table, [lo, hi], caption, colors) {
    const canvas = document.createElement("canvas");
    const [width, height] = [160, 10];
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `colours of ${caption}: from ${numberText(lo, 3)} to ${numberText(hi, 3)}`);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    for (let x = 0; x < width; x += 1) {
      context.fillStyle = cssColor(colorOf(table, x, [0, width - 1]));
      context.fillRect(x, 0, 1, height);
    }
    context.strokeStyle = colors.soft;
    context.strokeRect(0.5, 0.5, width - 1, height - 1);
    return canvas;
  }

  return {
    View, planeOf, rangeOf, tableOf, legend, colorTable, numberText, wordsAlong, hasWords, blockedAt, scale,
  };
})();
