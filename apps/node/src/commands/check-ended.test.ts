// A check whose process is ended from outside: nothing is known about the store then.
import { readFileSync } from 'node:fs'
import { openStateEngine } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import type { RunningProgram } from '../../testing/program.ts'

let bed: CommandBed
beforeEach(async () => {
  bed = new CommandBed()
  await openStateEngine({ path: bed.at('store'), durability: 'none' }).close()
})
afterEach(() => bed.close())

function childOf(pid: number): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return child === undefined ? undefined : Number(child)
}

/** Starts a check, and sends its process signals as soon as it is there: once for each signal, to each new process. */
async function checkEndedBy(...signals: NodeJS.Signals[]) {
  const check = bed.start('check', '--data-dir', bed.at('store'))
  let last: number | undefined
  for (const signal of signals) {
    last = await newChildOf(check, last)
    process.kill(last, signal)
  }
  return await check.outcome()
}

async function newChildOf(check: RunningProgram, last: number | undefined): Promise<number> {
  let pid: number | undefined
  await eventually(
    () => {
      pid = childOf(check.child.pid!)
      return pid !== undefined && pid !== last
    },
    () => `a process of the check: ${check.output}`,
  )
  return pid!
}

const canSeeChildren = process.platform === 'linux'

it.skipIf(!canSeeChildren).each([
  ['SIGKILL', /memory/],
  ['SIGTERM', /SIGTERM/],
  ['SIGHUP', /SIGHUP/],
  ['SIGABRT', /memory/],
] as const)('by %s does not call the store damaged', async (signal, why) => {
  const { status, stderr } = await checkEndedBy(signal)
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^ledger-state: the check of .* did not finish: .*\n$/)])
  expect(stderr).toMatch(signal)
  expect(stderr).toMatch(why)
  expect(stderr).toMatch(/the state of the store is unknown/)
  expect(stderr).not.toMatch(/is damaged|ingest again/)
})

it.skipIf(!canSeeChildren).each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('by %s to the command ends both processes, and says so: status %i', async (signal, status) => {
  const check = bed.start('check', '--data-dir', bed.at('store'))
  const pid = await newChildOf(check, undefined)
  // The command waits in a call of the system until its child runs another program.
  await eventually(
    () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('check-process'),
    () => `the program of the check: ${check.output}`,
  )
  // A process that is halted has not ended by itself.
  process.kill(pid, 'SIGSTOP')
  expect(await check.stop(signal)).toBe(status)
  expect(check.output).toBe(
    `ledger-state: stopped by ${signal}: the store was not read to its end, and nothing is known about it; the same command begins again\n`,
  )
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

it.skipIf(!canSeeChildren)('by one SIGSEGV is made again, and by two calls the store damaged', async () => {
  const once = await checkEndedBy('SIGSEGV')
  expect(once.stderr).toMatch(/did not finish: its process was ended by SIGSEGV/)
  expect([once.status, once.stdout]).toEqual([0, expect.stringMatching(/^sound: 0 records/)])
  const twice = await checkEndedBy('SIGSEGV', 'SIGSEGV')
  expect([twice.status, twice.stderr]).toEqual([
    1,
    expect.stringMatching(/is damaged: two processes in a row ended with SIGSEGV/),
  ])
})
