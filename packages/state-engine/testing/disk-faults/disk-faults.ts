// Runs programs on a disk whose calls fail: `disk-faults.c`. It needs gcc, and Linux.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('disk-faults.c', import.meta.url))

/** Calls that name files: they fail without a change. */
export const CALLS_BY_NAME = ['create', 'open', 'read', 'remove', 'link', 'rename', 'cut', 'list', 'stat'] as const

/** Time after which a program counts as held forever. */
const HELD_MS = 45_000

export interface DiskFault {
  readonly call: 'sync' | 'write' | 'lock' | (typeof CALLS_BY_NAME)[number]
  /** Begin of the names of the files whose calls count; `.` is the folder itself. */
  readonly name: string
  /** Number of the call that fails, counted from 1. */
  readonly nth: number
  /** Number of calls that fail, one after the other; 1 by default. */
  readonly times?: number
}

export interface FaultyRun {
  /** Lines that the program printed. */
  readonly lines: readonly string[]
  readonly signal: string | null
  /** Whether a call failed. */
  readonly isReached: boolean
  /** Folder with the data that survives a loss of power after the run. */
  readonly disk: string
}

/** Whether this machine can compile the disk. */
export function hasFaultyDisk(): boolean {
  return process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0
}

/** Compiles the disk into a folder. Returns functions that run programs on it; the first argument of each is its folder. */
export function compileFaultyDisk(folder: string) {
  const library = join(folder, 'disk-faults.so')
  execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-Wall', '-o', library, SOURCE, '-ldl', '-lpthread'])
  let runs = 0
  const runWith = (script: string, args: readonly string[], fault: DiskFault | undefined): FaultyRun => {
    const run = join(folder, `run-${++runs}`)
    const [store, disk, reached] = [join(run, 'store'), join(run, 'disk'), join(run, 'reached')]
    for (const each of [store, disk]) mkdirSync(each, { recursive: true })
    const env = {
      ...process.env,
      LD_PRELOAD: library,
      FAULT_FOLDER: store,
      FAULT_DISK: disk,
      FAULT_REACHED: reached,
      ...(fault && { FAULT: `${fault.call}:${fault.name}:${fault.nth}:5:${fault.times ?? 1}` }),
    }
    const { stdout, signal } = spawnSync(process.execPath, [script, store, ...args], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for (const name of readdirSync(disk)) if (!existsSync(join(store, name))) rmSync(join(disk, name))
    return { lines: stdout.split('\n').slice(0, -1), signal, isReached: existsSync(reached), disk }
  }
  /** Runs a program whose syncs it holds itself: `held-writer.ts`. Returns the lines that it printed, all if no sync held it. */
  const runHeld = (script: string): readonly string[] => {
    const run = join(folder, `run-${++runs}`)
    const [store, disk, hold] = [join(run, 'store'), join(run, 'disk'), join(run, 'hold')]
    for (const each of [store, disk]) mkdirSync(each, { recursive: true })
    const env = { ...process.env, LD_PRELOAD: library, FAULT_FOLDER: store, FAULT_DISK: disk, FAULT_HOLD: hold }
    const { stdout } = spawnSync(process.execPath, [script, store, hold], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: HELD_MS,
    })
    return stdout.split('\n').slice(0, -1)
  }
  /** Runs a program that opens a store while the data file is removed. Returns its output. */
  const runWhileRemoved = (args: readonly string[]): string => {
    const env = { ...process.env, LD_PRELOAD: library, FAULT_REMOVES: '1' }
    return spawnSync(process.execPath, args, { encoding: 'utf8', env }).stdout
  }
  return { runWith, runHeld, runWhileRemoved }
}
