import { all, marks, withListeners } from './parts.ts'
import { type Faults, onEngine } from './patches.ts'

const { answered, given, replaced } = onEngine

export const BROKEN_MARKS: Faults = {
  'does not put a mark': answered('putMark', (_, __, engine) => engine.truncateTo(engine.ledger!.latestVersion)),
  'counts a mark as a truncation': answered('putMark', (_, [mark], engine) =>
    engine.truncateTo(engine.ledger!.latestVersion, { mark }),
  ),
  'takes a mark that is no bytes': replaced('putMark', (putMark) => async (mark) => {
    if (mark instanceof Uint8Array) await putMark(mark)
  }),
  'takes a mark in an empty store': replaced('putMark', (putMark, engine) => async (mark) => {
    if (engine.ledger) await putMark(mark)
  }),
  'takes part of a mark that is too long': given('putMark', ([mark]) => [
    mark instanceof Uint8Array ? mark.subarray(0, 65_536) : mark,
  ]),
  'puts a mark after commits that are called after it': replaced('putMark', (putMark) => async (mark) => {
    await new Promise((resolve) => setImmediate(resolve))
    await putMark(mark)
  }),
  'keeps the mark that it is given, not a copy': marks((keep) => {
    const forgetting = <T>(given: T): T => {
      keep(undefined)
      return given
    }
    return all(
      answered('putMark', (_, [mark]) => keep(mark)),
      given('commit', forgetting),
      given('truncateTo', forgetting),
    )
  }),
  'forgets a mark that was put when it is closed': (engine, openings) => {
    let before: Uint8Array | undefined
    const patch = all(
      replaced('putMark', (putMark) => async (mark) => {
        before ??= engine.ledger && engine.mark
        await putMark(mark)
      }),
      given('commit', (versions) => {
        before = undefined
        return versions
      }),
      replaced('close', (close) => async () => {
        if (before) await engine.putMark(before)
        await close()
      }),
    )
    return patch(engine, openings)
  },
  'tells listeners of a mark': withListeners((tell) => answered('putMark', (_, __, engine) => tell(engine.ledger!))),
}
