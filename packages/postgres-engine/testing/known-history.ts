import { Buffer } from 'node:buffer'
import type { VersionWrites, Write } from '@ledger-state/core'
import { createRandom } from '@ledger-state/testing/random'
import { keyOf } from './versions.ts'

const KEYS = 60
export const ALL_KEYS: readonly Uint8Array[] = Array.from({ length: KEYS }, (_, number) => keyOf(number))

interface KnownWrite {
  readonly version: bigint
  readonly value: string | null
}

/** A history in which the number of a version determines its writes, so that readers know every right answer. */
export class KnownHistory {
  readonly #writes = ALL_KEYS.map((): KnownWrite[] => [])
  readonly #versions: VersionWrites[] = []

  /** A version of any number; it is a separate block. It deletes only keys that exist. */
  versionAt(version: bigint): VersionWrites {
    while (this.#versions.length <= Number(version)) this.#append(BigInt(this.#versions.length))
    return this.#versions[Number(version)]!
  }

  #append(version: bigint): void {
    const random = createRandom(Number(version) + 1)
    const writes: Write[] = []
    for (const [at, key] of ALL_KEYS.entries()) {
      if (random.below(8) !== 0) continue
      const isThere = typeof this.#writes[at]!.at(-1)?.value === 'string'
      const value = isThere && random.below(6) === 0 ? null : `${at} ${version} ${'.'.repeat(random.below(200))}`
      this.#writes[at]!.push({ version, value })
      writes.push([key, value === null ? null : Buffer.from(value)])
    }
    this.#versions.push({ version, block: { height: version, epoch: 0n, timestampUsec: version }, writes })
  }

  /** The write that a version sees of a key, as `version value`; undefined if there is none. */
  answer(key: number, version: bigint): string | undefined {
    this.versionAt(version)
    const seen = this.#writes[key]!.findLast((one) => one.version <= version)
    return seen && seen.value !== null ? `${seen.version} ${seen.value}` : undefined
  }
}
