"use strict";

// The page works without this: it keeps the overview fresh and ticks boxes.

const INTERVAL_MS = 3000;

const overview = document.getElementById("announcement");
const indicator = document.getElementById("live");

/** Someone reads, marks or tabs through it: replacing it now would take it out of their hands. */
function isInUse(section) {
  const marked = document.getSelection();
  return (
    section.contains(document.activeElement) ||
    (marked !== null && !marked.isCollapsed && section.contains(marked.anchorNode))
  );
}

function announce(fresh) {
  const said = fresh.querySelector("[data-announce]").dataset.announce;
  if (overview.dataset.said !== undefined && overview.dataset.said !== said) {
    overview.textContent = said;
  }
  overview.dataset.said = said;
}

function putInPlace(fresh) {
  for (const section of fresh.querySelectorAll("[data-live]")) {
    const shown = document.getElementById(section.id);
    if (shown !== null && !isInUse(shown) && shown.outerHTML !== section.outerHTML) {
      shown.replaceWith(document.adoptNode(section));
    }
  }
  announce(fresh);
}

async function refresh() {
  if (document.hidden) {
    return;
  }
  try {
    const answer = await fetch("/live", { cache: "no-store", signal: AbortSignal.timeout(10 * INTERVAL_MS) });
    if (answer.status === 401) {
      location.reload();
      return;
    }
    if (!answer.ok) {
      throw new Error(String(answer.status));
    }
    putInPlace(new DOMParser().parseFromString(await answer.text(), "text/html"));
    indicator.textContent = "Live";
    indicator.className = "muted live";
  } catch {
    indicator.textContent = "The daemon does not answer";
    indicator.className = "pill bad";
  }
}

async function keepFresh() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    await refresh();
  }
}

function offerToChooseAll(all) {
  const boxes = all.form.querySelectorAll("input[name=id]");
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) {
      box.checked = all.checked;
    }
  });
}

if (overview !== null) {
  document.addEventListener("visibilitychange", refresh);
  keepFresh();
}
document.querySelectorAll("[data-choose-all]").forEach(offerToChooseAll);
