import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { expect, it } from 'vitest'

it.each(['esm', 'cjs'] as const)('a program that was bundled as %s writes and reads', async (format) => {
  const bundle = await bundledScript(new URL('../testing/bundled-writer.ts', import.meta.url), { format })
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  const { stdout, stderr } = spawnSync(process.execPath, [bundle, join(folder, 'store')], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect([stdout, stderr]).toEqual(['2\n', ''])
})
