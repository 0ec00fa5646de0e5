import type { Change } from '@ledger-state/ledger'
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
