import { isSameLedger, type LedgerInfo } from './ports/state-port.js'
import { expectFunction } from './validation/validate-arguments.js'

type Listener = (ledger: LedgerInfo) => void

/** Listeners of changes of the ledger. */
export interface CommitWatch {
  /** Calls the listener after each change, until the function that this returns is called. */
  add(listener: Listener): () => void
  /** Calls the listeners if the ledger has changed. */
  notice(): void
  /** Removes all listeners. */
  close(): void
}

/** Tells listeners of changes of the ledger; looks every `pollMs` for those of other processes, while somebody listens. */
export function createCommitWatch(current: () => LedgerInfo | undefined, pollMs?: number): CommitWatch {
  const listeners = new Set<{ readonly call: Listener }>()
  let told: LedgerInfo | undefined
  let timer: NodeJS.Timeout | undefined

  function notice(): void {
    if (listeners.size === 0) return
    const ledger = current()
    if (!ledger || isSameLedger(ledger, told)) return
    told = ledger
    for (const { call } of [...listeners]) callApart(call, ledger)
  }

  function close(): void {
    listeners.clear()
    clearInterval(timer)
    timer = undefined
  }

  return {
    add(call) {
      expectFunction('the listener', call)
      if (listeners.size === 0) told = current()
      const listener = { call }
      listeners.add(listener)
      if (pollMs !== undefined) timer ??= setInterval(notice, pollMs).unref()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) close()
      }
    },
    notice,
    close,
  }
}

/** An error of a listener is not one of the commit. */
function callApart(listener: Listener, ledger: LedgerInfo): void {
  try {
    listener(ledger)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
