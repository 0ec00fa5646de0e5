// Standard outputs that take nothing: a reader that has left (`| head`), a disk that is full.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { PROGRAM } from '../../testing/program.ts'

let bed: CommandBed
beforeAll(async () => {
  bed = new CommandBed()
  await bed.fill('store', 200)
})
afterAll(() => bed.close())

const PRINTING = [
  '--help',
  '--version',
  'ingest --help',
  'networks --json',
  'config --schema',
  'info --data-dir store',
  'info --json --data-dir store',
  'check --data-dir store',
]
/** Commands that work on a store, and print a summary. */
const WORKING = [
  'prune --retain 50 --data-dir store',
  'snapshot {} --data-dir store',
  'ingest feed.ndjson --data-dir {}',
]

/** Runs a command line of a shell, in which `$P` is the program, to its end. */
async function shell(line: string): Promise<{ readonly status: number | null; readonly stderr: string }> {
  const env = { ...process.env, P: `${process.execPath} ${PROGRAM}`, LEDGER_STATE_ADMIN_LISTEN: 'off' }
  const child = spawn('bash', ['-c', line], { cwd: bed.folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { status, stderr }
}

describe.each(isSlowRun ? PRINTING : PRINTING.slice(-1))('ledger-state %s', (words) => {
  it('ends without a word when its reader has left', async () => {
    // `true` reads nothing; the pause of the shell lets it end first.
    expect(await shell(`( sleep .1; $P ${words} ) | true; exit \${PIPESTATUS[0]}`)).toEqual({ status: 0, stderr: '' })
  })

  it.skipIf(!existsSync('/dev/full'))('says in one sentence that the disk is full, with status 1', async () => {
    expect(await shell(`$P ${words} > /dev/full`)).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^ledger-state: standard output cannot be written: ENOSPC: [^\n]*\n$/),
    })
  })
})

describe.runIf(isSlowRun).each(WORKING)('ledger-state %s', (words) => {
  it('does its work, whatever happens to its output', async () => {
    const into = (name: string) => words.replace('{}', `${name}-${words.split(' ')[0]}`)
    const gone = await shell(`( sleep .1; $P ${into('gone')} ) | true; exit \${PIPESTATUS[0]}`)
    expect([gone.status, gone.stderr.includes('Error')]).toEqual([0, false])
    const full = await shell(`$P ${into('full')} > /dev/full 2> /dev/full`)
    expect(full.status).toBe(words.startsWith('ingest') ? 0 : 1)
    for (const name of ['gone', 'full']) {
      if (words.includes('{}')) expect((await bed.info(`${name}-${words.split(' ')[0]}`)).ledger_version).toBe('199')
    }
  })
})

it('a text is reported if a full disk takes only a part of it', async () => {
  // The limit of the shell is in blocks of 1,024 bytes; the text has more.
  const { status, stderr } = await shell('trap "" XFSZ; ulimit -f 1; $P config --schema > part')
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^ledger-state: standard output cannot be written: EFBIG/),
  ])
})
