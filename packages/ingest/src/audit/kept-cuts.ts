import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Cut, type CutFile, CutWriter, openCutFile } from '@ledger-state/feed'
import { auditDamaged } from '../errors.js'
import type { CutsOfVersions } from './audit-record.js'

/** Least and most bytes after which a file is followed by another, which can be thinned by itself. */
const LEAST_FILE = 2 ** 16
const MOST_FILE = 2 ** 24
/** Files that the budget is divided into. */
const FILES_OF_BUDGET = 16
/** By how much the distance of the cuts of a file grows at once, and how far. */
const THINNING = 8n
const WIDEST = 2n ** 40n

/** Where cuts are kept, and how many bytes they may take. */
export interface CutsPlace {
  readonly folder: string
  readonly budgetBytes: number
}

/** Appends the cuts of a range of versions to the files before. */
export class CutAppender {
  readonly #place: CutsPlace
  readonly #depth: number
  readonly #files: CutsOfVersions[]
  #writer: CutWriter | undefined
  #name = ''
  #first = 0n
  #last = 0n

  /** @throws `spill_failed`, `state_tree_damaged` */
  constructor(place: CutsPlace, depth: number, before: readonly CutsOfVersions[]) {
    this.#place = place
    this.#depth = depth
    this.#files = [...before]
  }

  /** Appends the cut of the end of a block. @throws `spill_failed`, `state_tree_damaged` */
  add(end: bigint, cut: Cut): void {
    if (this.#writer?.isAtSnapshot && this.#writer.bytes >= bytesOfFile(this.#place)) this.#finish()
    if (!this.#writer) this.#begin(end)
    this.#writer!.add(end, cut)
    this.#last = end
  }

  /** Makes all cuts durable. @returns all files. @throws `spill_failed` */
  finish(): CutsOfVersions[] {
    this.#finish()
    return this.#files
  }

  /** Closes the file under way, which stays as it is. */
  close(): void {
    this.#writer?.close()
    this.#writer = undefined
  }

  #begin(end: bigint): void {
    const { folder } = this.#place
    const before = this.#files.at(-1)
    const isContinued =
      before?.depth === this.#depth && before.spacing === 1n && before.bytes < bytesOfFile(this.#place)
    if (!isContinued) {
      this.#name = cutsName(end)
      this.#first = end
      this.#writer = new CutWriter(join(folder, this.#name), this.#depth)
      return
    }
    const { name, first } = this.#files.pop()!
    this.#name = name
    this.#first = first
    this.#writer = withFile(folder, before, (file) => new CutWriter(join(folder, name), this.#depth, file.place))
  }

  #finish(): void {
    const writer = this.#writer
    if (!writer) return
    writer.finish()
    this.#files.push({
      name: this.#name,
      bytes: writer.bytes,
      depth: this.#depth,
      first: this.#first,
      last: this.#last,
      spacing: 1n,
    })
    this.close()
  }
}

/**
 * Removes cuts until the rest fits the budget: every end of a block keeps one in the newest versions, and some do in
 * older ones. Files that are no longer named stay in the folder.
 * @param used bytes of the budget that are not for cuts
 * @throws `spill_failed`, `state_tree_damaged`
 */
export function fitCuts(place: CutsPlace, cuts: readonly CutsOfVersions[], used: number): CutsOfVersions[] {
  let files = [...cuts]
  const bytes = () => files.reduce((sum, file) => sum + file.bytes, used)
  while (bytes() > place.budgetBytes) {
    const older = files.slice(0, -1)
    const next = thinnest(older) ?? (older.length === 0 ? thinnest(files) : undefined)
    if (next) files = thinned(place, files, next)
    else if (older.length > 0) files = files.slice(1)
    else break
  }
  return files
}

/** The oldest of the files whose cuts are closest, unless they are far apart already. */
function thinnest(files: readonly CutsOfVersions[]): CutsOfVersions | undefined {
  let found: CutsOfVersions | undefined
  for (const file of files) {
    const canBe = file.spacing < WIDEST && file.last > file.first
    if (canBe && (!found || file.spacing < found.spacing)) found = file
  }
  return found
}

/** Keeps fewer cuts of a file, and joins it with the file before if that has as few. */
function thinned(place: CutsPlace, files: readonly CutsOfVersions[], file: CutsOfVersions): CutsOfVersions[] {
  const { folder } = place
  const { depth } = file
  const spacing = file.spacing * THINNING
  const at = files.indexOf(file)
  const before = files[at - 1]
  const isJoined = before?.depth === depth && before.spacing === spacing && before.bytes < bytesOfFile(place)
  const name = isJoined ? before.name : cutsName(file.first)
  const path = join(folder, name)
  const from = isJoined ? { bytes: before.bytes, changes: undefined } : undefined
  const writer = new CutWriter(path, depth, from)
  let first: bigint | undefined
  try {
    withFile(folder, file, (cuts) =>
      cuts.copy((end, next) => {
        const isKept = next === undefined || end / spacing !== next / spacing
        if (isKept) first ??= end
        return isKept
      }, writer),
    )
    writer.finish()
    const joined = {
      name,
      bytes: writer.bytes,
      depth,
      first: isJoined ? before.first : first!,
      last: file.last,
      spacing,
    }
    return [...files.slice(0, isJoined ? at - 1 : at), joined, ...files.slice(at + 1)]
  } finally {
    writer.close()
  }
}

/** @throws `state_tree_damaged`, `audit_damaged` if the file is gone */
function withFile<Result>(folder: string, { name, bytes }: CutsOfVersions, work: (file: CutFile) => Result): Result {
  const file = openCutFile(join(folder, name), bytes)
  if (!file) throw auditDamaged(folder)
  try {
    return work(file)
  } finally {
    file.close()
  }
}

function bytesOfFile({ budgetBytes }: CutsPlace): number {
  return Math.min(MOST_FILE, Math.max(LEAST_FILE, budgetBytes / FILES_OF_BUDGET))
}

function cutsName(first: bigint): string {
  return `cuts-${first}-${randomBytes(4).toString('hex')}`
}
