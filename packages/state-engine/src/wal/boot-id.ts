import { readFileSync } from 'node:fs'

/** File with the boot id, which Linux chooses at random whenever the machine starts. */
const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id'

/**
 * Number of the present run of the machine; undefined if the system does not provide it. Within one run no power was
 * lost, so a file has all that was written to it, synced or not.
 */
export function readBootId(): bigint | undefined {
  try {
    return BigInt(`0x${readFileSync(BOOT_ID_FILE, 'latin1').replaceAll('-', '').slice(0, 16)}`)
  } catch {
    return undefined
  }
}
