import type { Random } from '@ledger-state/testing/random'
import type { DiskEvent, FileId } from './read-trace.ts'

const SECTOR = 512
/**
 * Length of LMDB's meta pages. They have no checksum, so they need sectors that are written as a whole, as its
 * documentation says.
 */
const META_PAGES = 8_192

interface PendingChange {
  readonly change: { readonly at: number; readonly bytes: Buffer } | { readonly length: number }
}

interface SimulatedFile {
  /** Content that is surely on the disk. Each change makes another object, usually in the same memory. */
  durable: Buffer
  /** Changes that may be on the disk in part: writes and truncations since the last sync. */
  pending: PendingChange[]
  /** Changes that a sync under way makes durable. */
  readonly syncs: Map<number, ReadonlySet<PendingChange>>
}

type NameChange = Extract<DiskEvent, { readonly kind: 'create' | 'rename' | 'remove' }>

/**
 * Simulates the possible content of a disk when the power fails: everything that was synced, and any subset of the
 * other sectors and names, with some sectors torn in their middle.
 */
export class SimulatedDisk {
  readonly #files = new Map<FileId, SimulatedFile>()
  readonly #names = new Map<string, FileId>()
  #nameChanges: NameChange[] = []
  /** Changes of names that a sync under way may make durable. */
  readonly #folderSyncs = new Map<number, ReadonlySet<NameChange>>()

  /** Makes a disk that surely holds these files. Their ids are their indexes. */
  constructor(existing: ReadonlyMap<string, Buffer> = new Map()) {
    for (const [name, content] of existing) {
      const file = this.#names.size
      this.#names.set(name, file)
      this.#files.set(file, { durable: copyOf(content, content.length), pending: [], syncs: new Map() })
    }
  }

