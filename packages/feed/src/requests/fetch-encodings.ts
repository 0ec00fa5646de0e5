/** The first version of undici, which is Node's `fetch`, that unpacks zstd. Node.js 24.4 has it; no Node.js 22 has. */
const FIRST_WITH_ZSTD = [7, 11] as const

/** Value of `accept-encoding` that names all that the `fetch` of an undici version unpacks. */
export function encodingsOf(undici: string | undefined): string {
  const [major = 0, minor = 0] = undici?.split('.').map(Number) ?? []
  const unpacksZstd = major > FIRST_WITH_ZSTD[0] || (major === FIRST_WITH_ZSTD[0] && minor >= FIRST_WITH_ZSTD[1])
  return unpacksZstd ? 'zstd, gzip' : 'gzip'
}

/** Value of `accept-encoding` for this Node.js. `fetch` by itself would ask only for gzip. */
export const FETCH_ENCODINGS = encodingsOf(process.versions.undici)
