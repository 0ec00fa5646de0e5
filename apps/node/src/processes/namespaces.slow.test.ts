// Two containers on one data folder: both have processes of the same numbers, by which LMDB tells readers apart.
import { spawnSync } from 'node:child_process'
import { eventually } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { RunningProgram } from '../../testing/program.ts'

const NAMESPACE = [
  ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child=KILL'],
  ['unshare', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child=KILL'],
].find(([command, ...words]) => spawnSync(command!, [...words, 'true']).status === 0)

let bed: CommandBed
let running: RunningProgram[]
beforeEach(async () => {
  bed = new CommandBed()
  running = []
  await bed.fill('store', 100)
})
afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all(running.map(({ ended }) => ended))
  await bed.close()
})

/** Starts the program as process 1 of a pid namespace. */
function contained(...words: string[]): RunningProgram {
  const program = new RunningProgram([...words, '--data-dir', bed.at('store')], { prefix: NAMESPACE! })
  running.push(program)
  return program
}

/** Starts a node, and resolves once it answers. */
async function startNode(): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`
  const node = contained('serve', '--listen', address, '--admin-listen', 'off')
  await eventually(
    async () => (await fetch(`http://${address}/v1`)).ok,
    () => `an answer of ${address}: ${node.output}`,
  )
  return address
}

const place = NAMESPACE ? 'pid namespaces' : 'pid namespaces, which cannot be made here'
it.skipIf(!NAMESPACE)(`nodes, checks and other commands of several ${place} use one store`, async () => {
  const addresses = [await startNode(), await startNode(), await startNode()]
  for (let round = 0; round < 3; round++) {
    const [check, info] = [contained('check'), contained('info', '--json')]
    expect(await check.outcome()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^sound: /), stderr: '' })
    const { status, stdout, stderr } = await info.outcome()
    // Both are process 1 and may meet, as `check` begins another process and `info` reads the store itself.
    if (status === 0) expect(JSON.parse(stdout).ledger_version).toBe('99')
    else expect([status, stderr]).toEqual([1, expect.stringMatching(/^ledger-state: another container, [^\n]*\n$/)])
  }
  for (const address of addresses) expect((await fetch(`http://${address}/v1`)).status).toBe(200)
})
