// Reads the strace record of a run: its changes to the files of a folder, in order.
import { relative } from 'node:path'
import { STEP } from './recorded-run.ts'

/** Number of a file of the folder, whatever its names are over time. */
export type FileId = number

export type DiskEvent =
  | { readonly kind: 'create'; readonly file: FileId; readonly name: string }
  /** A write. If `isSynced`, it is durable when the call returns (O_DSYNC). */
  | {
      readonly kind: 'write'
      readonly file: FileId
      readonly at: number
      readonly bytes: Buffer
      readonly isSynced: boolean
    }
  | { readonly kind: 'truncate'; readonly file: FileId; readonly length: number }
  /** Begin or end of a sync. Bytes written before it began are durable when it ends. */
  | { readonly kind: 'sync began' | 'sync ended'; readonly file: FileId; readonly sync: number }
  /** The same for the names in a folder. */
  | { readonly kind: 'folder sync began' | 'folder synced'; readonly folder: string; readonly sync: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly name: string }
  /** A line that acknowledges something. */
  | { readonly kind: 'printed'; readonly line: string }
  /** The engine reached this step. */
  | { readonly kind: 'step'; readonly step: string }

/** A line of a trace. A call that other threads interrupt has two: its beginning, and its end with the result. */
export interface TraceLine {
  readonly thread: string
  readonly text: string
}

/** Names of files without data: LMDB's table of readers, and the lock of the writer. */
const IS_LOCK = /-lock$|writer\.lock(-journal)?$/
/** Names that a segment file has while it is being mapped, which changes nothing. */
const IS_MAPPED = /\.map-[0-9a-f]+$/

/** Reads the events of a folder, which had the files of `existing`. @throws if a file was changed in a way that is not read */
export function readTrace(
  folder: string,
  lines: readonly TraceLine[],
  existing: ReadonlyMap<string, Buffer> = new Map(),
): DiskEvent[] {
  return new TraceReader(folder, existing).read(lines)
}

interface OpenFile {
  readonly file: FileId
  readonly isSynced: boolean
  readonly isAppending: boolean
  position: number
}

class TraceReader {
  readonly #folder: string
  readonly #events: DiskEvent[] = []
  /** Open files and folders within the folder, by descriptor; folders are paths. */
  readonly #open = new Map<number, OpenFile | string>()
  readonly #names = new Map<string, FileId>()
  readonly #sizes = new Map<FileId, number>()
  readonly #begun = new Map<string, { readonly text: string; readonly sync: number }>()
  #files = 0
  #syncs = 0
  #printed = ''

  constructor(folder: string, existing: ReadonlyMap<string, Buffer>) {
    this.#folder = folder
    for (const [name, content] of existing) {
      this.#sizes.set(this.#files, content.length)
      this.#names.set(name, this.#files++)
    }
  }

