import { bytesToHexDigits } from '@ledger-state/core'
import type { LedgerSummary, StateEntry, StateView } from '@ledger-state/engine'
import type { ProvenValue } from '@ledger-state/proof'
import { valueNotProven } from './errors.js'
import { storedBytes } from './proven-modules.js'

/**
 * A state with some proven values. A read of another one throws, and is remembered: whoever used the state has then no
 * answer, even if it caught the error.
 */
export class ProvenState implements StateView {
  readonly version: bigint
  readonly ledger: LedgerSummary
  readonly #values: ReadonlyMap<string, Uint8Array | undefined>
  #unproven: string | undefined

  /** @throws `invalid_bcs`, `invalid_answer` for a state value that cannot be read */
  constructor(version: bigint, values: readonly ProvenValue[]) {
    this.version = version
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    const window = { latestVersion: version, latestBlock: block, oldestVersion: version, oldestBlock: block }
    this.ledger = { chainId: 0n, ...window }
    this.#values = new Map(
      values.map(({ stateKey, stateValue }) => [bytesToHexDigits(stateKey), stateValue && storedBytes(stateValue)]),
    )
  }

  /** @throws `value_not_proven` if a value was read that is not proven */
  expectAllProven(): void {
    if (this.#unproven !== undefined) throw valueNotProven(this.#unproven)
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const text = bytesToHexDigits(key)
    if (!this.#values.has(text)) {
      this.#unproven ??= text
      throw valueNotProven(text)
    }
    return this.#values.get(text)
  }

  peek(key: Uint8Array): Uint8Array | undefined {
    return this.get(key)
  }

  getEntry(key: Uint8Array): StateEntry | undefined {
    const value = this.get(key)
    return value && { version: this.version, value }
  }

  scan(): never {
    throw new Error('a proof has values, and no ranges of keys')
  }
}
