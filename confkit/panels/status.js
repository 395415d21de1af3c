// How old a panel's values are, which ticks here, and the banner when nobody renews them.
const LOST = 8000; // ms without a beat of the kernel, which sends one every 2 s
const REPORT = 5000; // ms between two reports that the page can be seen

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
  let heardAt = Date.now();
  let seenSince = Date.now(); // what was hidden gets beats again once it has reported
  let wasVisible = false;

  const isVisible = () => document.visibilityState === "visible" && el.offsetParent !== null;
  const clock = (time, style) => { // of the service, whose clock may be another
    const ahead = facts.now === undefined ? 0 : facts.now * 1000 - heardAt;
    return new Date(time + ahead).toLocaleTimeString([], { hour12: false, ...style });
  };

  function draw() {
    const now = Date.now();
    if (isVisible() && !wasVisible) {
      seenSince = now;
      report();
    }
    wasVisible = isVisible();
    const lost = now - Math.max(heardAt, seenSince) > LOST;
    const readAt = facts.age === undefined ? 0 : heardAt - facts.age * 1000;
    const values = readAt ? `; values from ${clock(readAt)}` : "";
    let text = "";
    if (lost) {
      text = `No connection since ${clock(heardAt, minutes)}${values}. ` +
        "If it does not come back, run the cell again or reload the page.";
    } else if (facts.outage) {
      const since = clock(heardAt - facts.outage_age * 1000, minutes);
      text = `No answer since ${since}${values}. ${facts.outage}`;
    }
    if (banner.textContent !== text) banner.textContent = text;
    line.textContent = readAt ? `Read ${duration(now - readAt)} ago` : "";
    if (readAt && facts.every && !lost) line.textContent += `, every ${facts.every} s`;
    const panel = el.closest(".confkit-panel");
    panel?.classList.toggle("confkit-lost", lost);
    panel?.classList.toggle("confkit-stale", Boolean(facts.outage));
    panel?.querySelectorAll(".confkit-row, .confkit-split").forEach((part) => { part.inert = lost; });
    if (panel) complete(panel);
  }

  function report() {
    if (!isVisible()) return;
    try {
      Promise.resolve(model.send({ looking: true })).catch(() => {});
    } catch {
      // There is no kernel: the banner says so.
    }
  }

  function listen(message) {
    facts = message;
    heardAt = Date.now();
    draw();
  }

  model.on("msg:custom", listen);
  document.addEventListener("visibilitychange", draw);
  const timers = [setInterval(draw, 1000), setInterval(report, REPORT)];
  setTimeout(draw, 100); // it stands in the page by then
  return () => {
    model.off("msg:custom", listen);
    document.removeEventListener("visibilitychange", draw);
    timers.forEach(clearInterval);
  };
}

// What ipywidgets leave out. Single keys are shortcuts of the notebook, unless the element that has
// the focus says no; Escape answers a question with no.
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
