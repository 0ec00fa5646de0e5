import { createReadStream, type Stats } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { cannotOpen } from '../errors.js'
import type { BackupStorage, ByteRange, StoredObject } from './backup-storage.js'

const PIECE_BYTES = 256 * 1024

/** Errors of a path at which there is no file: links may lead nowhere, or in circles. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/**
 * A backup in a folder of this machine. Only regular files, and links to them, are objects of it: a named pipe would be
 * waited for without end.
 */
export class FolderStorage implements BackupStorage {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  placeOf(name: string): string {
    return join(this.root, name)
  }

  async *list(folder: string): AsyncGenerator<StoredObject, void> {
    const path = join(this.root, folder)
    if (!(await statOf(path))?.isDirectory()) return
    for await (const { name } of await opendir(path)) {
      const found = await this.find(folder === '' ? name : `${folder}/${name}`)
      if (found) yield found
    }
  }

  async find(name: string): Promise<StoredObject | undefined> {
    const stats = await statOf(join(this.root, name))
    return stats?.isFile() ? { name, bytes: stats.size } : undefined
  }

  open(name: string, { from, to }: ByteRange = { from: 0 }): Readable {
    const end = to === undefined ? Number.POSITIVE_INFINITY : to - 1
    return createReadStream(join(this.root, name), { start: from, end, highWaterMark: PIECE_BYTES })
  }

  async localFile(name: string): Promise<string> {
    return join(this.root, name)
  }

  async release(): Promise<void> {}

  async close(): Promise<void> {}
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (cause) {
    if (ABSENT.has((cause as NodeJS.ErrnoException).code)) return undefined
    throw cannotOpen(path, cause)
  }
}
