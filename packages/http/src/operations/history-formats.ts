import type { Change } from '@ledger-state/ledger'
import type { PageBody } from './paging.js'

/** A change as JSON. The time is null where it is below the window. `value` is JSON. */
export function changeToJson({ version, timestampUsec }: Change<unknown>, member: string, value: string): string {
  const timestamp = timestampUsec === undefined ? 'null' : `"${timestampUsec}"`
  return `{"version":"${version}","timestamp":${timestamp},"${member}":${value}}`
}

/** Changes of a balance as CSV (RFC 4180). */
export class BalanceCsvBody implements PageBody<Change<bigint>> {
  readonly #lines = ['version,timestamp,balance']
  #length = 0

  get length(): number {
    return this.#length
  }

  add({ version, timestampUsec, value }: Change<bigint>): void {
    const line = `${version},${timestampUsec ?? ''},${value}`
    this.#length += line.length
    this.#lines.push(line)
  }

  toBytes(): Uint8Array {
    return Buffer.from(`${this.#lines.join('\r\n')}\r\n`)
  }
}
