// Runs programs that are killed at a call of the disk, or whose disk is full after it: `disk-stops.c`. It needs gcc,
// and Linux.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'

const SOURCE = fileURLToPath(new URL('disk-stops.c', import.meta.url))

export interface DiskStop {
  readonly how: 'kill' | 'full'
  /** Number of the call that changes something, starting at 1. */
  readonly at: number
}

export interface StoppedRun {
  readonly stdout: string
  readonly signal: string | null
  readonly status: number | null
  /** Whether the program came to the call. */
  readonly isReached: boolean
  /** Calls that changed something. */
  readonly calls: number
}

/** Compiles the library into a folder. Returns a function that runs a source whose calls on a folder count. */
export function compileDiskStops(folder: string) {
  const library = join(folder, 'disk-stops.so')
  execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-Wall', '-o', library, SOURCE, '-ldl', '-lpthread'])
  const [reached, count] = [join(folder, 'reached'), join(folder, 'count')]
  return (script: string, args: readonly string[], root: string, stop?: DiskStop): StoppedRun => {
    for (const file of [reached, count]) rmSync(file, { force: true })
    const { stdout, signal, status } = spawnSync(process.execPath, [...SOURCE_OPTIONS, script, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        LD_PRELOAD: library,
        STOP_ROOT: root,
        STOP_REACHED: reached,
        STOP_COUNT: count,
        ...(stop && { STOP_AT: String(stop.at), STOP_HOW: stop.how }),
      },
    })
    const calls = existsSync(count) ? readFileSync(count).length : 0
    return { stdout, signal, status, isReached: existsSync(reached), calls }
  }
}
