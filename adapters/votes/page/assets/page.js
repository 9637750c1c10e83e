// Votes without loading the page anew. Without this file the form does the same, a page at a time.
"use strict";

(() => {
  const ballot = document.getElementById("ballot");
  const said = document.getElementById("said");
  const keys = document.getElementById("keys");
  const fields = ballot.elements;
  const ROLES = ["original", "left", "right"];
  const ANSWERS = { ArrowLeft: "left", 1: "left", ArrowRight: "right", 2: "right", ArrowDown: "tie", 3: "tie" };
  const LEAST_MS = 300; // the second click of a double click is no vote on the next pair
  const ahead = []; // kept, so that the browser keeps the pictures
  let busy = true;

  const address = (serving, role) => ballot.dataset.pictures + serving + "/" + role;
  const button = (answer) => ballot.querySelector(`button[value="${answer}"]`);
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  function say(text, trouble = false) {
    said.textContent = text;
    said.classList.toggle("trouble", trouble);
  }

  function setBusy(on) {
    busy = on;
    ballot.setAttribute("aria-busy", String(on));
  }

  async function loaded(picture) {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      try {
        await picture.decode();
        return;
      } catch {
        await wait(500 * (attempt + 1));
        const source = picture.src;
        picture.src = "";
        picture.src = source;
      }
    }
    throw new Error("a picture did not load");
  }

  async function ready(least) {
    const pictures = ROLES.map((role) => loaded(document.getElementById(role)));
    try {
      await Promise.all([...pictures, wait(least)]);
      setBusy(false);
    } catch {
      say("A picture did not load. Check your connection and load the page again; nothing is lost.", true);
    }
  }

  function preload(serving) {
    ahead.length = 0;
    if (!serving) return;
    for (const role of ROLES) {
      const picture = new Image();
      picture.src = address(serving, role);
      ahead.push(picture);
    }
  }

  async function show(table) {
    if (!table.serving) {
      location.reload();
      return;
    }
    fields.namedItem("serving").value = table.serving.id;
    fields.namedItem("nonce").value = table.serving.nonce;
    for (const role of ROLES) document.getElementById(role).src = address(table.serving.id, role);
    document.getElementById("bar").max = table.wanted;
    document.getElementById("bar").value = table.votes;
    document.getElementById("count").textContent = `${table.votes} of ${table.wanted}`;
    say(`${table.said || "Stored."} Pair ${table.votes + 1} of ${table.wanted}.`, Boolean(table.said));
    await ready(LEAST_MS);
    preload(table.ahead);
  }

  async function send(answer) {
    const body = new URLSearchParams({
      serving: fields.namedItem("serving").value,
      nonce: fields.namedItem("nonce").value,
      choice: answer,
    });
    const options = { method: "POST", body, headers: { Accept: "application/json" }, redirect: "error" };
    const reply = await fetch(ballot.action, { ...options, signal: AbortSignal.timeout(20000) });
    if (reply.status === 404) {
      location.reload(); // the link has ended
      return null;
    }
    const table = await reply.json();
    if (!("wanted" in table)) throw new Error(table.said);
    return table;
  }

  async function vote(answer) {
    if (busy) return;
    setBusy(true);
    const chosen = button(answer);
    chosen.classList.add("chosen");
    try {
      const table = await send(answer);
      chosen.classList.remove("chosen");
      if (table) await show(table);
    } catch (error) {
      const lost = error instanceof TypeError || error.name === "TimeoutError" || error instanceof SyntaxError;
      say(lost ? "No connection. Choose again; a vote counts once." : error.message, true);
      chosen.classList.remove("chosen");
      setBusy(false);
    }
  }

  ballot.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter) vote(event.submitter.value);
  });

  document.addEventListener("keydown", (event) => {
    const answer = ANSWERS[event.key];
    if (!answer || !keys.checked || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (!event.repeat) vote(answer);
  });

  try {
    keys.checked = localStorage.getItem("keys") !== "off";
    keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));
  } catch {
    // storage may be forbidden; the box works for this page then
  }
  for (const hidden of document.querySelectorAll(".scripted")) hidden.hidden = false;
  setBusy(true);
  ready(0).then(() => preload(ballot.dataset.ahead));
})();
