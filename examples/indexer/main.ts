import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStateEngine } from '@ledger-state/state-engine'
import { BLOCKS, blockOf, transfersOf } from './chain.ts'

const path = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'indexer-'))
const engine = openStateEngine({ path })

// A restarted indexer continues after the last version of the store: a commit is durable when it resolves.
const first = engine.ledger ? Number(engine.ledger.latestVersion) + 1 : 0
for (let height = first; height < BLOCKS; height++) {
  const writes = transfersOf(height).map(
    ({ account, balance }) => [Buffer.from(account), Buffer.from(String(balance))] as const,
  )
  await engine.commit([{ version: BigInt(height), block: blockOf(height), writes }], { chainId: 1 })
}
console.log(first < BLOCKS ? `committed blocks ${first} to ${BLOCKS - 1}` : 'all blocks are committed')

// Readers are separate processes. They open the store while the writer has it open, and see each commit within
// milliseconds.
const reader = fork(new URL('./reader.ts', import.meta.url), [path, 'alice'])
await once(reader, 'exit')
await engine.close()
