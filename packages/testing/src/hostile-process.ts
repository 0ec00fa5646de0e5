import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { HostileAttack } from './hostile-clients.ts'

const PROGRAM = fileURLToPath(new URL('./run-hostile-client.ts', import.meta.url))

export interface HostileTask {
  /** The attack: `crowd` chooses attacks at random, `mixture` runs several at the same time, `busy` sends nothing. */
  readonly attack: HostileAttack | 'crowd' | 'mixture' | 'busy'
  readonly host: string
  readonly port: number
  readonly seed: number
}

/** Tally of the client as plain data: see `HostileTally`. */
export interface HostileReport {
  readonly sent: number
  readonly ends: Readonly<Record<string, number>>
}

export interface HostileProcess {
  stop(): Promise<HostileReport>
}

/** Runs a hostile client in a separate process, so that making its requests costs nothing in this one. */
export async function startHostileProcess(task: HostileTask): Promise<HostileProcess> {
  const child = fork(PROGRAM, [JSON.stringify(task)])
  await once(child, 'message')
  return {
    async stop() {
      const reported = once(child, 'message')
      child.send('stop')
      const [report] = (await reported) as [HostileReport]
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
      return report
    },
  }
}
