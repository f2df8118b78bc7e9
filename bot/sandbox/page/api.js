// The door to the server: the endpoints below /sandbox/ and the live stream.

export class Refused extends Error {}

async function answered(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused((body.error ?? response.statusText).replace(/^Bad Request: /, ""));
  return body;
}

export const get = async (path) => answered(await fetch(`/sandbox/${path}`));

export const post = async (path, body) =>
  answered(
    await fetch(`/sandbox/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

export const clear = async (path) => answered(await fetch(`/sandbox/${path}`, { method: "DELETE" }));

export async function upload(chat, fields) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== null && value !== undefined) form.append(name, value);
  return answered(await fetch(`/sandbox/chats/${chat}/file`, { method: "POST", body: form }));
}

export const fileUrl = (id, download = false) => `/sandbox/files/${encodeURIComponent(id)}${download ? "?download=1" : ""}`;

/** The live stream of a person. `opened(again)` is called at each (re)connection; answers what closes it. */
export function listen(person, told, opened, lost) {
  let before = false;
  const source = new EventSource(`/sandbox/stream?as=${person}`);
  source.onopen = () => {
    opened(before);
    before = true;
  };
  source.onerror = () => lost();
  source.onmessage = (event) => told(JSON.parse(event.data));
  return () => source.close();
}
