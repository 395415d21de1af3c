// The age of a panel's values, which ticks here, and the banner when they are no longer updated.
const LOST = 8000; // ms without a heartbeat of the kernel, which sends one every 2 s
const REPORT = 5000; // ms between two reports that the page is visible

const PARTS = ":scope > :is(.confkit-row, .confkit-form, .confkit-split)"; // of a panel

const minutes = { hour: "2-digit", minute: "2-digit" };

function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 100) return `${seconds} s`;
  return seconds < 6000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

function render({ model, el }) {
  el.classList.add("confkit-status");
  const banner = document.createElement("div");
  banner.className = "confkit-banner";
  banner.setAttribute("role", "alert");
  const line = document.createElement("div");
  el.append(banner, line);
  let facts = {};
  let beatAt = Date.now();
  let seenSince = Date.now(); // heartbeats resume once a hidden page has reported
  let wasVisible = false;
  let focused = null; // before the connection was lost

  const isVisible = () => document.visibilityState === "visible" && el.offsetParent !== null;
  const clock = (time, style) => { // the service's, in the kernel's zone, as tables show it
    const ahead = facts.now === undefined ? 0 : facts.now * 1000 - beatAt;
    const offset = facts.utc_offset === undefined ? 0 : facts.utc_offset * 1000;
    const zone = facts.utc_offset === undefined ? {} : { timeZone: "UTC" };
    const moment = new Date(time + ahead + offset);
    return moment.toLocaleTimeString([], { hour12: false, ...zone, ...style });
  };

  function draw() {
    const now = Date.now();
    if (isVisible() && !wasVisible) {
      seenSince = now;
      report();
    }
    wasVisible = isVisible();
    const lost = now - Math.max(beatAt, seenSince) > LOST;
    const readAt = facts.age === undefined ? 0 : beatAt - facts.age * 1000;
    const values = readAt ? `; values from ${clock(readAt)}` : "";
    let text = "";
    if (lost) {
      text = `No connection since ${clock(beatAt, minutes)}${values}. ` +
        "If it does not return, run the cell again or reload the page.";
    } else if (facts.outage) {
      const since = clock(beatAt - facts.outage_age * 1000, minutes);
      text = `No response since ${since}${values}. ${facts.outage}`;
    }
    if (banner.textContent !== text) banner.textContent = text;
    line.textContent = readAt ? `Read ${duration(now - readAt)} ago` : "";
    if (readAt && facts.every && !lost) line.textContent += `, every ${facts.every} s`;
    const panel = el.closest(".confkit-panel");
    panel?.classList.toggle("confkit-lost", lost);
    panel?.classList.toggle("confkit-stale", Boolean(facts.outage));
    if (panel) {
      disable(panel, lost);
      complete(panel);
    }
  }

  function disable(panel, lost) {
    const active = document.activeElement;
    if (lost && !focused && panel.contains(active)) focused = active;
    for (const part of panel.querySelectorAll(PARTS)) part.inert = lost;
    if (!lost && focused) {
      if (active === document.body) focused.focus({ preventScroll: true });
      focused = null;
    }
  }

  function report() {
    if (!isVisible()) return;
    try {
      Promise.resolve(model.send({ looking: true })).catch(() => {});
    } catch {
      // No kernel: the banner reports it.
    }
  }

  function listen(message) {
    facts = message;
    beatAt = Date.now();
    draw();
  }

  model.on("msg:custom", listen);
  document.addEventListener("visibilitychange", draw);
  const timers = [setInterval(draw, 1000), setInterval(report, REPORT)];
  setTimeout(draw, 100); // it is in the page by then
  return () => {
    model.off("msg:custom", listen);
    document.removeEventListener("visibilitychange", draw);
    timers.forEach(clearInterval);
  };
}

// What ipywidgets lack. Single keys are notebook shortcuts unless the focused element opts out;
// Escape answers a question with no.
function complete(panel) {
  for (const details of panel.querySelectorAll(".confkit-split > :last-child")) {
    details.tabIndex = 0; // they scroll
  }
  for (const toggle of panel.querySelectorAll(".widget-toggle-button")) {
    toggle.setAttribute("aria-expanded", toggle.classList.contains("mod-active"));
  }
  if (panel.dataset.complete) return;
  panel.dataset.complete = "yes";
  panel.addEventListener("focusin", ({ target }) => {
    target.setAttribute("data-lm-suppress-shortcuts", "true");
  });
  panel.addEventListener("keydown", (event) => {
    const no = event.key === "Escape" && panel.querySelector(".confkit-no");
    if (!no) return;
    event.stopPropagation();
    no.click();
  });
}

export default { render };
