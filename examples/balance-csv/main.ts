import { parseAddress } from '@ledger-state/core'
import type { StateReader } from '@ledger-state/engine'
import { balanceHistory, createLedger } from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { demonstrationStore, OWNER } from './demonstration.ts'

/** Prints each version at which a balance changed, the oldest first. */
function printBalanceHistory(state: StateReader, owner: string, asset: string): void {
  const ledger = createLedger(state)
  const changes = balanceHistory(ledger.at(), parseAddress(owner), ledger.parseAsset(asset), { order: 'asc' })
  console.log('version,time,balance')
  for (const { version, timestampUsec, value, error } of changes) {
    // A balance from before the window has the version that wrote it, whose time the store no longer keeps.
    const time = timestampUsec === undefined ? '' : new Date(Number(timestampUsec / 1_000n)).toISOString()
    console.log(`${version},${time},${value ?? error?.message}`)
  }
}

const [path, owner, asset] = process.argv.slice(2)
if (path === undefined) printBalanceHistory(await demonstrationStore(), OWNER, '0x1::aptos_coin::AptosCoin')
else {
  if (owner === undefined || asset === undefined) throw new Error('expected STORE ACCOUNT ASSET')
  const reader = openStateEngineReader({ path })
  printBalanceHistory(reader, owner, asset)
  await reader.close()
}
