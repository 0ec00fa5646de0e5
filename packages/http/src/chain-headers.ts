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
}

/** Chain-state headers with the word that an operator chose, such as `svc` or `aptos`. */
export function createChainHeaders(word: string): ChainHeaders {
  const names = NAMES.map((name) => `x-${word}-${name}`)
  let last: { ledger: LedgerInfo; headers: Record<string, string> } | undefined
  return {
    names,
    of(ledger) {
      // The engine hands out one object per state, so most requests find the headers ready.
      if (last?.ledger !== ledger) {
        const values = [
          ledger.chainId,
          ledger.latestVersion,
          ledger.oldestVersion,
          ledger.latestBlock.timestampUsec,
          ledger.latestBlock.epoch,
          ledger.latestBlock.height,
          ledger.oldestBlock.height,
        ]
        last = { ledger, headers: Object.fromEntries(names.map((name, at) => [name, String(values[at])])) }
      }
      return last.headers
    },
  }
}
