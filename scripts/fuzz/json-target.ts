import { jsonValueToText, parseJson } from '@ledger-state/bcs'
import type { Random } from '@ledger-state/testing/random'
import { assert, expectOwnError, mutate, type Target, untilLong } from './target.ts'

const SCALARS = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1e5',
  '-12.50E-7',
  '18446744073709551616',
  '""',
  '"\\u00e9"',
  '"\\ud83d\\ude00"',
  '"a\\nb"',
]
const NAMES = ['a', 'b', '__proto__', 'vec', '', '\u{1f600}']

function generateJson(random: Random, depth: number): string {
  const space = random.pick(['', '', '', ' ', '\n\t'])
  const parts = () => Array.from({ length: random.below(4) }, () => generateJson(random, depth + 1))
  switch (depth > 5 ? 0 : random.below(4)) {
    case 1:
      return `[${space}${parts().join(`,${space}`)}]`
    case 2:
      return `{${parts()
        .map((part) => `${JSON.stringify(random.pick(NAMES))}:${part}`)
        .join(`${space},`)}}`
    default:
      return random.pick(SCALARS) + space
  }
}

/** JSON texts; the runtime's own parser is the oracle. */
export const jsonTarget: Target = {
  name: 'json',
  generate(random) {
    const bytes = Buffer.from(generateJson(random, 0))
    return random.below(2) === 0 ? mutate(random, bytes) : bytes
  },
  generateLong(random, size) {
    const part = generateJson(random, random.below(6))
    const text =
      random.below(2) === 0
        ? `[${untilLong(size, () => part).join()}]`
        : `{${untilLong(size, (at) => `"${at % 5_000}":${part}`).join()}}`
    return Buffer.from(text)
  },
  check(input) {
    const text = Buffer.from(input).toString('utf8')
    let native: string | undefined
    try {
      native = JSON.stringify(JSON.parse(text))
    } catch {}
    try {
      const ours = jsonValueToText(parseJson(text))
      assert(JSON.stringify(JSON.parse(ours)) === native, 'the text is read otherwise than by JSON.parse')
    } catch (error) {
      expectOwnError(error, 'invalid_json')
      // We are stricter than the runtime on purpose: in lone surrogates and in depth.
      if (/surrogate|recursion/.test((error as Error).message)) return
      assert(native === undefined, 'a text is refused that JSON.parse reads')
    }
  },
}
