/** Random whole numbers (xorshift32): the same seed always gives the same ones. */
export interface Random {
  /** A number from 0 to `bound` - 1. */
  below(bound: number): number
  pick<T>(choices: readonly T[]): T
  /** The items in a random order. */
  shuffled<T>(items: readonly T[]): T[]
  /** `length` random bytes. */
  bytes(length: number): Uint8Array
}

export function createRandom(seed: number): Random {
  // Zero would stay zero.
  let state = seed | 0 || 1
  const below = (bound: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
  return {
    below,
    pick: (choices) => choices[below(choices.length)]!,
    shuffled: (items) => {
      const left = [...items]
      return items.map(() => left.splice(below(left.length), 1)[0]!)
    },
    bytes: (length) => {
      const bytes = new Uint8Array(length)
      for (let at = 0; at < length; at++) bytes[at] = below(256)
      return bytes
    },
  }
}

/**
 * Seed of all tests of a process if `TEST_SEED` is not set, so that the seed that one test prints repeats all of them.
 */
const CLOCK_SEED = Date.now() % 2 ** 31

/** The seed of a random test: `TEST_SEED`, which repeats a run, or else one that the clock chooses. */
export function testSeed(): number {
  const text = process.env.TEST_SEED
  return text === undefined ? CLOCK_SEED : Number(text)
}
