// Keeps a page as it is now: fetches it again on a change, and replaces what differs. Everything works without it.
// A page that asks for a decision stays as it is: a notice says that something changed, and has a link.
const policy = window.trustedTypes?.createPolicy("hf", { createHTML: (text) => text }) ?? { createHTML: (text) => text };
const channel = "BroadcastChannel" in window ? new BroadcastChannel("holdfast") : null;
const written = new WeakSet();

const isHeld = (node) => node.nodeName === "FORM" && (written.has(node) || node.contains(document.activeElement));

function morph(old, now) {
  if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName || old.id !== now.id) return old.replaceWith(now);
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  if (old.isEqualNode(now) || (old.id === "said" && !now.childElementCount)) return;
  if (isHeld(old)) return plain(old).isEqualNode(plain(now)) ? undefined : notice(old, TYPED);
  for (const { name } of [...old.attributes])
    if (!now.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS")) old.removeAttribute(name);
  for (const { name, value } of [...now.attributes])
    if (old.getAttribute(name) !== value && name !== "open") old.setAttribute(name, value);
  const before = [...old.childNodes], after = [...now.childNodes];
  after.forEach((node, place) => (place < before.length ? morph(before[place], node) : old.append(node)));
  before.slice(after.length).forEach((node) => node.remove());
}

// A form without what is another one each time, and without what is told in it here.
function plain(form) {
  const copy = form.cloneNode(true);
  copy.querySelectorAll("input[name=key], .notice, .told").forEach((node) => node.remove());
  return copy;
}

const TYPED = "Something changed since you began to write. Copy your text, then look at it: ";
const ASKED = "This changed while you looked, and is shown as it was. Before you decide, look again: ";

// At the beginning of a form or of the page, from where the style sheet keeps it in view; once, where the form says it.
function notice(part, text) {
  if (part.querySelector(":scope > .notice, .told a")) return;
  const told = document.createElement("p");
  told.className = "alert notice";
  told.setAttribute("role", "status");
  told.append(text, changes());
  part.prepend(told);
}

function changes() {
  const link = document.createElement("a");
  link.href = location.pathname;
  link.textContent = "Show what changed";
  return link;
}

// What a page asks a person about, and how they decide; empty where it asks nothing.
function question(page) {
  const form = page.querySelector("form.decision");
  if (!form) return "";
  const parts = ["#about", "#barred"].map((one) => page.querySelector(one)?.textContent ?? "");
  return JSON.stringify([form.querySelector("input[name=shown]").value, form.dataset.passkey ?? "", ...parts]);
}

// Says that what is decided about changed, as long as it did.
function compare(asked, now) {
  const main = document.querySelector("main");
  if (asked !== now) notice(main, written.has(main.querySelector("form.decision")) ? TYPED : ASKED);
  else main.querySelector(":scope > .notice")?.remove();
}

// What answers a form says why nothing was done, until it is reloaded: then it is the page that the form was on.
const answers = document.querySelector("main").dataset.at;
if (answers) history.replaceState(null, "", answers);

let running = false, again = false;
async function refresh() {
  const asked = question(document);
  if (answers && !asked) return;
  if (running) return (again = true);
  running = true;
  try {
    const answer = await fetch(location.href, { cache: "no-store", headers: { Accept: "text/html" } });
    if (answer.status === 401) return say("You are no longer logged in: reload this page.");
    if (asked && [404, 409].includes(answer.status)) compare(asked, "");
    if (!answer.ok) return;
    const now = new DOMParser().parseFromString(policy.createHTML(await answer.text()), "text/html");
    document.title = now.title;
    enable(now);
    const focused = document.activeElement?.id;
    if (asked) compare(asked, question(now));
    for (const part of asked ? ["header"] : ["header", "main"]) morph(document.querySelector(part), now.querySelector(part));
    if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus({ preventScroll: true });
  } catch {
    say("The server does not answer.");
  } finally {
    running = false;
    if (again) (again = false), refresh();
  }
}

