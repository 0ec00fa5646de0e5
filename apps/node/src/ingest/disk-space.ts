import { existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { STORE_FILE } from '@ledger-state/state-engine'

/** Free bytes on the disk of a folder, which need not exist yet. */
export async function freeBytesAt(folder: string): Promise<number> {
  let path = resolve(folder)
  while (!existsSync(path)) path = dirname(path)
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

/** Bytes that the store in a folder already takes. */
export function storeBytesAt(folder: string): number {
  const path = join(folder, STORE_FILE)
  return existsSync(path) ? statSync(path).blocks * 512 : 0
}
