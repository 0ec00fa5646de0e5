// A process that opens a store, reads, and reports the cost. Arguments: folder of the store, number of its keys.
import { readFileSync } from 'node:fs'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'
import { keyBytes } from '../workload/workload.ts'

const READS = 300_000
const [path, keyCount] = process.argv.slice(2) as [string, string]
const keys = Number(keyCount)
const before = anonymousBytes()
const began = performance.now()
const reader = openStateEngineReader({ path })
const { latestVersion } = reader.ledger!
reader.at().get(keyBytes(1))
const openMs = performance.now() - began
const random = createRandom(1)
for (let read = 0; read < READS; read++) {
  reader.at(BigInt(random.below(Number(latestVersion) + 1))).get(keyBytes(random.below(keys)))
  if (read % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
}
process.send!({ openMs, processBytes: anonymousBytes(), addedBytes: anonymousBytes() - before })
await reader.close()
process.disconnect()

/** Memory without mapped files; 0 on systems that do not report it. */
function anonymousBytes(): number {
  const line = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(line?.[1] ?? 0) * 1_024
}