  apply(event: DiskEvent): void {
    switch (event.kind) {
      case 'create':
        this.#files.set(event.file, { durable: Buffer.alloc(0), pending: [], syncs: new Map() })
        this.#nameChanges.push(event)
        break
      case 'rename':
      case 'remove':
        this.#nameChanges.push(event)
        break
      case 'write':
        if (event.isSynced) writeSynced(this.#file(event.file), event)
        else this.#file(event.file).pending.push({ change: event })
        break
      case 'truncate':
        this.#file(event.file).pending.push({ change: { length: event.length } })
        break
      case 'sync began':
        this.#file(event.file).syncs.set(event.sync, new Set(this.#file(event.file).pending))
        break
      case 'sync ended':
        this.#sync(this.#file(event.file), event.sync)
        break
      case 'folder sync began':
        this.#folderSyncs.set(event.sync, new Set(this.#nameChanges))
        break
      case 'folder synced':
        this.#syncFolder(event.folder, this.#folderSyncs.get(event.sync)!)
        this.#folderSyncs.delete(event.sync)
        break
      case 'printed':
      case 'step':
        break
    }
  }

  /** One of the contents that the disk may have now: names of files with their bytes, valid until the next event. */
  image(random: Random): Map<string, Buffer> {
    // It is likely that nothing, or everything, reached the disk.
    const share = random.pick([0, 10, 50, 90, 100])
    const names = new Map(this.#names)
    const isPrefix = random.below(2) === 0
    let changes = isPrefix ? this.#nameChanges.slice(0, random.below(this.#nameChanges.length + 1)) : this.#nameChanges
    if (!isPrefix) changes = changes.filter(() => random.below(100) < share)
    for (const change of changes) changeName(names, change)
    return new Map([...names].map(([name, file]) => [name, imageOf(name, this.#file(file), random, share)]))
  }

  #file(id: FileId): SimulatedFile {
    return this.#files.get(id)!
  }

  #sync(file: SimulatedFile, sync: number): void {
    const changes = file.syncs.get(sync)!
    file.syncs.delete(sync)
    for (const pending of file.pending) if (changes.has(pending)) file.durable = changed(file.durable, pending)
    file.durable = file.durable.subarray()
    file.pending = file.pending.filter((pending) => !changes.has(pending))
  }

  /**
   * Makes the changes in this folder durable that were made before a sync began, and forgets the earlier names of files
   * moved into it.
   */
  #syncFolder(folder: string, began: ReadonlySet<NameChange>): void {
    const moved = new Set<string>()
    const synced = new Set<NameChange>()
    for (const change of this.#nameChanges.toReversed()) {
      if (!began.has(change)) continue
      const name = change.kind === 'rename' ? change.to : change.name
      if (folderOf(name) !== folder && !moved.has(name)) continue
      synced.add(change)
      if (change.kind === 'rename') moved.add(change.from)
    }
    for (const change of this.#nameChanges) if (synced.has(change)) changeName(this.#names, change)
    this.#nameChanges = this.#nameChanges.filter((change) => !synced.has(change))
  }
}

function imageOf(name: string, { durable, pending }: SimulatedFile, random: Random, share: number): Buffer {
  if (pending.length === 0) return durable
  const ends = pending.map(({ change }) => ('length' in change ? change.length : change.at + change.bytes.length))
  let content = copyOf(durable, Math.max(durable.length, ...ends))
  for (const { change } of pending) {
    if ('length' in change) {
      if (random.below(100) < share) content = resized(content, change.length)
      continue
    }
    const { at, bytes } = change
    // The file may have its new length without the bytes.
    if (random.below(4) === 0) content = resized(content, Math.max(content.length, at + bytes.length))
    for (let start = at; start < at + bytes.length; ) {
      const end = Math.min(at + bytes.length, start - (start % SECTOR) + SECTOR)
      if (random.below(100) < share) {
        let sector = bytes.subarray(start - at, end - at)
        const mayBeTorn = !(name.includes('.mdb') && start < META_PAGES)
        if (mayBeTorn && random.below(20) === 0) sector = sector.subarray(0, random.below(sector.length + 1))
        content = written(content, start, sector)
      }
      start = end
    }
  }
  return content
}

function changed(content: Buffer, { change }: PendingChange): Buffer {
  return 'length' in change ? resized(content, change.length) : written(content, change.at, change.bytes)
}

/** Writes bytes, in place if the content is long enough. */
function written(content: Buffer, at: number, bytes: Buffer): Buffer {
  const target = resized(content, Math.max(content.length, at + bytes.length))
  bytes.copy(target, at)
  return target
}

/** Resizes content, in place if there is room behind it, as `copyOf` makes. */
function resized(content: Buffer, length: number): Buffer {
  if (length <= content.length) return content.subarray(0, length)
  const { buffer, byteOffset } = content
  if (byteOffset + length <= buffer.byteLength) {
    return Buffer.from(buffer, byteOffset, length).fill(0, content.length)
  }
  return resized(copyOf(content, 2 * length), length)
}

/** Copies content into separate memory, with `room` bytes behind it. */
function copyOf(content: Buffer, room: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(room)
  content.copy(copy)
  return copy.subarray(0, content.length)
}

/**
 * Writes bytes that are durable at once. They replace pending changes in their place, because the system holds one
 * content of each page.
 */
function writeSynced(file: SimulatedFile, { at, bytes }: { readonly at: number; readonly bytes: Buffer }): void {
  file.durable = written(file.durable, at, bytes).subarray()
  const isOver = ({ change }: PendingChange) =>
    'bytes' in change && change.at >= at && change.at + change.bytes.length <= at + bytes.length
  file.pending = file.pending.filter((pending) => !isOver(pending))
}

function changeName(names: Map<string, FileId>, change: NameChange): void {
  if (change.kind === 'create') names.set(change.name, change.file)
  else if (change.kind === 'remove') names.delete(change.name)
  else {
    const file = names.get(change.from)
    if (file === undefined) return
    names.delete(change.from)
    names.set(change.to, file)
  }
}

function folderOf(name: string): string {
  return name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : ''
}
