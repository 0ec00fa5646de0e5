import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { STATE_ENGINE_CONTRACT } from '@ledger-state/engine/contract'
import { openJournalEngine } from './journal-engine.ts'

for (const { name, run } of STATE_ENGINE_CONTRACT) {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'))
  try {
    await run(() => openJournalEngine(folder))
  } catch (error) {
    console.log(`fails: ${name}`)
    throw error
  }
}
console.log('the journal engine passes the contract')
