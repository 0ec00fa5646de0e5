import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = process.env.SHARED_DATA_DIR ?? fileURLToPath(new URL('../../../../shared/', import.meta.url))

/** Whether the project's shared folder (real ledger data, conformance kit, cases) is next to the checkout. */
export const hasSharedData = existsSync(folder)

if (!hasSharedData)
  console.warn(`tests that need ${folder} are skipped: it is absent (set SHARED_DATA_DIR to use another folder)`)

/** Path of a file in the shared folder. */
export function sharedPath(name: string): string {
  return `${folder}/${name}`
}
