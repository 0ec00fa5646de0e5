import { type BrokenEngine, broken, type StateWriter } from './break-engine.ts'

type PutMark = StateWriter['putMark']

function brokenMark(fault: string, replace: (putMark: PutMark, engine: StateWriter) => PutMark): BrokenEngine {
  return broken(fault, (engine) => ({ putMark: replace((mark) => engine.putMark(mark), engine) }))
}

export const BROKEN_MARKS: readonly BrokenEngine[] = [
  brokenMark('does not put a mark', (putMark, engine) => async (mark) => {
    await putMark(mark)
    await engine.truncateTo(engine.ledger!.latestVersion)
  }),
  brokenMark('counts a mark as a truncation', (putMark, engine) => async (mark) => {
    await putMark(mark)
    await engine.truncateTo(engine.ledger!.latestVersion, { mark })
  }),
  brokenMark('takes a mark that is no bytes', (putMark) => async (mark) => {
    if (mark instanceof Uint8Array) await putMark(mark)
  }),
  brokenMark('takes a mark in an empty store', (putMark, engine) => async (mark) => {
    if (engine.ledger) await putMark(mark)
  }),
  brokenMark('takes part of a mark that is too long', (putMark) => (mark) => {
    return putMark(mark instanceof Uint8Array ? mark.subarray(0, 65_536) : mark)
  }),
  brokenMark('puts a mark after commits that are called after it', (putMark) => async (mark) => {
    await new Promise((resolve) => setImmediate(resolve))
    await putMark(mark)
  }),
  broken('keeps the mark that it is given, not a copy', (engine) => {
    let given: Uint8Array | undefined
    const forget = () => {
      given = undefined
    }
    return {
      putMark: async (mark) => {
        await engine.putMark(mark)
        given = mark
      },
      commit: (...of) => {
        forget()
        return engine.commit(...of)
      },
      truncateTo: (...of) => {
        forget()
        return engine.truncateTo(...of)
      },
      get mark() {
        return given ?? engine.mark
      },
    }
  }),
  broken('forgets a mark that was put when it is closed', (engine) => {
    let before: Uint8Array | undefined
    return {
      putMark: async (mark) => {
        before ??= engine.ledger && engine.mark
        await engine.putMark(mark)
      },
      commit: (...of) => {
        before = undefined
        return engine.commit(...of)
      },
      close: async () => {
        if (before) await engine.putMark(before)
        await engine.close()
      },
    }
  }),
  broken('tells listeners of a mark', (engine) => {
    const listeners = new Set<Parameters<StateWriter['onCommit']>[0]>()
    return {
      onCommit: (listener, options) => {
        listeners.add(listener)
        const remove = engine.onCommit(listener, options)
        return () => {
          listeners.delete(listener)
          remove()
        }
      },
      putMark: async (mark) => {
        await engine.putMark(mark)
        for (const listener of listeners) listener(engine.ledger!)
      },
    }
  }),
]
