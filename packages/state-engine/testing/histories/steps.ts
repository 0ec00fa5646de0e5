import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { branchOf, type ScanOptions } from '@ledger-state/engine'
import fc from 'fast-check'
import { type Failpoint, neverFail } from '../../src/failpoints/failpoints.ts'
import { TRUNCATION_POINTS } from '../truncation-points.ts'
import { type HistoryParts, plain, type RandomHistory } from './history.ts'
import { burst, KEYS, keyNumber, type PlannedVersion, plannedVersions, prefix, thousandths } from './inputs.ts'

export type Step = fc.AsyncCommand<object, RandomHistory>

function step(name: string, run: (history: RandomHistory) => Promise<void> | void): Step {
  return {
    check: () => true,
    async run(_, history) {
      await run(history)
    },
    toString: () => name,
  }
}

function commitStep(planned: fc.Arbitrary<PlannedVersion[]>) {
  return planned.map((chosen) => step('commit', (history) => history.commit(history.take(chosen))))
}

const readStep = fc.array(thousandths, { minLength: 3, maxLength: 3 }).map((places) =>
  step('read', (history) => {
    for (const place of places) history.compareReads(history.versionAt(place))
  }),
)

const scanStep = fc
  .record({ place: thousandths, prefix, start: fc.option(keyNumber), limit: fc.option(fc.nat(12)) })
  .map(({ place, prefix, start, limit }) =>
    step(`scan from key ${start}, limit ${limit}`, (history) => {
      const version = history.versionAt(place)
      const options: ScanOptions = { start: start === null ? undefined : KEYS[start]!, limit: limit ?? undefined }
      history.compare((engine) =>
        [...engine.at(version).scan(prefix, options)].map(({ key, version, value }) => [
          plain(key),
          version,
          plain(value),
        ]),
      )
    }),
  )

const historyStep = fc
  .record({
    key: keyNumber,
    first: fc.option(thousandths),
    last: fc.option(thousandths),
    order: fc.constantFrom('desc' as const, 'asc' as const),
  })
  .map(({ key, first, last, order }) =>
    step(`history, ${order}`, (history) => {
      const at = (place: number | null) => (place === null ? undefined : history.versionAt(place))
      const options = { first: at(first), last: at(last), order }
      history.compare((engine) =>
        [...engine.history(KEYS[key]!, options)].map(({ version, value }) => [version, plain(value)]),
      )
    }),
  )

const blockStep = thousandths.map((place) =>
  step('blocks', (history) => {
    const version = history.versionAt(place)
    history.compare((engine) => engine.blockAt(version))
    const { oldestBlock, latestBlock } = history.model.ledger ?? {}
    if (!oldestBlock || !latestBlock) return
    const span = latestBlock.height - oldestBlock.height + 3n
    const height = oldestBlock.height + (span * BigInt(place)) / 1_000n
    history.compare((engine) => engine.blockByHeight(height))
    history.compare((engine) => engine.blockAtTime(height >> 1n))
  }),
)

const versionsStep = thousandths.map((place) =>
  step('versions', (history) => {
    const first = history.versionAt(place)
    const latest = history.model.ledger?.latestVersion ?? 0n
    const last = first + 40n < latest ? first + 40n : latest
    history.compare((engine) =>
      [...engine.versions(first, last)].map(({ version, block, writes }) => [
        version,
        block,
        writes.map(([key, value]) => [plain(key), plain(value)]),
      ]),
    )
  }),
)

function pruneStep(retained: fc.Arbitrary<number>) {
  return retained.map((retain) => step(`prune ${retain}`, (history) => history.prune(retain)))
}

const ABORTS: readonly Failpoint[] = [
  'commit: began',
  'commit: appended',
  'commit: synced',
  'rotation: file created',
  'rotation: sealed',
  'bulk: file created',
  'bulk: before the transaction ends',
  'merge: before the transaction ends',
  'merge: done',
  'prune: floor raised',
  'level: began',
  'level: before the transaction ends',
]

/** Aborts work, which must leave the store as it was. An aborted merge is tried again. */
function abortStep(planned: fc.Arbitrary<PlannedVersion[]>) {
  const choice = fc.record({ planned, point: fc.constantFrom(...ABORTS), retain: fc.integer({ min: 1, max: 40 }) })
  return choice.map(({ planned: chosen, point, retain }) =>
    step(`abort at ${point}`, async (history) => {
      const aborted = new Error('aborted by the test')
      history.parts.setFailpointHandler((reached) => {
        if (reached === point) throw aborted
      })
      try {
        if (!point.startsWith('prune')) await history.tryCommit(chosen)
        else if (history.model.ledger) await history.engine.prune(BigInt(retain))
      } catch (error) {
        assert.ok(error === aborted || (error as Error).cause === aborted, String(error))
      } finally {
        history.parts.setFailpointHandler(neverFail)
      }
      // A step of the prune may have failed after the oldest version was raised; then the model follows.
      if (history.engine.ledger?.oldestVersion !== history.model.ledger?.oldestVersion) {
        await history.model.prune(BigInt(retain))
        await history.engine.prune(BigInt(retain))
      }
      history.expectSameLedger()
    }),
  )
}

