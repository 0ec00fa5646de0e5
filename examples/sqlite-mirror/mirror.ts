import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventsOf, type StreamEvent } from './events.ts'

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS writes (key TEXT, version INTEGER, value TEXT, PRIMARY KEY (key, version)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS writes_by_version ON writes (version);
  CREATE TABLE IF NOT EXISTS place (id TEXT);
  CREATE VIEW IF NOT EXISTS items AS SELECT key, value, max(version) AS version FROM writes GROUP BY key;`

interface Change {
  readonly key: string
  /** Missing if the item was deleted. */
  readonly value?: string
}

/**
 * Mirrors every write of a table into a database. The place in the stream is stored in the transaction of the writes,
 * so it can be killed at any time and continues where it was.
 * @param stream URL of the stream, with a filter by `table`
 */
export async function mirrorTable(stream: string, path: string, signal?: AbortSignal): Promise<void> {
  const database = new DatabaseSync(path)
  database.exec(SCHEMA)
  const write = database.prepare('INSERT OR REPLACE INTO writes VALUES (?, ?, ?)')
  const cut = database.prepare('DELETE FROM writes WHERE version > ?')
  const keepPlace = database.prepare('INSERT INTO place VALUES (?)')
  const take = ({ id, event, data }: StreamEvent): void => {
    // The first event has only the time after which to reconnect.
    if (id === '') return
    database.exec('BEGIN')
    if (event === 'truncated') cut.run(BigInt((JSON.parse(data) as { readonly version: string }).version))
    else if (event === 'pruned') throw new Error(`the mirror was away for too long: ${data}`)
    else if (event === 'message' && data !== '') {
      const { version, changes } = JSON.parse(data) as { readonly version: string; readonly changes: readonly Change[] }
      for (const { key, value } of changes) write.run(key, BigInt(version), value ?? null)
    }
    database.exec('DELETE FROM place')
    keepPlace.run(id)
    database.exec('COMMIT')
  }
  try {
    while (!signal?.aborted) {
      const place = database.prepare('SELECT id FROM place').get()?.id as string | undefined
      if (place === undefined) await readStream(`${stream}&from=1`, {}, take, signal)
      else await readStream(stream, { 'last-event-id': place }, take, signal)
      await sleep(200)
    }
  } finally {
    database.close()
  }
}

/** Reads a stream until its connection ends, or at once if there is none. */
async function readStream(
  url: string,
  headers: Record<string, string>,
  take: (event: StreamEvent) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const answer = await fetch(url, { headers, ...(signal && { signal }) }).catch(() => undefined)
  // Asking again does not help: the request is wrong, or versions are missing and the mirror has to start over.
  if (answer && [400, 403, 404, 410].includes(answer.status)) throw new Error(await answer.text())
  if (!answer?.ok) return
  const events = eventsOf(answer.body!)
  for (;;) {
    const next = await events.next().catch(() => undefined)
    if (!next || next.done) return
    take(next.value)
  }
}
