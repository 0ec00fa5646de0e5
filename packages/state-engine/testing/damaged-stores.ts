import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { open } from 'lmdb'
import { afterAll, beforeAll, expect } from 'vitest'
import { STORE_FILE } from '../src/lmdb/lmdb-store.ts'
import { openStateEngine } from '../src/open-state-engine.ts'
import { KNOWN_CHAIN, knownVersion } from './known-ledger.ts'
import type { Opened } from './open-stores.ts'

const SCRIPT = await bundledScript(new URL('open-stores.ts', import.meta.url))

/** Makes a store with records of all kinds before the tests of a file, and damaged copies of it. */
export function damagedStores({ isPruned }: { readonly isPruned: boolean }) {
  const root = mkdtempSync(join(tmpdir(), 'engine-damaged-'))
  const sound = join(root, 'sound')
  let copies = 0

  beforeAll(async () => {
    const written = join(root, 'written')
    const engine = openStateEngine({ path: written, durability: 'none', memtableBytes: 0 })
    for (let version = 0n; version < 1_500n; ) {
      await engine.commit(
        Array.from({ length: 100 }, () => knownVersion(version++)),
        KNOWN_CHAIN,
      )
    }
    if (isPruned) await engine.prune(1_200n)
    if (isPruned) cpSync(written, sound, { recursive: true })
    else await engine.snapshot(sound, { compact: true })
    await engine.close()
    if (!isPruned) await dropFreePages(join(sound, STORE_FILE))
  })
  afterAll(() => {
    rmSync(root, { recursive: true })
  })

  return {
    get file() {
      return join(sound, STORE_FILE)
    },
    /** Makes a copy with a damaged file. Returns its folder. */
    copy(damage: (file: string) => void): string {
      const path = join(root, `copy ${++copies}`)
      cpSync(sound, path, { recursive: true })
      damage(join(path, STORE_FILE))
      return path
    },
    removeCopies(): void {
      for (; copies > 0; copies--) rmSync(join(root, `copy ${copies}`), { recursive: true })
    },
  }
}

/** Makes a data file without free pages, whose loss would be no damage. */
async function dropFreePages(file: string): Promise<void> {
  const copy = `${file}.copy`
  const environment = open({ path: file, readOnly: true, noSubdir: true })
  await environment.backup(copy, true)
  await environment.close()
  renameSync(copy, file)
}

/** Opens stores in another process, which a signal may end, and checks, uses or reads them. */
export function openElsewhere(paths: readonly string[], task: 'check' | 'use' | 'read' = 'check'): Opened[] {
  const { signal, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, task, ...paths], {
    encoding: 'utf8',
  })
  const opened = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Opened)
  expect(signal, `opened ${opened.length} of ${paths.length} stores, then ended: ${stderr}`).toBeNull()
  expect(opened).toHaveLength(paths.length)
  return opened
}
