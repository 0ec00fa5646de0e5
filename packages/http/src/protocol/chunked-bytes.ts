/** The bytes of an answer, in pieces. */
export interface ChunkedBytes {
  /** Length of all chunks together. */
  readonly length: number
  /** Bytes of memory that they take. */
  readonly capacity: number
  readonly chunks: readonly Uint8Array[]
}

/** A body of any kind in chunks. */
export function chunksOf(body: string | Uint8Array | ChunkedBytes): readonly Uint8Array[] {
  if (typeof body === 'string') return [Buffer.from(body)]
  return 'chunks' in body ? body.chunks : [body]
}
