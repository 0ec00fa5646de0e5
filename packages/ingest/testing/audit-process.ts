// Audits the state root of each block of a store in ranges, and tells how much memory that took. Arguments: folder of the
// store, writes of a range, bytes of hashed writes in memory.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { STATE_ROOT_KEY } from '@ledger-state/records'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { auditRoots } from '../src/audit/audit-roots.ts'

const [path, rangeWrites, memoryBytes] = process.argv.slice(2)
const engine = openStateEngineReader({ path: path! })
const [root] = engine.history(STATE_ROOT_KEY)
let mostBytes = 0
const { version, findingCount, compared } = await auditRoots(engine, {
  folder: join(path!, 'audit'),
  hashSalt: 'APTOS::',
  target: root!.version,
  rangeWrites: Number(rangeWrites),
  memoryBytes: Number(memoryBytes),
  onProgress: () => {
    mostBytes = Math.max(mostBytes, ownBytes())
  },
})
await engine.close()
console.log(JSON.stringify({ version: Number(version), findingCount, compared, mostBytes }))

/** Memory of the process without pages of files, in all threads. */
function ownBytes(): number {
  const [, kib] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))!
  return Number(kib) * 1_024
}
