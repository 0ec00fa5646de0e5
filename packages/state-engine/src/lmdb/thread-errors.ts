import type { ThreadOptions } from '@ledger-state/core/threads'
import { storeFailed } from '@ledger-state/engine/authoring'

const toCrash = (cause: unknown) => storeFailed(`a thread of the store failed: ${String(cause)}`, cause)

/** Errors of the jobs of a thread of the store that failed or ended. */
export const THREAD_ERRORS: Pick<ThreadOptions, 'toCrash' | 'toEnd'> = {
  toCrash,
  toEnd: (cause) => (cause === undefined ? storeFailed('a thread of the store has ended', undefined) : toCrash(cause)),
}
