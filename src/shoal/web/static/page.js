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
  if (mirror) document.getElementById(mirror).value = Number(event.target.value).toLocaleString("en");
});

// What somebody types, or is about to, is not replaced by an answer to an earlier question.
document.addEventListener("htmx:beforeSwap", (event) => {
  const typed = [...event.detail.target.querySelectorAll("input[name=require]")];
  const busy = typed.some((one) => one.value !== one.defaultValue || one === document.activeElement);
  const verb = event.detail.requestConfig && event.detail.requestConfig.verb;
  if (busy && verb === "get") event.detail.shouldSwap = false;
  // Nor by the answer to what the field held before: another question is on its way.
  const field = event.detail.elt;
  if (field.id === "require" && field.value !== event.detail.requestConfig.parameters.require) event.detail.shouldSwap = false;
  if (event.detail.xhr.getResponseHeader("HX-Retarget")) event.detail.shouldSwap = true;
});

// What went wrong stands until something else is tried.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.requestConfig.verb !== "get") document.getElementById("told").replaceChildren();
});

// The button waits until what was typed or chosen last has its answer, because the answer may ask
// for a decision first. It does not wait for prices, which can take long.
const sent = new Set();
function wait() {
  const ready = document.getElementById("ready");
  const field = document.getElementById("require");
  if (ready) ready.disabled = sent.size > 0 || (field !== null && field.value !== field.defaultValue);
}
document.addEventListener("input", wait);
document.addEventListener("htmx:beforeRequest", (event) => {
  const { requestConfig, xhr } = event.detail;
  if (/\/prices?(\/|$)/.test(requestConfig.path)) return;
  sent.add(xhr);
  wait();
  xhr.addEventListener("loadend", () => { sent.delete(xhr); wait(); });
});

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
