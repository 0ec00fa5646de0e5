import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Random } from '@ledger-state/testing/random'
import { inAnotherBoot } from '../another-boot.ts'
import type { DiskEvent } from './read-trace.ts'
import { SimulatedDisk } from './simulated-disk.ts'

export type Image = ReadonlyMap<string, Buffer>

export interface PowerLoss {
  /** Image of the disk, valid until the next loss. */
  readonly image: Image
  /** Last line that acknowledged something. */
  readonly printed: string | undefined
  /** Last step that the engine had reached. */
  readonly step: string | undefined
  /** Number of events before the loss, to find the place again. */
  readonly after: number
}

/** Kinds of events that do not change the possible content of the disk, and acknowledge nothing. */
const CHANGES_NOTHING: ReadonlySet<DiskEvent['kind']> = new Set(['step', 'sync began', 'folder sync began'])

/**
 * Losses of power at random moments of a run. Half of them are spread evenly over the steps of the engine, because some
 * steps are short. `existing` is the content of the disk before the run.
 */
export function* powerLosses(
  events: readonly DiskEvent[],
  random: Random,
  count: number,
  existing?: Image,
): Generator<PowerLoss> {
  const ofSteps = changesOfSteps(events)
  const all = ofSteps.flat()
  const pick = () => random.pick(random.below(2) === 0 ? all : random.pick(ofSteps))
  const moments = Array.from({ length: count }, pick).sort((a, b) => a - b)
  const disk = new SimulatedDisk(existing)
  let printed: string | undefined
  let step: string | undefined
  let next = 0
  for (const [after, event] of events.entries()) {
    disk.apply(event)
    if (event.kind === 'printed') printed = event.line
    if (event.kind === 'step') step = event.step
    for (; moments[next] === after; next++) yield { image: disk.image(random), printed, step, after }
  }
}

/** Indexes of events that change something, by the last step that the engine had reached. */
function changesOfSteps(events: readonly DiskEvent[]): number[][] {
  const places = new Map<string | undefined, number[]>()
  let step: string | undefined
  for (const [at, event] of events.entries()) {
    if (event.kind === 'step') step = event.step
    if (CHANGES_NOTHING.has(event.kind)) continue
    const ofStep = places.get(step)
    if (ofStep) ofStep.push(at)
    else places.set(step, [at])
  }
  return [...places.values()]
}

/** Digests of contents that several images share. */
const DIGESTS = new WeakMap<Buffer, string>()

/** Digest of an image, the same for images with the same bytes. */
export function imageDigest(image: Image): string {
  const files = [...image].map(([name, content]) => {
    let digest = DIGESTS.get(content)
    if (digest === undefined) {
      digest = hash('sha1', content, 'base64')
      DIGESTS.set(content, digest)
    }
    return `${name}:${digest}`
  })
  return files.sort().join()
}

/** Folder for images, in memory if possible: nothing here has to survive a loss of power. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Calls `work` with a folder that holds an image, and then removes the folder. */
export async function withImage<T>(image: Image, work: (path: string) => Promise<T>): Promise<T> {
  const path = mkdtempSync(join(ROOT, 'power-loss-'))
  try {
    writeImage(path, foundImage(image))
    return await work(path)
  } finally {
    rmSync(path, { recursive: true })
  }
}

export function writeImage(path: string, image: Image): void {
  for (const [name, content] of image) {
    if (name.includes('/')) mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), content)
  }
}

/** Copies an image, as it is found once there is power again, into separate memory. */
export function foundImage(image: Image): Image {
  return new Map([...image].map(([name, bytes]) => [name, isWalFile(name) ? inAnotherBoot(bytes) : Buffer.from(bytes)]))
}

function isWalFile(name: string): boolean {
  return /(^|\/)write-ahead-\d+$/.test(name)
}

/** Reads the data files of a folder. */
export function readImage(path: string): Image {
  const names = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/lock/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(path.length + 1))
  return new Map(names.sort().map((name) => [name, readFileSync(join(path, name))]))
}
