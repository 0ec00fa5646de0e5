import type { ListenerOptions } from './ports/engine-ports.js'
import { isSameLedger, type LedgerSummary } from './ports/state-port.js'
import { expectFunction, expectOptions } from './validation/validate-arguments.js'

type Listener = (ledger: LedgerSummary) => void

/** Longest interval of a timer, in milliseconds: 25 days. */
const LONGEST_INTERVAL_MS = 2 ** 31 - 1

/** Listeners of changes of the ledger. */
export interface CommitWatch {
  /** Calls the listener after each change. Returns a function that removes it. */
  add(listener: Listener, options?: ListenerOptions): () => void
  /** Calls the listeners if the ledger has changed. */
  notice(): void
  /** Removes all listeners. */
  close(): void
}

/**
 * Notifies listeners when the ledger changes. While there is a listener, it looks every `pollMs` for commits of other
 * processes.
 */
export function createCommitWatch(current: () => LedgerSummary | undefined, pollMs?: number): CommitWatch {
  const listeners = new Set<{ readonly call: Listener; readonly keepsAlive: boolean }>()
  let told: LedgerSummary | undefined
  let timer: NodeJS.Timeout | undefined
  /** A timer that keeps the process alive; polling does not. */
  let hold: NodeJS.Timeout | undefined

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
    holdOrRelease()
  }

  function holdOrRelease(): void {
    if ([...listeners].some(({ keepsAlive }) => keepsAlive)) {
      hold ??= setInterval(() => {}, LONGEST_INTERVAL_MS)
    } else {
      clearInterval(hold)
      hold = undefined
    }
  }

  return {
    add(call, options = {}) {
      expectFunction('the listener', call)
      expectOptions('the options of the listener', options, ['keepAlive'])
      if (listeners.size === 0) told = current()
      const listener = { call, keepsAlive: options.keepAlive === true }
      listeners.add(listener)
      if (pollMs !== undefined) timer ??= setInterval(notice, pollMs).unref()
      holdOrRelease()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) close()
        else holdOrRelease()
      }
    },
    notice,
    close,
  }
}

/** Calls a listener so that its error is not one of the commit. */
function callApart(listener: Listener, ledger: LedgerSummary): void {
  try {
    listener(ledger)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
