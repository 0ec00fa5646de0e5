import './take-snapshot.test.js'
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerSummary } from '@ledger-state/engine'
import { overriding } from '@ledger-state/testing/overriding'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { describe, expect, it } from 'vitest'
import { BUSY_WRITER, expectSoundCopy } from '../../testing/sound-copy.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { neverFail } from '../failpoints/failpoints.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { openStateEngineReader } from '../open-state-engine.js'
import { takeSnapshot } from './take-snapshot.js'

const folder = temporaryFolder()

describe('a snapshot taken during the work of a writer that commits, merges and prunes more than a hundred versions', () => {
  const path = () => join(folder.path, 'store')
  const copyPath = () => join(folder.path, 'copy')

  /** Runs a writer, and blocks this process. */
  function runWriter(): void {
    const { signal } = spawnSync(process.execPath, [...SOURCE_OPTIONS, BUSY_WRITER, path(), 'commit: done', '12'])
    expect(signal).toBe('SIGKILL')
  }

  type Backup = LmdbStore['root']['backup']

  /** Takes a snapshot. `around` gets the copy of the data file, and returns its replacement. */
  async function copyWith(around: (backup: Backup) => Backup): Promise<LedgerSummary> {
    runWriter()
    const reader = openStateEngineReader({ path: path() })
    const before = reader.ledger!
    await reader.close()
    const store = openLmdbStore({ path: path(), readOnly: true, durability: 'full', verifyReads: true })
    const backup: Backup = (file, compact) => store.root.backup(file, compact)
    const root = overriding(store.root, { backup: around(backup) })
    try {
      await takeSnapshot({ ...store, root }, copyPath(), false, { atFailpoint: neverFail, expectGoing: () => {} })
    } finally {
      await store.root.close()
    }
    return before
  }

  /**
   * Runs the writer before the copy, and after the copy has begun, before that can be noticed, so that files are
   * created and removed unseen.
   */
  const runUnseen =
    (backup: Backup): Backup =>
    (file, compact) => {
      runWriter()
      const copied = backup(file, compact)
      waitUntilBegun(file)
      runWriter()
      return copied
    }

  /** Waits until the copy has begun, and blocks this process. */
  function waitUntilBegun(file: string): void {
    const nothing = new Int32Array(new SharedArrayBuffer(4))
    while (!statSync(file, { throwIfNoEntry: false })?.size) Atomics.wait(nothing, 0, 0, 1)
  }

  it('has all commits from the moment when the data file was copied, although files were merged and removed since', async () => {
    const before = await copyWith((backup) => async (file, compact) => {
      await backup(file, compact)
      runWriter()
    })
    await expectSoundCopy(copyPath(), before)
  })

  it('has the window of the data file, although it was opened before and the files were merged after', async () => {
    let copies = 0
    const before = await copyWith((backup) => async (file, compact) => {
      // A copy that ended before its files were opened is taken again.
      if (copies++ > 0) return backup(file, compact)
      runWriter()
      await backup(file, compact)
      runWriter()
    })
    await expectSoundCopy(copyPath(), before)
  })

  it('has all commits from before the copy, although later files came and went before they could be opened', async () => {
    let copies = 0
    const before = await copyWith((backup) => (file, compact) => {
      const copied = backup(file, compact)
      if (copies++ > 0) return copied
      waitUntilBegun(file)
      runWriter()
      return copied
    })
    await expectSoundCopy(copyPath(), before)
  })

  it('is taken again if a file came and went before it could be opened', async () => {
    let copies = 0
    const before = await copyWith((backup) => (file, compact) => {
      return copies++ === 0 ? runUnseen(backup)(file, compact) : backup(file, compact)
    })
    expect(copies).toBe(2)
    await expectSoundCopy(copyPath(), before)
  })
})
