// Opens a store for reading in a process of its own, reads, and tells what that took.
import { readFileSync } from 'node:fs'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom, keyBytes } from './workload.js'

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
  reader.at(BigInt(random(Number(latestVersion) + 1))).get(keyBytes(random(keys)))
  if (read % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
}
process.send!({ openMs, processBytes: anonymousBytes(), addedBytes: anonymousBytes() - before })
await reader.close()
process.disconnect()

/** Memory that is not of a mapped file, where the system tells. */
function anonymousBytes(): number {
  const line = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(line?.[1] ?? 0) * 1_024
}
