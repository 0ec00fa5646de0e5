import type { KeptTransaction } from '../api/answers.ts'
import type { ViewCall } from './route.ts'

/** An entry of the history of a view. */
export interface ViewChange {
  readonly version: string
  /** Time in microseconds; null below the window. */
  readonly timestamp: string | null
  readonly values?: readonly unknown[]
  readonly error?: { readonly message: string }
  readonly transaction?: KeptTransaction | undefined
}

/** Indexes of the results that are numbers, which a curve can show. */
export function numberedResults(changes: readonly ViewChange[]): readonly number[] {
  const values = changes.find((change) => change.values)?.values ?? []
  return values.flatMap((_, at) => (changes.every(({ values }) => !values || isNumber(values[at])) ? [at] : []))
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value))
}

/**
 * The asset that a call names: a coin as a type argument, or an address. Its decimals are most likely the decimals of
 * the results.
 */
export function assetOfCall({ typeArguments, arguments: text }: ViewCall): string | undefined {
  const coin = typeArguments.find(
    (one) => /^0x[0-9a-f]+::/i.test(one) && !/^0x0*1::(object|fungible_asset)::/.test(one),
  )
  if (coin !== undefined) return coin
  const values = JSON.parse(text) as readonly unknown[]
  return values.filter((value): value is string => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value)).at(-1)
}
