import { isLedgerStateError } from '@ledger-state/core'
import type { Random } from '@ledger-state/testing/random'

/** A parser, or several that belong together, with generators of their input. */
export interface Target {
  readonly name: string
  generate(random: Random): Uint8Array
  /** Makes an input of about `size` bytes. Work that grows faster than its input shows in long inputs only. */
  generateLong(random: Random, size: number): Uint8Array
  /** Throws if the parser answers neither a right result nor its own error. */
  check(input: Uint8Array): void
}

/** Longest message in bytes: up to 1 KB of the input, and the text about it. */
const LONGEST_MESSAGE_BYTES = 2_048

export function expectOwnError(error: unknown, ...codes: string[]): void {
  if (!isLedgerStateError(error, ...codes)) throw error
  const length = Buffer.byteLength(error.message)
  assert(length <= LONGEST_MESSAGE_BYTES, `a message of ${length} bytes: ${error.message.slice(0, 200)}`)
}

export function assert(condition: boolean, what: string): void {
  if (!condition) throw new Error(what)
}

/** Makes a copy with up to three changes: bytes are overwritten, the end is cut off, or a part is repeated. */
export function mutate(random: Random, bytes: Uint8Array): Uint8Array {
  let mutated = Uint8Array.from(bytes)
  for (let change = random.below(4); change > 0 && mutated.length > 0; change--) {
    const at = random.below(mutated.length)
    switch (random.below(5)) {
      case 0:
        mutated[at] = random.below(256)
        break
      case 1:
        mutated[at]! ^= 1 << random.below(8)
        break
      case 2:
        mutated = mutated.subarray(0, at)
        break
      case 3:
        mutated = Uint8Array.of(...mutated.subarray(0, at), ...mutated.subarray(random.below(at + 1)))
        break
      default:
        mutated[at] = random.pick([0, 1, 0x7f, 0x80, 0xff])
    }
  }
  return mutated
}

/** Makes a list of results of `make`, about `size` long in all. */
export function untilLong<T extends { readonly length: number }>(size: number, make: (at: number) => T): T[] {
  const parts: T[] = []
  for (let length = 0; length < size; length += 1 + parts.at(-1)!.length) parts.push(make(parts.length))
  return parts
}
