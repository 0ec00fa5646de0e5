import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReaderReport, ReaderTask } from './lookup-reader.ts'

const READER = fileURLToPath(new URL('./lookup-reader.ts', import.meta.url))

export interface ReaderProcess {
  start(): void
  /** Resolves when the process has done all its look-ups, or was stopped. */
  report(): Promise<ReaderReport>
  stop(): void
  /** Resolves when the process has closed the store and exited. */
  end(): Promise<void>
}

export async function startReader(task: ReaderTask): Promise<ReaderProcess> {
  const child: ChildProcess = fork(READER, [JSON.stringify(task)])
  await once(child, 'message')
  let reported: Promise<ReaderReport> | undefined
  return {
    start() {
      reported = once(child, 'message').then(([report]) => report as ReaderReport)
      child.send('start')
    },
    report: () => reported!,
    stop: () => child.send('stop'),
    async end() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}

/** Drops the files of a folder from the page cache, unless a process maps them. False if the system cannot. */
export function dropFromPageCache(folder: string): boolean {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  // One shell for all files: PostgreSQL has a thousand, and starting a process from here takes 30 ms.
  const drop = 'for file do dd if="$file" iflag=nocache count=0 status=none || exit 1; done'
  return spawnSync('sync', paths).status === 0 && spawnSync('sh', ['-c', drop, 'sh', ...paths]).status === 0
}
