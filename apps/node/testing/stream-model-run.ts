// Random streams of readers and their threads over a store, in a process whose threads load sources too. It prints the
// kinds of events that clients received.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runRandomStreams } from '@ledger-state/http/testing/random-streams'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'
import { createThreadChanges } from '../src/processes/changes-thread.ts'

/** Reads of a store share a state for this time. */
const READER_LAG_MS = 20

const [, , seed, rounds] = process.argv
const random = createRandom(Number(seed))
const seen = new Set<string>()
for (let round = Number(rounds); round > 0; round--) {
  const path = mkdtempSync(join(tmpdir(), 'streams-'))
  // Some stores merge all the time.
  const engine = openStateEngine({ path, memtableBytes: random.pick([0, 4_000, 64 << 20]) })
  const openReader = () => {
    const state = openStateEngineReader({ path })
    const changes = createThreadChanges(path)!
    // Starting the thread takes long, and it runs while a cursor is open.
    const open = changes.open()
    const close = async (): Promise<void> => {
      open.close()
      await state.close()
    }
    return { state, changes, close }
  }
  const size = { steps: 20 + random.below(80), clients: 1 + random.below(8), readerLagMs: READER_LAG_MS }
  try {
    const { events } = await runRandomStreams(random, engine, openReader, size)
    for (const kind of events.keys()) seen.add(kind)
  } finally {
    await engine.close()
    rmSync(path, { recursive: true })
  }
}
console.log([...seen].toSorted().join())
