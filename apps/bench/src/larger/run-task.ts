import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { MemoryGroup } from './memory-group.ts'
import type { StoreTask, TaskCost } from './store-task.ts'

const PROGRAM = fileURLToPath(new URL('store-task.ts', import.meta.url))
/** The process is of the group before Node.js runs, so that all of its memory counts. */
const JOIN_AND_RUN = 'echo $$ > "$0" && exec "$@"'

/** Does a task in a process of the group, whose pool has this number of threads. */
export async function runTask(group: MemoryGroup, task: StoreTask, threads: number): Promise<TaskCost[]> {
  const command = [process.execPath, ...process.execArgv, PROGRAM, JSON.stringify(task)]
  const child = spawn('sh', ['-c', JOIN_AND_RUN, group.processesFile, ...command], {
    env: { ...process.env, UV_THREADPOOL_SIZE: String(threads) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const said = await text(child.stdout)
  const [status, signal] = await ended
  if (status !== 0) throw new Error(`the task ${task.kind} ended with ${signal ?? `status ${status}`}`)
  return JSON.parse(said)
}
