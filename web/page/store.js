// The recordings that this browser keeps, in IndexedDB: the newest ones, until they are deleted.
//
// Storage may be forbidden or full. Then nothing is kept, and whoever asked is told by a rejection.

const KEPT_MAX = 20;

let database;

// Opened once: who is about to be closed has no time for it.
function opened() {
  return (database ??= open().catch((error) => {
    database = null;
    throw error;
  }));
}

function open() {
  return new Promise((resolve, reject) => {
    if (!globalThis.indexedDB) return reject(new Error("it has no storage"));
    const request = indexedDB.open("lockstone", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("recordings", { keyPath: "key" });
    request.onsuccess = () => {
      request.result.onclose = () => (database = null);
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
}

async function within(mode, work) {
  const db = await opened();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction("recordings", mode);
    const request = work(transaction.objectStore("recordings"));
    transaction.oncomplete = () => resolve(request?.result);
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
    transaction.commit?.();
  });
}

// Keeps a recording, in the place of an older one of the same key. The oldest that are too many
// go.
export async function keep(key, recorded) {
  await within("readwrite", (store) => store.put({ ...recorded, key, at: Date.now() }));
  const surplus = (await kept()).slice(KEPT_MAX);
  await Promise.all(surplus.map(({ key }) => forget(key)));
}

// All of them, the newest first.
export async function kept() {
  const all = await within("readonly", (store) => store.getAll());
  return all.sort((one, other) => other.at - one.at);
}

export function recalled(key) {
  return within("readonly", (store) => store.get(key));
}

export function forget(key) {
  return within("readwrite", (store) => store.delete(key));
}
