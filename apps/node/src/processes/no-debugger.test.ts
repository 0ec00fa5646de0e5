// SIGUSR1, at which Node.js opens a debugger for everybody on the machine.
import { readFileSync } from 'node:fs'
import { eventually } from '@ledger-state/testing/eventually'
import { expect, it, onTestFinished } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { NodeProcess } from '../../testing/node-process.ts'

it.skipIf(process.platform !== 'linux')('SIGUSR1 opens a debugger in no process of a node, and ends none', async () => {
  const bed = new CommandBed()
  onTestFinished(() => bed.close())
  await bed.fill('store', 20)
  const options = ['--retain', '10', '--serve-feed', '127.0.0.1:0']
  const node = await new NodeProcess({ dataDir: bed.at('store'), options }).listening()
  onTestFinished(() => node.killAll())
  const names = ['reader-0', 'writer', 'feed']
  const pids = [node.child.pid!]
  for (const name of names) pids.push(await node.pidOnceUp(name))
  for (let round = 0; round < 2; round++) for (const pid of pids) process.kill(pid, 'SIGUSR1')
  // Its children block the signal.
  await eventually(
    () => isIdle(node.child.pid!),
    () => 'the supervisor to handle the signal',
  )
  expect(await node.version()).toBe(19)
  for (const [at, name] of names.entries()) expect(await node.pidOnceUp(name)).toBe(pids[at + 1])
  expect(await node.stop()).toBe(0)
  expect(node.output).not.toMatch(/debugger/i)
})

/** Whether no SIGUSR1 is pending for a process. */
function isIdle(pid: number): boolean {
  const masks = [...readFileSync(`/proc/${pid}/status`, 'utf8').matchAll(/^(?:SigPnd|ShdPnd):\s+(\w+)/gm)]
  return masks.every(([, mask]) => (BigInt(`0x${mask}`) & (1n << 9n)) === 0n)
}
