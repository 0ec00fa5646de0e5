// Files of a backup in memory, decompressed, so that tests can change them before they are written elsewhere.
import { Buffer } from 'node:buffer'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Content of files by the path from the root, without the suffix of a compression. */
export type BackupFiles = Map<string, Buffer>

const GZIP = /\.gz$/

export function readBackupFiles(root: string): BackupFiles {
  const files: BackupFiles = new Map()
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(root, name)
    if (!statSync(path).isFile()) continue
    const content = readFileSync(path)
    files.set(name.replace(GZIP, ''), GZIP.test(name) ? gunzipSync(content) : content)
  }
  return files
}

/** Writes the files into a folder, which then has nothing else. */
export function writeBackupFiles(root: string, files: BackupFiles): void {
  rmSync(root, { recursive: true, force: true })
  for (const [name, content] of files) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
}

/** The records of a chunk. */
export function splitRecords(chunk: Buffer): Buffer[] {
  const records: Buffer[] = []
  for (let at = 0; at < chunk.length; at += 4 + chunk.readUInt32BE(at)) {
    records.push(chunk.subarray(at + 4, at + 4 + chunk.readUInt32BE(at)))
  }
  return records
}

export function joinRecords(records: readonly Uint8Array[]): Buffer {
  const framed = records.flatMap((record) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(record.length)
    return [length, record]
  })
  return Buffer.concat(framed)
}
