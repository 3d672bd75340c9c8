"use strict";
// What all pages do: the choice of colours, and the text beside the pointer. Loads nothing.
const byId = (id) => document.getElementById(id);

byId("theme").addEventListener("change", (event) => {
  if (event.target.value) document.documentElement.dataset.theme = event.target.value;
  else delete document.documentElement.dataset.theme;
  document.dispatchEvent(new Event("colours"));
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("colours")));

function showTip(text, event) {
  const tip = byId("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = Math.max(0, Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + "px";
}

