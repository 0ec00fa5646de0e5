import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openLmdbStore } from './lmdb-store.js'

const SCRIPT = await bundledScript(new URL('../../testing/opening-reader.ts', import.meta.url))
const folder = temporaryFolder()

it('a store opens for writing and for reading while another process, the only one that has it open, closes it', async () => {
  const openAndClose = () => openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' }).root.close()
  await openAndClose()
  // Without further tries, about 20 of 1,000 openings fail.
  const reader = spawn(process.execPath, [SCRIPT, folder.path, '1000'], { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void reader.kill('SIGKILL'))
  const errors = text(reader.stderr)
  while (reader.exitCode === null && reader.signalCode === null) {
    await openAndClose()
    await nextTurn()
  }
  expect([reader.exitCode, await errors]).toEqual([0, ''])
})
