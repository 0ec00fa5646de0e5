import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { linkSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { isPresent, moveDurably, removeIfPossible } from '@ledger-state/core/files'
import type { SharedFiles } from '@ledger-state/feed'
import {
  type Assembly,
  keyRangeOf,
  openAssembly,
  openStateEngineReader,
  type StoreSegment,
  withSystemErrorsAsync,
} from '@ledger-state/state-engine'
import { manifestErrors } from '../errors.js'
import { hashFile } from './hashed-file.js'
import { readManifest } from './read-manifest.js'
import { type ManifestFile, nameOfFile, type SegmentsManifest } from './segments-manifest.js'

const PART = '.part'
/** Fetched files: `segment-` and the hash, until the store is made. */
const FETCHED = /^segment-[0-9a-f]{64}(?:\.part)?$/

/** Callbacks for the progress of a fetch, and a signal that stops it. */
export interface FetchSegmentsOptions {
  /** Called with the bytes that are here, and all. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined
  /** Called while the complete store is checked, with the number of writes so far. */
  readonly onCheck?: ((writes: number) => void) | undefined
  /**
   * Called before the first file is fetched, with the bytes of all files, and of those that are missing. An error ends
   * the call.
   */
  readonly onBegin?: ((bytes: number, missing: number) => Promise<void>) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Fetches the files that a manifest names, and makes a store of them at a path where nothing is. A file is used once
 * its length and hash match the manifest; the store gets its name once every block was compared with its checksum, and
 * each file with its facts in the manifest. The same call resumes an interrupted fetch at the same byte.
 * @throws `store_corrupt` for a file that differs, by its name; `source_failed`; `store_not_empty`; `store_locked` while
 *   another process fetches to the same place; `store_full` and other errors of the store
 */
export async function fetchSegments(
  files: SharedFiles,
  path: string,
  options: FetchSegmentsOptions = {},
): Promise<SegmentsManifest> {
  const manifest = await readManifest(files)
  const assembly = openAssembly(path)
  try {
    return await withSystemErrorsAsync(assembly.folder, async () => {
      removeOthers(assembly.folder, manifest)
      await new Fetch(files, assembly, manifest, options).run()
      await makeStore(assembly, manifest, files, options)
      options.signal?.throwIfAborted()
      await assembly.publish()
      // Not earlier: whatever comes between, the next call need not fetch them again.
      for (const file of manifest.files) removeIfPossible(join(path, nameOfFile(file)))
      return manifest
    })
  } finally {
    assembly.close()
  }
}

/** Removes files that an earlier call fetched by another manifest, and everything made of them. */
function removeOthers(folder: string, { files }: SegmentsManifest): void {
  const wanted = new Set(files.map(nameOfFile))
  for (const name of readdirSync(folder)) {
    if (FETCHED.test(name) && !wanted.has(name.replace(PART, ''))) rmSync(join(folder, name), { force: true })
  }
}

class Fetch {
  readonly #files: SharedFiles
  readonly #folder: string
  readonly #manifest: SegmentsManifest
  readonly #options: FetchSegmentsOptions
  readonly #total: number
  #done = 0

  constructor(files: SharedFiles, { folder }: Assembly, manifest: SegmentsManifest, options: FetchSegmentsOptions) {
    this.#files = files
    this.#folder = folder
    this.#manifest = manifest
    this.#options = options
    this.#total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async run(): Promise<void> {
    const { files } = this.#manifest
    const isHere = (file: ManifestFile) => isPresent(join(this.#folder, nameOfFile(file)))
    const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
    const missing = files
      .filter((file) => !isHere(file))
      .reduce((sum, file) => sum + Math.max(0, file.bytes - sizeOf(join(this.#folder, nameOfFile(file) + PART))), 0)
    await this.#options.onBegin?.(this.#total, missing)
    for (const file of files) {
      if (isHere(file)) this.#progress(file.bytes)
      else await this.#fetch(file)
    }
  }

  async #fetch(file: ManifestFile): Promise<void> {
    const path = join(this.#folder, nameOfFile(file))
    const part = path + PART
    const hash = createHash('sha256')
    const held = statSync(part, { throwIfNoEntry: false })?.size ?? 0
    if (held > file.bytes) rmSync(part)
    let bytes = isPresent(part) ? await hashFile(part, hash, (count) => this.#progress(count)) : 0
    const target = await open(part, 'a')
    try {
      for await (const piece of this.#files.read(nameOfFile(file), bytes, file.bytes)) {
        this.#options.signal?.throwIfAborted()
        if (bytes + piece.length > file.bytes) throw this.#differs(part, file, bytes + piece.length)
        await target.appendFile(piece)
        hash.update(piece)
        bytes += piece.length
        this.#progress(piece.length)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw manifestErrors.fileMissing(this.#placeOf(file))
      throw error
    } finally {
      await target.close()
    }
    if (bytes !== file.bytes) throw manifestErrors.otherLength(this.#placeOf(file), bytes, file.bytes)
    if (hash.digest('hex') !== file.sha256) throw this.#differs(part, file, bytes)
    await moveDurably(part, path)
  }

  /** The error of a file that is another one. The received part is removed, because it cannot be continued. */
  #differs(part: string, file: ManifestFile, bytes: number): Error {
    rmSync(part, { force: true })
    if (bytes > file.bytes) return manifestErrors.otherLength(this.#placeOf(file), bytes, file.bytes)
    return manifestErrors.otherHash(this.#placeOf(file))
  }

  #placeOf(file: ManifestFile): string {
    return this.#files.placeOf(nameOfFile(file))
  }

  #progress(bytes: number): void {
    this.#done += bytes
    this.#options.onProgress?.(this.#done, this.#total)
  }
}

/** Makes a store of fetched files, and checks all of it. */
async function makeStore(
  assembly: Assembly,
  { facts, files }: SegmentsManifest,
  shared: SharedFiles,
  options: FetchSegmentsOptions,
): Promise<void> {
  const numbered = [...files.entries()]
  const pathOf = (file: ManifestFile) => join(assembly.folder, nameOfFile(file))
  assembly.keepOnly(new Set())
  // As links, so that a call that ends before the store has its name leaves the received files.
  for (const [number, file] of numbered) linkSync(pathOf(file), assembly.segmentPath(number))
  await assembly.create(
    facts,
    numbered.map(([number, { until }]) => ({ file: number, until })),
  )
  await expectAsDescribed(assembly.folder, files, shared, options)
}

async function expectAsDescribed(
  folder: string,
  files: readonly ManifestFile[],
  shared: SharedFiles,
  { onCheck, signal }: FetchSegmentsOptions,
): Promise<void> {
  const engine = openStateEngineReader({ path: folder })
  try {
    const found = new Map(engine.segments().files.map((file) => [Number(/\d+$/.exec(file.path)![0]), file]))
    for (const [number, file] of files.entries()) {
      const difference = differenceOf(file, found.get(number)!)
      if (difference) throw manifestErrors.otherContent(shared.placeOf(nameOfFile(file)), difference)
    }
    const onProgress = (writes: number) => {
      onCheck?.(writes)
      signal?.throwIfAborted()
    }
    const { problems } = await engine.check({ onProgress })
    // The check reports its own end as a problem.
    signal?.throwIfAborted()
    if (problems.length > 0) throw manifestErrors.damaged(shared.root, problems.slice(0, 3))
  } finally {
    await engine.close()
  }
}

/** A wrong fact about a file in a manifest. */
function differenceOf(told: ManifestFile, found: StoreSegment): string | undefined {
  const [first, last] = keyRangeOf(found.path).map((key) => Buffer.from(key).toString('hex'))
  const isKey = (shown: string, key: string) => (shown.length === 64 ? key.startsWith(shown) : key === shown)
  if (!isKey(told.firstKey, first!) || !isKey(told.lastKey, last!)) return 'keys'
  const names = ['firstVersion', 'lastVersion', 'until', 'level', 'isBase', 'writes', 'keys', 'bytes'] as const
  return names.find((name) => told[name] !== found[name])
}
