import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReaderReport, ReaderTask } from './lookup-reader.js'

const READER = fileURLToPath(new URL('./lookup-reader.js', import.meta.url))

export interface ReaderProcess {
  start(): void
  /** What it reports when it has read as much as it was told, or was stopped. */
  report(): Promise<ReaderReport>
  stop(): void
  /** When the process has gone, and has closed what it read. */
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

/** Takes the files of a folder out of the page cache, as far as nobody has them mapped. False where it cannot. */
export function dropFromPageCache(folder: string): boolean {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  // One shell for all: PostgreSQL has a thousand files, and to start a process from here takes 30 ms.
  const drop = 'for file do dd if="$file" iflag=nocache count=0 status=none || exit 1; done'
  return spawnSync('sync', paths).status === 0 && spawnSync('sh', ['-c', drop, 'sh', ...paths]).status === 0
}
