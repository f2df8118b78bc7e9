// Brings the page up to date without moving it: what is open stays open, what has the focus keeps it, and nothing
// happens while somebody reads a confirmation, fills in a form, or has marked a text.
(() => {
  const main = document.querySelector("main");
  const lost = document.getElementById("lost");
  if (location.search.includes("said=")) {
    const address = new URL(location.href);
    address.searchParams.delete("said");
    history.replaceState(null, "", address);
  }
  const occupied = () => {
    const active = document.activeElement;
    const typing = active && main.contains(active) && active.matches("input, select, textarea");
    return document.hidden || typing || !getSelection().isCollapsed || main.querySelector("details.act[open]");
  };
  const focused = () => {
    const active = document.activeElement;
    if (!active || !main.contains(active)) return null;
    if (active.id) return "#" + CSS.escape(active.id);
    if (active.tagName === "SUMMARY" && active.parentElement.id) return "#" + CSS.escape(active.parentElement.id) + " > summary";
    return active.getAttribute("href") ? `a[href="${CSS.escape(active.getAttribute("href"))}"]` : null;
  };
  const look = async () => {
    if (occupied()) return;
    try {
      const answer = await fetch(location.href, { redirect: "manual", credentials: "same-origin" });
      if (answer.type === "opaqueredirect") return location.reload();
      if (!answer.ok) throw new Error(answer.status);
      // Its middle alone: the style in its head has a nonce of its own, which this page's policy does not know.
      const [middle] = (await answer.text()).match(/<main[^]*<\/main>/) ?? [""];
      const fresh = new DOMParser().parseFromString(middle, "text/html").querySelector("main");
      lost.hidden = true;
      if (!fresh || occupied()) return;
      const open = [...main.querySelectorAll("details[id]")].filter((one) => one.open).map((one) => one.id);
      const where = focused();
      main.replaceChildren(...fresh.childNodes);
      main.dataset.refresh = fresh.dataset.refresh;
      open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
      if (where) main.querySelector(where)?.focus({ preventScroll: true });
    } catch {
      lost.hidden = false;
    }
  };
  const again = () => setTimeout(async () => { await look(); again(); }, Number(main.dataset.refresh) * 1000);
  if (main.dataset.refresh) again();
})();