function say(text) {
  const told = document.getElementById("updated");
  if (told) told.textContent = text;
}

// A form that a passkey signs: the server says exactly what, and the challenge is the hash of that text.
const send = async (path, body) => {
  const kind = body instanceof URLSearchParams ? "application/x-www-form-urlencoded" : "application/json";
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": kind }, body });
  return answer.headers.get("Content-Type")?.startsWith("application/json") ? answer.json() : { said: "The server refused it." };
};

async function signed(asked) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked.options);
  publicKey.challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(asked.statement));
  return (await navigator.credentials.get({ publicKey })).toJSON();
}

async function made(asked) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(asked.options);
  return (await navigator.credentials.create({ publicKey })).toJSON();
}

async function ceremony(form, submitter) {
  const fields = new URLSearchParams(new FormData(form, submitter));
  let asked = await send(form.dataset.passkey, fields);
  let to = form.dataset.passkey.endsWith("/ask") ? "/passkeys/answer" : "/passkeys/change";
  if (asked.make) {
    asked = await send("/passkeys/enrolled", JSON.stringify({ nonce: asked.nonce, answer: await made(asked) }));
  }
  if (asked.nonce) {
    tell(form, asked.note ?? "");
    asked = await send(to, JSON.stringify({ nonce: asked.nonce, answer: await signed(asked) }));
  }
  if (asked.next) return location.assign(asked.next);
  tell(form, [asked.said, ...(asked.changed ?? [])].join(" "));
  if (asked.changed) {
    document.querySelector("main > .notice")?.remove();
    form.querySelector(".told").append(" ", changes());
  }
  form.elements[asked.at]?.focus?.();
}

function tell(form, text) {
  const told = form.querySelector(".told") ?? form.insertBefore(document.createElement("p"), form.firstChild);
  told.className = text ? "alert told" : "told";
  told.setAttribute("role", "alert");
  told.textContent = text;
}

function enable(page) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return;
  for (const form of page.querySelectorAll("form[data-passkey]")) {
    form.querySelectorAll("button:disabled:not([aria-describedby])").forEach((button) => (button.disabled = false));
    form.querySelectorAll(".needs-script").forEach((told) => told.remove());
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.passkey || event.submitter?.dataset.plain !== undefined) return;
  event.preventDefault();
  ceremony(form, event.submitter).catch((error) => tell(form, `Nothing was signed: ${error.message}`));
});
enable(document);

// One connection a browser: the tab that has the lock listens, and tells the others.
function connect() {
  const source = new EventSource("/events");
  const tell = () => (channel?.postMessage("look"), refresh());
  source.onmessage = tell;
  source.onerror = () => {
    tell();
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2_000);
  };
}

function listen() {
  connect();
  return new Promise(() => {});
}

function move(by) {
  const links = [...document.querySelectorAll("main a.card, main a.title, main .files summary, main .rows a")];
  const at = links.indexOf(document.activeElement);
  links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

const KEYS = { g: ["all workflows", () => location.assign("/")], j: ["next", () => move(1)], k: ["previous", () => move(-1)], "?": ["these keys", help] };
function help() {
  if (document.querySelector("dialog")) return;
  const dialog = document.createElement("dialog"), list = document.createElement("ul");
  for (const [key, [what]] of Object.entries(KEYS)) {
    const row = list.appendChild(document.createElement("li")), cap = row.appendChild(document.createElement("kbd"));
    cap.textContent = key;
    row.append(` ${what}`);
  }
  dialog.setAttribute("aria-label", "Keys");
  dialog.append(list);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("input", ({ target }) => target.form && written.add(target.form));
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key][1]();
});
document.addEventListener("visibilitychange", () => document.hidden || refresh());
channel?.addEventListener("message", refresh);
navigator.locks ? navigator.locks.request("holdfast-events", listen) : listen();
setInterval(() => document.hidden || refresh(), 60_000);
