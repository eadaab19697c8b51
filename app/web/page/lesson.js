// Walks through the pages of a lesson: its texts and questions, the steps of attention with their maps, and what a
// reader may switch. Everything that is shown is computed here, from the arrays in the page.
(async () => {
  "use strict";

  const reader = await Reader();
  if (!reader) return;
  const { element, button, paragraphs } = Elements;
  const { lesson, walks, questions, homeworkAt, keep, wordsOf, isAsking, traceOf, subjectOf, giveAnswer } = reader;
  const { controls: answerControls, answer, answerAgain } = Questions(reader);
  const stage = Stage(reader, answer);

  // --- A page ---

  const words = element("section", { id: "words", "aria-label": "the page" });
  const head = element("header", {});

  function pageHead() {
    const choice = element("select", { id: "pages", "aria-label": "page", onchange: (event) => turnTo(Number(event.target.value), "pages") },
      ...lesson.pages.map((page, i) => element("option", { value: String(i), selected: i === reader.current }, `${pageName(i)}${mark(walks[i])}`)));
    if (homeworkAt >= 0) choice.append(element("option", { value: String(homeworkAt), selected: reader.current === homeworkAt }, "Your answers"));
    const last = homeworkAt >= 0 ? homeworkAt : lesson.pages.length - 1;
    head.replaceChildren(
      element("h1", {}, lesson.title || "A lesson"),
      element("nav", { class: "turn", "aria-label": "pages" },
        button("←", () => turnTo(reader.current - 1), { disabled: reader.current === 0, "aria-label": "previous page", title: "previous page (←)" }), choice,
        button("→", () => turnTo(reader.current + 1), { disabled: reader.current === last, "aria-label": "next page", title: "next page (→)" })));
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
      if (said.changed) lines.push(element("p", { class: "changed" }, "You changed this page. ", button("Restore its settings", () => stage.restorePage(walk), { class: "quiet" })));
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
    if (walk.page.answer.kind === "weights" && walk.given) box.append(drawnBeside(walk));
    box.append(button("answer again", () => answerAgain(walk), { class: "quiet" }));
    return box;
  }

  // What was drawn beside what is right.
  function drawnBeside(walk) {
    const { key, weightLabels } = reader.answerWords(walk);
    const cells = (texts, tag) => texts.map((text) => element(tag, tag === "th" ? { scope: "col" } : {}, text));
    if (!key.weights) return "";
    return element("table", { class: "answers" }, element("thead", {}, element("tr", {}, ...cells(["key", "you drew", "it is"], "th"))),
      element("tbody", {}, ...key.weights.weights.map((weight, i) => element("tr", {}, ...cells([weightLabels[i], walk.given[i].toFixed(2), weight.toFixed(2)], "td")))));
  }

  // The page of this lesson that goes into a wrong option; null where there is none.
  function seeOf(walk) {
    const { answer: wanted } = walk.page;
    if (walk.right !== false || !wanted.options) return null;
    const option = wanted.options[wanted.kind === "choice" ? walk.given - 1 : wanted.options.findIndex((each) => each.tensor === walk.given)];
    const at = option && option.see ? lesson.pages.findIndex((page) => page.title === option.see) : -1;
    return at < 0 ? null : at;
  }

  function show({ focus = null }) {
    const before = document.activeElement ? document.activeElement.id : "";
    document.body.classList.toggle("homework", reader.current === homeworkAt);
    if (reader.current === homeworkAt) showHomework();
    else {
      const walk = walks[reader.current];
      writeWords(walk);
      stage.write(walk);
    }
    pageHead();
    const target = focus && document.getElementById(focus === "field" ? "words" : focus);
    if (focus === "field") target.querySelector("input").focus();
    else if (target) target.focus({ preventScroll: focus !== "title" });
    else if (before && document.getElementById(before)) document.getElementById(before).focus({ preventScroll: true }); // what was switched
  }

  function turnTo(at, focus = "title") {
    const last = homeworkAt >= 0 ? homeworkAt : lesson.pages.length - 1;
    reader.current = Math.min(last, Math.max(0, at));
    history.replaceState(null, "", `#${reader.current + 1}`);
    show({ focus });
    window.scrollTo(0, 0);
  }

  // --- The reader's answers, to hand in ---

  function save() {
    const text = `${JSON.stringify(reader.homeworkFile(), null, 1)}\n`;
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const safe = (word) => word.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60);
    const link = element("a", { href: url, download: `${[safe(reader.name), safe(lesson.title)].filter(Boolean).join("-") || "answers"}.json` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  function showHomework() {
    stage.clear();
    const given = (walk) => (!walk.answered ? "not yet answered" : walk.given === null ? "the answer was shown" : walk.verdict);
    const rows = questions.map((at) => {
      const walk = walks[at];
      return element("tr", {}, element("th", { scope: "row" }, button(walk.page.title || `Page ${at + 1}`, () => turnTo(at), { class: "quiet" })), element("td", {}, given(walk)),
        element("td", {}, !walk.answered ? "" : walk.right === true ? "right" : walk.right === false ? "wrong" : "–"));
    });
    const count = (holds) => questions.filter((at) => holds(walks[at])).length;
    const right = count((walk) => walk.right === true);
    const done = count((walk) => walk.answered && walk.given !== null);
    const shown = count((walk) => walk.answered && walk.given === null);
    const field = element("input", { type: "text", value: reader.name, "aria-label": "your name", autocomplete: "name", maxlength: "200", oninput: () => {
      reader.name = field.value;
      keep();
    } });
    field.addEventListener("keydown", (event) => event.stopPropagation());
    const message = element("p", { class: "message", role: "alert" });
    const press = () => {
      if (reader.name.trim() || message.textContent) return save();
      message.textContent = "Write your name first, or press again to save without one.";
      return field.focus();
    };
    words.replaceChildren(
      element("h2", { id: "title", tabindex: "-1" }, "Your answers"),
      paragraphs(`${done} of ${questions.length} questions answered, ${right} right${shown > 0 ? `; ${shown} let the answer be shown` : ""}.`),
      element("p", {}, element("label", {}, "Your name  ", field), "  ", button("Save the answers as a file", press, { class: "primary", disabled: done + shown === 0 })),
      message,
      paragraphs("Hand this file in. Nothing is sent from here: the page has no connection to anywhere.", { class: "hint" }),
      element("div", { class: "scroll" }, element("table", { class: "answers" }, element("thead", {}, element("tr", {}, ...["question", "your answer", ""].map((text) => element("th", { scope: "col" }, text)))), element("tbody", {}, ...rows))),
      element("p", {}, button("Forget my answers", () => {
        reader.forget();
        show({ focus: "title" });
      }, { class: "quiet" })));
  }

  // --- On paper: a page a sheet ---

  function printSheets() {
    const kept = reader.current;
    const sheets = element("div", { id: "sheets" });
    for (const walk of walks) {
      reader.current = walk.at;
      writeWords(walk);
      stage.writeForPaper(walk);
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
      sheet.append(copy(words), copy(stage.node));
      sheets.append(sheet);
    }
    reader.current = kept;
    document.body.append(sheets);
    document.body.classList.add("printing");
  }

  function afterPrint() {
    const sheets = document.getElementById("sheets");
    if (sheets) sheets.remove();
    document.body.classList.remove("printing");
    show({});
  }

  // --- Begin ---

  document.getElementById("lesson").append(head, element("main", {}, element("div", { id: "column" }, words, stage.aside), stage.node),
    element("footer", {}, `Made by Headwise ${lesson.version}. Every number is computed in this page.`));
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "Escape" && walks[reader.current]) stage.unpin(walks[reader.current]);
    if (event.target.closest(".scroll") && event.target.closest(".numbers")) return; // a table scrolls by the arrows
    const turns = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
    if (Object.hasOwn(turns, event.key)) {
      event.preventDefault();
      turnTo(reader.current + turns[event.key]);
      return;
    }
    const walk = walks[reader.current];
    const digit = Number.parseInt(event.key, 10);
    if (!walk || !isAsking(walk) || !walk.page.answer || Number.isNaN(digit)) return;
    const [option, head] = [words.querySelectorAll(".option")[digit - 1], words.querySelectorAll(".heads button")[digit]];
    if (option || head) (option || head).click();
  });
  window.addEventListener("beforeprint", printSheets);
  window.addEventListener("afterprint", afterPrint);
  window.addEventListener("hashchange", () => {
    const at = Number.parseInt(location.hash.slice(1), 10) - 1;
    if (at >= 0 && at !== reader.current) turnTo(at);
  });
  stage.darkMedia.addEventListener("change", () => show({}));
  let widthBefore = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === widthBefore) return; // a phone's address bar comes and goes
    widthBefore = window.innerWidth;
    show({});
  });
  reader.show = show;
  reader.restore();
  const wanted = Number.parseInt(location.hash.slice(1), 10) - 1;
  reader.current = wanted > 0 && wanted <= Math.max(homeworkAt, lesson.pages.length - 1) ? wanted : 0;
  if (location.hash) history.replaceState(null, "", `#${reader.current + 1}`);
  show({});

  // For tests: what the page computes and says.
  window.headwise = {
    lesson, walks, turnTo, traceOf: (at) => traceOf(walks[at]), show,
    texts: (at) => ({ ask: wordsOf(walks[at], lesson.pages[at].ask).text, caption: wordsOf(walks[at], lesson.pages[at].caption).text }),
    key: (at) => Answers.key(lesson.pages[at].answer, subjectOf(walks[at])),
    answer: (at, given) => { giveAnswer(walks[at], given); return { text: walks[at].verdict, right: walks[at].right }; },
    moving: stage.moving, views: stage.views, homework: reader.homeworkFile, print: printSheets, afterPrint,
  };
})();
