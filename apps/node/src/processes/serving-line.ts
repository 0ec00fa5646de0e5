import type { LedgerSummary } from '@ledger-state/engine'

export function servingLine(address: string, ledger: LedgerSummary | undefined): string {
  const what = ledger
    ? `versions ${ledger.oldestVersion} to ${ledger.latestVersion} of chain ${ledger.chainId}`
    : 'an empty store'
  return `serving ${what} on ${address}/v1`
}