  read(lines: readonly TraceLine[]): DiskEvent[] {
    for (const { thread, text } of lines) {
      if (text.endsWith('<unfinished ...>')) {
        const begun = text.slice(0, -'<unfinished ...>'.length)
        this.#begun.set(thread, { text: begun, sync: this.#begin(begun) })
        continue
      }
      const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)
      const begun = resumed && this.#begun.get(thread)
      const whole = begun ? begun.text + resumed[1] : text
      this.#call(whole, begun ? begun.sync : this.#begin(whole))
    }
    return this.#events
  }

  /** Applies the beginning of a call. Returns the number of the sync. */
  #begin(text: string): number {
    const [, name, descriptor] = /^(\w+)\((\d+)/.exec(text) ?? []
    const open = this.#open.get(Number(descriptor))
    // Another thread may get the descriptor before the call ends.
    if (name === 'close') this.#open.delete(Number(descriptor))
    if (open === undefined || !(name === 'fsync' || name === 'fdatasync')) return -1
    const sync = ++this.#syncs
    if (typeof open === 'string') this.#events.push({ kind: 'folder sync began', folder: open, sync })
    else this.#events.push({ kind: 'sync began', file: open.file, sync })
    return sync
  }

  #call(text: string, sync: number): void {
    const found = /^(\w+)\((.*)\) += (-?\w+)/.exec(text)
    if (!found) return
    const [, name, args, returned] = found as unknown as [string, string, string, string]
    const result = Number(returned)
    if (result < 0 || Number.isNaN(result) || name === 'close') return
    const descriptor = Number(DESCRIPTOR_OF[name]?.exec(args)?.[1] ?? /^\d+/.exec(args)?.[0] ?? -1)
    const open = this.#open.get(descriptor)
    if (/^(open|openat|creat|rename\w*|unlink\w*|link\w*|truncate)$/.test(name)) this.#named(name, args, result)
    else if (name === 'write' && descriptor === 1) this.#print(unhex(/"(.*)"/.exec(args)![1]!))
    else if (typeof open === 'object') this.#changed(name, open, args, result, sync)
    else if (typeof open === 'string' && name.endsWith('sync')) {
      this.#events.push({ kind: 'folder synced', folder: open, sync })
    }
  }

  #named(name: string, args: string, result: number): void {
    const [first, second] = stringsOf(args).map((bytes) => this.#relative(bytes.toString()))
    if (name.startsWith('open') || name === 'creat') this.#opened(first, args, result)
    else if (first === undefined) return
    else if (name.startsWith('rename')) this.#renamed(first, second!)
    else if (name.startsWith('unlink')) this.#removed(first)
    else if (this.#names.has(first) && !IS_MAPPED.test(second ?? '')) throw notRecorded(name, args)
  }

  #changed(name: string, open: OpenFile, args: string, result: number, sync: number): void {
    const { file } = open
    if (name === 'lseek') open.position = result
    else if (name === 'fsync' || name === 'fdatasync') this.#events.push({ kind: 'sync ended', file, sync })
    else if (name === 'ftruncate') {
      const length = Number(/^\d+, (\d+)/.exec(args)![1])
      this.#sizes.set(file, length)
      this.#events.push({ kind: 'truncate', file, length })
    } else if (/^p?writev?/.test(name)) this.#wrote(name, open, args, result)
    // A read-only map changes nothing, and neither do the other calls on files of other kinds.
    else if (name !== 'mmap' || (args.includes('PROT_WRITE') && args.includes('MAP_SHARED'))) {
      throw notRecorded(name, args)
    }
  }

  #wrote(name: string, open: OpenFile, args: string, result: number): void {
    const { file, isSynced } = open
    const bytes = Buffer.concat(stringsOf(args)).subarray(0, result)
    if (bytes.length !== result) throw new Error(`${name}: ${bytes.length} of ${result} bytes are recorded`)
    const size = this.#sizes.get(file) ?? 0
    const isPlaced = name.startsWith('p')
    // After the bytes come a count, the offset, and for `pwritev2` the flags.
    const numbers = isPlaced ? args.slice(args.lastIndexOf('"')).match(/\b\d+\b/g)! : []
    const given = isPlaced ? Number(numbers.at(name === 'pwritev2' ? -2 : -1)) : open.position
    const at = open.isAppending ? size : given
    if (!isPlaced) open.position = at + result
    this.#sizes.set(file, Math.max(size, at + result))
    this.#events.push({ kind: 'write', file, at, bytes, isSynced })
  }

  #opened(name: string | undefined, args: string, descriptor: number): void {
    this.#open.delete(descriptor)
    if (name === undefined || IS_LOCK.test(name) || IS_MAPPED.test(name)) return
    if (args.includes('O_DIRECTORY') || name === '' || !(this.#names.has(name) || args.includes('O_CREAT'))) {
      this.#open.set(descriptor, name)
      return
    }
    let file = this.#names.get(name)
    if (file === undefined) {
      file = this.#files++
      this.#names.set(name, file)
      this.#events.push({ kind: 'create', file, name })
    } else if (args.includes('O_TRUNC')) {
      this.#sizes.set(file, 0)
      this.#events.push({ kind: 'truncate', file, length: 0 })
    }
    const isSynced = args.includes('SYNC')
    this.#open.set(descriptor, { file, isSynced, isAppending: args.includes('O_APPEND'), position: 0 })
  }

  #renamed(from: string, to: string): void {
    const file = this.#names.get(from)
    if (file === undefined) return
    this.#names.delete(from)
    this.#names.set(to, file)
    this.#events.push({ kind: 'rename', from, to })
  }

  #removed(name: string): void {
    if (this.#names.delete(name)) this.#events.push({ kind: 'remove', name })
  }

  #print(bytes: Buffer): void {
    const lines = (this.#printed + bytes.toString()).split('\n')
    this.#printed = lines.pop()!
    for (const line of lines) {
      const isStep = line.startsWith(STEP)
      this.#events.push(isStep ? { kind: 'step', step: line.slice(STEP.length) } : { kind: 'printed', line })
    }
  }

  /** Path within the folder; undefined for a path outside of it. */
  #relative(path: string): string | undefined {
    const inside = relative(this.#folder, path)
    return inside.startsWith('..') || !path.startsWith('/') ? undefined : inside
  }
}

/** Finds the descriptor of the changed file for calls whose first argument it is not. */
const DESCRIPTOR_OF: Readonly<Record<string, RegExp>> = {
  mmap: /, (\d+), \w+$/,
  copy_file_range: /^\d+, [^,]+, (\d+)/,
}

function notRecorded(name: string, args: string): Error {
  return new Error(`a data file was changed in a way that is not recorded: ${name}(${args.slice(0, 200)})`)
}

function stringsOf(args: string): Buffer[] {
  return [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex]) => unhex(hex!))
}

function unhex(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll('\\x', ''), 'hex')
}
