import { Buffer } from 'node:buffer'
import type { VersionWrites, Write } from '@ledger-state/core'

export const CHAIN = { chainId: 7 }

export function keyOf(number: number): Uint8Array {
  return Buffer.from(`key ${number}`)
}

/** Makes versions. Each is a separate block and writes its number to `keys` keys. */
export function versionsFrom(first: bigint, count: number, keys = 3): VersionWrites[] {
  return Array.from({ length: count }, (_, at) => {
    const version = first + BigInt(at)
    const writes = Array.from({ length: keys }, (_, number): Write => [keyOf(number), Buffer.from(String(version))])
    return { version, block: { height: version, epoch: 0n, timestampUsec: version }, writes }
  })
}
