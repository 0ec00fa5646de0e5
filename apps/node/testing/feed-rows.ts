// A ledger feed of any length: a version writes a counter, and every third version deletes one of 97 other keys.

export const FEED_CHAIN_ID = 4
export const FEED_HEADER = `{"format":"ledger-feed","format_version":1,"chain_id":${FEED_CHAIN_ID}}`
export const ROWS_PER_BLOCK = 10

export function feedRow(version: number): string {
  return JSON.stringify({
    version: String(version),
    ...(version % ROWS_PER_BLOCK === 0 && {
      block: { height: String(version / ROWS_PER_BLOCK), epoch: '0', timestamp_usec: String(version) },
    }),
    writes: [
      ['0x01', hex(version, 8)],
      [`0x02${hex(version % 97, 4).slice(2)}`, version % 3 === 0 ? null : hex(version, 6)],
    ],
  })
}

/** Rows from one version to below another. */
export function feedRows(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, at) => feedRow(from + at))
}

function hex(value: number, digits: number): string {
  return `0x${value.toString(16).padStart(digits, '0')}`
}
