import { parseAddress } from '@ledger-state/core'
import type { StateReader } from '@ledger-state/engine'
import { createLedger, type HeldAsset, type LedgerState, listActivities, listBalances } from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { typeTagToText } from '@ledger-state/type-tag'
import { demonstrationStore, OWNER, YEAR } from './demonstration.ts'

/** Prints the balance of an account when a year began, each change in it, and the balance when the year ended. */
function printStatement(reader: StateReader, owner: string, year: number): void {
  const ledger = createLedger(reader)
  const account = parseAddress(owner)
  // The newest block before the year, and the newest one in it.
  const opening = ledger.at(ledger.versionAtTime(beginOf(year) - 1n))
  const closing = ledger.at(ledger.versionAtTime(beginOf(year + 1) - 1n))
  console.log('kind,version,time,asset,storage,change,balance')
  const sums = printBalances('opening', opening, account)
  for (const change of listActivities(closing, account, { from: opening.version + 1n, order: 'asc' })) {
    // The list yields undefined where a server would let other requests run.
    if (!change) continue
    const { version, timestampUsec, before, after } = change
    const name = nameOf(change)
    sums.set(name, (sums.get(name) ?? 0n) + after - before)
    console.log(`change,${version},${timeOf(timestampUsec)},${name},${after - before},${after}`)
  }
  const held = printBalances('closing', closing, account)
  for (const [name, sum] of sums) if (sum !== (held.get(name) ?? 0n)) throw new Error(`${name} does not add up`)
}

function printBalances(kind: string, state: LedgerState, account: Uint8Array): Map<string, bigint> {
  const held = new Map<string, bigint>()
  for (const holding of listBalances(state, account)) {
    if (!holding) continue
    held.set(nameOf(holding), holding.amount)
    console.log(`${kind},${state.version},,${nameOf(holding)},,${holding.amount}`)
  }
  return held
}

/** Asset and store, as two cells of CSV. */
function nameOf({ asset, storage }: { readonly asset: HeldAsset; readonly storage: Uint8Array }): string {
  const name = asset.standard === 'v1' ? typeTagToText(asset.coin) : `0x${Buffer.from(asset.metadata).toString('hex')}`
  return `"${name}",0x${Buffer.from(storage).toString('hex')}`
}

function beginOf(year: number): bigint {
  return BigInt(Date.UTC(year, 0)) * 1_000n
}

function timeOf(timestampUsec: bigint): string {
  return new Date(Number(timestampUsec / 1_000n)).toISOString()
}

const [path, owner, year] = process.argv.slice(2)
if (path === undefined) printStatement(await demonstrationStore(), OWNER, YEAR)
else {
  if (owner === undefined || !/^\d{4}$/.test(year ?? '')) throw new Error('expected STORE ACCOUNT YEAR')
  const reader = openStateEngineReader({ path })
  printStatement(reader, owner, Number(year))
  await reader.close()
}
