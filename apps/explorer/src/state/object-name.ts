import type { Resource } from '../api/answers.ts'
import { route } from './location.ts'
import { memberOf } from './member-of.ts'
import { useAnswer } from './use-answer.ts'

const LONGEST_NAME = 60
const NAMED: Readonly<Record<string, string>> = {
  token: '0x4::token::Token',
  collection: '0x4::collection::Collection',
  'fungible asset': '0x1::fungible_asset::Metadata',
}

/**
 * The name of a token, collection or asset, which its maker wrote; empty while it is not known, and undefined if it has
 * none.
 */
export function useObjectName(address: string, kind: string | undefined): string | undefined {
  const { at } = route.value
  const type = kind === undefined ? undefined : NAMED[kind]
  const path = (of: string) => `/accounts/${encodeURIComponent(address)}/resource/${of}`
  const named = useAnswer<Resource>(type === undefined ? undefined : { path: path(type), at })
  const plain = named && 'value' in named ? memberOf(named.value.data, ['name']) : undefined
  // Newer tokens have their name next to them.
  const isBeside = kind === 'token' && named !== undefined && plain === ''
  const besides = useAnswer<Resource>(isBeside ? { path: path('0x4::token::TokenIdentifiers'), at } : undefined)
  const beside = besides && 'value' in besides ? memberOf(besides.value.data, ['name', 'value']) : undefined
  if (type !== undefined && (named === undefined || (isBeside && besides === undefined))) return ''
  const name = plain || beside
  return !name ? undefined : name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
}
