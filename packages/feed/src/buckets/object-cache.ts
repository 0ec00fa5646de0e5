import { Buffer } from 'node:buffer'
import { createHash, randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolderNow } from '@ledger-state/core/files'
import { readRegularFile } from '../files/regular-file.js'

const DIGEST_BYTES = 32
/** Objects by which a backup is found: small, and read whenever it is opened. */
const KEPT = /(?:^|\/)(?:metadata\/[^/]+|[^/]+\.manifest(?:\.gz|\.zst)?)$/

/**
 * Small objects of one bucket, kept in a folder between runs. Each is preceded by a digest of its name and bytes.
 * Objects of a backup never change, so a copy with the listed length is good. A copy that a power failure damaged reads
 * as absent.
 */
export class ObjectCache {
  readonly #folder: string

  /** @param root of the backup: each backup has a separate folder */
  constructor(folder: string, root: string) {
    this.#folder = join(folder, createHash('sha256').update(root).digest('hex').slice(0, 16))
  }

  async get(name: string, bytes: number): Promise<Buffer | undefined> {
    if (!KEPT.test(name)) return undefined
    try {
      const file = await readRegularFile(this.#pathOf(name), DIGEST_BYTES + bytes)
      const [digest, content] = [file.subarray(0, DIGEST_BYTES), file.subarray(DIGEST_BYTES)]
      return content.length === bytes && digest.equals(digestOf(name, content)) ? content : undefined
    } catch {
      return undefined
    }
  }

  /** Keeps an object if it can; if not, the next run fetches it again. */
  async set(name: string, content: Buffer): Promise<void> {
    if (!KEPT.test(name)) return
    const path = this.#pathOf(name)
    const part = `${path}.${randomUUID()}`
    try {
      makeFolderNow(dirname(path))
      await writeFile(part, Buffer.concat([digestOf(name, content), content]))
      await rename(part, path)
    } catch {
      await rm(part, { force: true })
    }
  }

  #pathOf(name: string): string {
    return join(this.#folder, createHash('sha256').update(name).digest('hex').slice(0, 32))
  }
}

function digestOf(name: string, content: Buffer): Buffer {
  return createHash('sha256').update(name).update('\0').update(content).digest()
}
