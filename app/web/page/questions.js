// What a page's question is answered with: options, a field, sliders for a row of weights, or the map itself.
const Questions = (reader) => {
  "use strict";

  const { element, button, paragraphs } = Elements;
  const { answerWords, giveAnswer, takeBack, readAnswers, keep, traceOf } = reader;
  const show = (change) => reader.show(change);

  function answer(walk, given) {
    giveAnswer(walk, given);
    keep();
    show({ focus: "verdict" });
  }

  function answerAgain(walk) {
    takeBack(walk);
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
    const sum = element("span", { class: "sum" });
    const total = () => walk.bars.reduce((all, bar) => all + bar, 0);
    const say = () => {
      sum.textContent = `sum ${total().toFixed(2)}; what you draw is scaled to 1`;
    };
    const give = () => {
      if (total() > 0) return answer(walk, walk.bars.map((bar) => bar / total()));
      walk.message = "Draw the row first: move the sliders.";
      return show({ focus: "question" });
    };
    const rows = labels.map((label, i) => {
      const value = element("span", { class: "value", "aria-hidden": "true" }, walk.bars[i].toFixed(2));
      const slider = element("input", { type: "range", min: "0", max: "1", step: "0.01", value: String(walk.bars[i]), "aria-label": `weight of ${label}`, oninput: () => {
        walk.bars[i] = Number(slider.value);
        value.textContent = walk.bars[i].toFixed(2);
        say();
      } });
      // A digit is the weight in tenths, as in the window.
      slider.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Enter") give();
        if (!/^[0-9]$/.test(event.key)) return;
        slider.value = String(Number(event.key) / 10);
        slider.dispatchEvent(new Event("input"));
      });
      return element("label", { class: "bar" }, element("span", {}, label), slider, value);
    });
    say();
    return [element("div", { class: "bars" }, ...rows), sum, button("answer", give, { class: "primary" })];
  }

  function maskControls(walk) {
    const give = () => answer(walk, [...walk.painted].map((cell) => cell.split(",").map(Number)));
    return [
      paragraphs("Click or tap the blocked pairs on the hidden map, or drag over them with a mouse; by keys: the arrows and Space.", { class: "hint" }),
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
    cell: (walk, wanted) => [paragraphs(`Click or tap a cell of ${wanted.tensor} on the map; by keys: Tab to the map, the arrows, Enter.`, { class: "hint" })],
    weights: weightControls,
    mask: maskControls,
  };

  return { controls: answerControls, answer, answerAgain };
};
