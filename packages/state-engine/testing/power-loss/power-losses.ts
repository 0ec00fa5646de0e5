import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Random } from '@ledger-state/testing/random'
import type { DiskEvent } from './record-run.ts'
import { SimulatedDisk } from './simulated-disk.ts'

export type Image = ReadonlyMap<string, Buffer>

export interface PowerLoss {
  readonly image: Image
  /** The last line that the process had printed. */
  readonly printed: string | undefined
  /** Of events; to find the place again. */
  readonly after: number
}

/** Losses of power at random moments of a run. `existing`: what the disk held before. */
export function* powerLosses(
  events: readonly DiskEvent[],
  random: Random,
  count: number,
  existing?: Image,
): Generator<PowerLoss> {
  const moments = Array.from({ length: count }, () => random.below(events.length)).sort((a, b) => a - b)
  const disk = new SimulatedDisk(existing)
  let printed: string | undefined
  let next = 0
  for (const [after, event] of events.entries()) {
    disk.apply(event)
    if (event.kind === 'printed') printed = event.line
    for (; moments[next] === after; next++) yield { image: disk.image(random), printed, after }
  }
}

/** In memory where the system has a place for that: nothing here has to outlast a loss of power. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Calls back with a folder that holds an image, and removes it. */
export async function withImage<T>(image: Image, work: (path: string) => Promise<T>): Promise<T> {
  const path = mkdtempSync(join(ROOT, 'power-loss-'))
  try {
    for (const [name, content] of image) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), content)
    }
    return await work(path)
  } finally {
    rmSync(path, { recursive: true })
  }
}

/** The data files of a folder. */
export function readImage(path: string): Image {
  const names = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/lock/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(path.length + 1))
  return new Map(names.sort().map((name) => [name, readFileSync(join(path, name))]))
}
