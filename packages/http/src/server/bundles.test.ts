import { spawnSync } from 'node:child_process'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { expect, it } from 'vitest'

it.each(['esm', 'cjs'] as const)('a program that was bundled as %s serves', async (format) => {
  const bundle = await bundledScript(new URL('../../testing/bundled-server.ts', import.meta.url), {
    format,
    isWhole: true,
  })
  const { stdout, stderr } = spawnSync(process.execPath, [bundle], { encoding: 'utf8' })
  expect([stdout, stderr]).toEqual(['503 true\n', ''])
})
