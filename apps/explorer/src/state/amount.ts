/** A number of smallest units as a decimal number of units, with every digit. */
export function formatAmount(units: string, decimals: number): string {
  const negative = units.startsWith('-')
  const digits = (negative ? units.slice(1) : units).padStart(decimals + 1, '0')
  const whole = groupDigits(digits.slice(0, digits.length - decimals))
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${negative ? '−' : ''}${whole}${fraction && `.${fraction}`}`
}

/** Groups digits by thousands, with thin spaces. */
export function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, '\u2009')
}

/** The largest time that `Date` holds, in the year 275,760. A ledger may have a larger one. */
export const LAST_MICROSECOND = 8_640_000_000_000_000_000n

/** Microseconds since 1970 as a time in UTC; genesis has none. */
export function formatMicroseconds(text: string): string {
  const microseconds = BigInt(text)
  if (microseconds === 0n) return 'genesis'
  if (microseconds > LAST_MICROSECOND) return `${groupDigits(text)} µs`
  return `${new Date(Number(microseconds / 1000n)).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

export function formatAge(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800
    ? `${Math.round(seconds / 3_600)} h`
    : `${groupDigits(String(Math.round(seconds / 86_400)))} days`
}

export function formatDifference(difference: bigint, decimals: number): string {
  return `${difference > 0n ? '+' : ''}${formatAmount(String(difference), decimals)}`
}
