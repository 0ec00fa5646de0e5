// Examples for check-slices.ts, which must refuse the lines that say so and no others. Nothing imports this file.
type Named = { readonly key: Uint8Array | string }

export function refused<T extends Uint8Array>(
  a: Uint8Array,
  b: Buffer | undefined,
  c: Named,
  d: T,
  e: Uint8Array[],
): unknown {
  return [
    a.slice(), // refused
    a.subarray(1).slice(1), // refused
    b?.slice(0, 2), // refused
    c.key.slice(1), // refused
    d.slice(1), // refused
    e.map((one) => one.slice(1)), // refused
    e[0]!.slice(), // refused
    a.slice.call(b, 1), // refused
    Uint8Array.prototype.slice.call(a), // refused
  ]
}

export function allowed(a: string, b: readonly Uint8Array[], c: Int32Array, d: ArrayBuffer, e: Blob): unknown {
  return [a.slice(1), b.slice(1), c.slice(1), d.slice(1), e.slice(1), [...'ab'].slice(1)]
}
