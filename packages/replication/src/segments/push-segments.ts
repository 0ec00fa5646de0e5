import { Buffer } from 'node:buffer'
import { realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isPresent, makeFolderNow, removeIfPossible } from '@ledger-state/core/files'
import type { SharedTarget } from '@ledger-state/feed'
import {
  keyRangeOf,
  openAssembly,
  openStateEngine,
  openStateEngineReader,
  type StoreSegments,
  withSystemErrorsAsync,
} from '@ledger-state/state-engine'
import { nothingToPush } from '../errors.js'
import { sha256OfFile } from './hashed-file.js'
import { createBucketShelf, createFolderShelf, type SegmentShelf } from './segment-shelf.js'
import { encodeManifest, type ManifestFile, nameOfFile, type SegmentsManifest } from './segments-manifest.js'

const WORK_NAME = 'push'
const SHOWN_KEY_BYTES = 32

/** Callbacks for the progress of a push, and a signal that stops it. */
export interface PushOptions {
  /** Called with the bytes of the files that are in place, and of all. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Files that a push has put into a folder or bucket. */
export interface PushedSegments {
  readonly manifest: SegmentsManifest
  /** Files that were not there before. */
  readonly newFiles: number
  readonly newBytes: number
}

/**
 * Copies the segment files of a store to a folder or a bucket, with a manifest that names them: as hard links if they
 * are on the same disk. The store may be written meanwhile; the files are of one consistent state. Files are named by
 * their hash: a later push adds the new ones. The manifest comes last. A push that is killed leaves the manifest
 * before, and the next one completes it. For a bucket, links to the files are next to the store meanwhile, in
 * `PATH.push.unfinished`.
 * @throws errors of the store, such as `store_full`; `source_failed` for a bucket; `store_locked` while another process
 *   pushes into the folder
 */
export async function pushSegments(
  path: string,
  target: string | SharedTarget,
  options: PushOptions = {},
): Promise<PushedSegments> {
  return await withSystemErrorsAsync(typeof target === 'string' ? target : path, () => push(path, target, options))
}

async function push(path: string, target: string | SharedTarget, options: PushOptions): Promise<PushedSegments> {
  const shelf = typeof target === 'string' ? createFolderShelf(target) : createBucketShelf(target)
  if (typeof target === 'string') makeFolderNow(target)
  // Next to the store itself, whatever link leads to it: files of another disk would be copied.
  const besideStore = `${isPresent(path) ? realpathSync(path) : path}.${WORK_NAME}`
  const work = openAssembly(typeof target === 'string' ? join(target, WORK_NAME) : besideStore)
  const copy = join(work.folder, 'store')
  try {
    rmSync(copy, { recursive: true, force: true })
    const pushed = await putFiles(await copyStore(path, copy), shelf, options)
    options.signal?.throwIfAborted()
    await shelf.putManifest(encodeManifest(pushed.manifest))
    return pushed
  } finally {
    // While the lock is held: afterwards another push may work in the folder. The next one removes what is left.
    removeIfPossible(work.folder)
    work.close()
  }
}

/** Copies a store as links, and moves the newest commits, which are in the write-ahead log, into segment files. */
async function copyStore(path: string, copy: string): Promise<StoreSegments> {
  const store = openStateEngineReader({ path, verifyReads: true })
  try {
    if (!store.ledger) throw nothingToPush(path)
    await store.snapshot(copy)
  } finally {
    await store.close()
  }
  const engine = openStateEngine({ path: copy, create: false })
  try {
    await engine.merge()
    return engine.segments()
  } finally {
    await engine.close()
  }
}

async function putFiles(
  { files, ...facts }: StoreSegments,
  shelf: SegmentShelf,
  { onProgress, signal }: PushOptions,
): Promise<PushedSegments> {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const described: ManifestFile[] = []
  let [done, newFiles, newBytes] = [0, 0, 0]
  for (const { path, ...file } of files) {
    signal?.throwIfAborted()
    const sha256 = await sha256OfFile(path)
    const [firstKey, lastKey] = keyRangeOf(path).map((key) =>
      Buffer.from(key.subarray(0, SHOWN_KEY_BYTES)).toString('hex'),
    )
    described.push({ ...file, sha256, firstKey: firstKey!, lastKey: lastKey! })
    const name = nameOfFile({ sha256 })
    let put = 0
    if ((await shelf.lengthOf(name)) !== file.bytes) {
      await shelf.put(name, path, { bytes: file.bytes, sha256 }, (bytes) => {
        put += bytes
        onProgress?.(done + Math.min(put, file.bytes), total)
      })
      newFiles++
      newBytes += file.bytes
    }
    done += file.bytes
    onProgress?.(done, total)
  }
  return { manifest: { facts, files: described }, newFiles, newBytes }
}
