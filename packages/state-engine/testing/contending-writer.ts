// Argument: a folder. Opens the store for writing whenever no other writer has it open, commits some versions of the
// known ledger, closes it and begins again, until it is killed. Prints `locked` each time that another writer has the
// store, and each version that was acknowledged.
import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLedgerStateError } from '@ledger-state/core'
import { openStateEngine, type StateEngine } from '../src/index.js'
import { KNOWN_CHAIN, knownVersion } from './known-ledger.js'

const VERSIONS_PER_TURN = 6
const path = process.argv[2]!

function tryOpen(): StateEngine | undefined {
  try {
    return openStateEngine({ path, memtableBytes: 30_000 })
  } catch (error) {
    if (isLedgerStateError(error, 'store_locked')) return undefined
    throw error
  }
}

for (;;) {
  const engine = tryOpen()
  if (!engine) {
    writeSync(1, 'locked\n')
    await sleep(1)
    continue
  }
  for (let count = 0; count < VERSIONS_PER_TURN; count++) {
    const next = engine.ledger ? engine.ledger.latestVersion + 1n : 0n
    await engine.commit([knownVersion(next)], KNOWN_CHAIN)
    writeSync(1, `${next}\n`)
  }
  await engine.close()
  await sleep(1)
}
