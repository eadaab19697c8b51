// Live text: sentences with numbers of a trace in them, and claims that are shown where they hold, in the
// language of core/lessons/live_text.h.
//
//   LiveText.words(text, subject, {changed})  {text, changed}: as a page shows it
//   LiveText.text(text, subject)      with its numbers, and with those of its claims that hold
//   LiveText.value(written, subject)  {kind: "number" | "word" | "missing", number, text}: of an expression
//   LiveText.truth(written, subject)  true, false, or null: of a condition that depends on a missing number
//   LiveText.cells(written, subject, most)  an expression cell by cell: {tensor, from, to, each} or {problem}
//
// `subject`: {trace: {tensors, settings, sizes, labels, roles}, given, changed}. `given` has the numbers that
// are not computed here: layouts, wide, habit, trained, and those of tensors that the trace lacks, as grad.q.
// Its keys are quantities as they are written, with single blanks; its values are like those above. They
// belong to the page's own scenario: where the page is `changed`, they are missing. The last three throw
// LiveText.Unreadable.
const LiveText = (() => {
  "use strict";

  const { refuse, Unreadable } = LiveValue;
  const deepest = 4;  // nesting of parts

  // Reads a text into pieces: {plain}, {number, written} or {parts: [{condition, pieces}, …]}. What cannot be
  // read stays as it is written.
  class TextReader extends LiveValue.Reader {
    constructor(text, settings) {
      super(text, 0, settings);
      Object.assign(this, { depth: 0, read: new Map(), lastClosing: text.lastIndexOf("}") });
    }

    get ended() { return this.at >= this.text.length; }

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

    // Each brace is read once at each depth: else a choice without an end would be read again by each one
    // around it.
    takeBrace(pieces) {
      const place = this.at * (deepest + 1) + this.depth;
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
      const reader = new LiveExpression.Reader(written, expression ? 1 : 0, this.settings);
      const number = expression ? reader.any() : { quantity: reader.quantity() };
      if (reader.at < written.length) refuse("no such number");
      this.at = end + 1;
      return { number, written };
    }

    // "{if A: … | if B: … | else: …}"
    choice() {
      if (this.at > this.lastClosing) refuse("an unmatched brace");
      if (++this.depth > deepest) refuse("parts are nested too deeply");
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
      if (this.takeText("else:")) return null;
      const reader = new LiveExpression.Reader(this.text, this.at + 3, this.settings);
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

  function trimmedEnd(text) {
    let end = text.length;
    while (end > 0 && text[end - 1] === " ") --end;
    return text.slice(0, end);
  }

  function trim(pieces) {
    const first = pieces[0], last = pieces[pieces.length - 1];
    if (first && first.plain !== undefined) first.plain = first.plain.replace(/^ +/, "");
    if (last && last.plain !== undefined) last.plain = trimmedEnd(last.plain);
  }

  // Whether the text after an empty choice needs no blank before it.
  const beginsAfterBlank = (text) => text !== "" && " .,;:)".includes(text[0]);

  // Writes pieces; `dropped` counts the choices without any part that holds, what is missing goes to `gaps`.
  class Writer {
    constructor(subject) { Object.assign(this, { subject, dropped: 0 }); }

    write(pieces, gaps) {
      let text = "", afterNothing = false;  // an empty choice removes the blank before it
      for (const piece of pieces) {
        let added = piece.plain || "";
        if (afterNothing && text === "" && added.startsWith(" ")) added = added.slice(1);
        if (afterNothing && text.endsWith(" ") && beginsAfterBlank(added)) text = text.slice(0, -1);
        if (added !== "") afterNothing = false;
        if (piece.number) {
          const value = LiveExpression.value(piece.number, this.subject);
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
        if (condition && !LiveExpression.truth(condition, this.subject)) continue;
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

  const read = (text, subject) => LiveExpression.read(text, settingsOf(subject));
  return {
    words: wordsOf,
    text: (text, subject) => written(text, subject).text,
    value: (text, subject) => LiveExpression.value(read(text, subject), subject),
    truth: (text, subject) => LiveExpression.truth(read(text, subject), subject),
    cells: (text, subject, most) => LiveExpression.cells(read(text, subject), subject, most),
    number: LiveValue.number,
    Unreadable,
  };
})();
