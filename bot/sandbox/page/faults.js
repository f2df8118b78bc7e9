// The developer's panel: what goes wrong next, and how updates are delivered.

import { clear, get, post } from "./api.js";
import { h } from "./dom.js";
import { dialog, toast } from "./layers.js";
import { say } from "./words.js";

const KINDS = ["429", "500", "502", "html", "close"];
const kindName = (kind) => (kind === "html" || kind === "close" ? say(`${kind}_kind`) : kind);

export function faultPanel() {
  dialog(say("faults"), () => {
    const list = h("div.fault-list", { "aria-live": "polite" });
    const input = (name, label, attributes) => h("label.field", {}, h("span", {}, label), h("input", { name, ...attributes }));
    const form = h(
      "form.form", {},
      h("h3", {}, say("calls")), h("p.hint", {}, say("callsHint")),
      h("div.field-row", {},
        h("label.field", {}, h("span", {}, say("kind")), h("select", { name: "kind", "data-testid": "fault-kind" }, KINDS.map((kind) => h("option", { value: kind }, kindName(kind))))),
        h("label.field", {}, h("span", {}, say("when")), h("select", { name: "when" }, ["before", "after"].map((when) => h("option", { value: when }, say(when)))))),
      h("div.field-row.three", {},
        input("method", say("method"), { placeholder: say("any"), autocomplete: "off" }),
        input("times", say("times"), { type: "number", min: 1, max: 1000, value: "1" }),
        input("retry_after", say("retryAfter"), { type: "number", min: 1, value: "3" })),
      h("button.primary-button", { type: "submit", "data-testid": "fault-order" }, say("order")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const data = Object.fromEntries(new FormData(form));
      send({ ...data, method: data.method || null, times: Number(data.times), retry_after: Number(data.retry_after) });
    });
    const check = (name, label) => h("label.choice", {}, h("input", { type: "checkbox", name, onchange: (event) => send({ delivery: { [name]: event.target.checked } }) }), h("span", {}, label));
    const amount = (name, label, factor) => h("label.field", {}, h("span", {}, label), h("input", { name, type: "number", min: 0, value: "0", onchange: (event) => send({ delivery: { [name]: Number(event.target.value) * factor } }) }));
    const delivery = h(
      "div.form", {},
      h("h3", {}, say("delivery")),
      check("twice", say("twice")), check("out_of_order", say("outOfOrder")), check("inaccessible", say("inaccessible")),
      h("div.field-row", {}, amount("delay", say("delay"), 1), amount("age", say("age"), 3600)),
      h("button.plain-button", { type: "button", onclick: () => act(() => clear("faults")) }, say("clearAll")),
    );

    const send = (body) => act(() => post("faults", body));
    async function act(call) {
      try {
        show(await call());
      } catch (error) {
        toast(error.message, "error");
      }
    }
    function show({ faults, delivery: set }) {
      const orders = faults.map((fault) =>
        h("li", {}, h("b", {}, kindName(fault.kind)), ` × ${fault.times} · ${fault.method ?? say("any")} · ${say(fault.when)}`));
      list.replaceChildren(orders.length ? h("ul", {}, orders) : h("p.hint", {}, say("nothing")));
      for (const name of ["twice", "out_of_order", "inaccessible"]) delivery.querySelector(`[name=${name}]`).checked = set[name];
      delivery.querySelector("[name=delay]").value = String(set.delay);
      delivery.querySelector("[name=age]").value = String(set.age / 3600);
    }
    act(() => get("faults"));
    return h("div.faults", {}, form, list, delivery);
  }, { testid: "faults" });
}
