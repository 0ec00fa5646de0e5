/** The largest numbers of 64 and of 128 bits: as a limit, they mean that there is none. */
const NO_LIMIT: ReadonlySet<string> = new Set([String(2n ** 64n - 1n), String(2n ** 128n - 1n)])

/** The limit of a supply; undefined if it has none. */
export function limitOf(text: string | undefined): string | undefined {
  return text === undefined || NO_LIMIT.has(text) ? undefined : text
}
