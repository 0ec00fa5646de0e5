import { Buffer } from 'node:buffer'
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolderNow, moveDurably, writeDurably } from '@ledger-state/core/files'
import { keyRangeOf, openAssembly, openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { sha256OfFile } from './hashed-file.js'
import {
  encodeManifest,
  MANIFEST_NAME,
  type ManifestFile,
  nameOfFile,
  type SegmentsManifest,
} from './segments-manifest.js'

const WORK_NAME = 'push'
const SHOWN_KEY_BYTES = 32

/** Progress and end of a push. */
export interface PushOptions {
  /** Called with the bytes of the files that are in place, and of all. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Files that a push has put into a folder. */
export interface PushedSegments {
  readonly manifest: SegmentsManifest
  /** Files that were not there before. */
  readonly newFiles: number
  readonly newBytes: number
}

/**
 * Puts the segment files of a store, as it is now, into a folder, with a manifest that names them: as links if it is on
 * the same disk. The store may be written meanwhile. Files are named by their hash: a later push adds the new ones. The
 * manifest comes last. A push that is killed leaves the manifest before, and the next one completes it.
 * @throws errors of the store; `store_locked` while another process pushes into the folder
 */
export async function pushSegments(path: string, folder: string, options: PushOptions = {}): Promise<PushedSegments> {
  makeFolderNow(folder)
  const work = openAssembly(join(folder, WORK_NAME))
  const copy = join(work.folder, 'store')
  try {
    rmSync(copy, { recursive: true, force: true })
    const store = openStateEngineReader({ path, verifyReads: true })
    try {
      await store.snapshot(copy)
    } finally {
      await store.close()
    }
    const manifest = await moveFiles(copy, folder, options)
    await writeDurably(join(folder, MANIFEST_NAME), encodeManifest(manifest))
    return manifest.pushed
  } finally {
    rmSync(copy, { recursive: true, force: true })
    work.close()
    rmSync(work.folder, { recursive: true, force: true })
  }
}

async function moveFiles(
  copy: string,
  folder: string,
  { onProgress, signal }: PushOptions,
): Promise<SegmentsManifest & { readonly pushed: PushedSegments }> {
  const engine = openStateEngine({ path: copy, create: false })
  let segments: ReturnType<typeof engine.segments>
  try {
    // The newest commits are in the write-ahead log.
    await engine.merge()
    segments = engine.segments()
  } finally {
    await engine.close()
  }
  const { files, ...facts } = segments
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
    const target = join(folder, nameOfFile({ sha256 }))
    // A file gets its name once it is complete.
    if (!existsSync(target) || statSync(target).size !== file.bytes) {
      await moveDurably(path, target)
      newFiles++
      newBytes += file.bytes
    }
    done += file.bytes
    onProgress?.(done, total)
  }
  const manifest = { facts, files: described }
  return { ...manifest, pushed: { manifest, newFiles, newBytes } }
}
