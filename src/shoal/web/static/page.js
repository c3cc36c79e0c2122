// What a form cannot do by itself: send a file once it is chosen, take one that is dropped, and
// show a slider's number while it moves.
"use strict";

// A question that a newer one overtook is no error, so it is not logged as one. When a request
// fails, htmx logs that as well, under another name.
const OVERTAKEN = ["htmx:afterRequest", "htmx:sendAbort"];
htmx.logger = (element, name, detail) => { if (OVERTAKEN.includes(name)) delete detail.error; };

// Whoever sends something that takes a while is told so at once.
document.addEventListener("submit", (event) => {
  const told = event.target.querySelector(".sending");
  if (told) told.hidden = false;
});

// What a file is called is a first idea of what to call the table that it holds.
function fill(input) {
  const field = document.getElementById(input.dataset.fills);
  const stem = (input.files[0] ? input.files[0].name : "").split(".")[0];
  const name = stem.replace(/[^A-Za-z0-9-]+/g, "_").replace(/^[0-9_-]+|_+$/g, "").slice(0, 40);
  if (field && (!field.value || field.dataset.filled === field.value)) field.value = field.dataset.filled = name;
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-fills]")) fill(event.target);
  if (event.target.matches("[data-submit]") && event.target.value) event.target.form.requestSubmit();
});

for (const zone of document.querySelectorAll("[data-drop]")) {
  const input = zone.querySelector("input[type=file]");
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.add("over"); });
  }
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    input.form.requestSubmit();
  });
}

document.addEventListener("input", (event) => {
  const mirror = event.target.dataset && event.target.dataset.mirror;
  if (mirror) document.getElementById(mirror).value = event.target.value;
});

// What went wrong stands until something that the owner did after seeing it has succeeded. What was
// waiting for its turn when a change was refused does not take the refusal away, unread.
let refused = 0;
document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, target } = event.detail;
  const told = document.getElementById("told");
  if (target === told) refused = performance.now();
  else if (requestConfig.verb !== "get" && requestConfig.triggeringEvent?.timeStamp > refused && !lost) told.replaceChildren();
});

// Decisions are sent in turn (hx-sync in the templates), and each answer holds all that follows.
// `asked` counts what was typed, chosen or clicked; every request knows the count as it left, and
// every element the count as it was touched last. So an answer never replaces what was touched
// later, a price is taken only if nothing was decided since, and the button waits until everything
// has its answer, because that may ask for a decision first. It does not wait for prices.
// One that got none may be shown here and not be known there: then the button stays off, and the
// page says why.
let asked = 0, answered = 0, taken = 0, lost = false, held = null;

function pending() {
  const field = document.getElementById("require");
  return answered < asked || Boolean(field && field.unsent);
}

function wait() {
  const ready = document.getElementById("ready");
  if (ready) ready.disabled = lost || pending();
  if (!held || (pending() && !lost)) return;
  const { form, button, says } = held;
  held = null;
  if (form.isConnected) form.requestSubmit(button && button.isConnected ? button : null);
  // An answer to what was decided before may show the same choice anew: what was clicked still counts.
  else [...document.forms].find((one) => sayings(one) === says)?.requestSubmit();
}

function sayings(form) {
  return `${form.action}?${new URLSearchParams(new FormData(form))}`;
}

// A form that leads to another page would take along what still waits for its turn, unsent.
document.addEventListener("submit", (event) => {
  if (lost || !pending() || event.target.matches("[hx-post]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  held = { form: event.target, button: event.submitter, says: sayings(event.target) };
}, true);

function touched(part) {
  return [part, ...part.querySelectorAll("*")].some((one) => one.unsent || one.asked > taken);
}

document.addEventListener("input", (event) => {
  const field = event.target;
  if (!field.closest("#look, #decide")) return; // how a file is read has answers of its own
  if (field.id !== "require") field.asked = asked + 1;
  else if (field.value !== (field.typed ?? field.defaultValue)) {
    field.typed = field.value;
    field.unsent = true; // until a request takes it along
    asked += 1;
    wait();
  }
});
document.addEventListener("htmx:confirm", (event) => {
  const { elt, verb } = event.detail;
  if (verb === "get" || !elt.closest("#table, #look, #decide") || elt.closest("[data-aside]")) return;
  const cause = event.detail.triggeringEvent;
  cause.asked ??= ++asked; // what waited for its turn keeps its place
  elt.asked = Math.max(elt.asked ?? 0, cause.asked);
  wait();
});
document.addEventListener("htmx:configRequest", (event) => {
  const field = document.getElementById("require");
  const { parameters, triggeringEvent } = event.detail;
  event.detail.counted = triggeringEvent?.asked !== undefined;
  event.detail.asked = triggeringEvent?.asked ?? asked;
  if (field && parameters.require === field.value) field.unsent = false;
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, target } = event.detail;
  taken = requestConfig.asked;
  if (requestConfig.verb === "get" && taken < asked) event.detail.shouldSwap = false;
  else if (touched(target)) event.detail.swapOverride = "none"; // what else follows is taken
});
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  if (touched(event.detail.target)) event.detail.shouldSwap = false;
});
document.addEventListener("htmx:afterRequest", (event) => {
  const { requestConfig, successful } = event.detail;
  if (requestConfig.counted && successful) answered = Math.max(answered, requestConfig.asked);
  wait();
});
for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => {
    if (event.detail.requestConfig.verb === "get") return;
    lost = true;
    const told = document.getElementById("told");
    told.replaceChildren(document.getElementById("unanswered").content.cloneNode(true));
    wait();
  });
}

// The step that is in view is the present one.
const steps = document.querySelectorAll(".steps li");
if (steps.length && "IntersectionObserver" in window) {
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      const present = entry.target.id === "look" ? "2" : "3";
      const next = document.querySelector("[data-next]");
      if (next) next.hidden = present === "3";
      for (const step of steps) {
        if (step.dataset.step === present) step.setAttribute("aria-current", "step");
        else step.removeAttribute("aria-current");
        step.classList.toggle("done", step.dataset.step < present);
      }
    }
  }, { rootMargin: "-30% 0px -60% 0px" });
  const start = () => document.querySelectorAll("section.part").forEach((part) => watch.observe(part));
  start();
  document.addEventListener("htmx:afterSettle", (event) => { if (event.target.id !== "requirements") start(); });
}
