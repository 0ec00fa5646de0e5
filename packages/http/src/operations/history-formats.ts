import { type Change, ChangeSampler, type SampledRange } from '@ledger-state/ledger'
import type { PageBody } from './paging.js'

/** A change as JSON. The time is null where it is below the window. `value` is JSON. */
export function changeToJson({ version, timestampUsec }: Change<unknown>, member: string, value: string): string {
  const timestamp = timestampUsec === undefined ? 'null' : `"${timestampUsec}"`
  return `{"version":"${version}","timestamp":${timestamp},"${member}":${value}}`
}

/** Changes as CSV (RFC 4180), with a text that needs no quotes in the last column. */
export class ChangesCsvBody<T> implements PageBody<Change<T>> {
  readonly #toText: (change: Change<T>) => string
  readonly #lines: string[]
  #length = 0

  constructor(column: string, toText: (change: Change<T>) => string) {
    this.#toText = toText
    this.#lines = [`version,timestamp,${column}`]
  }

  get length(): number {
    return this.#length
  }

  add(change: Change<T>): void {
    const line = `${change.version},${change.timestampUsec ?? ''},${this.#toText(change)}`
    this.#length += line.length
    this.#lines.push(line)
  }

  toBytes(): Uint8Array {
    return Buffer.from(`${this.#lines.join('\r\n')}\r\n`)
  }
}

/** Writes those of the added changes that a curve needs to another body. */
export class SampledBody<T> implements PageBody<Change<T>> {
  readonly #body: PageBody<Change<T>>
  readonly #measure: (change: Change<T>) => bigint
  readonly #sampler: ChangeSampler<T>
  /** What is kept is bounded by the points, and written at the end. */
  readonly length = 0

  constructor(body: PageBody<Change<T>>, measure: (change: Change<T>) => bigint, range: SampledRange) {
    this.#body = body
    this.#measure = measure
    this.#sampler = new ChangeSampler(range)
  }

  add(change: Change<T>): void {
    this.#sampler.add(change, this.#measure(change))
  }

  toBytes(): Uint8Array {
    for (const change of this.#sampler.kept()) this.#body.add(change)
    return this.#body.toBytes()
  }
}
