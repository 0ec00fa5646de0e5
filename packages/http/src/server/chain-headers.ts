import type { LedgerSummary } from '@ledger-state/engine'
import { chainIdTooLarge } from '../errors.js'
import { CHAIN_STATE, FACTS, type FactName } from '../operations/parts/operation.js'

const MAX_CHAIN_ID = 255n

export interface ChainHeaders {
  /** Names of the headers, lower-case. */
  readonly names: readonly string[]
  /** Names of the headers with the beginning of the next page, one for each word. */
  readonly cursorNames: readonly string[]
  /** Names of the headers with the cost of a forwarded request, one for each word. */
  readonly gasUsedNames: readonly string[]
  /** Name of the header that says whether a history has all of its changes. */
  readonly completeName: string
  /** Names of the headers with further facts about an answer. */
  readonly factNames: Readonly<Record<FactName, string>>
  /** Words in the names of the chain-state headers. */
  readonly words: readonly string[]
  /** Name of the header that says which service answered, if that was not this one. */
  readonly answeredByName: string
  /** Name of the header with the version that a time meant. */
  readonly readVersionName: string
  /** Names of the header with the version, one for each word. Requests of GraphQL have it, too. */
  readonly versionNames: readonly string[]
  /** Name of the request header with the version that the client has seen. */
  readonly minVersionName: string
  /**
   * Names and values, alternating, of the headers that describe a state of the ledger.
   * @throws `chain_id_too_large`
   */
  of(ledger: LedgerSummary): readonly string[]
}

/** The word that published clients read. */
const COMPATIBLE_WORD = 'aptos'

/**
 * Creates chain-state headers with the word that an operator chose, such as `svc`. If they are `compatible`, the same
 * headers, and the cursor, are also sent with the word that published clients read.
 */
export function createChainHeaders(word: string, compatible = true): ChainHeaders {
  const words = compatible && word !== COMPATIBLE_WORD ? [word, COMPATIBLE_WORD] : [word]
  const names = words.flatMap((one) => CHAIN_STATE.map(({ name }) => `x-${one}-${name}`))
  let last: { ledger: LedgerSummary; headers: readonly string[] } | undefined

  function describe(ledger: LedgerSummary): readonly string[] {
    if (ledger.chainId > MAX_CHAIN_ID) throw chainIdTooLarge(ledger.chainId)
    const values = [
      ledger.chainId,
      ledger.latestVersion,
      ledger.oldestVersion,
      ledger.latestBlock.timestampUsec,
      ledger.latestBlock.epoch,
      ledger.latestBlock.height,
      ledger.oldestBlock.height,
    ]
    return names.flatMap((name, at) => [name, String(values[at % values.length])])
  }

  return {
    names,
    cursorNames: words.map((one) => `x-${one}-cursor`),
    gasUsedNames: words.map((one) => `x-${one}-gas-used`),
    completeName: `x-${word}-complete`,
    factNames: factNamesOf(word),
    words,
    answeredByName: `x-${word}-answered-by`,
    readVersionName: `x-${word}-read-version`,
    versionNames: words.map((one) => `x-${one}-ledger-version`),
    minVersionName: `x-${word}-min-ledger-version`,
    of(ledger) {
      // The engine returns one object for each state, so most requests find the headers ready.
      if (last?.ledger !== ledger) last = { ledger, headers: describe(ledger) }
      return last.headers
    },
  }
}

function factNamesOf(word: string): Readonly<Record<FactName, string>> {
  const names = Object.keys(FACTS).map((name) => [name, `x-${word}-${name}`])
  return Object.fromEntries(names) as Record<FactName, string>
}
