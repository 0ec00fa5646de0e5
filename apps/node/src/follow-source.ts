import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { notice } from './ingest-into.js'

const PROGRAM = fileURLToPath(new URL('./main.js', import.meta.url))
const RESTART_PAUSE_MS = 1_000

export interface Follower {
  /** Lets what is under way become durable, and ends. */
  stop(): Promise<void>
}

/**
 * Takes in what a node has next, in a process of its own: commits do not hold up requests, and when it dies what is
 * durable is served on. One that was killed is started again; one that gave up has said why.
 */
export function followSource(url: string, dataDir: string, options: readonly string[]): Follower {
  let child: ChildProcess | undefined
  let stopped = false
  let restart: NodeJS.Timeout | undefined
  const start = (): void => {
    const words = ['ingest', url, '--data-dir', dataDir, '--follow', ...options]
    child = spawn(process.execPath, [PROGRAM, ...words], { stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', (error) => notice(`the follower of ${url} cannot be started: ${error.message}`))
    child.on('exit', (code, signal) => {
      child = undefined
      if (stopped) return
      if (signal === null) notice(`the follower of ${url} has ended (status ${code}); what is durable is served on`)
      else {
        notice(`the follower of ${url} was ended by ${signal}; it is started again`)
        restart = setTimeout(start, RESTART_PAUSE_MS)
      }
    })
  }
  start()
  return {
    async stop() {
      stopped = true
      clearTimeout(restart)
      if (!child) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}
