// Opens stores in a separate process, as a reader and as the writer, and prints the result of each as a line of JSON. A
// signal may end a process that opens a damaged store, and must not end the tests. The first argument is the task for
// an open store: `check`; `use`, which reads like `info` and `get`, and commits; or `read`, which reads the histories
// of all keys as a reader.
import { isLedgerStateError } from '@ledger-state/core'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from '../src/index.js'
import { KNOWN_CHAIN, knownKeys, knownVersion } from './known-ledger.js'

export interface Opened {
  readonly path: string
  /** Code and message of an error. */
  readonly error?: string
  /** Faults that `check` found. */
  readonly problems?: readonly string[]
}

const [task, ...paths] = process.argv.slice(2)
for (const path of paths) process.stdout.write(`${JSON.stringify(await open(path))}\n`)

async function open(path: string): Promise<Opened> {
  try {
    const problems = await openReader(path)
    return { path, problems: task === 'read' ? problems : [...problems, ...(await openWriter(path))] }
  } catch (error) {
    return { path, error: isLedgerStateError(error) ? `${error.code}: ${error.message}` : `raw ${String(error)}` }
  }
}

async function openReader(path: string): Promise<readonly string[]> {
  const engine = openStateEngineReader({ path })
  try {
    if (task === 'check') return (await engine.check()).problems
    return task === 'read' ? readAll(engine) : useReader(engine)
  } finally {
    await engine.close()
  }
}

async function openWriter(path: string): Promise<readonly string[]> {
  const engine = openStateEngine({ path, durability: 'none', memtableBytes: task === 'check' ? undefined : 0 })
  try {
    if (task === 'check') return (await engine.check()).problems
    if (engine.ledger) await engine.commit([knownVersion(engine.ledger.latestVersion + 1n)], KNOWN_CHAIN)
    return useReader(engine)
  } finally {
    await engine.close()
  }
}

function useReader(engine: LmdbEngineReader): readonly string[] {
  if (!engine.ledger) return []
  const { latestVersion } = engine.ledger
  engine.blockAt(latestVersion)
  for (const [key] of knownVersion(latestVersion).writes) engine.at().get(key)
  return engine.stats ? [] : ['no statistics']
}

function readAll(engine: LmdbEngineReader): readonly string[] {
  const writes = knownKeys().map((key) => [...engine.history(key)].length)
  return writes.includes(0) ? ['a key without history'] : []
}
