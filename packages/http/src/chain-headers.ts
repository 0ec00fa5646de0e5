import type { LedgerInfo } from '@ledger-state/core'

/** Names of the chain-state headers, lower-case, behind `x-<word>-`. */
const NAMES = [
  'chain-id',
  'ledger-version',
  'ledger-oldest-version',
  'ledger-timestampusec',
  'epoch',
  'block-height',
  'oldest-block-height',
] as const

export interface ChainHeaders {
  /** Names of the headers, lower-case. */
  readonly names: readonly string[]
  /** The headers that describe a state of the ledger. */
  of(ledger: LedgerInfo): Readonly<Record<string, string>>
  /** The same, names and values by turns. */
  listOf(ledger: LedgerInfo): readonly string[]
}

/** Chain-state headers with the word that an operator chose, such as `svc` or `aptos`. */
export function createChainHeaders(word: string): ChainHeaders {
  const names = NAMES.map((name) => `x-${word}-${name}`)
  let last: { ledger: LedgerInfo; headers: Record<string, string>; list: string[] } | undefined

  function describe(ledger: LedgerInfo) {
    // The engine hands out one object per state, so most requests find the headers ready.
    if (last?.ledger === ledger) return last
    const values = [
      ledger.chainId,
      ledger.latestVersion,
      ledger.oldestVersion,
      ledger.latestBlock.timestampUsec,
      ledger.latestBlock.epoch,
      ledger.latestBlock.height,
      ledger.oldestBlock.height,
    ]
    const headers = Object.fromEntries(names.map((name, at) => [name, String(values[at])]))
    last = { ledger, headers, list: Object.entries(headers).flat() }
    return last
  }

  return { names, of: (ledger) => describe(ledger).headers, listOf: (ledger) => describe(ledger).list }
}