const truncateStep = thousandths.map((place) =>
  step('truncate', (history) => history.truncate(history.versionAt(place))),
)

/** Cuts off the last few versions: those that are not merged, if there are any. */
const truncateABitStep = fc
  .integer({ min: 0, max: 8 })
  .map((cut) =>
    step(`truncate by ${cut}`, (history) =>
      history.truncate((history.model.ledger?.latestVersion ?? 0n) - BigInt(cut)),
    ),
  )

const markStep = fc.uint8Array({ maxLength: 40 }).map((mark) => step('put a mark', (history) => history.putMark(mark)))

/** Puts marks in the middle of other work, and kills the writer. */
function markAndKillStep(planned: fc.Arbitrary<PlannedVersion[]>) {
  return fc.record({ planned, marks: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 3 }) }).map((chosen) =>
    step(`put ${chosen.marks.length} marks, and kill`, async (history) => {
      await history.commit(history.take(chosen.planned))
      for (const mark of chosen.marks) await history.putMark(mark)
      await history.expectSound()
      await history.kill()
    }),
  )
}

/** Aborts a truncation. The store must be as it was, or truncated; the rest of the work is done later. */
const abortTruncationStep = fc
  .record({ place: thousandths, point: fc.constantFrom(...TRUNCATION_POINTS) })
  .map((chosen) =>
    step(`abort at ${chosen.point}`, async (history) => {
      const { ledger } = history.model
      if (!ledger) return
      const aborted = new Error('aborted by the test')
      history.parts.setFailpointHandler((reached) => {
        if (reached === chosen.point) throw aborted
      })
      const asked = history.versionAt(chosen.place)
      const version = asked < ledger.oldestVersion ? ledger.oldestVersion : asked
      const kept = version > ledger.latestVersion ? ledger.latestVersion : version
      try {
        await history.engine.truncateTo(kept)
        for (let turn = 0; turn < 4; turn++) await nextTurn()
      } catch (error) {
        assert.ok(error === aborted || (error as Error).cause === aborted, String(error))
      } finally {
        history.parts.setFailpointHandler(neverFail)
      }
      if (branchOf(history.engine.ledger!) !== branchOf(ledger)) {
        await history.model.truncateTo(kept)
        history.follow()
      }
      history.expectSameLedger()
      history.compareViews()
    }),
  )

/** Kills a writer after a truncation, when some of its work is left, or lets a reader read then. */
const killTruncationStep = fc
  .record({ place: thousandths, turns: fc.nat(6), isKilled: fc.boolean() })
  .map(({ place, turns, isKilled }) =>
    step(`truncate and ${isKilled ? 'kill' : 'read'} after ${turns} turns`, async (history) => {
      await history.truncate(history.versionAt(place))
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      await history.expectSound()
      if (isKilled) await history.kill()
      else await history.compareReader(history.versionAt(place))
    }),
  )

/** Kills a writer in the middle of a merge, or lets a reader read then. */
function mergeStep(planned: fc.Arbitrary<PlannedVersion[]>) {
  return fc.record({ planned, turns: fc.nat(6), place: thousandths, isKilled: fc.boolean() }).map((chosen) =>
    step(`${chosen.isKilled ? 'kill' : 'read'} after ${chosen.turns} turns`, async (history) => {
      await history.commit(history.take(chosen.planned))
      for (let turn = 0; turn < chosen.turns; turn++) await nextTurn()
      if (chosen.isKilled) await history.kill()
      else await history.compareReader(history.versionAt(chosen.place))
    }),
  )
}

/** Steps of a history. */
export function historySteps({ values = [] }: HistoryParts): fc.Arbitrary<Step>[] {
  const planned = plannedVersions(values)
  return [
    commitStep(planned),
    commitStep(planned),
    commitStep(burst),
    readStep,
    scanStep,
    historyStep,
    blockStep,
    versionsStep,
    pruneStep(fc.constantFrom(1, 2, 5, 40)),
    pruneStep(fc.integer({ min: 1, max: 900 })),
    fc.constant(step('reopen', (history) => history.reopen())),
    fc.constant(step('check', (history) => history.expectSound())),
    abortStep(planned),
    markStep,
    markAndKillStep(planned),
    truncateStep,
    truncateABitStep,
    abortTruncationStep,
    killTruncationStep,
    mergeStep(planned),
    mergeStep(burst),
  ]
}
