import type { Resource } from '../api/answers.ts'
import type { AssetFacts } from '../api/asset.ts'
import { formatAmount } from './amount.ts'
import { amountFieldsOf, memberAt } from './amount-fields.ts'
import { route } from './location.ts'
import { useAnswer } from './use-answer.ts'
import { useAsset } from './use-asset.ts'

/** The members of a value that are amounts, with the metadata of their asset. */
export interface Amounts {
  readonly paths: readonly string[]
  /** Undefined while they are not known. */
  readonly facts: AssetFacts | undefined
}

const WHOLE_NUMBER = /^\d+$/

/** The amounts of a value. Undefined if the type has no amounts, or the asset no metadata. */
export function useAmounts(type: string | undefined, holder: string | undefined, value: unknown): Amounts | undefined {
  const fields = type === undefined ? undefined : amountFieldsOf(type, holder, value)
  const besideIt = fields && fields.asset === undefined ? holder : undefined
  const store = useAnswer<Resource>(
    besideIt === undefined
      ? undefined
      : { path: `/accounts/${besideIt}/resource/0x1::fungible_asset::FungibleStore`, at: route.value.at },
  )
  const named = store && 'value' in store ? memberAt(store.value.data, 'metadata.inner') : undefined
  const asset = fields?.asset ?? (typeof named === 'string' ? named : undefined)
  const { answer, facts } = useAsset(asset)
  if (!fields) return undefined
  const isAsked = asset === undefined ? besideIt !== undefined && store === undefined : answer === undefined
  return isAsked || facts ? { paths: fields.paths, facts } : undefined
}

/** The decimal amount of a member; undefined if the member is not an amount. */
export function amountAt(amounts: Amounts | undefined, path: string, units: string | undefined): string | undefined {
  if (!amounts?.facts || !amounts.paths.includes(path) || units === undefined || !WHOLE_NUMBER.test(units)) {
    return undefined
  }
  return formatAmount(units, amounts.facts.decimals)
}
