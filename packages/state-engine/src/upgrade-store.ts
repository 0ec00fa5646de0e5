import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerInfo } from '@ledger-state/core'
import { checkPages } from './lmdb/check-pages.js'
import { expectStore, LOCK_FILE, STORE_FILE, withStoreErrors } from './lmdb/lmdb-store.js'
import { acquireWriterLock } from './lmdb/writer-lock.js'
import { openWithFailurePoints } from './open-state-engine.js'
import { invalidArgument, storeCorrupt, upgradeDiffers } from './port/errors.js'
import { expectObject, expectString } from './port/validate-arguments.js'
import { compareStores } from './upgrade/compare-stores.js'
import { copyStore } from './upgrade/copy-store.js'
import { Layout3Store } from './upgrade/layout-3-store.js'
import { createPace, type Pace, type UpgradeProgress } from './upgrade/pace.js'
import { moveUp, prepareUnfinished } from './upgrade/unfinished-copy.js'
import { type AtFailurePoint, neverFail } from './write/failure-points.js'

const PAGES_BETWEEN_TURNS = 500

/** Who is told how far an upgrade is, and how it is stopped. */
export interface UpgradeOptions {
  /** Called some times a second. */
  readonly onProgress?: ((progress: UpgradeProgress) => void) | undefined
  /** Once it is aborted, `upgradeStore` throws its reason; the same call resumes. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Copies a store of the layout before this one (3) into another folder, in this one, and compares the copy with it. The
 * store is not changed. The copy becomes a store, under its name, only at the end; until then the same call resumes, also
 * after the process was killed. The copy's base is the oldest version that the store has.
 * @returns the ledger of the copy
 * @throws `store_missing`, `store_format`, `no_ledger`, `store_locked` while a writer has the store open, `store_not_empty`
 *   where the folder holds a store already, `store_corrupt`, `store_full`, `invalid_argument`
 */
export async function upgradeStore(from: string, to: string, options: UpgradeOptions = {}): Promise<LedgerInfo> {
  return await upgradeWithFailurePoints(from, to, options, neverFail)
}

/** `upgradeStore` for tests that cut it short. */
export async function upgradeWithFailurePoints(
  from: string,
  to: string,
  options: UpgradeOptions,
  atFailurePoint: AtFailurePoint,
): Promise<LedgerInfo> {
  expectString('the path of the store', from)
  expectString('the path of the copy', to)
  expectObject('the options of the upgrade', options)
  const pace = createPace(options.onProgress, options.signal, atFailurePoint)
  expectStore(from)
  const releaseSource = withStoreErrors(from, () => acquireWriterLock(join(from, LOCK_FILE)))
  try {
    const source = withStoreErrors(from, () => new Layout3Store(from))
    try {
      withStoreErrors(to, () => mkdirSync(to, { recursive: true }))
      if (realpathSync(from) === realpathSync(to)) throw invalidArgument('the path of the copy', 'another folder', to)
      // Nobody else may make a store in that folder meanwhile.
      const releaseCopy = withStoreErrors(to, () => acquireWriterLock(join(to, LOCK_FILE)))
      try {
        const path = withStoreErrors(to, () => prepareUnfinished(to, atFailurePoint))
        if (path !== undefined) {
          await expectSoundPages(join(from, STORE_FILE), pace)
          await upgradeInto(source, path, to, pace, options.onProgress)
        }
      } finally {
        releaseCopy()
      }
      return source.content.ledger
    } finally {
      await source.close()
    }
  } finally {
    releaseSource()
  }
}

/** LMDB may end the process when it reads damaged pages. */
async function expectSoundPages(file: string, pace: Pace): Promise<void> {
  let done = 0
  for (const fault of checkPages(file)) {
    if (fault !== undefined) throw storeCorrupt(fault)
    if (done++ % PAGES_BETWEEN_TURNS === 0) await pace.report({ step: 'pages', done, total: undefined })
  }
}

async function upgradeInto(
  source: Layout3Store,
  path: string,
  to: string,
  pace: Pace,
  onProgress: UpgradeOptions['onProgress'],
): Promise<void> {
  // Commits are large: merged at once, they need no write-ahead file.
  const options = { path, durability: 'ordered', verifyReads: true, memoryTableBytes: 0 } as const
  const engine = openWithFailurePoints(options, pace.atFailurePoint)
  try {
    await copyStore(source, engine, to, pace)
    await engine.flush()
    const report = (done: number) => onProgress?.({ step: 'check', done, total: undefined })
    report(0)
    const { problems, keys } = await engine.check({ onProgress: report })
    if (problems.length > 0) throw upgradeDiffers(problems[0]!)
    const expected = await compareStores(source, engine, pace)
    if (keys !== expected) throw upgradeDiffers(`it has ${keys} keys, not ${expected}`)
    pace.atFailurePoint('upgrade: compared')
  } finally {
    await engine.close()
  }
  withStoreErrors(to, () => moveUp(to, pace.atFailurePoint))
}
