import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { expect, it } from 'vitest'
import type { ProcessMessage } from './messages.js'

const PROCESS = fileURLToPath(new URL('../../testing/reporting-process.ts', import.meta.url))

/** The first message of a process whose store fails the first reports. */
async function firstMessage(failures: number): Promise<ProcessMessage> {
  const child = fork(PROCESS, [String(failures)], { execArgv: [...SOURCE_OPTIONS] })
  const ended = once(child, 'exit')
  try {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [ProcessMessage]
    return message
  } finally {
    child.kill()
    await ended
  }
}

it('a process goes on after reports that its store failed once, and ends if the store keeps failing', async () => {
  expect(await firstMessage(2)).toMatchObject({ type: 'report' })
  expect(await firstMessage(9)).toMatchObject({ type: 'failed', code: 'store_failed' })
})
