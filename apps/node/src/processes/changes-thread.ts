import { RequestThread, threadModule } from '@ledger-state/core/threads'
import type { ChangePage, ChangeSource } from '@ledger-state/http'

/** Request to the thread: a range to read with a cursor, or none to close the cursor. */
export interface ChangesRequest {
  readonly cursor: number
  readonly range?: { readonly first: bigint; readonly last: bigint }
}

type Thread = RequestThread<ChangesRequest, ChangePage>

/**
 * Reads the changes of a store in a thread of its own. The thread runs only while a stream is open.
 * @param execArgv options of Node.js for the thread; by default the options of the process
 */
export function createThreadChanges(path: string, execArgv?: readonly string[]): ChangeSource | undefined {
  const module = threadModule('changes-worker', import.meta.url)
  if (!module) return undefined
  let thread: Thread | undefined
  let open = 0
  let lastCursor = 0
  const running = (): Thread => {
    if (!thread?.isRunning) {
      thread = new RequestThread<ChangesRequest, ChangePage>(module, {
        workerData: { path },
        ...(execArgv && { execArgv }),
        toCrash: (thrown) => new Error(`changes cannot be read: ${String(thrown)}`),
        toEnd: (cause) => new Error(`the thread that reads changes has ended: ${String(cause)}`),
      })
    }
    return thread
  }
  return {
    open() {
      const cursor = ++lastCursor
      let isClosed = false
      open++
      return {
        read: (first, last) => running().ask({ cursor, range: { first, last } }),
        close() {
          if (isClosed) return
          isClosed = true
          open--
          if (open > 0) thread?.ask({ cursor }).catch(() => {})
          else {
            void thread?.close()
            thread = undefined
          }
        },
      }
    },
  }
}
