import { openStateEngineReader } from '@ledger-state/state-engine'

const [, , path, account] = process.argv
const reader = openStateEngineReader({ path: path! })
const key = Buffer.from(account!)
const text = (value: Uint8Array | null) => (value ? Buffer.from(value).toString() : 'deleted')
for (const { version, value } of reader.history(key, { order: 'asc' })) {
  const { block } = reader.blockAt(version)
  console.log(`${account} has ${text(value)} since block ${block.height}, second ${block.timestampUsec / 1_000_000n}`)
}
console.log(`at block 60: ${text(reader.at(60n).get(key) ?? null)}`)
await reader.close()
