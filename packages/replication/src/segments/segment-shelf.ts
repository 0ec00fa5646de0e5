import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { moveDurably, writeDurably } from '@ledger-state/core/files'
import type { SharedTarget } from '@ledger-state/feed'
import { MANIFEST_NAME } from './segments-manifest.js'

const READ_BYTES = 2 ** 18

/** A place for the files of a store and their manifest. */
export interface SegmentShelf {
  /** Length of a file; undefined if it is not there. */
  lengthOf(name: string): Promise<number | undefined>
  /** Puts a file, which appears as a whole. The file at `path` may be gone then. */
  put(
    name: string,
    path: string,
    content: { readonly bytes: number; readonly sha256: string },
    onBytes: (bytes: number) => void,
  ): Promise<void>
  putManifest(text: string): Promise<void>
}

/** A folder, into which files are moved. */
export function createFolderShelf(folder: string): SegmentShelf {
  return {
    lengthOf: async (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size,
    put: async (name, path) => await moveDurably(path, join(folder, name)),
    putManifest: async (text) => await writeDurably(join(folder, MANIFEST_NAME), text),
  }
}

/** A bucket, into which files are sent. */
export function createBucketShelf(target: SharedTarget): SegmentShelf {
  return {
    lengthOf: async (name) => await target.lengthOf(name),
    put: async (name, path, { bytes, sha256 }, onBytes) => {
      await target.put(name, { bytes, pieces: () => piecesOf(path, onBytes) }, sha256)
    },
    putManifest: async (text) => {
      const content = Buffer.from(text)
      const body = {
        bytes: content.length,
        async *pieces() {
          yield content
        },
      }
      await target.put(MANIFEST_NAME, body, createHash('sha256').update(content).digest('hex'))
    },
  }
}

async function* piecesOf(path: string, onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const piece of createReadStream(path, { highWaterMark: READ_BYTES })) {
    onBytes((piece as Uint8Array).length)
    yield piece as Uint8Array
  }
}
