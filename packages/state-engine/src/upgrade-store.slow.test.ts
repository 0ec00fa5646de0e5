import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { describe, expect, it } from 'vitest'
import { expectSoundStore } from '../testing/killed-writer.ts'
import { knownVersion } from '../testing/known-ledger.ts'
import { writeLayout3Store } from '../testing/layout-3-store.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { upgradeStore } from './upgrade-store.js'
import type { FailurePoint } from './write/failure-points.js'

const SCRIPT = fileURLToPath(new URL('../testing/crash-upgrade.ts', import.meta.url))
const LONG = { timeout: 120_000 }
const folder = temporaryFolder()

describe('an upgrade killed with SIGKILL', () => {
  const points: readonly [FailurePoint, number][] = [
    ['upgrade: part copied', 1],
    ['import: part done', 2],
    ['import: before it counts', 1],
    ['upgrade: state copied', 1],
    ['bulk: file created', 2],
    ['bulk: before the transaction ends', 3],
    ['bulk: committed', 4],
    ['upgrade: versions committed', 1],
    ['upgrade: versions committed', 9],
    ['upgrade: compared', 1],
    ['upgrade: file moved', 1],
    ['upgrade: file moved', 2],
    ['upgrade: all moved', 1],
  ]
  it.each(points)('at ‘%s’, time %i, leaves no store that is not whole, and resumes', LONG, async (at, nth) => {
    const [old, copy] = [join(folder.path, 'old'), join(folder.path, 'new')]
    const versions = Array.from({ length: 100 }, (_, version) => knownVersion(BigInt(version)))
    await writeLayout3Store(old, { chainId: 7n, versions, oldestVersion: 40n })
    const { signal, stderr } = spawnSync(process.execPath, [...SOURCE_OPTIONS, SCRIPT, old, copy, at, String(nth)])
    expect([signal, String(stderr)]).toEqual(['SIGKILL', ''])
    if (existsSync(join(copy, 'state.mdb'))) await expectSoundStore(copy, 99n)
    await upgradeStore(old, copy)
    await expectSoundStore(copy, 99n)
    expect(existsSync(join(copy, 'upgrading'))).toBe(false)
  })
})
