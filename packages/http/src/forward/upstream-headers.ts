import { isU64 } from '@ledger-state/core'

/** Chain-state headers, after `x-<word>-`, that the user's document requires in every answer with a state. */
const REQUIRED = [
  'chain-id',
  'ledger-version',
  'ledger-oldest-version',
  'ledger-timestampusec',
  'block-height',
  'oldest-block-height',
] as const
const NUMBERS = [...REQUIRED, 'epoch', 'gas-used'] as const
const CURSOR = 'cursor'
const VISIBLE = /^[!-~]{1,1024}$/

/** The chain state in the headers of an upstream's answer. */
export interface UpstreamState {
  readonly chainId: bigint | undefined
  readonly ledgerVersion: bigint | undefined
  /** Names and values of chain-state headers, alternating, under each of our words and under the upstream's. */
  readonly headers: readonly string[]
  /** Whether it has all chain-state headers that an answer with a state must have. */
  readonly isComplete: boolean
}

/**
 * Reads the chain-state headers of an answer, under the first word for which it has a chain id.
 * @param words words in the names of the headers that we send, `x-<word>-ledger-version`
 */
export function readUpstreamState(headers: Headers, words: readonly string[]): UpstreamState {
  const theirs = words.find((word) => headers.has(`x-${word}-chain-id`)) ?? words[0]!
  const values = new Map<string, string>()
  for (const name of NUMBERS) {
    const value = headers.get(`x-${theirs}-${name}`)
    if (value !== null && isU64Text(value)) values.set(name, value)
  }
  const cursor = headers.get(`x-${theirs}-${CURSOR}`)
  if (cursor !== null && VISIBLE.test(cursor)) values.set(CURSOR, cursor)
  return {
    chainId: numberOf(values.get('chain-id')),
    ledgerVersion: numberOf(values.get('ledger-version')),
    headers: words.flatMap((word) => [...values].flatMap(([name, value]) => [`x-${word}-${name}`, value])),
    isComplete: REQUIRED.every((name) => values.has(name)),
  }
}

function isU64Text(text: string): boolean {
  return /^\d{1,20}$/.test(text) && isU64(BigInt(text))
}

function numberOf(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text)
}
