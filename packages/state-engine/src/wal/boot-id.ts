import { readFileSync } from 'node:fs'

/** Linux makes it anew at random whenever the machine starts. */
const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id'

/**
 * A number of the present run of the machine. Within one run no power was lost, so a file has all that was written to it,
 * synced or not. Undefined if the system does not say.
 */
export function readBootId(): bigint | undefined {
  try {
    return BigInt(`0x${readFileSync(BOOT_ID_FILE, 'latin1').replaceAll('-', '').slice(0, 16)}`)
  } catch {
    return undefined
  }
}
