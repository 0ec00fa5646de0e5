import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { openStateEngine } from '@ledger-state/state-engine'
import { expect, it, onTestFinished } from 'vitest'
import { mergeWithProgress } from './merge-with-progress.js'

it('a merge shows how many of the writes in memory are merged, and leaves a terminal without the line', async () => {
  const path = mkdtempSync(join(tmpdir(), 'merge-with-progress-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const engine = openStateEngine({ path, durability: 'none' })
  for (let version = 0n; version < 3n; version++) {
    const block = { height: version, epoch: 0n, timestampUsec: version }
    const writes = Array.from(
      { length: 500 },
      (_, at) => [Buffer.from(`key ${at}`), Buffer.from(`${version}`)] as const,
    )
    await engine.commit([{ version, block, writes }], { chainId: 1 })
  }
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true })
  await mergeWithProgress(engine, terminal as unknown as NodeJS.WriteStream)
  const text = terminal.read() as string
  // The first commit of a store is merged at once.
  expect(text.startsWith('\r\u001b[Kmerging: 0 of 1,000 writes, 0.0 %')).toBe(true)
  expect(text.endsWith('\r\u001b[K')).toBe(true)
  expect(engine.stats).toMatchObject({ memtableEntries: 0, keys: 500, historyEntries: 1_000 })
  await engine.close()
})
