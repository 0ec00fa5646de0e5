import type { LedgerInfo } from '@ledger-state/core'

/** How often commits of other processes are looked for. */
const POLL_MS = 20

export interface CommitWatch {
  add(listener: (ledger: LedgerInfo) => void): () => void
  /** Something was committed here. */
  notice(): void
  close(): void
}

/** Tells listeners of new states of the ledger; looks for those of other processes only while somebody listens. */
export function createCommitWatch(current: () => LedgerInfo | undefined): CommitWatch {
  const listeners = new Set<(ledger: LedgerInfo) => void>()
  let told: LedgerInfo | undefined
  let timer: NodeJS.Timeout | undefined

  function notice(): void {
    if (listeners.size === 0) return
    const ledger = current()
    if (!ledger || (ledger.latestVersion === told?.latestVersion && ledger.oldestVersion === told.oldestVersion)) return
    told = ledger
    for (const listener of [...listeners]) listener(ledger)
  }

  function close(): void {
    listeners.clear()
    clearInterval(timer)
    timer = undefined
  }

  return {
    add(listener) {
      if (listeners.size === 0) told = current()
      listeners.add(listener)
      timer ??= setInterval(notice, POLL_MS).unref()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) close()
      }
    },
    notice,
    close,
  }
}
