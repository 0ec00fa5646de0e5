import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'

const READ_BYTES = 2 ** 20

/** Adds the content of a file to a hash. Returns its length. */
export async function hashFile(path: string, hash: Hash, onBytes: (bytes: number) => void = () => {}): Promise<number> {
  let bytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES })) {
    hash.update(chunk as Uint8Array)
    bytes += (chunk as Uint8Array).length
    onBytes((chunk as Uint8Array).length)
  }
  return bytes
}

/** SHA-256 of a file in hex. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await hashFile(path, hash)
  return hash.digest('hex')
}
