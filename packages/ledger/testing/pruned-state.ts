// An async state that its servers prune during reads.
import { type AsyncState, type AsyncStateSnapshot, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { expectKept } from '@ledger-state/engine/authoring'

export interface PruneMoment {
  /** How many questions are asked before. */
  readonly questions: number
  readonly retainVersions: bigint
  /** Whether a snapshot is one of the ledger as it is now. Otherwise each is the first one. */
  readonly isRenewed: boolean
}

/** A state over an engine that is pruned right before a question is answered. Only that question reports it. */
export function pruneWhileRead(engine: StateWriter, { questions, retainVersions, isRenewed }: PruneMoment): AsyncState {
  const state = engineToAsync(engine)
  let asked = 0
  let first: AsyncStateSnapshot | undefined
  const answer = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (asked++ === questions) await engine.prune(retainVersions)
    return await ask()
  }
  const knowing = (snapshot: AsyncStateSnapshot): AsyncStateSnapshot => {
    const ledger = snapshot.ledger!
    return {
      ledger,
      base: snapshot.base,
      at: (version = ledger.latestVersion) => {
        expectKept(version, ledger)
        return {
          version,
          ledger,
          load: (keys) => answer(async () => await snapshot.at(version).load(keys)),
          scan: (prefix, options) => answer(async () => await snapshot.at(version).scan(prefix, options)),
        }
      },
      blockAt: (version) => answer(() => snapshot.blockAt(version)),
      blockByHeight: (height) => answer(() => snapshot.blockByHeight(height)),
      blockAtTime: (timestampUsec) => answer(() => snapshot.blockAtTime(timestampUsec)),
      history: (key, options) => answer(() => snapshot.history(key, options)),
      nearestWrites: (keys, search) => answer(() => snapshot.nearestWrites(keys, search)),
    }
  }
  return {
    get ledger() {
      return state.ledger
    },
    snapshot: () =>
      answer(async () => {
        first ??= knowing(await state.snapshot())
        return isRenewed ? knowing(await state.snapshot()) : first
      }),
  }
}
