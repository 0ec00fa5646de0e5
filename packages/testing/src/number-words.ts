/** A number as documents write it, such as `16,384`. */
export function withCommas(count: number): string {
  return count.toLocaleString('en-US')
}

/** A number of bytes as documents write it, such as `8 MiB`. */
export function mebibytes(bytes: number): string {
  return `${bytes / 1_048_576} MiB`
}
