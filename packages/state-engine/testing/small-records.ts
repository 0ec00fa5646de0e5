import type { VersionWrites, Write } from '@ledger-state/core'

export const CHAIN = { chainId: 7 }

export function bytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text))
}

/** Makes a version, which begins a block if a height is given. */
export function record(version: number | bigint, writes: readonly Write[], height?: number): VersionWrites {
  const block =
    height === undefined
      ? undefined
      : { height: BigInt(height), epoch: BigInt(height >> 2), timestampUsec: BigInt(height) * 1_000n }
  return { version: BigInt(version), block, writes }
}
