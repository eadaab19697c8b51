// Elements of the page, made by scripts alone. Text is only ever text: nothing of a file is read as HTML.
const Elements = (() => {
  "use strict";

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

  return { element, button, paragraphs };
})();
