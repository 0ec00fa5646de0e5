// Commits the known ledger with a memtable whose segments a thread merges, until it ends in the way that its second
// argument says, while merges and prunes are under way. Prints the latest version after each acknowledged commit.
import { isLedgerStateError } from '@ledger-state/core'
import { openStateEngine } from '../src/open-state-engine.js'
import { KNOWN_CHAIN, knownVersion } from './known-ledger.ts'

const VERSIONS_PER_COMMIT = 30
/** Number of bytes of keys and values after which the first segment is nearly full. */
const FIRST_MERGE_BYTES = 2_700_000

const RETAINED_VERSIONS = 600n

export type WriterEnd = 'exit' | 'throw' | 'kill' | 'close'

const [path, end, delay] = process.argv.slice(2) as [string, WriterEnd, string]
const engine = openStateEngine({ path, memtableBytes: 6_000_000, compress: 'always' })
let version = engine.ledger ? engine.ledger.latestVersion + 1n : 0n
let isOver = false
let written = 0

function finish(): void {
  isOver = true
  if (end === 'exit') process.exit(3)
  if (end === 'throw') throw new Error('an error that nobody catches')
  if (end === 'kill') process.kill(process.pid, 'SIGKILL')
  if (end === 'close') void engine.close().then(() => process.exit(3))
}

/** Prunes all the time, during the commits. */
async function pruneUntilOver(): Promise<void> {
  while (!isOver) await engine.prune(RETAINED_VERSIONS)
}

function ignoreEnd(error: unknown): void {
  if (!isOver || !isLedgerStateError(error, 'store_closed')) throw error
}

let isEnding = false
while (!isOver) {
  const batch = Array.from({ length: VERSIONS_PER_COMMIT }, () => {
    const made = knownVersion(version++)
    for (const [key, value] of made.writes) written += key.length + (value?.length ?? 0)
    return made
  })
  try {
    await engine.commit(batch, KNOWN_CHAIN)
  } catch (error) {
    if (!isOver) throw error
    break
  }
  process.stdout.write(`${version - 1n}\n`)
  if (written < FIRST_MERGE_BYTES || isEnding) continue
  isEnding = true
  void pruneUntilOver().catch(ignoreEnd)
  setTimeout(finish, Number(delay))
}
